/// A counter for each case of a set of labels.
///
/// Looking a counter up hashes its label. What counts on a hot path keeps the counter itself.
package final class CounterSet<Labels: MetricLabels>: Sendable {
    private let members: LabelledMembers<Labels, Counter>

    /// Counters of 0.
    package init() { members = LabelledMembers { Counter() } }

    /// The counter of a case.
    package subscript(labels: Labels) -> Counter { members[labels] }

    /// A sample of each, in the order of the cases.
    package var samples: [MetricSample] {
        members.all.map { MetricSample(labels: $0.labels, .integer($0.member.value)) }
    }
}

/// A gauge for each case of a set of labels.
package final class GaugeSet<Labels: MetricLabels>: Sendable {
    private let members: LabelledMembers<Labels, Gauge>

    /// Gauges at 0.
    package init() { members = LabelledMembers { Gauge() } }

    /// The gauge of a case.
    package subscript(labels: Labels) -> Gauge { members[labels] }

    /// A sample of each, in the order of the cases.
    package var samples: [MetricSample] {
        members.all.map { MetricSample(labels: $0.labels, .integer($0.member.value)) }
    }
}

/// A histogram for each case of a set of labels.
///
/// Looking a histogram up hashes its label. What records on a hot path keeps the histogram itself.
package final class HistogramSet<Labels: MetricLabels>: Sendable {
    private let members: LabelledMembers<Labels, Histogram>

    /// Empty ones.
    package init(bounds: [Double]) { members = LabelledMembers { Histogram(bounds: bounds) } }

    /// The histogram of a case.
    package subscript(labels: Labels) -> Histogram { members[labels] }

    /// A sample of each, in the order of the cases.
    package var samples: [MetricSample] {
        members.all.map { MetricSample(labels: $0.labels, .histogram($0.member.snapshot)) }
    }
}

/// A member for each case, with the text of its labels.
private struct LabelledMembers<Labels: MetricLabels, Member: Sendable>: Sendable {
    let all: [(labels: String, member: Member)]
    private let ofCase: [Labels: Member]
    /// Takes what is told of cases that `allCases` leaves out.
    private let unlisted: Member

    init(_ make: () -> Member) {
        let cases = Labels.allCases.map { (labels: $0, member: make()) }
        all = cases.map { (labels: $0.labels.labels, member: $0.member) }
        ofCase = Dictionary(cases.map { ($0.labels, $0.member) }) { first, _ in first }
        unlisted = make()
    }

    subscript(labels: Labels) -> Member { ofCase[labels] ?? unlisted }
}
