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
        /// What answers the health paths.
        package var health: any HealthReporting
        /// Further paths.
        package var routes: [HTTPRoute]
        /// Paths of sockets; `nil` serves `graphql-transport-ws` and AppSync's protocol on
        /// GraphQL's path and below.
        package var socketPaths: [SocketPath]?

        /// Content of these parts.
        package init(
            service: Service,
            health: any HealthReporting,
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
        /// The IP address.
        package let host: String
        /// The port.
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
            limitOfAddress: settings.maximumConnectionsOfAddress
        )
        let responder = Responder(content, settings: settings, registry: registry)
        parts = ServerParts(content, responder, logger: logger, now: now)
    }

    /// How many connections are open.
    package var connectionCount: Int { registry.count }

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
            let listener = try await makeBootstrap(group).bind(host: settings.host, port: settings.port).get()
            state.withLock { $0 = .listening(listener, group) }
            // Ends with its loop.
            listener.eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { [parts] _ in
                parts.accessLog.writeFolded()
            }
            let address = Address(
                host: listener.localAddress?.ipAddress ?? settings.host,
                port: listener.localAddress?.port ?? settings.port
            )
            logger.info("listening", metadata: ["host": "\(address.host)", "port": "\(address.port)"])
            return address
        } catch {
            state.withLock { $0 = .stopped }
            await Self.end(group, logger)
            throw .cannotListen(host: settings.host, port: settings.port, cause: Self.cause(error))
        }
    }

    /// Why an address cannot be listened on, without the name of the call that failed.
    private static func cause(_ error: any Error) -> String {
        guard let failure = error as? IOError else { return "no address of this name is known" }
        return switch failure.errnoCode {
        case EADDRINUSE: "another program listens there"
        case EADDRNOTAVAIL: "this machine has no such address"
        case EACCES, EPERM: "this user may not take the port (ports below 1024 need a right)"
        default: String(cString: strerror(failure.errnoCode))
        }
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

    /// Somebody has lost access: closes the sockets of all whom the service names, whether or
    /// not anything runs there.
    package func accessHasEnded() {
        for channel in registry.channels { channel.pipeline.fireUserInboundEventTriggered(AccessEnds()) }
    }

    /// Stops serving.
    ///
    /// No new connections are taken, requests under way are answered and are the last of their
    /// connections, sockets are told. What is left after `graceSeconds` is cut.
    package func shutdown(graceSeconds: Int = 10) async {
        let listening = state.withLock { state -> (any Channel, MultiThreadedEventLoopGroup)? in
            guard case .listening(let channel, let group) = state else { return nil }
            state = .stopped
            return (channel, group)
        }
        guard let (listener, group) = listening else { return }
        await Self.finished(listener.close())
        let channels = registry.stop()
        for (index, channel) in channels.enumerated() {
            // Spread out, so that not all clients come again at the same moment.
            let delay = channels.count > 100 ? Int64(index * 2000 / channels.count) : 0
            channel.eventLoop.scheduleTask(in: .milliseconds(delay)) {
                channel.pipeline.fireUserInboundEventTriggered(ServerStops())
            }
        }
        let cut = listener.eventLoop.scheduleTask(in: .seconds(Int64(graceSeconds))) {
            for channel in channels { channel.close(mode: .all, promise: nil) }
        }
        await Self.finished(.andAllComplete(channels.map(\.closeFuture), on: listener.eventLoop))
        cut.cancel()
        parts.accessLog.writeFolded(all: true)
        await Self.end(group, logger)
    }
}

extension HTTPServer {
    private func makeBootstrap(_ group: MultiThreadedEventLoopGroup) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: Int32(clamping: settings.backlog))
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            // What a peer does not read waits where it is counted and bounded, not in the
            // system: TCP_NOTSENT_LOWAT.
            .childChannelOption(.tcpOption(.init(rawValue: 25)), value: 65_536)
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
                channel.eventLoop.makeCompletedFuture { try Self.setUp(channel, parts, tls.current) }
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
            logger.error("The event loops did not end", metadata: ["error": "\(error)"])
        }
    }
}

/// Why the server does not serve.
package enum HTTPServerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The address could not be listened on.
    case cannotListen(host: String, port: Int, cause: String)
    /// The certificate or its key could not be used.
    case cannotUseCertificate(file: String, cause: String)
    /// It was started twice, or after it had been stopped.
    case startedTwice

    /// What happened and what to do.
    package var description: String {
        switch self {
        case .cannotListen(let host, let port, let cause):
            "Cannot listen on \(host) port \(port): \(cause). Choose a free address, or stop who uses it."
        case .cannotUseCertificate(let file, let cause):
            "Cannot use the TLS file \(file): \(cause). Give a certificate chain and its private key as PEM files."
        case .startedTwice:
            "The server was started already. Make a new one to start again."
        }
    }
}
