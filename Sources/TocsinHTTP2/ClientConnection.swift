import NIOCore
import NIOSSL
import NIOTLS
import TocsinPush

/// One kept connection of a pool: moves bytes between the channel and its
/// `ClientSession`, and watches its life.
///
/// Confined to its event loop, with its pool.
final class ClientConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum State {
        /// Until the peer's SETTINGS came: before, nothing is sent, so that its limits are known.
        case opening
        case ready
        /// No new streams; closes after the last one.
        case draining
        case closed
    }

    private(set) var state = State.opening
    let session: ClientSession
    private let pool: ConnectionPool
    private var context: ChannelHandlerContext?
    /// Why the connection ended, as far as known.
    private var reason = "the connection was closed by the provider"
    private var lastRead = NIODeadline.now()
    private var opening: Scheduled<Void>?
    private var quiet: Scheduled<Void>?
    /// Set while an answer to a PING is awaited: no new streams meanwhile.
    private var pingWait: Scheduled<Void>?
    private var pingsSent = 0
    /// Ends the time in which only one stream is open.
    private var firstAnswer: Scheduled<Void>?
    /// Set when the pool knows the connection; of several addresses tried, only one is adopted.
    private var isAdopted = false

    /// What is to be written next; its memory serves again once TLS has taken the bytes.
    private var outbound: ByteBuffer?

    /// Bytes gathered before one write: several TLS records.
    private static let writeBytes = 65_536

    init(pool: ConnectionPool) {
        self.pool = pool
        session = ClientSession(
            maximumResponseBytes: pool.settings.maximumResponseBytes,
            maximumStreams: pool.settings.maximumStreams
        )
    }

    /// Streams that may be opened now.
    var room: Int {
        guard state == .ready, pingWait == nil else { return 0 }
        if pool.key.opensWithOneStream, !session.isAccepted { return session.openStreams == 0 ? 1 : 0 }
        return max(0, min(session.peerMaximumStreams, pool.settings.maximumStreams) - session.openStreams)
    }

    /// Whether the connection is of use and has no room because it is busy, not because it is new.
    var isFull: Bool {
        state == .ready && room == 0 && (session.isAccepted || !pool.key.opensWithOneStream)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive, !pool.origin.isSecure { flush() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        ended()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        if !pool.origin.isSecure { flush() }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted(let name)? = event as? TLSUserEvent {
            if name == "h2" {
                flush()
            } else {
                fail("\(pool.origin.authority) does not speak HTTP/2 (ALPN chose \(name ?? "nothing"))")
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard state != .closed else { return }
        lastRead = .now()
        let isFine = unwrapInboundIn(data).withUnsafeReadableBytes { session.receive($0) }
        guard isFine else { return fail("\(pool.origin.authority) broke the HTTP/2 protocol") }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard state != .closed else { return }
        if let goAway = session.goAway { goAwayCame(goAway) }
        if state == .opening, session.hasSettings { becomeReady() }
        if pingWait != nil, session.pingAnswers >= pingsSent {
            pingWait?.cancel()
            pingWait = nil
        }
        pool.pump()
        flush()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { flush() }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        ended()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // While draining the reason is known already, and once closed nobody asks for one.
        if state == .draining {
            close()
        } else {
            fail(ConnectFailure.text(error, pool.origin, authorityPath: pool.settings.authorityPath))
        }
    }
}

// What the pool asks for.
extension ClientConnection {
    /// Opens a stream for the run's next request; `false` when the connection takes no more.
    func submitNext(of run: BatchRun) -> Bool {
        guard session.submitNext(of: run) else { return false }
        if pool.key.opensWithOneStream, !session.isAccepted, firstAnswer == nil {
            firstAnswer = after(pool.settings.firstAnswerSeconds) { connection in
                connection.session.assumeAccepted()
                connection.pool.pump()
                connection.flush()
            }
        }
        return true
    }

    /// Sends what the session has, many frames in one write.
    func flush() {
        guard let context, state != .closed else { return }
        repeat {
            guard let out = gathered(context.channel.allocator) else { break }
            context.writeAndFlush(wrapOutboundOut(out), promise: nil)
        } while context.channel.isWritable
        if state == .draining, session.openStreams == 0 {
            close()
        } else if session.isOver {
            if state != .draining { reason = "\(pool.origin.authority) broke the HTTP/2 protocol" }
            close()
        }
    }

    /// The next bytes to send, of many frames; `nil` when there are none.
    private func gathered(_ allocator: ByteBufferAllocator) -> ByteBuffer? {
        var out = outbound ?? allocator.buffer(capacity: Self.writeBytes / 4)
        outbound = nil
        out.clear()
        while out.readableBytes < Self.writeBytes, session.withNextBytes({ out.writeBytes($0) }) {}
        outbound = out
        return out.readableBytes > 0 ? out : nil
    }

    /// The pool takes the connection in; `nil`, or why it is of no use any more.
    func adopt() -> String? {
        guard state == .opening else { return reason }
        isAdopted = true
        opening = after(pool.settings.connectTimeoutSeconds) { connection in
            connection.fail("no HTTP/2 SETTINGS within \(connection.pool.settings.connectTimeoutSeconds) s")
        }
        return nil
    }

    /// Takes no more requests, and closes after the last answer.
    func drain() {
        guard state != .opening else { return fail("the connection was closed before it was of use") }
        guard state == .ready else { return }
        state = .draining
        reason = "the connection was closed on our side"
        session.submitGoAway()
        flush()
    }

    /// Gives up the run's requests here; then finds out whether the connection is still alive.
    func expire(_ run: BatchRun, reason: String) {
        guard state == .ready || state == .draining, session.expire(run, reason: reason) else { return }
        test()
        flush()
    }

    func fail(_ reason: String) {
        guard state != .closed else { return }
        self.reason = reason
        flush()
        close()
    }
}

// Its life.
extension ClientConnection {
    private func becomeReady() {
        opening?.cancel()
        opening = nil
        state = .ready
        watchQuiet(pool.settings.idlePingSeconds)
        pool.isReady(self)
    }

    private func goAwayCame(_ goAway: ClientSession.GoAway) {
        let text = "the provider ended the connection: GOAWAY \(goAway.debugData)"
        guard state != .opening else { return fail(text) }
        guard state == .ready else { return }
        pool.isGoingAway()
        reason = text
        state = .draining
    }

    /// Settles everything at once: TLS may take its time to say goodbye to a peer that is gone.
    private func close() {
        ended()
        context?.close(promise: nil)
    }

    private func ended() {
        guard state != .closed else { return }
        let wasOpening = state == .opening
        state = .closed
        guard isAdopted else { return }
        for timer in [opening, quiet, pingWait, firstAnswer] { timer?.cancel() }
        session.end(reason: reason)
        pool.ended(self, wasOpening: wasOpening, reason: reason)
    }

    /// Sends a PING unless one is under way, and gives the connection up if no answer comes.
    private func test() {
        guard pingWait == nil else { return }
        session.ping()
        pingsSent += 1
        pingWait = after(pool.settings.pingTimeoutSeconds) { connection in
            connection.fail("no answer to a PING within \(connection.pool.settings.pingTimeoutSeconds) s")
        }
    }

    private func watchQuiet(_ seconds: Double) {
        quiet = after(seconds) { connection in
            let idle = Double((NIODeadline.now() - connection.lastRead).nanoseconds) / 1e9
            let limit = connection.pool.settings.idlePingSeconds
            if idle >= limit {
                connection.test()
                connection.flush()
            }
            connection.watchQuiet(idle >= limit ? limit : limit - idle)
        }
    }

    private func after(_ seconds: Double, _ act: @escaping (ClientConnection) -> Void) -> Scheduled<Void> {
        pool.after(seconds) { [self] in
            if state != .closed { act(self) }
        }
    }
}
