import Encodings
import Glibc
package import GraphQLTransport
package import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// The front: serves a GraphQL service over HTTP/1.1 and WebSockets.
///
/// It is started once and stopped once.
package final class HTTPServer<Service: GraphQLService>: Sendable {
    /// What the server serves beside its limits.
    package struct Content: Sendable {
        /// What answers GraphQL.
        package var service: Service
        /// What answers the health paths; `nil` leaves them to the routes.
        package var health: (any HealthReporting)?
        /// Further paths.
        package var routes: [HTTPRoute]
        /// Paths of sockets; `nil` serves `graphql-transport-ws` and AppSync's protocol on
        /// GraphQL's path and below.
        package var socketPaths: [SocketPath]?

        /// Content of these parts.
        package init(
            service: Service,
            health: (any HealthReporting)?,
            routes: [HTTPRoute] = [],
            socketPaths: [SocketPath]? = nil
        ) {
            self.service = service
            self.health = health
            self.routes = routes
            self.socketPaths = socketPaths
        }
    }

    /// Where the server really listens.
    package struct Address: Sendable, Hashable {
        /// The IP address; of a socket in the file system its path.
        package let host: String
        /// The port; 0 for a socket in the file system.
        package let port: Int
    }

    private enum State {
        case ready
        case starting
        case listening(any Channel, MultiThreadedEventLoopGroup)
        case stopped
    }

    private let settings: HTTPServerSettings
    let parts: ServerParts<Service>
    private let registry: ConnectionRegistry
    private let logger: Logger
    private let state = Mutex(State.ready)
    let tls = TLSContext()
    /// The socket's file, while there is one.
    private let file = Mutex<UnixListener?>(nil)
    private let loopPulses = Mutex<[LoopPulse]>([])

    /// A server that does not listen yet; `now` gives Unix milliseconds.
    package init(
        _ content: Content,
        settings: HTTPServerSettings,
        logger: Logger,
        now: @escaping @Sendable () -> Int64
    ) {
        self.settings = settings
        self.logger = logger
        registry = ConnectionRegistry(
            limit: settings.maximumConnections,
            limitOfAddress: settings.maximumConnectionsOfAddress,
            metrics: settings.metrics
        )
        let responder = Responder(content, settings: settings, registry: registry)
        parts = ServerParts(content, responder, logger: logger, now: now)
    }

    /// How many connections are open.
    package var connectionCount: Int { registry.count }

    /// How many sockets and event streams are open.
    package var socketCount: Int { parts.socketGroups.total }

    /// How many subscriptions are open over these.
    package var subscriptionCount: Int { parts.subscriptionGroups.total }

    /// A pulse for each event loop that serves; none before the start and after the end.
    package var pulses: [LoopPulse] { loopPulses.withLock { $0 } }
    /// Counts sockets and event streams, and what goes over them.
    package var sockets: SocketMetrics { parts.sockets }

    /// Listens; returns once connections are taken.
    package func start() async throws(HTTPServerError) -> Address {
        let isFirst = state.withLock { state in
            guard case .ready = state else { return false }
            state = .starting
            return true
        }
        guard isFirst else { throw .startedTwice }
        try loadTLS()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: settings.threads)
        do {
            let listener = try await bind(group)
            let pulses = group.makeIterator().map { LoopPulse($0) }
            loopPulses.withLock { $0 = pulses }
            state.withLock { $0 = .listening(listener, group) }
            settings.loopLag?.add(pulses, as: "http")
            // Ends with its loop.
            listener.eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { [parts] _ in
                parts.accessLog.writeFolded()
            }
            let address = address(of: listener)
            logger.info(
                "listening",
                metadata: [
                    "event": "listening", "host": "\(address.host)", "port": .stringConvertible(address.port),
                ]
            )
            return address
        } catch {
            state.withLock { $0 = .stopped }
            await Self.end(group, logger)
            file.withLock { $0.take() }?.removeFile()
            if let error = error as? HTTPServerError { throw error }
            throw .cannotListen(host: settings.host, port: settings.port, cause: Self.cause(error))
        }
    }

    /// Why an address cannot be listened on and what to do, without the name of the call that
    /// failed.
    private static func cause(_ error: any Error) -> String {
        guard let failure = error as? IOError else {
            return "no address of this name is known. Mend the name, or write an IP address"
        }
        return switch failure.errnoCode {
        case EADDRINUSE: "another program listens there. Choose a free address, or stop who uses it"
        case EADDRNOTAVAIL: "this machine has no such address. Choose one that it has, or 0.0.0.0 for all of them"
        case EACCES, EPERM: "this user may not take the port (ports below 1024 need a right). Choose a higher one"
        default: String(cString: strerror(failure.errnoCode))
        }
    }

    private func bind(_ group: MultiThreadedEventLoopGroup) async throws -> any Channel {
        if let socket = settings.listeningSocket {
            return try await makeBootstrap(group).withBoundSocket(socket).get()
        }
        guard let socket = settings.unixSocket else {
            return try await makeBootstrap(group).bind(host: settings.host, port: settings.port).get()
        }
        let listener = try UnixListener(socket, backlog: settings.backlog)
        file.withLock { $0 = listener }
        return try await makeBootstrap(group).withBoundSocket(listener.descriptor).get()
    }

    private func address(of listener: any Channel) -> Address {
        if let socket = settings.unixSocket, settings.listeningSocket == nil {
            return Address(host: socket.path, port: 0)
        }
        return Address(
            host: listener.localAddress?.ipAddress ?? settings.host,
            port: listener.localAddress?.port ?? settings.port
        )
    }

    /// Serves until the surrounding task is cancelled, then stops within the grace time.
    ///
    /// `started` is told the address once connections are taken.
    package func run(
        graceSeconds: Int = 10,
        started: @Sendable (Address) -> Void = { _ in }
    ) async throws(HTTPServerError) {
        started(try await start())
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        await withTaskCancellationHandler {
            for await _ in stream {}
        } onCancel: {
            continuation.finish()
        }
        await shutdown(graceSeconds: graceSeconds)
    }

    /// When the certificate that new connections are shown ends, in Unix seconds; nil without TLS.
    package var certificateEnd: Int? { tls.certificateEnd }

    /// Somebody has lost access: closes the sockets of all whom the service names, whether or
    /// not anything runs there.
    package func accessHasEnded() {
        for channel in registry.channels { channel.pipeline.fireUserInboundEventTriggered(AccessEnds()) }
    }

    /// Asks clients to go elsewhere from now on: each answer is the last one of its connection.
    ///
    /// New connections are still taken.
    package func drain() { registry.drain() }

    /// Stops serving.
    ///
    /// No new connections are taken, requests under way are answered and are the last of their
    /// connections. A hundred sockets are told at once; more of them evenly over the grace time but
    /// for its last fifth, so that not all clients come again at one moment. What is left after
    /// `graceSeconds` is cut.
    package func shutdown(graceSeconds: Int = 10) async {
        let listening = state.withLock { state -> (any Channel, MultiThreadedEventLoopGroup)? in
            guard case .listening(let channel, let group) = state else { return nil }
            state = .stopped
            return (channel, group)
        }
        guard let (listener, group) = listening else { return }
        file.withLock { $0.take() }?.removeFile()
        await Self.finished(listener.close())
        let connections = registry.stop()
        let channels = connections.map(\.channel)
        let busy = connections.count(where: \.isBusy)
        let spread = busy > Self.socketsAtOnce ? graceSeconds * 800 : 0
        var told = 0
        for connection in connections {
            let (channel, isBusy) = (connection.channel, connection.isBusy)
            let delay = isBusy ? TimeAmount.milliseconds(Int64(spread * told / busy)) : .zero
            if isBusy { told += 1 }
            channel.eventLoop.execute {
                channel.pipeline.fireUserInboundEventTriggered(ServerStops(delay: delay))
            }
        }
        let cut = listener.eventLoop.scheduleTask(in: .seconds(Int64(graceSeconds))) {
            for channel in channels { channel.close(mode: .all, promise: nil) }
        }
        await Self.finished(.andAllComplete(channels.map(\.closeFuture), on: listener.eventLoop))
        cut.cancel()
        parts.accessLog.writeFolded(all: true)
        loopPulses.withLock { $0 = [] }
        await Self.end(group, logger)
    }
}

