import Encodings
import GraphQLTransport
import Metrics
import NIOCore

/// The running answer to one request: pieces of a stream out, until its session ends it.
///
/// Confined to its event loop; `stop` must be called in the end, and does no harm when it is over.
final class EventStream<Service: GraphQLService> {
    private let performer: SocketPerformer<Service>
    private let queue: OutboundQueue
    private let isChunked: Bool
    /// The request's.
    private let id: String
    private let address: String?
    private let accessLog: AccessLog
    private var ended: (() -> Void)?
    /// The peer does not read: only the goodbye is appended, whatever waits.
    private var isGivingUp = false

    /// A stream that has not begun.
    init(
        _ opening: EventStreamOpening<Service.Caller>,
        _ parts: ServerParts<Service>,
        _ writer: WatchedWriter,
        loop: any EventLoop,
        for request: IncomingRequest
    ) {
        (id, address) = (request.id, request.credentials.remoteAddress)
        (accessLog, isChunked) = (parts.accessLog, !request.head.isHTTP10)
        let session = EventStreamSession(
            opening.content,
            lastEventID: opening.lastEventID,
            limits: parts.settings.session
        )
        performer = SocketPerformer(parts, session, loop: loop, client: request.clientAddress)
        queue = OutboundQueue(
            writer,
            isChunked ? .chunks : .plain,
            performer.metrics,
            parts.budget,
            settings: parts.settings
        )
    }

    /// Whether the caller may have one more stream.
    func admit(_ caller: Service.Caller) -> Bool { performer.admit(caller) }

    /// Writes the head, then what the session brings; `ended` is told once, when
    /// all of it has been taken.
    func start(_ head: ByteBuffer, _ context: ChannelHandlerContext, ended: @escaping () -> Void) {
        self.ended = ended
        performer.metrics.sockets.add(1)
        queue.context = context
        queue.drained = { [performer] in performer.allWritten() }
        queue.exceeded = { [self] in exceeded() }
        queue.wasCut = { [performer, accessLog, id, address] reason in
            accessLog.recordCut(of: id, because: reason, user: performer.owner, address: address)
        }
        queue.stored = { [performer] in performer.stored }
        queue.holder = { [performer] in performer.holder }
        var head = head
        queue.append { $0.writeBuffer(&head) }
        performer.start(queue) { [self] in send($0) }
    }

    /// The server stops.
    func shutdown() { performer.handle(.shutdown) }

    /// The peer has gone; nothing more is written.
    func stop() {
        if ended != nil { performer.metrics.sockets.add(-1) }
        ended = nil
        performer.stop()
        queue.stop()
    }

    private func send(_ output: SocketPerformer<Service>.Output) {
        guard ended != nil else { return }
        queue.isHeld = performer.isReceiving
        switch output {
        case .text(let message): queue.append(events: 1) { $0.writePiece(message, isChunked: isChunked) }
        case .close:
            queue.drained = { [self] in finish() }
            // Without chunks too: then nothing is to be written, but the end of what
            // is under way to be told.
            queue.append { [isChunked] in if isChunked { $0.writeLastChunk() } }
            queue.flush()
        case .settled:
            queue.isEmpty ? performer.allWritten() : queue.flushToEnd()
        // Only sockets carry these.
        case .binary, .pong: break
        }
    }

    private func exceeded() {
        guard !isGivingUp else { return }
        isGivingUp = true
        performer.overflowed()
    }

    private func finish() {
        let ended = ended
        stop()
        ended?()
    }
}
