import GraphQLTransport
import Synchronization
import TocsinCore

/// One subscriber in a group.
///
/// If it named a cursor it first gets the stored messages after it, then live ones. Nothing is
/// missed, and nothing comes twice.
///
/// Its position changes under the lock that hands a response over, the sink's call included, or
/// under the lock of the group's order. So the cursor that a subscription ends with is that of its
/// last response, whatever ends it.
final class LiveMember: RenewableListener, Sendable {
    /// Where the member stands with respect to its feed.
    private enum Stage {
        /// Stored messages are being sent; `seen` is the highest offset that went by live
        /// meanwhile.
        case catchingUp(seen: Int64)
        /// Live events go straight to the sink.
        case live
        case ended
    }

    /// Who joins, and from where on.
    struct Joining {
        var caller: Identity
        var sink: any ResponseSink
        var start: FeedStart?
        /// Given where the member lasts as long as a grant.
        var grantQuestion: GrantQuestion?
        var hold: GrantHold?
    }

    private struct State {
        var stage: Stage
        /// The offset of what was handed over last, or behind which the member began; no meaning
        /// without a feed.
        var last: Int64
        /// The mark of the message there, where one is known.
        var mark: MessageMark?
        var replay: Task<Void, Never>?
        var leave: (@Sendable () -> Void)?
    }

    private let identity: Mutex<Identity>
    let sink: any ResponseSink
    /// The last commit that was handed to the feed before this member joined.
    let joinedAfter: Int
    /// What is asked of grants, where the member lasts as long as one.
    let grantQuestion: GrantQuestion?
    /// Keeps what is known of the member's grants.
    private let hold: GrantHold?
    private let isInFeed: Bool
    private let order: LiveOrder
    private let state: Mutex<State>

    init(_ joining: Joining, joinedAfter: Int, order: LiveOrder) {
        let start = joining.start
        identity = Mutex(joining.caller)
        sink = joining.sink
        grantQuestion = joining.grantQuestion
        hold = joining.hold
        self.joinedAfter = joinedAfter
        isInFeed = start != nil
        self.order = order
        state = Mutex(
            State(
                stage: start?.replays == true ? .catchingUp(seen: 0) : .live,
                last: start?.after ?? 0,
                mark: start?.mark
            )
        )
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

    /// Which of these events it is to hear now, as bits, the first event's the lowest.
    ///
    /// Not what was committed before it joined, nor what it has had, nor what stored messages come
    /// before. Whoever asks hands the rest over before the group's order is given up.
    func wants(_ events: ArraySlice<LiveEvent>) -> UInt64 {
        state.withLock { state in
            var wanted: UInt64 = 0
            for (index, event) in events.enumerated() where joinedAfter < event.commit {
                if isWanted(event, &state) { wanted |= 1 << UInt64(index) }
            }
            return wanted
        }
    }

    private func isWanted(_ event: LiveEvent, _ state: inout State) -> Bool {
        switch state.stage {
        case .live:
            guard let offset = event.offset, isInFeed else { return true }
            guard offset > state.last else { return false }
            (state.last, state.mark) = (offset, event.mark)
            return true
        case .catchingUp(let seen):
            state.stage = .catchingUp(seen: max(seen, event.offset ?? 0))
            return false
        case .ended: return false
        }
    }

    /// Hands over a stored message, or passes over one that the subscriber does not want; false
    /// when nothing more is wanted.
    func replay(_ response: SharedResponse?, at offset: Int64, _ mark: MessageMark) -> Bool {
        state.withLock { state in
            guard case .catchingUp = state.stage else { return false }
            (state.last, state.mark) = (offset, mark)
            if let response { sink.next(response) }
            return true
        }
    }

    /// Goes live after all stored messages up to `offset` were sent; false if newer ones went by
    /// meanwhile.
    func goLive(after offset: Int64) -> Bool {
        state.withLock { state in
            guard case .catchingUp(let seen) = state.stage else { return true }
            guard seen <= offset else { return false }
            state.stage = .live
            if offset != state.last { (state.last, state.mark) = (offset, nil) }
            state.replay = nil
            sink.caughtUp()
            return true
        }
    }

    /// Ends the member from the server's side.
    func end(_ reason: StreamEnd) { end { _, _ in reason } }

    /// Ends the member from the server's side, with a reason made of where it stands in its feed.
    func end(_ reason: (_ offset: Int64?, _ mark: MessageMark?) -> StreamEnd) {
        order.lock { finish { last, mark in sink.end(reason(isInFeed ? last : nil, mark)) } }?()
    }

    /// Ends the member from the client's side.
    func cancel() { finish { _, _ in }?() }

    /// Ends it; answers what is left to do without a lock, nil when it had ended before.
    private func finish(_ tell: (_ last: Int64, _ mark: MessageMark?) -> Void) -> (() -> Void)? {
        let old = state.withLock { state -> State? in
            let old = state
            if case .ended = old.stage { return nil }
            state = State(stage: .ended, last: old.last)
            tell(old.last, old.mark)
            return old
        }
        guard let old else { return nil }
        return { [hold] in
            old.replay?.cancel()
            old.leave?()
            hold?.release()
        }
    }
}

/// The order in which a group's members are told things: while a delivery to all is under
/// way none of them is ended.
final class LiveOrder: Sendable {
    private let mutex = Mutex(())

    /// Runs `body` alone; it may take members' locks, and no other.
    func lock<Result>(_ body: () -> Result) -> Result { mutex.withLock { _ in body() } }
}
