package import TocsinCore

/// Turns words of one request into priorities, and remembers those that nobody knows.
package struct SeverityReader {
    private let own: [String: Int]
    private var unknown: [String] = []

    /// A reader with an integration's own words before the common ones.
    package init(_ integration: Integration) { own = integration.severityWords }

    /// The priority of a word; nil: there is none, or nobody knows it.
    package mutating func priority(of word: String?) -> Int? {
        guard let word = word?.trimmed, !word.isEmpty, word.utf8.count <= 64 else { return nil }
        if let priority = own[word.lowercased()] ?? SeverityWords.priority(of: word) {
            return min(max(priority, 1), 5)
        }
        if unknown.count < 10, !unknown.contains(word) { unknown.append(word) }
        return nil
    }

    /// What the owner should know, a sentence a word.
    package var notes: [String] {
        unknown.map { "Nobody knows the severity \"\($0.withoutControls)\": the default priority counts." }
    }
}
