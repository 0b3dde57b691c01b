import Synchronization
import TocsinCore

/// Keeps what is called, and answers by a script: the answers given, then always the same one.
final class FakeCalls: OutgoingHTTP {
    private struct State {
        var requests: [OutgoingRequest] = []
        var answers: [OutgoingAnswer]
        var isHeld: Bool
        var waiting: [CheckedContinuation<Void, Never>] = []
        var watchers: [(count: Int, CheckedContinuation<Void, Never>)] = []
    }

    private let state: Mutex<State>
    private let always: OutgoingAnswer

    init(
        _ answers: [OutgoingAnswer] = [],
        always: OutgoingAnswer = .response(status: 204, headers: [], body: []),
        holds: Bool = false
    ) {
        state = Mutex(State(answers: answers, isHeld: holds))
        self.always = always
    }

    var requests: [OutgoingRequest] { state.withLock { $0.requests } }

    func send(_ request: OutgoingRequest) async -> OutgoingAnswer {
        let (answer, watchers) = state.withLock { state in
            state.requests.append(request)
            let count = state.requests.count
            let watchers = state.watchers.filter { $0.count <= count }
            state.watchers.removeAll { $0.count <= count }
            return (state.answers.isEmpty ? always : state.answers.removeFirst(), watchers.map(\.1))
        }
        for watcher in watchers { watcher.resume() }
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                if state.isHeld { state.waiting.append(continuation) }
                return state.isHeld
            }
            if !isHeld { continuation.resume() }
        }
        return answer
    }

    /// Returns when so many calls have begun.
    func begun(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                guard state.requests.count < count else { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }

    /// Lets all calls end.
    func release() {
        let waiting = state.withLock { state in
            defer { (state.isHeld, state.waiting) = (false, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
