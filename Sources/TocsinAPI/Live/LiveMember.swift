import GraphQLTransport
import Synchronization
import TocsinCore

/// One subscriber in a group: catches up with stored messages first if it named a cursor, then goes live, so that nothing
/// is missed and nothing comes twice.
///
/// What it was handed last and where it therefore stands change together, under one lock and with the sink's call inside
/// it, so that the cursor a subscription ends with is that of the last response before the end, whoever ends it.
final class LiveMember: RenewableListener, Sendable {
    /// Where the member stands with respect to its feed.
    private enum Stage {
        /// Stored messages are being sent; `seen` is the highest place that went by live meanwhile.
        case catchingUp(seen: Int64)
        /// Live events go straight to the sink.
        case live
        case ended
    }

    private struct State {
        var stage: Stage
        /// The place of what was handed over last, or behind which the member began; no meaning without a feed.
        var last: Int64
        var replay: Task<Void, Never>?
        var leave: (@Sendable () -> Void)?
    }

    private let identity: Mutex<Identity>
    let sink: any ResponseSink
    /// The last commit that was handed to the feed before this member joined.
    let joinedAfter: Int
    private let isInFeed: Bool
    private let state: Mutex<State>

    init(caller: Identity, sink: any ResponseSink, joinedAfter: Int, start: FeedStart?) {
        identity = Mutex(caller)
        self.sink = sink
        self.joinedAfter = joinedAfter
        isInFeed = start != nil
        state = Mutex(State(stage: start?.replays == true ? .catchingUp(seen: 0) : .live, last: start?.after ?? 0))
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

    /// Hands over a live event, unless stored messages must come first or it was sent already; `place` is where it stands
    /// in the group's feed.
    func offer(_ response: SharedResponse, at place: Int64?) {
        state.withLock { state in
            switch state.stage {
            case .live:
                if let place, isInFeed {
                    guard place > state.last else { return }
                    state.last = place
                }
                sink.next(response)
            case .catchingUp(let seen): state.stage = .catchingUp(seen: max(seen, place ?? 0))
            case .ended: return
            }
        }
    }

    /// Hands over a stored message, or passes over one that the subscriber does not want; false when nothing more is
    /// wanted.
    func replay(_ response: SharedResponse?, at place: Int64) -> Bool {
        state.withLock { state in
            guard case .catchingUp = state.stage else { return false }
            state.last = place
            if let response { sink.next(response) }
            return true
        }
    }

    /// Goes live after all stored messages up to `place` were sent; false if newer ones went by meanwhile.
    func goLive(after place: Int64) -> Bool {
        state.withLock { state in
            guard case .catchingUp(let seen) = state.stage else { return true }
            guard seen <= place else { return false }
            state.stage = .live
            state.last = place
            state.replay = nil
            return true
        }
    }

    /// Ends the member from the server's side.
    func end(_ reason: StreamEnd) { end { _ in reason } }

    /// Ends the member from the server's side, with a reason made of where it stands in its feed.
    func end(_ reason: (_ place: Int64?) -> StreamEnd) {
        finish { last in sink.end(reason(isInFeed ? last : nil)) }
    }

    /// Ends the member from the client's side.
    func cancel() { finish { _ in } }

    private func finish(_ tell: (_ last: Int64) -> Void) {
        let old = state.withLock { state in
            let old = state
            if case .ended = old.stage { return old }
            state = State(stage: .ended, last: old.last)
            tell(old.last)
            return old
        }
        old.replay?.cancel()
        old.leave?()
    }
}
