import Synchronization

/// Carries durable events, in order of commit, from the store to whoever listens in this process.
///
/// Publishing never waits.
package final class EventHub: Sendable {
    /// Receives the events of one commit, on the store's thread: must return at once.
    package typealias Listener = @Sendable ([DomainEvent]) -> Void

    private struct State {
        var nextID = 0
        var listeners: [(id: Int, listener: Listener)] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Adds a listener for the life of the hub, or until `remove`.
    @discardableResult
    package func add(_ listener: @escaping Listener) -> Int {
        state.withLock { state in
            state.nextID += 1
            state.listeners.append((state.nextID, listener))
            return state.nextID
        }
    }

    package func remove(_ id: Int) {
        state.withLock { $0.listeners.removeAll { $0.id == id } }
    }

    /// Hands the events of one commit to every listener.
    package func publish(_ events: [DomainEvent]) {
        guard !events.isEmpty else { return }
        let listeners = state.withLock { $0.listeners }
        for entry in listeners {
            entry.listener(events)
        }
    }
}
