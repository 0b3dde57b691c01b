/// A closed set of labels that a family's series have: each case is a series from the start.
package protocol MetricLabels: CaseIterable, Hashable, Sendable {
    /// As they stand between a sample's braces, such as `kind="read"`.
    var labels: String { get }
}

/// The values of one label.
///
///     enum ReadOrWrite: String, MetricLabel {
///         static let labelName = "kind"
///         case read, write
///     }
package protocol MetricLabel: MetricLabels, RawRepresentable<String> {
    /// The label's name.
    static var labelName: String { get }
}

extension MetricLabel {
    /// The name, and the raw value.
    package var labels: String { metricLabel(Self.labelName, rawValue) }
}

/// Two sets of labels together: each of the first with each of the second.
package struct LabelPair<First: MetricLabels, Second: MetricLabels>: MetricLabels {
    /// What stands before the other.
    package let first: First
    /// What stands behind it.
    package let second: Second

    /// This pair.
    package init(_ first: First, _ second: Second) {
        (self.first, self.second) = (first, second)
    }

    /// All pairs, the second changing faster.
    package static var allCases: [LabelPair] {
        First.allCases.flatMap { first in Second.allCases.map { LabelPair(first, $0) } }
    }

    /// Both, in their order.
    package var labels: String { "\(first.labels),\(second.labels)" }
}

/// A label as it stands between a sample's braces; any text is good as a value.
package func metricLabel(_ name: String, _ value: String) -> String {
    var text = "\(name)=\""
    for scalar in value.unicodeScalars {
        switch scalar {
        case "\\": text += "\\\\"
        case "\"": text += "\\\""
        case "\n": text += "\\n"
        default: text.unicodeScalars.append(scalar)
        }
    }
    return text + "\""
}
