import GraphQLTransport
import Synchronization

/// The sink of one subscription: a slot of its connection's mailbox, until it is closed.
final class SocketSink: ResponseSink {
    // The next three are confined to the loop of the connection. They come first: a fan-out reads them of every sink.
    /// Where responses for many go; nil when nothing is wanted any more.
    nonisolated(unsafe) private var outlet: OutboundQueue?
    // Confined to the loop.
    nonisolated(unsafe) private var envelope = ResponseEnvelope.event
    /// Where in its stream the last response that was sent stands.
    // Confined to the loop.
    nonisolated(unsafe) private(set) var lastCursor: String?
    /// Whose subscription it is, where these are counted.
    let group: String?
    let number: Int
    private let mailbox: SocketMailbox
    private let lane: DeliveryLane
    private let isClosed = Atomic(false)

    init(number: Int, group: String?, mailbox: SocketMailbox, lane: DeliveryLane) {
        self.number = number
        self.group = group
        self.mailbox = mailbox
        self.lane = lane
    }

    var courier: (any ResponseCourier)? { lane }

    func next(_ response: SharedResponse) { post(.next(response)) }

    func end(_ reason: StreamEnd) { post(.end(reason)) }

    func turn(_ body: () async -> Bool) async -> Bool { await mailbox.turn(of: number, body) }

    func room(for response: SharedResponse) async {
        await mailbox.room(for: SocketMailbox.Letter(number: number, content: .next(response)))
    }

    /// From now on responses for many go there in this envelope; on the loop.
    func open(_ outlet: OutboundQueue?, _ envelope: ResponseEnvelope?) {
        guard let envelope else { return }
        self.envelope = envelope
        self.outlet = outlet
    }

    /// Takes nothing more, so that a stream that goes on for a while takes no one else's place; on the loop.
    func close() {
        outlet = nil
        isClosed.store(true, ordering: .relaxed)
    }

    /// Passes on what many get, on the loop, and answers what is to be settled for it at the end of this turn.
    func pass(_ batch: ResponseBatch) -> OutboundQueue? {
        guard let outlet else { return nil }
        note(batch.lastCursor)
        return outlet.append(batch, &envelope) ? outlet : nil
    }

    /// The response with this cursor is sent now; on the loop.
    func note(_ cursor: String?) {
        if let cursor { lastCursor = cursor }
    }

    private func post(_ content: SocketMailbox.Content) {
        guard !isClosed.load(ordering: .relaxed) else { return }
        mailbox.post(.init(number: number, content: content), by: lane)
    }
}
