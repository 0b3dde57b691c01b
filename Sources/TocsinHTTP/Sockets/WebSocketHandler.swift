import GraphQLTransport
import Logging
import Metrics
import NIOCore

/// One socket: frames in and out, pings and the closing handshake.
///
/// Confined to its event loop. What the messages mean is its performer's
/// and its session's business.
final class WebSocketHandler<Service: GraphQLService>: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How far the closing handshake is.
    enum Phase {
        case open
        /// Our close frame is on its way or out; the peer's is awaited if it can come.
        case closing(awaitsPeer: Bool)
        /// Nothing more is sent.
        case ended
    }

    private let parts: ServerParts<Service>
    private let id: String
    /// The client's.
    private let address: String?
    /// The code with which the server has closed the socket.
    private var closeCode: Int?
    /// How the socket has ended, or would if it were dropped now.
    private var ending = SocketMetrics.End.dropped
    private let registration: ConnectionRegistration?
    private let performer: SocketPerformer<Service>
    private let writer: WatchedWriter
    private let queue: OutboundQueue
    private let deadline: ConnectionDeadline
    private var reader: FrameReader
    private var context: ChannelHandlerContext?
    private var phase = Phase.open
    private var awaitsPong = false
    private var rate: MessageRate
    /// The peer does not read: only the goodbyes are appended, whatever waits.
    private var isGivingUp = false

    init(
        _ parts: ServerParts<Service>,
        _ session: any SocketSession,
        channel: any Channel,
        _ request: IncomingRequest,
        _ registration: ConnectionRegistration?
    ) {
        self.parts = parts
        self.registration = registration
        id = request.id
        address = request.credentials.remoteAddress
        performer = SocketPerformer(parts, session, loop: channel.eventLoop, client: request.clientAddress)
        performer.source = request.source
        writer = WatchedWriter(channel, settings: parts.settings)
        queue = OutboundQueue(writer, .webSocket, performer.metrics, parts.budget, settings: parts.settings)
        deadline = ConnectionDeadline(channel.eventLoop)
        rate = MessageRate(perSecond: parts.settings.messagesPerSecond, burst: parts.settings.messageBurst)
        let settings = parts.settings
        reader = FrameReader(
            maximumBytes: min(settings.maximumMessageBytes, settings.maximumMessageBytesOfStrangers)
        )
        // Until its peer has shown who it is.
        registration?.standing = .stranger
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        performer.metrics.sockets.add(1)
        queue.context = context
        queue.drained = { [self] in drained() }
        queue.exceeded = { [self] in exceeded() }
        queue.wasCut = { [self] reason in
            parts.accessLog.recordCut(of: id, because: reason, user: performer.owner, address: address)
        }
        queue.stored = { [performer] in performer.stored }
        queue.holder = { [performer] in performer.holder }
        performer.letIn = { [self] in
            reader.maximumBytes = parts.settings.maximumMessageBytes
            registration?.standing = .busy
        }
        parts.settings.metrics?.webSockets.add()
        schedulePing()
        performer.start(queue) { [self] in send($0) }
        if parts.registry.isStopping { performer.handle(.shutdown) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
        parts.settings.metrics?.webSockets.add(-1)
        parts.accessLog.recordEnd(
            ofSocket: id,
            isStrangers: performer.caller == nil,
            user: performer.owner,
            code: closeCode,
            address: address
        )
        end()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        heard()
        reader.append(unwrapInboundIn(data))
        while let outcome = reader.next() { received(outcome) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(mode: .all, promise: nil) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let stop = event as? ServerStops { tell(of: stop, on: context.eventLoop) }
        if event is AccessEnds { performer.lookForAccess() }
        if case .inputClosed? = event as? ChannelEvent { context.close(mode: .all, promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    private func tell(of stop: ServerStops, on loop: any EventLoop) {
        guard stop.delay > .zero else { return performer.handle(.shutdown) }
        loop.assumeIsolated().scheduleTask(in: stop.delay) { [self] in
            if context != nil { performer.handle(.shutdown) }
        }
    }

    private func received(_ outcome: FrameReader.Outcome) {
        switch (phase, outcome) {
        case (.ended, _): break
        case (.closing, .close): closeChannel()
        case (.closing, _): break
        case (_, .text), (_, .binary), (_, .ping), (_, .pong), (_, .piece):
            guard rate.take() else {
                // A flood goes on: nothing of it is looked at any more, the
                // peer's goodbye among it.
                reader.stop()
                let code = SocketCloseCode.tooManyRequests.rawValue
                close(code: code, reason: "Too many messages; send fewer a second", awaitsPeer: false)
                return
            }
            receivedMessage(outcome)
        case (_, .close(let code)): close(code: code, reason: "", awaitsPeer: false)
        case (_, .failure(let code, let reason)): close(code: code.rawValue, reason: reason, awaitsPeer: false)
        }
    }

    private func receivedMessage(_ message: FrameReader.Outcome) {
        switch message {
        case .text(let bytes): performer.handle(.text(bytes))
        case .binary(let bytes): performer.handle(.binary(bytes))
        case .ping(let payload): performer.handle(.pingFrame(payload))
        case .pong, .piece, .close, .failure: break
        }
    }

    private func end() {
        guard context != nil else { return }
        context = nil
        phase = .ended
        performer.metrics.sockets.add(-1)
        parts.sockets.ends[ending].add()
        performer.stop()
        deadline.cancel()
        writer.stop()
        queue.stop()
    }
}

// Sending.
extension WebSocketHandler {
    private func send(_ output: SocketPerformer<Service>.Output) {
        guard case .open = phase else { return }
        queue.isHeld = performer.isReceiving
        switch output {
        case .text(let message): queue.append(events: 1) { $0.writeTextFrame(message) }
        case .binary(let bytes): queue.append(events: 1) { $0.writeBinaryFrame(bytes) }
        case .pong(let payload): queue.append { $0.writeControlFrame(.pong, payload) }
        case .close(let code, let reason): close(code: code, reason: reason, awaitsPeer: true)
        case .settled: queue.isEmpty ? performer.allWritten() : queue.flushToEnd()
        }
    }

    private func exceeded() {
        guard case .open = phase, !isGivingUp else { return }
        isGivingUp = true
        performer.overflowed()
        // A session that has no words for it.
        close(code: SocketCloseCode.tryAgainLater.rawValue, reason: "Too much is waiting to be read", awaitsPeer: true)
    }

    /// Everything is out; a closing socket waits for the peer, but not for long.
    private func drained() {
        guard case .closing(let awaitsPeer) = phase else { return performer.allWritten() }
        deadline.set(milliseconds: parts.settings.lingerMilliseconds) { [self] in closeChannel() }
        if !awaitsPeer { context?.close(mode: .output, promise: nil) }
    }

    /// Begins the closing handshake, or ends the peer's.
    private func close(code: UInt16?, reason: String, awaitsPeer: Bool) {
        guard case .open = phase else { return }
        phase = .closing(awaitsPeer: awaitsPeer)
        closeCode = code.map(Int.init)
        ending = SocketMetrics.End(closedWith: code)
        // A peer that takes a little now and then does not keep what waits for ever.
        deadline.set(milliseconds: 6 * parts.settings.writeMilliseconds) { [self] in closeChannel() }
        queue.append { $0.writeCloseFrame(code: code, reason: reason) }
        performer.stop()
        queue.flush()
    }

    private func closeChannel() {
        phase = .ended
        context?.close(mode: .all, promise: nil)
    }
}

// Pings.
extension WebSocketHandler {
    private func schedulePing() {
        deadline.set(milliseconds: parts.settings.pingMilliseconds) { [self] in ping() }
    }

    private func ping() {
        guard case .open = phase else { return }
        awaitsPong = true
        queue.append { $0.writeControlFrame(.ping, []) }
        deadline.set(milliseconds: parts.settings.pongMilliseconds) { [self] in closeChannel() }
    }

    /// Whatever the peer sends shows that it is there.
    private func heard() {
        guard awaitsPong, case .open = phase else { return }
        awaitsPong = false
        schedulePing()
    }
}
