import GraphQLTransport
import NIOCore
import Synchronization

/// Hands what subscriptions bring to the connections of one event loop: a little in each turn, the
/// owners one after the other, so that neither requests nor other owners wait for a fan-out.
final class LoopBroadcaster: Sendable {
    private struct WeakQueue {
        weak var queue: OwnerQueue?
    }

    private struct State {
        var queues: [String: WeakQueue] = [:]
        /// Those with work, in their order.
        var listed = CircularBuffer<OwnerQueue>()
        var isTurnDue = false
    }

    /// A write costs about as much as handling so many items.
    private static let effortOfSink = 8
    /// Less would spend much on coming back: between turns the loop looks through the
    /// timers of all its connections.
    private static let effortOfTurn = 384
    /// What one owner gets before another is looked after.
    private static let sinksAtOnce = 8
    /// Runs the tasks of the loop's connections.
    let executor: LoopExecutor
    private let loop: any EventLoop
    private let state = Mutex(State())

    init(_ loop: any EventLoop) {
        self.loop = loop
        executor = LoopExecutor(loop)
    }

    /// The queue of an owner's connections.
    func queue(of owner: String) -> OwnerQueue {
        state.withLock { state in
            if let queue = state.queues[owner]?.queue { return queue }
            let queue = OwnerQueue(owner: owner, on: self)
            state.queues[owner] = WeakQueue(queue: queue)
            return queue
        }
    }

    /// The queue of an owner has gone, unless there is a new one.
    func forget(_ owner: String) {
        let newer = state.withLock { state in
            let queue = state.queues[owner]?.queue
            if queue == nil { state.queues[owner] = nil }
            return queue
        }
        // If that is the last reference to it, it comes here itself: not while the lock is held.
        withExtendedLifetime(newer) {}
    }

    /// The queue has work.
    func schedule(_ queue: OwnerQueue) {
        let isFirst = state.withLock { state in
            state.listed.append(queue)
            guard !state.isTurnDue else { return false }
            state.isTurnDue = true
            return true
        }
        if isFirst { loop.execute { self.turn() } }
    }

    private func turn() {
        var receivers: [any ItemReceiver] = []
        var outlets: [OutboundQueue] = []
        var watches: [any WriteWatch] = []
        var effort = 0
        while effort < Self.effortOfTurn, let queue = state.withLock({ $0.listed.popFirst() }) {
            guard let work = queue.take(sinks: Self.sinksAtOnce) else { continue }
            switch work {
            case .one(let socketQueue, let item):
                effort += 1
                guard let receiver = socketQueue.taken(item) else { break }
                if !receiver.isReceiving {
                    receiver.isReceiving = true
                    receivers.append(receiver)
                }
                receiver.receive(item)
            case .some(let write):
                effort += Self.effortOfSink * write.sinks.count
                for sink in write.sinks {
                    if let outlet = (sink as? SocketSink)?.pass(write.batch) { outlets.append(outlet) }
                }
                watches += write.watches
            }
            state.withLock { $0.listed.append(queue) }
        }
        // What one connection has received in this turn is one write.
        for receiver in receivers { receiver.settle() }
        for outlet in outlets { outlet.settle() }
        for watch in watches { watch.written() }
        let goesOn = state.withLock { state in
            state.isTurnDue = !state.listed.isEmpty
            return state.isTurnDue
        }
        if goesOn { continueSoon() }
    }

    /// A loop runs everything that is due before it looks at its sockets again: what shall not keep
    /// them waiting is due a moment later.
    private func continueSoon() {
        loop.assumeIsolated().scheduleTask(deadline: .now() + .microseconds(2)) { self.turn() }
    }
}

/// A connection, as what subscriptions bring reaches it; confined to its event loop.
protocol ItemReceiver: AnyObject {
    /// It has received something that was not settled yet. Set by who hands it over.
    var isReceiving: Bool { get set }
    /// Takes what one subscription brought.
    func receive(_ item: SocketQueue.Item)
    /// All of this turn has been received: it may be written.
    func settle()
}

/// The broadcasters of a server's event loops.
final class LoopBroadcasters: Sendable {
    private let loops = Mutex<[ObjectIdentifier: LoopBroadcaster]>([:])

    /// The broadcaster of a loop.
    func broadcaster(on loop: any EventLoop) -> LoopBroadcaster {
        loops.withLock { loops in
            let key = ObjectIdentifier(loop)
            if let broadcaster = loops[key] { return broadcaster }
            let broadcaster = LoopBroadcaster(loop)
            loops[key] = broadcaster
            return broadcaster
        }
    }
}
