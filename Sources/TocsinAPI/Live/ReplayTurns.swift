import Synchronization

/// Which replays may have a page under way: so many of each owner, others when one of these
/// has been taken by its peer.
///
/// What an owner's replays keep in memory is bounded so, however many connections do not read.
final class ReplayTurns: Sendable {
    private struct Waiter {
        let ticket: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        /// Turns that are being taken, by owner.
        var running: [String: Int] = [:]
        /// Who waits, by owner, the first to come first.
        var lines: [String: [Waiter]] = [:]
        var lastTicket = 0
    }

    private let state = Mutex(State())
    private let maximum: Int

    /// Gives turns to this many replays of one owner at the same time.
    init(maximum: Int = 16) { self.maximum = maximum }

    /// Runs `body` when it is the turn of one of the owner's; false, without running it, when the
    /// task is cancelled before.
    func turn(of owner: String, _ body: () async -> Bool) async -> Bool {
        guard await begin(owner) else { return false }
        defer { end(owner) }
        return await body()
    }

    private func begin(_ owner: String) async -> Bool {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    guard state.running[owner, default: 0] >= maximum else {
                        state.running[owner, default: 0] += 1
                        return true
                    }
                    state.lines[owner, default: []].append(Waiter(ticket: ticket, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                guard let index = state.lines[owner]?.firstIndex(where: { $0.ticket == ticket }) else { return nil }
                defer { if state.lines[owner]?.isEmpty == true { state.lines[owner] = nil } }
                return state.lines[owner]?.remove(at: index)
            }
            waiter?.continuation.resume(returning: false)
        }
    }

    /// Gives the turn to the next in the owner's line.
    private func end(_ owner: String) {
        let next = state.withLock { state -> Waiter? in
            guard let next = state.lines[owner]?.first else {
                let running = state.running[owner, default: 1] - 1
                state.running[owner] = running == 0 ? nil : running
                return nil
            }
            state.lines[owner]?.removeFirst()
            if state.lines[owner]?.isEmpty == true { state.lines[owner] = nil }
            return next
        }
        next?.continuation.resume(returning: true)
    }
}
