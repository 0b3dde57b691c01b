import GraphQLTransport
import Synchronization
import TocsinCore

/// One subscriber in a group: catches up with stored messages first if it named a cursor, then goes live, so that nothing
/// is missed and nothing comes twice.
final class LiveMember: RenewableListener, Sendable {
    /// Where the member stands with respect to its feed.
    private enum Stage {
        /// Stored messages are being sent; `seen` is the highest number that went by live meanwhile.
        case catchingUp(seen: MessageNumber)
        /// Live events after `last` go straight to the sink.
        case live(last: MessageNumber)
        case ended
    }

    private struct State {
        var stage: Stage
        var replay: Task<Void, Never>?
        var leave: (@Sendable () -> Void)?
    }

    private let identity: Mutex<Identity>
    let sink: any ResponseSink
    /// The last commit that was handed to the feed before this member joined.
    let joinedAfter: Int
    private let state: Mutex<State>

    init(caller: Identity, sink: any ResponseSink, joinedAfter: Int, catchesUp: Bool) {
        identity = Mutex(caller)
        self.sink = sink
        self.joinedAfter = joinedAfter
        state = Mutex(State(stage: catchesUp ? .catchingUp(seen: 0) : .live(last: 0)))
    }

    var caller: Identity { identity.withLock { $0 } }

    func renew(_ caller: Identity) { identity.withLock { $0 = caller } }

    /// Says how to leave the group, and which task replays for this member.
    func attach(leave: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if case .ended = state.stage { return true }
            state.leave = leave
            return false
        }
        if hasEnded { leave() }
    }

    /// Starts the member's replay, which ends with it.
    func startReplay(_ replay: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            if case .ended = state.stage { return }
            state.replay = Task { await replay() }
        }
    }

    /// Which of these events it is to hear now, the first the lowest bit: not what was committed before it joined, nor what
    /// it has had, nor what stored messages come before.
    func wants(_ events: ArraySlice<LiveEvent>) -> UInt64 {
        state.withLock { state in
            var wanted: UInt64 = 0
            for (place, event) in events.enumerated() where joinedAfter < event.commit {
                if Self.isWanted(event, &state.stage) { wanted |= 1 << UInt64(place) }
            }
            return wanted
        }
    }

    private static func isWanted(_ event: LiveEvent, _ stage: inout Stage) -> Bool {
        let number = event.record.number ?? 0
        switch stage {
        case .live(let last):
            guard number == 0 || number > last else { return false }
            if number > 0, last > 0 { stage = .live(last: number) }
            return true
        case .catchingUp(let seen):
            stage = .catchingUp(seen: max(seen, number))
            return false
        case .ended: return false
        }
    }

    /// Goes live after all stored messages up to `last` were sent; false if newer ones went by meanwhile.
    func goLive(after last: MessageNumber) -> Bool {
        state.withLock { state in
            guard case .catchingUp(let seen) = state.stage else { return true }
            guard seen <= last else { return false }
            state.stage = .live(last: last)
            state.replay = nil
            return true
        }
    }

    /// Ends the member from the server's side.
    func end(_ reason: StreamEnd) {
        if finish() { sink.end(reason) }
    }

    /// Ends the member from the client's side.
    func cancel() { _ = finish() }

    private func finish() -> Bool {
        let (replay, leave, wasRunning) = state.withLock { state in
            let old = state
            state = State(stage: .ended)
            if case .ended = old.stage { return (old.replay, old.leave, false) }
            return (old.replay, old.leave, true)
        }
        replay?.cancel()
        leave?()
        return wasRunning
    }
}
