import GraphQLTransport
import NIOCore
import Synchronization

/// What waits for the connections of one owner on one event loop, in the order in which it came.
///
/// Everything a subscription brings goes through the lane of its connection, so that
/// nothing overtakes anything.
final class OwnerQueue: ResponseCourier, Sendable {
    /// What is to be done.
    enum Work {
        /// One thing one subscription brought.
        case one(SocketMailbox, SocketMailbox.Letter)
        /// Responses for some of the sinks they go to.
        case some(ResponseBatch, ArraySlice<any ResponseSink>)
    }

    fileprivate enum Letter {
        case one(SocketMailbox, SocketMailbox.Letter)
        case many(SharedWrite)
    }

    fileprivate struct State {
        var letters = CircularBuffer<Letter>()
        /// How many writes to sinks wait.
        var writes = 0
        /// The loop knows that something waits.
        var isListed = false
        var wakers: [@Sendable () -> Void] = []

        /// The round that responses for these sinks can join: the last letter, so
        /// that nothing is overtaken.
        func joinable(_ sinks: [any ResponseSink]) -> SharedWrite? {
            guard case .many(let round)? = letters.last, round.isFor(sinks) else { return nil }
            return round
        }
    }

    /// Below so many waiting writes more is welcome: some milliseconds' work.
    fileprivate static let roomyWrites = 256
    private let owner: String
    private let delivery: LoopBroadcaster
    private let state = Mutex(State())

    init(owner: String, on delivery: LoopBroadcaster) {
        self.owner = owner
        self.delivery = delivery
    }

    deinit { delivery.forget(owner) }

    func deliver(_ responses: [SharedResponse], to sinks: [any ResponseSink]) {
        guard !sinks.isEmpty, !responses.isEmpty else { return }
        let isNews = state.withLock { state in
            var round: SharedWrite
            if let running = state.joinable(sinks) {
                state.letters.removeLast()
                round = running
            } else {
                round = SharedWrite(sinks)
            }
            state.writes -= round.writes
            round.join(responses)
            state.writes += round.writes
            return state.append(.many(round))
        }
        if isNews { delivery.enlist(self) }
    }

    func post(_ letter: SocketMailbox.Letter, to mailbox: SocketMailbox) {
        if state.withLock({ $0.append(.one(mailbox, letter)) }) { delivery.enlist(self) }
    }

    func hasRoom(for sinks: [any ResponseSink], orCall wake: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.joinable(sinks).map({ $0.hasRoom }) ?? (state.writes < Self.roomyWrites) { return true }
            state.wakers.append(wake)
            return false
        }
    }

    /// The next work, for so many sinks at most; when there is none the lane is no longer listed.
    func take(sinks limit: Int) -> Work? {
        let (work, wakers) = state.withLock { $0.take(limit) }
        for wake in wakers { wake() }
        return work
    }
}

extension OwnerQueue.State {
    /// Answers whether the loop must be told.
    mutating func append(_ letter: OwnerQueue.Letter) -> Bool {
        letters.append(letter)
        defer { isListed = true }
        return !isListed
    }

    /// The next work, and whom to wake.
    mutating func take(_ limit: Int) -> (OwnerQueue.Work?, [@Sendable () -> Void]) {
        switch letters.popFirst() {
        case nil:
            isListed = false
            return (nil, [])
        case .one(let mailbox, let letter)?: return (.one(mailbox, letter), [])
        case .many(var round)?:
            writes -= round.writes
            let (slice, batch, isLess) = round.take(limit)
            writes += round.writes
            if !round.isOver { letters.prepend(.many(round)) }
            guard isLess || writes < OwnerQueue.roomyWrites else { return (.some(batch, slice), []) }
            defer { wakers = [] }
            return (.some(batch, slice), wakers)
        }
    }
}
