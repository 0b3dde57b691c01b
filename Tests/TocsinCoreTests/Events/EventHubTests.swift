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
            (.readMarksChanged(UserID("ann")), .readMarksChanged),
        ]
        for (event, kind) in events {
            #expect(event.kind == kind)
            #expect(EventKinds.all.contains(kind))
            #expect(EventKinds.all.subtracting(kind) != .all)
        }
        #expect(EventKinds(of: events.map(\.0)).isDisjoint(with: [.records, .deliveryChanged]))
    }
}

@Suite("Events on their way to listeners")
struct EventHubTests {
    private static let ended = DomainEvent.accessEnded(UserID("ann"), nil)

    @Test("commits are told in their order, each whole, to every listener in turn")
    func order() {
        let hub = EventHub()
        let told = Told()
        for name in ["a", "b"] {
            hub.add { events in told.names.withLock { $0.append(name + "\(events.count)") } }
        }
        hub.publish([Self.ended])
        hub.publish([Self.ended, .outboxFilled, .webhooksFilled])
        hub.publish([.outboxFilled, Self.ended])
        #expect(told.names.withLock { $0 } == ["a1", "b1", "a3", "b3", "a2", "b2"])
    }

    @Test("a commit without events calls nobody, not even who hears everything")
    func nothing() {
        let hub = EventHub()
        let heard = Heard()
        hub.add { heard.append($0) }
        hub.publish([])
        #expect(heard.all.isEmpty)
    }

    @Test("who begins to listen during a commit hears the next one")
    func late() {
        let hub = EventHub()
        let heard = Heard()
        hub.add(hearing: .accessEnded) { [hub] _ in hub.add(hearing: .outboxFilled) { heard.append($0) } }
        hub.publish([Self.ended, .outboxFilled])
        #expect(heard.all.isEmpty)
        hub.publish([.outboxFilled])
        #expect(heard.all == [[.outboxFilled]])
    }

    @Test("the three changes of records are one kind, and a hub of one kind does not tell of others")
    func records() {
        let record = Record(model: .sample([.declared("id")]))
        for event in [DomainEvent.created(record), .updated(record), .deleted(record)] {
            #expect(event.kind == .records)
        }
        #expect(EventKinds(of: [.created(record), Self.ended]) == [.records, .accessEnded])
        #expect(EventKinds(of: []).isEmpty)
    }

    @Test("deliveries are told of while somebody listens, here or on another node")
    func deliveryListeners() {
        let listeners = DeliveryListeners()
        #expect(!listeners.isAnybodyThere)
        listeners.enter()
        listeners.enter()
        listeners.leave()
        #expect(listeners.isAnybodyHere && listeners.isAnybodyThere)
        listeners.leave()
        #expect(!listeners.isAnybodyThere)
        listeners.note(elsewhere: true)
        #expect(listeners.isAnybodyThere && !listeners.isAnybodyHere)
        listeners.note(elsewhere: false)
        #expect(!listeners.isAnybodyThere)
    }
}

/// What a listener was told.
private final class Heard: Sendable {
    private let events = Mutex([[DomainEvent]]())

    var all: [[DomainEvent]] { events.withLock { $0 } }

    func append(_ more: [DomainEvent]) { events.withLock { $0.append(more) } }
}

/// Who was told, and of how many events.
private final class Told: Sendable {
    let names = Mutex([String]())
}
