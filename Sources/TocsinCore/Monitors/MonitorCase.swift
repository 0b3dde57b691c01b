/// A monitor as it is while something is done to it: its record, and what only the server knows.
struct MonitorCase {
    var record: Record
    var facts: MonitorFacts

    /// What the next change is decided by.
    var standing: MonitorStanding {
        get {
            var standing = MonitorStanding()
            standing.state = record["state"].text.flatMap(MonitorState.init) ?? .new
            (standing.lastPingAt, standing.lastStartAt) = (moment("lastPingAt"), moment("lastStartAt"))
            (standing.lastDurationMilliseconds, standing.dueAt) = (record["lastDurationMs"].int, moment("dueAt"))
            (standing.firstPingAt, standing.lastSuccessAt) = (facts.firstPingAt, facts.lastSuccessAt)
            (standing.failures, standing.successes, standing.run) = (facts.failures, facts.successes, facts.run)
            (standing.pausedUntil, standing.forgivenUntil) = (facts.pausedUntil, facts.forgivenUntil)
            return standing
        }
        set {
            (facts.firstPingAt, facts.lastSuccessAt) = (newValue.firstPingAt, newValue.lastSuccessAt)
            (facts.failures, facts.successes, facts.run) = (newValue.failures, newValue.successes, newValue.run)
            (facts.pausedUntil, facts.forgivenUntil) = (newValue.pausedUntil, newValue.forgivenUntil)
        }
    }

    /// The fields that only the server writes.
    static let ownFields = ["state", "lastPingAt", "lastStartAt", "lastDurationMs", "dueAt"]

    /// The values of the record that follow from how it stands.
    static func values(of standing: MonitorStanding) -> RecordInput {
        [
            "state": .text(standing.state.rawValue), "lastPingAt": value(standing.lastPingAt),
            "lastStartAt": value(standing.lastStartAt), "dueAt": value(standing.dueAt),
            "lastDurationMs": standing.lastDurationMilliseconds.map { .int($0) } ?? .null,
        ]
    }

    /// Its next timer, under a new generation; nil: only a ping changes something.
    mutating func timer(_ machine: MonitorMachine, _ standing: MonitorStanding) -> TimerEntry? {
        facts.generation += 1
        guard let due = machine.nextLook(at: standing) else { return nil }
        return TimerEntry(
            kind: .monitor,
            subject: record.id,
            owner: record.owner.map(OwnerText.userID(of:)),
            dueAt: due,
            generation: facts.generation
        )
    }

    private static func value(_ moment: Timestamp?) -> FieldValue { moment.map { .text($0.iso8601) } ?? .null }

    private func moment(_ field: String) -> Timestamp? {
        record[field].text.flatMap { Timestamp(awsDateTime: $0) }
    }
}
