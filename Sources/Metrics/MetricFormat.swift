/// How families are written for those who scrape.
package enum MetricFormat: Sendable, CaseIterable {
    /// Prometheus' text format 0.0.4.
    case text
    /// OpenMetrics 1.0.0.
    case openMetrics

    /// What the answer's `Content-Type` says.
    package var contentType: String {
        switch self {
        case .text: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// All families that have a series, in this format.
    package func write(_ families: [MetricFamily]) -> [UInt8] {
        var text = MetricWriter(format: self)
        for family in families where !family.samples.isEmpty { text.append(family) }
        if self == .openMetrics { text.append("# EOF\n") }
        return text.bytes
    }
}

private struct MetricWriter {
    let format: MetricFormat
    var bytes: [UInt8] = []

    init(format: MetricFormat) {
        self.format = format
        bytes.reserveCapacity(1 << 18)
    }

    mutating func append(_ text: some StringProtocol) { bytes.append(contentsOf: text.utf8) }

    mutating func append(_ family: MetricFamily) {
        declare("HELP", family, family.help)
        declare("TYPE", family, family.kind.rawValue)
        if format == .openMetrics, let unit = family.unit { declare("UNIT", family, unit) }
        for sample in family.samples {
            switch sample.value {
            case .integer(let value): append(family.name, "", sample.labels, "\(value)")
            case .number(let value): append(family.name, "", sample.labels, Self.text(value))
            case .histogram(let value): append(family.name, sample.labels, value)
            }
        }
    }

    private mutating func declare(_ what: String, _ family: MetricFamily, _ value: String) {
        append("# ")
        append(what)
        append(" ")
        append(format == .openMetrics ? family.declaredName : family.name[...])
        append(" ")
        append(value)
        append("\n")
    }

    private mutating func append(_ name: String, _ suffix: String, _ labels: String, _ value: String) {
        append(name)
        append(suffix)
        if !labels.isEmpty {
            append("{")
            append(labels)
            append("}")
        }
        append(" ")
        append(value)
        append("\n")
    }

    private mutating func append(_ name: String, _ labels: String, _ histogram: HistogramSnapshot) {
        var count = 0
        for (index, ofBucket) in histogram.counts.enumerated() {
            count += ofBucket
            append(name)
            append("_bucket{")
            if !labels.isEmpty {
                append(labels)
                append(",")
            }
            append("le=\"")
            // Both formats write bounds alike, for they are names of series: 1.0, not 1.
            append(index < histogram.bounds.count ? Self.text(histogram.bounds[index]) : "+Inf")
            append("\"} ")
            append("\(count)")
            append("\n")
        }
        append(name, "_sum", labels, Self.text(histogram.sum))
        append(name, "_count", labels, "\(count)")
    }

    private static func text(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return "\(value)"
    }
}
