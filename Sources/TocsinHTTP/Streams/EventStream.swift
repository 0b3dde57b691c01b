import GraphQLTransport
import NIOCore

/// The running answer to one request: pieces of a stream out, until its session ends it.
///
/// Confined to its event loop; `stop` must be called in the end, and does no harm when it is over.
final class EventStream<Service: GraphQLService> {
    /// How a stream comes to its end.
    enum End {
        /// It is whole; the connection may go on.
        case complete
        /// It is cut: the peer did not read.
        case cut
    }

    private let performer: SocketPerformer<Service>
    private let queue: OutboundQueue
    private let isChunked: Bool
    private var ended: ((End) -> Void)?

    /// A stream that has not begun.
    init(
        _ opening: EventStreamOpening<Service.Caller>,
        _ parts: ServerParts<Service>,
        _ writer: WatchedWriter,
        loop: any EventLoop,
        isChunked: Bool
    ) {
        let session = EventStreamSession(
            opening.content,
            lastEventID: opening.lastEventID,
            limits: parts.settings.session
        )
        performer = SocketPerformer(parts, session, loop: loop)
        queue = OutboundQueue(writer, settings: parts.settings)
        self.isChunked = isChunked
    }

    /// Whether the caller may have one more stream.
    func admit(_ caller: Service.Caller) -> Bool { performer.admit(caller) }

    /// Writes the head, then what the session brings; `ended` is told once, when all of it has been taken.
    func start(_ head: ByteBuffer, _ context: ChannelHandlerContext, ended: @escaping (End) -> Void) {
        self.ended = ended
        queue.context = context
        queue.drained = { [performer] in performer.allWritten() }
        var head = head
        _ = queue.append { $0.writeBuffer(&head) }
        performer.start { [self] in send($0) }
    }

    /// The server stops.
    func shutdown() { performer.handle(.shutdown) }

    /// The peer has gone; nothing more is written.
    func stop() {
        ended = nil
        performer.stop()
        queue.stop()
    }

    private func send(_ output: SocketPerformer<Service>.Output) {
        guard ended != nil else { return }
        queue.isHeld = performer.isReceiving
        switch output {
        case .text(let message):
            let isWithinBounds = queue.append(events: 1) { $0.writePiece(message, isChunked: isChunked) }
            if !isWithinBounds { finish(.cut) }
        case .batch(let batch, let envelope):
            let bytes = batch.bytes(envelope, isChunked ? .chunks : .plain)
            if !queue.append(bytes, events: batch.count) { finish(.cut) }
        case .close(SocketCloseCode.tryAgainLater.rawValue, _): finish(.cut)
        case .close:
            if isChunked { _ = queue.append { $0.writeLastChunk() } }
            queue.drained = { [self] in finish(.complete) }
            queue.flush()
        case .settled:
            queue.flush()
            if queue.isEmpty { performer.allWritten() }
        // Only sockets carry these.
        case .binary, .pong: break
        }
    }

    private func finish(_ end: End) {
        let ended = ended
        stop()
        ended?(end)
    }
}
