/// What webhooks are told of an incident.
package struct IncidentNews: Sendable, Hashable {
    /// What has happened.
    package var change: IncidentChange
    /// The incident as it is then.
    package var incident: Record
    /// The topic's name.
    package var topicName: String
    /// The number of the timeline's entry; nil where the timeline is full.
    package var entry: Int64?
    /// Who did it, and how.
    package var actor: IncidentActor
    /// What they said with it.
    package var note: String?
    /// When it happened.
    package var at: Timestamp
    /// Up to which message of the topic it is told of: action links hold until a later one reopens
    /// the incident.
    package var number: MessageNumber

    /// News of a change.
    package init(
        _ change: IncidentChange,
        _ incident: Record,
        in topicName: String,
        entry: Int64?,
        by actor: IncidentActor,
        at moment: Timestamp,
        number: MessageNumber
    ) {
        (self.change, self.incident, self.topicName, self.entry) = (change, incident, topicName, entry)
        (self.actor, at, self.number) = (actor, moment, number)
    }
}

extension WebhookEventType {
    /// The event that tells of a change; nil: webhooks are not told of it.
    package init?(_ change: IncidentChange) {
        switch change {
        case .opened: self = .incidentOpened
        case .reopened: self = .incidentReopened
        case .raised: self = .incidentRaised
        case .acknowledged: self = .incidentAcknowledged
        case .unacknowledged: self = .incidentUnacknowledged
        case .snoozed: self = .incidentSnoozed
        case .woken: self = .incidentWoken
        case .assigned: self = .incidentAssigned
        case .noted: self = .incidentNoted
        case .resolved: self = .incidentResolved
        case .updated, .joined, .reminded, .senderResolved, .flapping, .late: return nil
        }
    }
}

extension IncidentTurn {
    /// Tells webhooks of a change, in the transaction of that change.
    func tellWebhooks(
        _ change: IncidentChange,
        _ incident: IncidentCase,
        _ entry: IncidentEntry?,
        by actor: IncidentActor,
        note: String? = nil
    ) throws(StoreError) {
        guard book.environment.webhooks != nil, WebhookEventType(change) != nil else { return }
        var news = IncidentNews(
            change,
            incident.record,
            in: topic["name"].text ?? "",
            entry: entry?.number,
            by: actor,
            at: now,
            number: max(lastNumber, incident.memory.round)
        )
        news.note = note
        try book.environment.raise(.incident(news), writer)
    }
}
