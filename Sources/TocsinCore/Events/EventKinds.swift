/// Which kinds of events there are in a commit, or a listener wants.
package struct EventKinds: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The kinds of these events.
    package init(of events: [DomainEvent]) {
        self.init()
        for event in events { formUnion(event.kind) }
    }

    /// Records created, updated or deleted.
    package static let records = EventKinds(rawValue: 1)
    package static let outboxFilled = EventKinds(rawValue: 2)
    package static let webhooksFilled = EventKinds(rawValue: 4)
    package static let deliveryChanged = EventKinds(rawValue: 8)
    package static let deviceEnded = EventKinds(rawValue: 16)
    package static let pushesUnwanted = EventKinds(rawValue: 32)
    package static let accessEnded = EventKinds(rawValue: 64)
    package static let all = EventKinds(rawValue: 127)
}

extension DomainEvent {
    package var kind: EventKinds {
        switch self {
        case .created, .updated, .deleted: .records
        case .outboxFilled: .outboxFilled
        case .webhooksFilled: .webhooksFilled
        case .deliveryChanged: .deliveryChanged
        case .deviceEnded: .deviceEnded
        case .pushesUnwanted: .pushesUnwanted
        case .accessEnded: .accessEnded
        }
    }
}
