package import Metrics
import Synchronization
package import TocsinCore

/// What charts show of this node: a few figures of the last 24 hours, kept in memory.
///
/// Every 15 seconds all that is counted is read as a scrape reads it, so charts need no Prometheus.
/// Each series takes 23 kB.
package final class SeriesRing: Sendable {
    /// Seconds from a point to the next.
    package static let step = 15
    private static let capacity = 24 * 3600 / step
    private static let unmeasured = [Float](repeating: .nan, count: capacity)

    /// A figure with its points; `nan`: nothing was measured then.
    package struct Series: Sendable, Hashable {
        /// As Prometheus knows the figure.
        package let name: String
        /// Such as `provider="apns"`; empty for none.
        package let labels: String
        /// When the first point was read; what rises is told since the reading before it.
        package let since: Timestamp
        /// Seconds from a point to the next.
        package let step: Int
        /// In the figure's unit.
        package let points: [Double]
    }

    private struct State: Sendable {
        /// What counters and histograms stood at in the last round.
        var before: [SeriesFigure.Key: SeriesFigure.Reading] = [:]
        var rows: [SeriesFigure.Key: [Float]] = [:]
        /// The number of the last round, counted from 1970 on; nil before the first.
        var round: Int?
        var lookedAt: Timestamp?
    }

    private let state = Mutex(State())
    private let figures: [SeriesFigure]
    /// The names that series can be asked for by.
    private let names: Set<String>
    /// So many points are given at once.
    private static let maximumPoints = 20_000
    private let time: any TimeSource
    private let read: @Sendable () -> [MetricFamily]

    /// An empty one; `read` gives all that is counted.
    package init(
        figures: [SeriesFigure] = SeriesFigure.all,
        time: any TimeSource,
        read: @escaping @Sendable () -> [MetricFamily]
    ) {
        (self.figures, self.time, self.read) = (figures, time, read)
        names = Set(figures.map(\.family))
    }

    /// Reads again and again until it is cancelled.
    package func run() async {
        while !Task.isCancelled {
            look()
            let next = Int64(Self.round(at: time.now()) + 1) * Int64(Self.step) * 1000
            try? await time.sleep(until: Timestamp(milliseconds: next))
        }
    }

    /// One round; a second one within the same 15 seconds changes nothing.
    package func look() {
        let now = time.now()
        let round = Self.round(at: now)
        guard state.withLock({ $0.round != round }) else { return }
        let families = Dictionary(read().map { ($0.name, $0) }) { first, _ in first }
        var readings: [SeriesFigure.Key: (SeriesFigure, SeriesFigure.Reading)] = [:]
        for figure in figures {
            guard let family = families[figure.family] else { continue }
            for (labels, reading) in figure.readings(of: family) {
                for key in figure.keys(labels) { readings[key] = (figure, reading) }
            }
        }
        state.withLock { state in
            // After a clock that was set back, what was kept is of a time that has yet to come.
            if let last = state.round, round < last { state = State() }
            let seconds = state.lookedAt.map { max(1, Double(now.milliseconds - $0.milliseconds) / 1000) }
            let skipped = min(Self.capacity, state.round.map { round - $0 - 1 } ?? 0)
            // Most answers of providers never come: such a series begins with the first.
            let begun = readings.filter { !$0.value.0.beginsWithFirst || !$0.value.1.isZero }.keys
            for key in Set(state.rows.keys).union(begun) {
                for gap in 0..<skipped { state.rows[key]?[Self.place(round - 1 - gap)] = .nan }
                let point = readings[key].flatMap { figure, reading in
                    // Of what rises, one reading says nothing.
                    figure.point(
                        key,
                        reading,
                        since: skipped == 0 ? state.before[key] : nil,
                        seconds: seconds ?? Double(Self.step)
                    )
                }
                state.rows[key, default: Self.unmeasured][Self.place(round)] = point.map { Float($0) } ?? .nan
            }
            state.before = readings.mapValues(\.1)
            (state.round, state.lookedAt) = (round, now)
        }
    }

    /// The series of these names, from this moment on.
    ///
    /// Points are joined to steps of so many seconds, a multiple of 15: of quantiles and ages the
    /// largest counts, of the rest the mean.
    package func series(_ names: [String], since: Timestamp, step: Int) throws(ServiceError) -> [Series] {
        guard step > 0, step.isMultiple(of: Self.step), step <= 24 * 3600 else {
            throw .badInput("step must be a multiple of \(Self.step), in seconds, and at most 86400.")
        }
        if let unknown = names.first(where: { !self.names.contains($0) }) {
            let known = self.names.sorted().joined(separator: ", ")
            throw .badInput("No series \"\(unknown.prefix(64))\" is kept here. Those that are: \(known).")
        }
        let wanted = Set(names)
        let (rows, last) = state.withLock { ($0.rows, $0.round) }
        guard let last else { return [] }
        let width = step / Self.step
        let first = max(0, Self.round(at: since), last - Self.capacity + 1)
        // Steps begin at multiples of themselves, so that charts drawn anew do not flicker.
        let start = first / width * width
        guard start <= last else { return [] }
        let keys = rows.keys.filter { wanted.contains($0.name) }.sorted()
        guard ((last - start) / width + 1) * keys.count <= Self.maximumPoints else {
            throw .badInput("More than \(Self.maximumPoints) points: ask for a longer step, or for fewer names.")
        }
        return keys.map { key in
            let row = rows[key] ?? []
            let points = stride(from: start, through: last, by: width).map { begin in
                var (largest, sum, count) = (-Double.infinity, 0.0, 0.0)
                for round in begin..<begin + width where round <= last && round > last - Self.capacity {
                    let value = Double(row[Self.place(round)])
                    guard !value.isNaN else { continue }
                    (largest, sum, count) = (max(largest, value), sum + value, count + 1)
                }
                guard count > 0 else { return Double.nan }
                return key.isWorst ? largest : sum / count
            }
            return Series(
                name: key.name,
                labels: key.labels,
                since: Timestamp(milliseconds: Int64(start) * Int64(Self.step) * 1000),
                step: step,
                points: points
            )
        }
    }

    private static func round(at moment: Timestamp) -> Int { Int(moment.milliseconds / 1000) / step }

    private static func place(_ round: Int) -> Int { round % capacity }
}
