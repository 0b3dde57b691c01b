import GraphQLTransport
import NIOCore
import Synchronization

/// What the subscriptions of one connection may leave for it, from any thread; its
/// owner queue carries it to the loop.
///
/// Bounded: what does not fit is told as an overflow, and nothing more is taken. What is left in
/// turns waits for room instead, in a bound of its own.
final class SocketQueue: Sendable {
    /// One thing a subscription brought.
    struct Item: Sendable {
        let number: Int
        let content: Content
    }

    /// A response, or the end.
    enum Content: Sendable {
        case next(SharedResponse)
        case end(StreamEnd)
        /// What was stored before is all sent.
        case caughtUp
        /// Something did not fit: too much, or too many.
        case overflow(SocketMetrics.Slowness)
    }

    /// How much something is.
    struct Load: Sendable {
        var items = 0
        var bytes = 0

        /// Whether so many bytes more stay within a bound; the first always do.
        func takes(_ more: Int, within bound: Load) -> Bool {
            items == 0 || items < bound.items && bytes + more <= bound.bytes
        }
    }

    struct State {
        /// What is on its way to the loop.
        var load = Load()
        var hasOverflowed = false
        /// What was left in turns and is not written yet.
        var stored = Load()
        /// Whose turn it is.
        var holder: Int?
        /// Who waits for a turn, the first to come first.
        var line: [TurnWaiter] = []
        /// Who waits until all is written.
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastTicket = 0
        var receiver: NIOLoopBound<any ItemReceiver>?
    }

    let state = Mutex(State())
    private let maximum: Load
    /// What may be left in turns before it waits.
    let maximumStored: Load

    init(_ settings: HTTPServerSettings) {
        // Between two turns of the loop a publisher may be faster than any peer.
        maximum = Load(items: 4096, bytes: settings.maximumQueueBytes)
        maximumStored = Load(
            items: settings.maximumQueueEvents,
            bytes: min(131_072, settings.maximumQueueBytes / 8)
        )
    }

    /// From now on items are taken, for this receiver.
    func open(_ receiver: NIOLoopBound<any ItemReceiver>) {
        state.withLock { $0.receiver = receiver }
    }

    /// Takes no more items and forgets those it has.
    func close() {
        let old = state.withLock { state in
            defer { state = State() }
            return state
        }
        for waiter in old.waiters.values { waiter.resume() }
        for waiter in old.line { waiter.continuation.resume(returning: false) }
    }

    /// Sends an item by the connection's owner queue.
    func post(_ item: Item, by ownerQueue: OwnerQueue) {
        let posted = state.withLock { state -> Item? in
            guard state.receiver != nil, !state.hasOverflowed else { return nil }
            var item = item
            if state.holder == item.number, state.stored.takes(item.size, within: maximumStored) {
                state.stored.items += 1
                state.stored.bytes += item.size
            } else if let slowness = excess(of: item, state) {
                state.hasOverflowed = true
                item = Item(number: item.number, content: .overflow(slowness))
            }
            state.load.bytes += item.size
            state.load.items += 1
            return item
        }
        if let posted { ownerQueue.post(posted, to: self) }
    }

    /// What is too much with one more item; nil where it fits.
    private func excess(of item: Item, _ state: borrowing State) -> SocketMetrics.Slowness? {
        if state.load.bytes + item.size > maximum.bytes + state.stored.bytes { return .bytes }
        return state.load.items >= maximum.items + state.stored.items ? .events : nil
    }

    /// An item has arrived on the loop; answers whose it is.
    func taken(_ item: Item) -> (any ItemReceiver)? {
        state.withLock { state in
            guard let receiver = state.receiver else { return nil }
            state.load.bytes -= item.size
            state.load.items -= 1
            return receiver.value
        }
    }
}

extension SocketQueue.Item {
    /// About what it is on the wire.
    var size: Int {
        switch content {
        case .next(let response): response.body.count + 64
        case .end(.failed(let errors)): errors.count + 64
        case .end, .caughtUp, .overflow: 64
        }
    }
}
