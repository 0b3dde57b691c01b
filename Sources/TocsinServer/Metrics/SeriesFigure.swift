import Metrics

/// How points of a chart are made from what is counted.
package struct SeriesFigure: Sendable {
    /// What a point says.
    package enum Kind: Sendable {
        /// How much a counter rose, a second; all its series together.
        case rate
        /// What all series of a gauge come to.
        case sum
        /// The largest of a gauge's series, which are ages.
        case oldest
        /// How long half of all took, and how long all but a hundredth.
        case quantiles
    }

    /// A series that is kept.
    struct Key: Hashable, Sendable, Comparable {
        let name: String
        let labels: String
        /// Whether the largest of several points counts, and not their mean.
        let isWorst: Bool

        static func < (one: Key, other: Key) -> Bool { (one.name, one.labels) < (other.name, other.labels) }
    }

    /// What a family stood at in one round.
    enum Reading: Sendable {
        case number(Double)
        case histogram(HistogramSnapshot)

        var isZero: Bool { if case .number(0) = self { true } else { false } }
    }

    /// The family, as Prometheus knows it; series are asked for by its name.
    let family: String
    let kind: Kind
    /// The labels by whose values it is told apart; none: everything is one series.
    let by: [String]

    /// Whether a series is kept only once it has counted something.
    var beginsWithFirst: Bool { kind == .rate && !by.isEmpty }

    /// A figure of this family.
    package init(family: String, kind: Kind, by: [String] = []) {
        (self.family, self.kind, self.by) = (family, kind, by)
    }

    /// What the console's charts show.
    package static let all: [SeriesFigure] = [
        SeriesFigure(family: "tocsin_messages_created_total", kind: .rate),
        SeriesFigure(family: "tocsin_publish_duration_seconds", kind: .quantiles),
        SeriesFigure(family: "tocsin_commit_to_socket_seconds", kind: .quantiles),
        SeriesFigure(family: "tocsin_push_commit_to_accept_seconds", kind: .quantiles),
        SeriesFigure(family: "tocsin_push_answers_total", kind: .rate, by: ["provider", "status"]),
        SeriesFigure(family: "tocsin_push_oldest_due_seconds", kind: .oldest, by: ["provider"]),
        SeriesFigure(family: "tocsin_sockets", kind: .sum),
        SeriesFigure(family: "tocsin_http_connections", kind: .sum),
        SeriesFigure(family: "tocsin_graphql_duration_seconds", kind: .quantiles),
        SeriesFigure(family: "tocsin_store_commit_duration_seconds", kind: .quantiles),
        SeriesFigure(family: "tocsin_store_read_duration_seconds", kind: .quantiles),
        SeriesFigure(family: "tocsin_sqlite_wal_bytes", kind: .sum),
        SeriesFigure(family: "tocsin_postgres_round_trip_seconds", kind: .quantiles),
        SeriesFigure(family: "process_resident_memory_bytes", kind: .sum),
        SeriesFigure(family: "process_cpu_seconds_total", kind: .rate),
    ]

    private static let quantiles = [0.5, 0.99]

    /// The series that a reading with these labels is kept as.
    func keys(_ labels: String) -> [Key] {
        guard kind == .quantiles else { return [Key(name: family, labels: labels, isWorst: kind == .oldest)] }
        return Self.quantiles.map { quantile in
            let label = metricLabel("quantile", "\(quantile)")
            return Key(name: family, labels: labels.isEmpty ? label : "\(labels),\(label)", isWorst: true)
        }
    }

    /// What the family stands at now, by the labels that its series are told apart by.
    func readings(of family: MetricFamily) -> [String: Reading] {
        var readings: [String: Reading] = [:]
        for sample in family.samples {
            let labels = labels(of: sample.labels)
            readings[labels] = joined(readings[labels], sample.value)
        }
        return readings
    }

    /// The point of a round, so many seconds after a round with the reading `before`.
    ///
    /// nil: nothing is known.
    func point(_ key: Key, _ reading: Reading, since before: Reading?, seconds: Double) -> Double? {
        switch (kind, reading, before) {
        case (.sum, .number(let now), _), (.oldest, .number(let now), _): return now
        case (.rate, .number(let now), .number(let before)?):
            return max(0, now - before) / seconds
        case (.quantiles, .histogram(let now), .histogram(let before)?):
            let quantile = Self.quantiles.first { key.labels.hasSuffix(metricLabel("quantile", "\($0)")) }
            return quantile.flatMap { now.quantile($0, since: before) }
        default: return nil
        }
    }

    private func labels(of sample: String) -> String {
        by.compactMap { name in
            Self.value(of: name, in: sample).map { metricLabel(name, $0) }
        }.joined(separator: ",")
    }

    /// The value of a label between a sample's braces; those asked for have no escapes.
    private static func value(of name: String, in labels: String) -> String? {
        for part in labels.split(separator: ",") where part.hasPrefix("\(name)=\"") {
            return String(part.dropFirst(name.utf8.count + 2).dropLast())
        }
        return nil
    }

    private func joined(_ sum: Reading?, _ value: MetricSample.Value) -> Reading {
        let reading: Reading =
            switch value {
            case .integer(let value): .number(Double(value))
            case .number(let value): .number(value)
            case .histogram(let value): .histogram(value)
            }
        switch (sum, reading) {
        case (.number(let sum)?, .number(let value)): return .number(kind == .oldest ? max(sum, value) : sum + value)
        case (.histogram(let sum)?, .histogram(let value)): return .histogram(sum.joined(with: value))
        default: return reading
        }
    }
}

extension HistogramSnapshot {
    /// Both together, where they have the same bounds.
    fileprivate func joined(with other: HistogramSnapshot) -> HistogramSnapshot {
        guard other.bounds == bounds else { return self }
        return HistogramSnapshot(
            bounds: bounds,
            counts: zip(counts, other.counts).map { $0 + $1 },
            sum: sum + other.sum
        )
    }

    /// The value below which this part lies of what was recorded since then, as Prometheus'
    /// `histogram_quantile` estimates it; nil: nothing was recorded.
    fileprivate func quantile(_ part: Double, since before: HistogramSnapshot) -> Double? {
        guard before.counts.count == counts.count else { return nil }
        let counts = zip(counts, before.counts).map { max(0, $0 - $1) }
        let wanted = part * Double(counts.reduce(0, +))
        guard wanted > 0 else { return nil }
        var below = 0.0
        for (index, count) in counts.enumerated() {
            let reached = below + Double(count)
            guard reached < wanted else {
                guard index < bounds.count else { return bounds.last }
                let low = index > 0 ? bounds[index - 1] : 0
                return low + (bounds[index] - low) * (wanted - below) / Double(count)
            }
            below = reached
        }
        return bounds.last
    }
}
