import GraphQLTransport
import Synchronization

/// The sink of one subscription: a slot of its connection's queue, until it is closed.
final class SocketSink: ResponseSink {
    private struct State {
        /// Where responses for many go; nil when nothing is wanted any more.
        var outlet: OutboundQueue?
        /// Where in its stream the last response that was sent stands.
        var lastCursor: String?
    }

    // Confined to the connection's loop, as the next. They come first: a fan-out
    // reads them of every sink.
    nonisolated(unsafe) private var state = State()
    // Confined to the loop; apart from the others, which may be read while it is lent.
    nonisolated(unsafe) private var envelope = ResponseEnvelope.event
    /// Whose subscription it is, where these are counted.
    let group: String?
    let number: Int
    private let socketQueue: SocketQueue
    private let ownerQueue: OwnerQueue
    private let isClosed = Atomic(false)

    init(number: Int, group: String?, socketQueue: SocketQueue, ownerQueue: OwnerQueue) {
        self.number = number
        self.group = group
        self.socketQueue = socketQueue
        self.ownerQueue = ownerQueue
    }

    var sender: (any ResponseSender)? { ownerQueue }

    func next(_ response: SharedResponse) { post(.next(response)) }

    func end(_ reason: StreamEnd) { post(.end(reason)) }

    func caughtUp() { post(.caughtUp) }

    func turn(_ body: () async -> Bool) async -> Bool { await socketQueue.turn(of: number, body) }

    func room(for response: SharedResponse) async {
        await socketQueue.room(for: SocketQueue.Item(number: number, content: .next(response)))
    }

    func allTaken() async { await socketQueue.allTaken() }

    /// From now on responses for many go there in this envelope; on the loop.
    func open(_ outlet: OutboundQueue?, _ envelope: ResponseEnvelope?) {
        guard let envelope else { return }
        self.envelope = envelope
        state.outlet = outlet
    }

    /// Takes nothing more, so that a stream that goes on for a while holds no one else up; on the
    /// loop.
    func close() {
        state.outlet = nil
        isClosed.store(true, ordering: .relaxed)
    }

    /// Passes on what many get, on the loop, and answers what is to be settled for it
    /// at the end of this turn.
    func pass(_ batch: ResponseBatch) -> OutboundQueue? {
        guard let outlet = state.outlet else { return nil }
        note(batch.lastCursor)
        return outlet.append(batch, &envelope) ? outlet : nil
    }

    /// The response with this cursor is sent now; on the loop.
    func note(_ cursor: String?) {
        if let cursor { state.lastCursor = cursor }
    }

    /// Where in its stream the last response that was sent stands; on the loop.
    var lastCursor: String? { state.lastCursor }

    private func post(_ content: SocketQueue.Content) {
        guard !isClosed.load(ordering: .relaxed) else { return }
        socketQueue.post(.init(number: number, content: content), by: ownerQueue)
    }
}
