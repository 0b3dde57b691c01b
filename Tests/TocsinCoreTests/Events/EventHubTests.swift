import Synchronization
import Testing
import TocsinCore

@Suite("Kinds of events")
struct EventKindTests {
    @Test("a listener is called for commits with what it wants, with all that they say, and for no others")
    func hearing() {
        let hub = EventHub()
        let heard = Heard()
        hub.add(hearing: .webhooksFilled) { heard.append($0) }
        let ended = DomainEvent.deviceEnded(DeviceID("d"), reason: "UNREGISTERED")
        for events in [[.outboxFilled], [ended], [ended, .webhooksFilled], [], [.accessEnded(UserID("ann"), nil)]] {
            hub.publish(events)
        }
        #expect(heard.all == [[ended, .webhooksFilled]])
    }

    @Test("each kind is told to who wants it, and all to who wants all")
    func kinds() {
        let events: [(DomainEvent, EventKinds)] = [
            (.outboxFilled, .outboxFilled), (.webhooksFilled, .webhooksFilled),
            (.deviceEnded(DeviceID("d"), reason: "UNREGISTERED"), .deviceEnded),
            (.pushesUnwanted(UserID("ann"), nil, .notificationsOff), .pushesUnwanted),
            (.accessEnded(UserID("ann"), TokenID("t")), .accessEnded),
        ]
        for (event, kind) in events {
            #expect(event.kind == kind)
            #expect(EventKinds.all.contains(kind))
            #expect(EventKinds.all.subtracting(kind) != .all)
        }
        #expect(EventKinds(of: events.map(\.0)).isDisjoint(with: [.records, .deliveryChanged]))
    }
}

/// What a listener was told.
private final class Heard: Sendable {
    private let events = Mutex([[DomainEvent]]())

    var all: [[DomainEvent]] { events.withLock { $0 } }

    func append(_ more: [DomainEvent]) { events.withLock { $0.append(more) } }
}
