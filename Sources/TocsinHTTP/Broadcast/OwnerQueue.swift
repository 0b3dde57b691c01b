import GraphQLTransport
import NIOCore
import Synchronization

/// What waits for the connections of one owner on one event loop, in the order in which it came.
///
/// Everything a subscription brings goes through the queue of its connection, so that
/// nothing overtakes anything.
final class OwnerQueue: ResponseSender, Sendable {
    /// What is to be done.
    enum Work {
        /// One thing one subscription brought.
        case one(SocketQueue, SocketQueue.Item)
        /// Responses for some of the sinks they go to.
        case some(SharedWrite.Turn)
    }

    fileprivate enum Item {
        case one(SocketQueue, SocketQueue.Item)
        case many(SharedWrite)
    }

    fileprivate struct State {
        var items = CircularBuffer<Item>()
        /// How many writes to sinks wait.
        var writes = 0
        /// The loop knows that something waits.
        var isListed = false
        var wakers: [@Sendable () -> Void] = []

        /// The write that responses for these sinks can join: the last item, so
        /// that nothing is overtaken.
        func joinable(_ sinks: [any ResponseSink]) -> SharedWrite? {
            guard case .many(let write)? = items.last, write.isFor(sinks) else { return nil }
            return write
        }
    }

    /// Below so many waiting writes more is welcome: some milliseconds' work.
    fileprivate static let roomyWrites = 256
    private let owner: String
    private let broadcaster: LoopBroadcaster
    private let state = Mutex(State())

    init(owner: String, on broadcaster: LoopBroadcaster) {
        self.owner = owner
        self.broadcaster = broadcaster
    }

    deinit { broadcaster.forget(owner) }

    func send(_ responses: [SharedResponse], to sinks: [any ResponseSink], _ watch: (any WriteWatch)?) {
        guard !sinks.isEmpty, !responses.isEmpty else { return }
        let isNews = state.withLock { state in
            var write: SharedWrite
            if let running = state.joinable(sinks) {
                state.items.removeLast()
                write = running
            } else {
                write = SharedWrite(sinks)
            }
            state.writes -= write.sinksLeft
            write.join(responses, watch)
            state.writes += write.sinksLeft
            return state.append(.many(write))
        }
        if isNews { broadcaster.schedule(self) }
    }

    func post(_ item: SocketQueue.Item, to socketQueue: SocketQueue) {
        if state.withLock({ $0.append(.one(socketQueue, item)) }) { broadcaster.schedule(self) }
    }

    func hasRoom(for sinks: [any ResponseSink], orCall wake: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.joinable(sinks).map({ $0.hasRoom }) ?? (state.writes < Self.roomyWrites) { return true }
            state.wakers.append(wake)
            return false
        }
    }

    /// The next work, for so many sinks at most; when there is none the queue is no longer listed.
    func take(sinks limit: Int) -> Work? {
        let (work, wakers) = state.withLock { $0.take(limit) }
        for wake in wakers { wake() }
        return work
    }
}

extension OwnerQueue.State {
    /// Answers whether the loop must be told.
    mutating func append(_ item: OwnerQueue.Item) -> Bool {
        items.append(item)
        defer { isListed = true }
        return !isListed
    }

    /// The next work, and whom to wake.
    mutating func take(_ limit: Int) -> (OwnerQueue.Work?, [@Sendable () -> Void]) {
        switch items.popFirst() {
        case nil:
            isListed = false
            return (nil, [])
        case .one(let socketQueue, let item)?: return (.one(socketQueue, item), [])
        case .many(var write)?:
            writes -= write.sinksLeft
            let turn = write.take(limit)
            writes += write.sinksLeft
            if !write.isOver { items.prepend(.many(write)) }
            guard turn.isLess || writes < OwnerQueue.roomyWrites else { return (.some(turn), []) }
            defer { wakers = [] }
            return (.some(turn), wakers)
        }
    }
}