extension HTTPServer {
    /// Sockets that are told of the stop at one moment.
    private static var socketsAtOnce: Int { 100 }

    private func makeBootstrap(_ group: MultiThreadedEventLoopGroup) -> ServerBootstrap {
        let bootstrap = makeCommonBootstrap(group)
        guard settings.unixSocket == nil else { return bootstrap }
        return
            bootstrap
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            // What a peer does not read waits where it is counted and bounded, not in the
            // system: TCP_NOTSENT_LOWAT.
            .childChannelOption(.tcpOption(.init(rawValue: 25)), value: 65_536)
    }

    private func makeCommonBootstrap(_ group: MultiThreadedEventLoopGroup) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: Int32(clamping: settings.backlog))
            // What one read brings is kept while nothing more may be looked at, so it is little.
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 16_384)
            )
            // A client may say that it sends nothing more and still wait for
            // its answer (RFC 9112 §9.6).
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { [parts, tls] channel in
                guard let admits = parts.settings.admitsUser else {
                    return channel.eventLoop.makeCompletedFuture { try Self.setUp(channel, parts, tls.current) }
                }
                return PeerCheck.passes(channel, admits).flatMapThrowing {
                    try Self.setUp(channel, parts, tls.current)
                }
            }
    }

    private static func setUp(_ channel: any Channel, _ parts: ServerParts<Service>, _ tls: NIOSSLContext?) throws {
        let known = parts.connection(from: channel.remoteAddress, number: parts.registry.nextNumber())
        // Proxies are counted for the clients that they name.
        let registration: ConnectionRegistration?
        switch parts.registry.admit(channel, from: known.proxies == nil ? known.peer?.client : nil) {
        case .welcome(let given): registration = given
        case .refused: registration = nil
        case .dropped: throw ChannelError.ioOnClosedChannel
        }
        let pipeline = channel.pipeline.syncOperations
        if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = parts.settings.maximumHeadBytes
        limits.maxHeaderListSize = parts.settings.maximumHeadBytes
        limits.maxHeaderFieldCount = parts.settings.maximumHeadFields
        let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits)
        let connection = HTTPConnectionHandler(parts, channel: channel, known, registration)
        try pipeline.addHandlers([RawInputHandler(connection), ByteToMessageHandler(decoder), connection])
    }

    private func loadTLS() throws(HTTPServerError) {
        do throws(HTTPServerError) {
            if let files = settings.tls { tls.replace(with: try files.makeContext()) }
        } catch {
            state.withLock { $0 = .stopped }
            throw error
        }
    }

    /// Waits; a channel that is closed already is as good.
    private static func finished(_ future: EventLoopFuture<Void>) async {
        await withCheckedContinuation { continuation in
            future.whenComplete { _ in continuation.resume() }
        }
    }

    private static func end(_ group: MultiThreadedEventLoopGroup, _ logger: Logger) async {
        do {
            try await group.shutdownGracefully()
        } catch {
            logger.error(
                "the event loops did not end",
                metadata: ["event": "event_loops_not_ended", "error": "\(error)"]
            )
        }
    }
}

