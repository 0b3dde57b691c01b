/// What did not fit while a request was read, for the integration's owner.
struct TemplateTrouble {
    /// Turns words into priorities.
    var severity: SeverityReader
    private var noted: [String] = []
    /// The rule at work, such as `rule 2`.
    var rule = ""
    /// The first placeholder of each member at hand.
    var sources: [String: String] = [:]

    /// Whether the action of the event at hand was none.
    var isOfAction = false

    private static let maximumSentences = 20

    init(_ severity: SeverityReader) { self.severity = severity }

    /// Sentences, no more than people read.
    var sentences: [String] { noted + severity.notes }

    /// Starts anew, at the same rule.
    mutating func forget() { noted.removeAll() }

    mutating func note(_ sentence: String) {
        let whole = rule.isEmpty ? sentence : "\(rule): \(sentence)"
        guard noted.count < Self.maximumSentences, !noted.contains(whole) else { return }
        noted.append(whole)
    }

    /// Says what is wrong with a member of the event.
    mutating func note(_ sentence: String, of member: String) {
        let source = sources[member] ?? ""
        note("\"\(member)\"\(source.isEmpty ? "" : " (\(source))") \(sentence)")
    }
}
