import GraphQLTransport
import Synchronization

/// The sink of one subscription: a slot of its connection's mailbox, until it is closed.
final class SocketSink: ResponseSink {
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

    /// Takes nothing more, so that a stream that goes on for a while takes no one else's place.
    func close() { isClosed.store(true, ordering: .relaxed) }

    /// Who takes what comes by the lane, on the loop; nil when nothing is wanted any more.
    var receiver: (any LetterReceiver)? { isClosed.load(ordering: .relaxed) ? nil : mailbox.receiver }

    private func post(_ content: SocketMailbox.Content) {
        guard !isClosed.load(ordering: .relaxed) else { return }
        mailbox.post(.init(number: number, content: content), by: lane)
    }
}
