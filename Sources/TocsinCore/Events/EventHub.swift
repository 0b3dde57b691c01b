import Synchronization

/// Carries durable events, in order of commit, from the store to whoever listens in this process.
///
/// Publishing never waits.
package final class EventHub: Sendable {
    /// Receives the events of one commit, on the store's thread: must return at once.
    package typealias Listener = @Sendable ([DomainEvent]) -> Void

    private let listeners = Mutex([Listener]())

    package init() {}

    /// Adds a listener for the life of the hub.
    package func add(_ listener: @escaping Listener) {
        listeners.withLock { $0.append(listener) }
    }

    /// Hands the events of one commit to every listener.
    package func publish(_ events: [DomainEvent]) {
        guard !events.isEmpty else { return }
        for listener in listeners.withLock({ $0 }) { listener(events) }
    }
}
