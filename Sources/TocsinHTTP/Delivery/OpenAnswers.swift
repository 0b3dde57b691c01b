import Synchronization

/// The requests of a server that are being answered: a fan-out begins after their answers, on every event loop, so that
/// who publishes does not wait for those who listen.
final class OpenAnswers: Sendable {
    private struct State {
        var requests = 0
        /// The loops whose turn waits for the answers.
        var held: [LoopDelivery] = []
    }

    private let state = Mutex(State())

    /// A request is being answered.
    func begin() { state.withLock { $0.requests += 1 } }

    /// The answer has been written.
    func end() {
        let released = state.withLock { state -> [LoopDelivery] in
            state.requests -= 1
            guard state.requests == 0 else { return [] }
            defer { state.held = [] }
            return state.held
        }
        for delivery in released { delivery.releaseSoon() }
    }

    /// Whether a turn that is due has to wait for the answers; then it is told of the last.
    func holds(_ delivery: LoopDelivery) -> Bool {
        state.withLock { state in
            guard state.requests > 0 else { return false }
            state.held.append(delivery)
            return true
        }
    }

    /// The delivery waits no longer.
    func forget(_ delivery: LoopDelivery) { state.withLock { $0.held.removeAll { $0 === delivery } } }
}
