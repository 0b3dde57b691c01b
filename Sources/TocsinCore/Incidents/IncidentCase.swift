/// An incident as it is while something is done to it: its record, and what only the server knows.
struct IncidentCase {
    var record: Record
    var facts: IncidentFacts
    var memory: IncidentMemory

    var id: String { record.id }

    init(record: Record, facts: IncidentFacts) {
        (self.record, self.facts) = (record, facts)
        memory = IncidentMemory(facts.memory)
    }

    /// What the next change is decided by.
    var standing: IncidentStanding {
        let opened = moment("openedAt") ?? Timestamp(milliseconds: 0)
        var standing = IncidentStanding(openedAt: memory.changedAt ?? opened)
        standing.state = record["state"].text.flatMap(IncidentState.init) ?? .open
        standing.title = record["title"].text ?? ""
        standing.priority = Int(record["priority"].int ?? 4)
        standing.occurrences = record["occurrences"].int ?? 1
        standing.acknowledgedBy = record["acknowledgedBy"].text
        standing.snoozedUntil = moment("snoozedUntil")
        standing.resolvedAt = moment("resolvedAt")
        standing.senderResolvedAt = moment("senderResolvedAt")
        standing.isFlapping = record["flapping"] == .bool(true)
        (standing.resolution, standing.isLate, standing.joined) = (memory.resolution, memory.isLate, memory.joined)
        (standing.reopenings, standing.loudAt) = (memory.reopenings, memory.loudAt)
        return standing
    }

    /// The values of the record that follow from how it stands.
    static func values(of standing: IncidentStanding) -> RecordInput {
        [
            "state": .text(standing.state.rawValue), "title": .text(standing.title),
            "priority": .int(Int64(standing.priority)), "occurrences": .int(standing.occurrences),
            "snoozedUntil": value(standing.snoozedUntil), "resolvedAt": value(standing.resolvedAt),
            "senderResolvedAt": value(standing.senderResolvedAt), "flapping": .bool(standing.isFlapping),
        ]
    }

    static func value(_ moment: Timestamp?) -> FieldValue { moment.map { .text($0.iso8601) } ?? .null }

    static func value(_ text: String?) -> FieldValue { text.map(FieldValue.text) ?? .null }

    /// Keeps what the record does not say.
    mutating func remember(_ standing: IncidentStanding) {
        (memory.resolution, memory.isLate, memory.joined) = (standing.resolution, standing.isLate, standing.joined)
        (memory.reopenings, memory.loudAt, memory.changedAt) =
            (standing.reopenings, standing.loudAt, standing.changedAt)
    }

    private func moment(_ field: String) -> Timestamp? {
        record[field].text.flatMap { Timestamp(awsDateTime: $0) }
    }
}
