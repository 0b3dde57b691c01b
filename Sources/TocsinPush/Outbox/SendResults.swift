import Synchronization
import TocsinCore

/// Collects the results of a batch's pushes, from any thread, for the one task that waits for them.
final class SendResults: Sendable {
    private struct State {
        var results: [PushResult?]
        var stalled: Set<Int> = []
        var unanswered: Int
        /// Whether the one who waits should look, though not all have answered.
        var isReleased = false
        var isAbandoned = false
        var waiter: CheckedContinuation<Void, Never>?

        var isDone: Bool { unanswered == 0 || isReleased || isAbandoned }
    }

    private let state: Mutex<State>

    /// Results of `count` entries, of which `unanswered` will get a result.
    init(count: Int, unanswered: Int) {
        state = Mutex(State(results: Array(repeating: nil, count: count), unanswered: unanswered))
    }

    /// Notes a result; nil if there was one already, else whether the push had stalled.
    func settle(_ index: Int, _ result: PushResult) -> Bool? {
        let (wasStalled, waiter) = state.withLock { state -> (Bool?, CheckedContinuation<Void, Never>?) in
            guard state.results[index] == nil else { return (nil, nil) }
            state.results[index] = result
            state.unanswered -= 1
            return (state.stalled.remove(index) != nil, Self.wakeable(&state))
        }
        waiter?.resume()
        return wasStalled
    }

    /// The result of an entry, if it is there.
    subscript(_ index: Int) -> PushResult? { state.withLock { $0.results[index] } }

    /// Marks those entries without a result as stalled; answers which were not before.
    func markStalled(_ entries: [Int]) -> [Int] {
        state.withLock { state in
            entries.filter { state.results[$0] == nil && state.stalled.insert($0).inserted }
        }
    }

    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// Ends all waiting for good: the server stops.
    func abandon() {
        let waiter = state.withLock { state in
            state.isAbandoned = true
            return Self.wakeable(&state)
        }
        waiter?.resume()
    }

    /// Waits until all have results, the moment has come, or the batch is abandoned.
    func wait(until moment: Timestamp, time: any TimeSource) async {
        state.withLock { $0.isReleased = false }
        guard !state.withLock({ $0.isDone }) else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await time.sleep(until: moment)
                    self.release()
                } catch {
                    // Cancelled, because all have answered.
                }
            }
            await self.waitForRelease()
            group.cancelAll()
        }
    }

    private func release() {
        let waiter = state.withLock { state in
            state.isReleased = true
            return Self.wakeable(&state)
        }
        waiter?.resume()
    }

    private func waitForRelease() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if !state.isDone { state.waiter = continuation }
                return state.isDone
            }
            if isDone { continuation.resume() }
        }
    }

    private static func wakeable(_ state: inout State) -> CheckedContinuation<Void, Never>? {
        guard state.isDone else { return nil }
        defer { state.waiter = nil }
        return state.waiter
    }
}

/// The results of all batches under way, to abandon them when the server stops.
final class OpenResults: Sendable {
    private struct State {
        var open: [ObjectIdentifier: SendResults] = [:]
        var areAbandoned = false
    }

    private let state = Mutex(State())

    var areAbandoned: Bool { state.withLock { $0.areAbandoned } }

    func add(_ results: SendResults) {
        let isLate = state.withLock { state in
            state.open[ObjectIdentifier(results)] = results
            return state.areAbandoned
        }
        if isLate { results.abandon() }
    }

    func remove(_ results: SendResults) {
        state.withLock { $0.open[ObjectIdentifier(results)] = nil }
    }

    func abandonAll() {
        let open = state.withLock { state in
            state.areAbandoned = true
            return Array(state.open.values)
        }
        for results in open { results.abandon() }
    }
}
