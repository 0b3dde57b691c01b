/// Something that happened and is durable.
package enum DomainEvent: Sendable, Hashable {
    case created(Record)
    case updated(Record)
    case deleted(Record)
    /// Fan-outs or due deliveries wait for the outbox.
    case outboxFilled
    /// Events wait for webhooks.
    case webhooksFilled
    /// Apart, because events are many and mostly smaller.
    indirect case deliveryChanged(Delivery)
    /// A device was removed: nothing more goes to its token for its former owner, for this reason.
    case deviceEnded(DeviceID, reason: DeliveryReason)
    /// A user wants no pushes any more, of a topic or of all; what is read from now on shows it.
    case pushesUnwanted(UserID, TopicID?, DeliveryReason)
    /// Somebody has taken an incident on, or it is over: its loud messages up to this number in
    /// their topic ring no more.
    case incidentAnswered(String, MessageNumber)
    /// A local token was revoked, or its user disabled or enabled again: whoever
    /// remembers rights asks anew.
    case accessEnded(UserID, TokenID?)
    /// What a subject may do with a topic was given, changed or taken back.
    case grantsChanged(GrantChange)
    /// A local user's groups or admin flag have changed: whoever remembers the rights of an
    /// earlier time asks anew.
    case rightsChanged(UserID, at: Timestamp)
    /// How far a user has read changed, in one topic or several.
    case readMarksChanged(UserID)
}

/// Which kinds of events there are in a commit, or a listener wants.
package struct EventKinds: OptionSet, Sendable, Hashable {
    /// One bit for each kind.
    package let rawValue: UInt16

    /// The kinds whose bits are set.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The kinds of these events.
    package init(of events: [DomainEvent]) {
        self.init()
        for event in events { formUnion(event.kind) }
    }

    /// Records created, updated or deleted.
    package static let records = EventKinds(rawValue: 1)
    /// A fan-out or a delivery became due.
    package static let outboxFilled = EventKinds(rawValue: 2)
    /// An event for a webhook became due.
    package static let webhooksFilled = EventKinds(rawValue: 4)
    /// A delivery changed, and somebody listens to deliveries.
    package static let deliveryChanged = EventKinds(rawValue: 8)
    /// A device was removed or retired.
    package static let deviceEnded = EventKinds(rawValue: 16)
    /// A user or device must not get pushes that may be on their way.
    package static let pushesUnwanted = EventKinds(rawValue: 32)
    /// A token, an API key or an account was revoked, or somebody's rights have changed.
    package static let accessEnded = EventKinds(rawValue: 64)
    /// A topic was shared with somebody, or is so no more.
    package static let grantsChanged = EventKinds(rawValue: 128)
    /// Somebody has read on.
    package static let readMarksChanged = EventKinds(rawValue: 256)
    /// Every kind.
    package static let all = EventKinds(rawValue: .max)
}

extension DomainEvent {
    /// The kind of this event; the three changes of records are one kind.
    package var kind: EventKinds {
        switch self {
        case .created, .updated, .deleted: .records
        case .outboxFilled: .outboxFilled
        case .webhooksFilled: .webhooksFilled
        case .deliveryChanged: .deliveryChanged
        case .deviceEnded: .deviceEnded
        case .pushesUnwanted, .incidentAnswered: .pushesUnwanted
        case .accessEnded, .rightsChanged: .accessEnded
        case .grantsChanged: .grantsChanged
        case .readMarksChanged: .readMarksChanged
        }
    }
}