/// Why the server does not serve.
package enum HTTPServerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The address could not be listened on.
    case cannotListen(host: String, port: Int, cause: String)
    /// The socket in the file system could not be listened on.
    case cannotListenOnSocket(path: String, cause: String)
    /// Another process listens on that socket.
    case socketTaken(path: String)
    /// The system takes no socket of so long a path.
    case socketPathTooLong(path: String)
    /// The certificate or its key could not be used.
    case cannotUseCertificate(file: String, cause: String)
    /// It was started twice, or after it had been stopped.
    case startedTwice

    /// What happened and what to do.
    package var description: String {
        switch self {
        case .cannotListen(let host, let port, let cause):
            "Cannot listen on \(host) port \(port): \(cause)."
        case .cannotListenOnSocket(let path, let cause):
            "Cannot listen on the socket \(path): \(cause). Choose another path, or mend this one."
        case .socketTaken(let path):
            "Cannot listen on the socket \(path): another process listens there. Choose another path, or stop who uses it."
        case .socketPathTooLong(let path):
            "Cannot listen on the socket \(path): its path has \(path.utf8.count) bytes, and a socket's has at most "
                + "\(UnixSocket.maximumPathBytes). Choose a shorter path."
        case .cannotUseCertificate(let file, let cause):
            "Cannot use the TLS file \(file): \(cause). Give a certificate chain and its private key as PEM files."
        case .startedTwice:
            "The server was started already. Make a new one to start again."
        }
    }
}
