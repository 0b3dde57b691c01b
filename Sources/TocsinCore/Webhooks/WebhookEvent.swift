/// What other systems may be told of.
package enum WebhookEventType: String, Sendable, Hashable, CaseIterable {
    case registerPushToken = "register_push_token"
    case unregisterPushToken = "unregister_push_token"
    case sendPushNotification = "send_push_notification"
    case scheduleDue = "schedule.due"
    case incidentOpened = "incident.opened"
    case incidentReopened = "incident.reopened"
    case incidentRaised = "incident.raised"
    case incidentAcknowledged = "incident.acknowledged"
    case incidentUnacknowledged = "incident.unacknowledged"
    case incidentSnoozed = "incident.snoozed"
    case incidentWoken = "incident.woken"
    case incidentAssigned = "incident.assigned"
    case incidentNoted = "incident.noted"
    case incidentResolved = "incident.resolved"

    /// What becomes of incidents.
    package static let ofIncidents = Set(allCases.filter { $0.rawValue.hasPrefix("incident.") })
    /// What a webhook is told of that names no events: of schedules and incidents only when it asks
    /// for them.
    package static let ofUnnamed = Set(allCases).subtracting([.scheduleDue]).subtracting(ofIncidents)
}

/// Something that webhooks tell of, as it happens.
package enum WebhookOccurrence: Sendable, Hashable {
    /// A device was registered for the first time, again after it had ended, for another
    /// user, or with another token.
    case registered(Device)
    /// A device was signed out, or its token moved to another user.
    case unregistered(Device, reason: DeliveryReason)
    /// A push was asked for; whom it reaches is found out later.
    case pushRequested(PushRequest)

    /// A time of a schedule has come.
    case scheduleDue(ScheduleDue)
    /// An incident has changed.
    case incident(IncidentNews)

    /// A time that has come.
    package struct ScheduleDue: Sendable, Hashable {
        /// The schedule.
        package var id: String
        /// What its owner calls it.
        package var name: String?
        /// Whose it is; nil: the server's.
        package var owner: String?
        /// The time that has come, which may be earlier than the event.
        package var dueAt: Timestamp
        /// How many times after it came while nothing ran, and are not told of.
        package var missed: Int
        /// Who is told; nil: all who listen.
        package var webhook: String?

        /// A time of a schedule.
        package init(id: String, name: String?, owner: String?, dueAt: Timestamp, missed: Int, webhook: String?) {
            (self.id, self.name, self.owner) = (id, name, owner)
            (self.dueAt, self.missed, self.webhook) = (dueAt, missed, webhook)
        }
    }

    /// What was asked for; never its texts.
    package struct PushRequest: Sendable, Hashable {
        /// The message that is pushed.
        package var messageID: MessageID
        /// The topic it was published to; nil for a direct push.
        package var topicID: TopicID?
        /// Who asked, or whose topic it is.
        package var owner: String?
        /// Whom it is for, when it is for one.
        package var userID: UserID?
        /// Its number in the topic that holds it.
        package var number: MessageNumber?
        /// Its priority, 1 to 5; nil where none is stored.
        package var priority: Int64?
        /// Devices that were named, when they were.
        package var tokenCount: Int?

        /// What a message's record says of it.
        init(_ record: Record) {
            messageID = MessageID(record.id)
            owner = record["owner"].text
            number = record.number
            priority = record["priority"].int
        }
    }
}

/// One event on its way to one webhook: a row of the webhooks' own outbox.
package struct WebhookEvent: Sendable, Hashable {
    /// Delivered events leave no row.
    package enum Status: String, Sendable, Hashable, CaseIterable {
        case waiting, sending
        /// Given up; kept for a while, to be sent again by hand.
        case dead
    }

    /// The event's id, the same at each attempt: receivers drop repeats by it.
    package var id: WebhookEventID
    /// The webhook by its name in the settings.
    package var webhook: String
    /// What the event tells of.
    package var type: WebhookEventType
    /// JSON, the same at each attempt.
    package var body: String
    /// Whether the event still waits to be sent, is being sent, or was given up.
    package var status = Status.waiting
    /// Why the last attempt failed.
    package var reason: String?
    /// Attempts so far.
    package var attempts = 0
    /// When it is due, while it waits; nil in all other states.
    package var nextAttemptAt: Timestamp?
    /// Until when its holder may send it; nil while nobody does.
    package var leaseUntil: Timestamp?
    /// When what it tells of was committed.
    package var createdAt: Timestamp

    /// An event that is due at once and was never tried.
    package init(id: WebhookEventID, webhook: String, type: WebhookEventType, body: String, createdAt: Timestamp) {
        self.id = id
        self.webhook = webhook
        self.type = type
        self.body = body
        self.createdAt = createdAt
        nextAttemptAt = createdAt
    }
}

/// Marks identifiers of events for webhooks.
package enum WebhookEventKind {}

/// Names an event for a webhook.
package typealias WebhookEventID = Identifier<WebhookEventKind>

/// Decides which webhooks are told of what, and in which words.
package protocol WebhookRaising: Sendable {
    /// The rows of an occurrence: one for each webhook that wants it.
    func events(for occurrence: WebhookOccurrence, at moment: Timestamp) -> [WebhookEvent]
    /// The names of those that are told of events of a type.
    func listeners(to type: WebhookEventType) -> [String]
    /// Whether a webhook takes events of this person's schedules.
    func takesSchedules(_ webhook: String, of owner: ScheduledMessage.Owner) -> Bool
}

extension ServiceEnvironment {
    /// Writes what webhooks are to be told, in the transaction of what they are told of.
    package func raise(_ occurrence: WebhookOccurrence, _ writer: any StoreWriter) throws(StoreError) {
        try raise([occurrence], writer)
    }

    /// The same for what happens together, in its order.
    package func raise(_ occurrences: [WebhookOccurrence], _ writer: any StoreWriter) throws(StoreError) {
        guard let webhooks else { return }
        let now = time.now()
        let events = occurrences.flatMap { webhooks.events(for: $0, at: now) }
        guard !events.isEmpty else { return }
        try writer.add(events)
        writer.note(.webhooksFilled)
    }
}
