/// What messages and timelines say of incidents.
enum IncidentWords {
    /// A change in a sentence of the timeline.
    static func sentence(_ change: IncidentChange, _ incident: Record, by actor: IncidentActor, at now: Timestamp)
        -> String
    {
        let by = actor.name == nil ? "" : " by \(actor.shown)"
        switch change {
        case .opened: return "Opened\(by): \(title(incident))"
        case .reopened: return "Reopened\(by)"
        case .updated: return "Updated: \(title(incident))"
        case .raised: return "Raised to priority \(incident["priority"].int ?? 0): \(title(incident))"
        case .acknowledged: return actor.name == nil ? "Acknowledged" : "Acknowledged\(by)"
        case .joined: return "Joined\(by)"
        case .unacknowledged: return "Taken back\(by): nobody has it"
        case .snoozed: return "Snoozed\(by) until \(incident["snoozedUntil"].text ?? "")"
        case .woken: return "The snooze is over"
        case .assigned: return "Assigned to \(incident["assignee"].text ?? "")\(by)"
        case .noted: return "Noted\(by)"
        case .reminded: return "Nobody has answered yet"
        case .resolved: return resolved(incident, by: actor, at: now)
        case .senderResolved: return "Its sender says that it is over; somebody must resolve it"
        case .flapping: return "It comes and goes: it sounds once in 15 minutes at most"
        case .late: return "A trigger came after the end"
        }
    }

    /// The text of the message that tells of a change.
    static func body(_ change: IncidentChange, _ incident: Record, by actor: IncidentActor, at now: Timestamp) -> String
    {
        switch change {
        case .acknowledged, .snoozed, .resolved, .assigned: sentence(change, incident, by: actor, at: now)
        default: incident["body"].text ?? ""
        }
    }

    private static func title(_ incident: Record) -> String { incident["title"].text ?? "" }

    private static func resolved(_ incident: Record, by actor: IncidentActor, at now: Timestamp) -> String {
        let opened = incident["openedAt"].text.flatMap { Timestamp(awsDateTime: $0) } ?? now
        let after = "Resolved after \(duration(from: opened, to: now))"
        let firing = incident["firingCount"].int ?? 0
        guard actor.via != .timeout else { return after + ": nothing was heard of it any more" }
        guard actor.via != .sender else { return after }
        return after + " by \(actor.shown)" + (firing > 0 ? ", while \(firing) alerts fire" : "")
    }

    /// `12 min`.
    static func duration(from start: Timestamp, to end: Timestamp) -> String {
        let seconds = max(0, end.milliseconds - start.milliseconds) / 1000
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3600) h \(seconds / 60 % 60) min"
        default: return "\(seconds / 86_400) days"
        }
    }
}
