import Synchronization

/// Counts of values by size, recorded from any thread without a lock.
package final class Histogram: Sendable {
    /// What answers within milliseconds, in seconds.
    package static let fast = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    /// Pushes, from the commit on, in seconds.
    package static let push = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 21_600]
    /// HTTP requests in seconds, as OpenTelemetry's convention advises.
    package static let http = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
    /// Numbers of things.
    package static let sizes: [Double] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]

    private let bounds: [Double]
    /// One a bound, and one for what is above them all.
    private let counts = InlineArray<16, Atomic<Int>> { _ in Atomic(0) }
    /// The bits of a `Double`.
    private let sum = Atomic<UInt64>(0)

    /// An empty one; each bound is the largest value that its bucket takes.
    ///
    /// There are at most 15 bounds, and they rise.
    package init(bounds: [Double]) {
        precondition(bounds.count < 16, "A histogram has at most 15 bounds.")
        self.bounds = bounds
    }

    /// Records how long something took.
    package func record(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        record(seconds: Double(seconds) + Double(attoseconds) * 1e-18)
    }

    /// Records how long something took, in seconds; clocks that went back count as 0.
    package func record(seconds: Double) { record(value: seconds) }

    /// Records how many there were.
    package func record(size: Int) { record(value: Double(size)) }

    private func record(value: Double) {
        let value = value > 0 ? value : 0
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        counts[bucket].wrappingAdd(1, ordering: .relaxed)
        var old = sum.load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: old) + value).bitPattern
            let (isExchanged, present) = sum.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
            if isExchanged { return }
            old = present
        }
    }

    /// What was recorded until now.
    package var snapshot: HistogramSnapshot {
        HistogramSnapshot(
            bounds: bounds,
            counts: (0...bounds.count).map { counts[$0].load(ordering: .relaxed) },
            sum: Double(bitPattern: sum.load(ordering: .relaxed))
        )
    }
}

/// What a histogram held at one moment.
package struct HistogramSnapshot: Sendable, Hashable {
    /// The largest value of each bucket but the last, which has no bound.
    package let bounds: [Double]
    /// How many values each bucket took; one more than there are bounds.
    package let counts: [Int]
    /// The sum of all values.
    package let sum: Double

    /// What a histogram with these bounds held.
    package init(bounds: [Double], counts: [Int], sum: Double) {
        (self.bounds, self.counts, self.sum) = (bounds, counts, sum)
    }

    /// How many values there were.
    package var count: Int { counts.reduce(0, +) }
}
