/// Takes what senders say: all that the events caused is durable when this answers.
package protocol EventIntake: Sendable {
    /// Takes the events of one request in their order: in one transaction, or in several where a
    /// repeat of them changes nothing.
    func take(_ events: [SenderEvent], from integration: Integration) async throws(ServiceError) -> [EventOutcome]
}

/// What became of an event.
package struct EventOutcome: Sendable, Equatable {
    /// The event's key; one that was made where a trigger had none.
    package var key: String?
    /// The incident, where there is one.
    package var incidentID: String?
    /// The incident's number in its topic.
    package var incidentNumber: Int64?
    /// The incident's state after the event.
    package var state: IncidentState?
    /// What has changed; nil: nothing.
    package var change: IncidentChange?
    /// The message that it made.
    package var messageID: String?
    /// The message's number in its topic.
    package var messageNumber: MessageNumber?
    /// What is kept of a message that comes later.
    package var scheduledID: String?
    /// The topic that a route has sent it to; nil: the integration's own.
    package var topicID: TopicID?
    /// What its owner should know: a route that does not hold any more.
    package var note: String?

    /// Nothing has happened yet.
    package init(key: String? = nil) { self.key = key }
}

/// Where an incident stands.
package enum IncidentState: String, Sendable, CaseIterable {
    /// Nobody has taken it on.
    case open = "OPEN"
    /// Somebody has.
    case acknowledged = "ACKNOWLEDGED"
    /// It is quiet for a time.
    case snoozed = "SNOOZED"
    /// It is over.
    case resolved = "RESOLVED"
}

/// What happens to an incident: an entry of its timeline each.
package enum IncidentChange: String, Sendable, CaseIterable {
    case opened = "OPENED"
    case reopened = "REOPENED"
    case updated = "UPDATED"
    case raised = "RAISED"
    case acknowledged = "ACKNOWLEDGED"
    case joined = "JOINED"
    case unacknowledged = "UNACKNOWLEDGED"
    case snoozed = "SNOOZED"
    case woken = "WOKEN"
    case assigned = "ASSIGNED"
    case noted = "NOTED"
    case reminded = "REMINDED"
    case resolved = "RESOLVED"
    case senderResolved = "SENDER_RESOLVED"
    case flapping = "FLAPPING"
    case late = "LATE"

    /// Whether its message asks for somebody: its pushes end when the incident is answered.
    package var isLoud: Bool {
        switch self {
        case .opened, .reopened, .raised, .unacknowledged, .woken, .reminded: true
        case .updated, .acknowledged, .joined, .snoozed, .assigned, .noted, .resolved, .senderResolved, .flapping,
            .late:
            false
        }
    }
}
