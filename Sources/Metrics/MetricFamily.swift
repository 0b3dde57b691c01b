/// Has figures to tell when somebody asks.
package protocol MetricSource: Sendable {
    /// The figures of now; takes no lock that a request takes, and never waits.
    var families: [MetricFamily] { get }
}

/// The series of one name.
package struct MetricFamily: Sendable {
    /// What its values are.
    package enum Kind: String, Sendable {
        /// They rise, and begin anew at 0 with each start.
        case counter
        /// They rise and fall.
        case gauge
        /// Counts of values by size.
        case histogram
    }

    /// As Prometheus knows it; that of a counter ends in `_total`.
    package let name: String
    /// A phrase that says what is counted.
    package let help: String
    /// What its values are.
    package let kind: Kind
    /// A sample a series; none where there is nothing true to say.
    package let samples: [MetricSample]

    /// A family with these samples.
    package init(_ kind: Kind, _ name: String, _ help: String, _ samples: [MetricSample]) {
        (self.kind, self.name, self.help, self.samples) = (kind, name, help, samples)
    }

    /// The name as OpenMetrics declares it: a counter's has no `_total`.
    package var declaredName: Substring {
        kind == .counter && name.hasSuffix("_total") ? name.dropLast(6) : name[...]
    }

    /// The unit that the name ends in.
    package var unit: String? {
        ["seconds", "bytes"].first { declaredName.hasSuffix("_\($0)") }
    }
}

extension MetricFamily {
    /// A counter without labels.
    package static func counter(_ name: String, _ help: String, _ value: Int) -> MetricFamily {
        MetricFamily(.counter, name, help, [MetricSample(.integer(value))])
    }

    /// A counter without labels.
    package static func counter(_ name: String, _ help: String, _ counter: Counter) -> MetricFamily {
        .counter(name, help, counter.value)
    }

    /// Counters by label.
    package static func counter<Labels>(_ name: String, _ help: String, _ set: CounterSet<Labels>) -> MetricFamily {
        MetricFamily(.counter, name, help, set.samples)
    }

    /// Gauges by label.
    package static func gauge<Labels>(_ name: String, _ help: String, _ set: GaugeSet<Labels>) -> MetricFamily {
        MetricFamily(.gauge, name, help, set.samples)
    }

    /// A gauge without labels; absent where there is no value.
    package static func gauge(_ name: String, _ help: String, _ value: Int?) -> MetricFamily {
        MetricFamily(.gauge, name, help, value.map { [MetricSample(.integer($0))] } ?? [])
    }

    /// A gauge without labels, in seconds or the like; absent where there is no value.
    package static func gauge(_ name: String, _ help: String, _ value: Double?) -> MetricFamily {
        MetricFamily(.gauge, name, help, value.map { [MetricSample(.number($0))] } ?? [])
    }

    /// A gauge by label: a series for each case that has a value.
    package static func gauge<Labels: MetricLabels>(
        _ name: String,
        _ help: String,
        by: Labels.Type,
        _ value: (Labels) -> MetricSample.Value?
    ) -> MetricFamily {
        let samples = Labels.allCases.compactMap { labels in
            value(labels).map { MetricSample(labels: labels.labels, $0) }
        }
        return MetricFamily(.gauge, name, help, samples)
    }

    /// A histogram without labels.
    package static func histogram(_ name: String, _ help: String, _ histogram: Histogram) -> MetricFamily {
        MetricFamily(.histogram, name, help, [MetricSample(.histogram(histogram.snapshot))])
    }

    /// Histograms by label.
    package static func histogram<Labels>(
        _ name: String,
        _ help: String,
        _ set: HistogramSet<Labels>
    ) -> MetricFamily {
        MetricFamily(.histogram, name, help, set.samples)
    }
}

/// One series at one moment.
package struct MetricSample: Sendable {
    /// What a series can be worth.
    package enum Value: Sendable {
        case integer(Int)
        case number(Double)
        case histogram(HistogramSnapshot)
    }

    /// As they stand between the braces; empty for none.
    package let labels: String
    /// What it is worth.
    package let value: Value

    /// A sample with these labels, which are escaped already.
    package init(labels: String = "", _ value: Value) {
        (self.labels, self.value) = (labels, value)
    }
}
