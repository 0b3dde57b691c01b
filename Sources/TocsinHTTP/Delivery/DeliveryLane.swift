import GraphQLTransport
import NIOCore
import Synchronization

/// What waits for the connections of one owner on one event loop, in the order in which it came.
///
/// Everything a subscription brings goes through the lane of its connection, so that nothing overtakes anything.
final class DeliveryLane: ResponseCourier, Sendable {
    /// What is to be done.
    enum Work {
        /// One thing one subscription brought.
        case one(SocketMailbox, SocketMailbox.Letter)
        /// Responses for some of the sinks they go to.
        case some(ResponseBatch, ArraySlice<any ResponseSink>)
    }

    private enum Letter {
        case one(SocketMailbox, SocketMailbox.Letter)
        case many(ResponseBatch, [any ResponseSink])
    }

    private struct State {
        var letters = CircularBuffer<Letter>()
        /// How many sinks of the first letter have been served.
        var served = 0
        /// How many sinks wait for responses they share.
        var waiting = 0
        /// The loop knows that something waits.
        var isListed = false
        var wakers: [@Sendable () -> Void] = []
    }

    /// Below so many waiting sinks more is welcome: some milliseconds' work.
    private static let roomySinks = 256
    private let owner: String
    private let delivery: LoopDelivery
    private let state = Mutex(State())

    init(owner: String, on delivery: LoopDelivery) {
        self.owner = owner
        self.delivery = delivery
    }

    deinit { delivery.forget(owner) }

    func deliver(_ responses: [SharedResponse], to sinks: [any ResponseSink]) {
        guard !sinks.isEmpty, !responses.isEmpty else { return }
        post(.many(ResponseBatch(responses), sinks), sinks: sinks.count)
    }

    func post(_ letter: SocketMailbox.Letter, to mailbox: SocketMailbox) { post(.one(mailbox, letter), sinks: 0) }

    func hasRoom(orCall wake: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.waiting < Self.roomySinks { return true }
            state.wakers.append(wake)
            return false
        }
    }

    private func post(_ letter: Letter, sinks: Int) {
        let isNews = state.withLock { state in
            state.letters.append(letter)
            state.waiting += sinks
            defer { state.isListed = true }
            return !state.isListed
        }
        if isNews { delivery.enlist(self) }
    }

    /// The next work, for so many sinks at most; when there is none the lane is no longer listed.
    func take(sinks limit: Int) -> Work? {
        let (work, wakers) = state.withLock { state -> (Work?, [@Sendable () -> Void]) in
            guard let letter = state.letters.first else {
                state.isListed = false
                return (nil, [])
            }
            guard case .many(let batch, let sinks) = letter else {
                state.letters.removeFirst()
                if case .one(let mailbox, let content) = letter { return (.one(mailbox, content), []) }
                return (nil, [])
            }
            let end = min(sinks.count, state.served + limit)
            let slice = sinks[state.served..<end]
            state.waiting -= slice.count
            state.served = end
            if end == sinks.count {
                state.letters.removeFirst()
                state.served = 0
            }
            guard state.waiting < Self.roomySinks else { return (.some(batch, slice), []) }
            defer { state.wakers = [] }
            return (.some(batch, slice), state.wakers)
        }
        for wake in wakers { wake() }
        return work
    }
}
