import Synchronization

/// Carries durable events, in order of commit, from the store to whoever listens in this process.
///
/// Publishing never waits. A commit without anything of the kinds that a
/// listener wants costs it nothing.
package final class EventHub: Sendable {
    /// Receives all events of one commit, or of several commits in order.
    ///
    /// It is called on the store's thread and must return at once.
    package typealias Listener = @Sendable ([DomainEvent]) -> Void

    /// The same, with where each of them was committed.
    package typealias PlacedListener = @Sendable ([DomainEvent], CommitOrigins) -> Void

    private struct Entry: Sendable {
        var kinds: EventKinds
        var listener: PlacedListener
    }

    private let entries = Mutex([Entry]())

    /// A hub without listeners.
    package init() {}

    /// Adds a listener for the life of the hub, to be called when there are events of
    /// these kinds among others.
    package func add(hearing kinds: EventKinds = .all, _ listener: @escaping Listener) {
        addPlaced(hearing: kinds) { events, _ in listener(events) }
    }

    /// Adds a listener that is told where events were committed, too.
    package func addPlaced(hearing kinds: EventKinds, _ listener: @escaping PlacedListener) {
        entries.withLock { $0.append(Entry(kinds: kinds, listener: listener)) }
    }

    /// Hands events, committed here and now, to every listener that wants one of them.
    package func publish(_ events: [DomainEvent]) {
        publish(events, .one(CommitOrigin(isHere: true, at: .now)))
    }

    /// Hands events to every listener that wants one of them.
    package func publish(_ events: [DomainEvent], _ origins: CommitOrigins) {
        guard !events.isEmpty else { return }
        let kinds = EventKinds(of: events)
        for entry in entries.withLock({ $0 }) where !entry.kinds.isDisjoint(with: kinds) {
            entry.listener(events, origins)
        }
    }
}
