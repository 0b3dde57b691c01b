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

    private struct Entry: Sendable {
        var kinds: EventKinds
        var listener: Listener
    }

    private let entries = Mutex([Entry]())

    /// A hub without listeners.
    package init() {}

    /// Adds a listener for the life of the hub, to be called when there are events of
    /// these kinds among others.
    package func add(hearing kinds: EventKinds = .all, _ listener: @escaping Listener) {
        entries.withLock { $0.append(Entry(kinds: kinds, listener: listener)) }
    }

    /// Hands events to every listener that wants one of them.
    package func publish(_ events: [DomainEvent]) {
        guard !events.isEmpty else { return }
        let kinds = EventKinds(of: events)
        for entry in entries.withLock({ $0 }) where !entry.kinds.isDisjoint(with: kinds) { entry.listener(events) }
    }
}
