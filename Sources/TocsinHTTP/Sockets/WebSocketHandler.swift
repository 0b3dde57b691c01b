import GraphQLTransport
import Logging
import NIOCore
import NIOWebSocket

/// One socket: frames in and out, pings, the closing handshake, and the bound on what waits to be read.
///
/// Confined to its event loop. What the messages mean is its performer's and its session's business.
final class WebSocketHandler<Service: GraphQLService>: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
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
    private let performer: SocketPerformer<Service>
    private let writer: WatchedWriter
    private let deadline: ConnectionDeadline
    private var assembler: MessageAssembler
    private var context: ChannelHandlerContext?
    private var phase = Phase.open
    private var awaitsPong = false
    /// Frames not yet given to the channel.
    private var pending = ByteBuffer()
    private var pendingEvents = 0
    private var inFlightEvents = 0
    private var isFlushScheduled = false

    init(_ parts: ServerParts<Service>, _ session: any SocketSession, channel: any Channel, id: String) {
        self.parts = parts
        self.id = id
        performer = SocketPerformer(parts, session, loop: channel.eventLoop)
        writer = WatchedWriter(channel, milliseconds: parts.settings.writeMilliseconds)
        deadline = ConnectionDeadline(channel.eventLoop)
        assembler = MessageAssembler(maximumBytes: parts.settings.maximumMessageBytes)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        schedulePing()
        performer.start { [self] in send($0) }
        if parts.registry.isStopping { performer.handle(.shutdown) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
        parts.logger.info("socket closed", metadata: ["id": "\(id)"])
        end()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        heard()
        switch (phase, assembler.receive(frame)) {
        case (.ended, _): break
        case (.closing, .close): closeChannel()
        case (.closing, _): break
        case (_, .nothing), (_, .pong): break
        case (_, .text(let bytes)): performer.handle(.text(bytes))
        case (_, .binary): performer.handle(.binary)
        case (_, .ping(let payload)): performer.handle(.pingFrame(payload))
        case (_, .close(let code)):
            let answer = code.map { UInt16(webSocketErrorCode: $0) }
            close(code: answer, reason: "", awaitsPeer: false)
        case (_, .failure(let code, let reason)): close(code: code.rawValue, reason: reason, awaitsPeer: false)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard case .open = phase else { return }
        switch error as? NIOWebSocketError {
        case .invalidFrameLength:
            let reason = "Messages may have \(parts.settings.maximumMessageBytes) bytes"
            close(code: SocketCloseCode.messageTooBig.rawValue, reason: reason, awaitsPeer: false)
        case .fragmentedControlFrame, .multiByteControlFrameLength:
            let reason = "Control frames are whole and have at most 125 bytes"
            close(code: SocketCloseCode.protocolError.rawValue, reason: reason, awaitsPeer: false)
        case nil: context.close(mode: .all, promise: nil)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ServerStops { performer.handle(.shutdown) }
        if case .inputClosed? = event as? ChannelEvent { context.close(mode: .all, promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    private func end() {
        guard context != nil else { return }
        context = nil
        phase = .ended
        performer.stop()
        deadline.cancel()
        writer.stop()
        pending = ByteBuffer()
    }
}

// Sending: frames of one turn of the loop are one write.
extension WebSocketHandler {
    private func send(_ output: SocketPerformer<Service>.Output) {
        guard case .open = phase else { return }
        switch output {
        case .text(let message):
            pending.writeTextFrame(message)
            pendingEvents += 1
        case .pong(let payload): pending.writeControlFrame(.pong, payload)
        case .close(let code, let reason): return close(code: code, reason: reason, awaitsPeer: true)
        case .fetched:
            if pending.readableBytes == 0, writer.inFlightBytes == 0 { performer.allWritten() }
            return
        }
        if pending.readableBytes >= 262_144 { flush() }
        guard isWithinBounds else {
            return close(
                code: SocketCloseCode.tryAgainLater.rawValue,
                reason: SocketPerformer<Service>.tooSlow,
                awaitsPeer: true
            )
        }
        scheduleFlush()
    }

    /// The count of messages matters only while the peer does not read: a burst is no fault of its own.
    private var isWithinBounds: Bool {
        let settings = parts.settings
        guard writer.inFlightBytes > 0 else { return true }
        return pending.readableBytes + writer.inFlightBytes <= settings.maximumQueueBytes
            && pendingEvents + inFlightEvents <= settings.maximumQueueEvents
    }

    private func scheduleFlush() {
        guard !isFlushScheduled, let context else { return }
        isFlushScheduled = true
        context.eventLoop.assumeIsolated().execute { self.flush() }
    }

    /// Gives the channel all that is pending, unless it still holds the last write.
    private func flush() {
        isFlushScheduled = false
        guard let context, writer.inFlightBytes == 0, pending.readableBytes > 0 else { return }
        let buffer = pending
        // A quiet socket keeps no buffer.
        pending = ByteBuffer()
        inFlightEvents = pendingEvents
        pendingEvents = 0
        writer.write(buffer, context) { [self] isWritten in
            inFlightEvents = 0
            guard isWritten else { return }
            pending.readableBytes > 0 ? scheduleFlush() : flushed()
        }
    }

    /// Everything is out; a closing socket waits for the peer, but not for long.
    private func flushed() {
        guard case .closing(let awaitsPeer) = phase else { return performer.allWritten() }
        deadline.set(milliseconds: parts.settings.lingerMilliseconds) { [self] in closeChannel() }
        if !awaitsPeer { context?.close(mode: .output, promise: nil) }
    }

    private func close(code: UInt16?, reason: String, awaitsPeer: Bool) {
        guard case .open = phase else { return }
        phase = .closing(awaitsPeer: awaitsPeer)
        pending.writeCloseFrame(code: code, reason: reason)
        performer.stop()
        deadline.clear()
        flush()
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
        pending.writeControlFrame(.ping, [])
        scheduleFlush()
        deadline.set(milliseconds: parts.settings.pongMilliseconds) { [self] in closeChannel() }
    }

    /// Whatever the peer sends shows that it is there.
    private func heard() {
        guard awaitsPong, case .open = phase else { return }
        awaitsPong = false
        schedulePing()
    }
}
