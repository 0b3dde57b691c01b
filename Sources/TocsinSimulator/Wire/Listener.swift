import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOTLS
import NIOWebSocket

/// Opens the simulator's ports.
struct Listener: Sendable {
    let group: MultiThreadedEventLoopGroup
    let tls: NIOSSLContext?
    let connections: ConnectionList
    let conditions: Conditions

    /// HTTP/2; over TLS a client that negotiates nothing else gets HTTP/1.1 if
    /// `allowsHTTP1`, else it is cut off.
    func listenHTTP2(
        _ provider: SimulatedProvider,
        host: String,
        port: Int,
        allowsHTTP1: Bool,
        service: any WireService
    ) -> EventLoopFuture<any Channel> {
        let tls = tls
        let conditions = conditions
        return bind(provider, host, port) { channel in
            if conditions.outage(of: provider) == .tls { return Self.failHandshake(channel) }
            return channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(ReadPace(bytesPerSecond: service.limits.readBytesPerSecond))
                guard let tls else {
                    return try pipeline.addHandler(HTTP2ServerHandler(service: service))
                }
                try pipeline.addHandler(NIOSSLServerHandler(context: tls))
                let negotiation = ApplicationProtocolNegotiationHandler { result, channel in
                    channel.eventLoop.makeCompletedFuture {
                        try Self.serve(result, channel, allowsHTTP1: allowsHTTP1, service: service)
                    }
                }
                try pipeline.addHandler(negotiation)
            }
        }
    }

    /// HTTP/1.1 in clear text, and the sockets of browsers.
    func listenHTTP1(
        host: String,
        port: Int,
        service: any WireService,
        browsers: WebPushBrowsers
    ) -> EventLoopFuture<any Channel> {
        bind(nil, host, port) { channel in
            channel.eventLoop.makeCompletedFuture {
                try Self.serveHTTP1(channel, service: service, upgrader: Self.socketUpgrader(browsers))
            }
        }
    }

    private static func socketUpgrader(_ browsers: WebPushBrowsers) -> NIOWebSocketServerUpgrader {
        NIOWebSocketServerUpgrader(
            shouldUpgrade: { channel, head in
                // A page of the web is no push service's client.
                let isOfPage = head.headers["origin"].contains { $0.hasPrefix("http") }
                let isBrowser = !isOfPage && head.uri.split(separator: "?").first == BrowserSocket.path[...]
                let headers: HTTPHeaders = ["sec-websocket-protocol": BrowserSocket.subprotocol]
                return channel.eventLoop.makeSucceededFuture(isBrowser ? headers : nil)
            },
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(BrowserSocket(browsers: browsers))
                }
            }
        )
    }

    private static func serve(
        _ result: ALPNResult,
        _ channel: any Channel,
        allowsHTTP1: Bool,
        service: any WireService
    ) throws {
        if case .negotiated("h2") = result {
            try channel.pipeline.syncOperations.addHandler(HTTP2ServerHandler(service: service))
        } else if allowsHTTP1 {
            try serveHTTP1(channel, service: service)
        } else {
            channel.close(promise: nil)
        }
    }

    private static func serveHTTP1(
        _ channel: any Channel,
        service: any WireService,
        upgrader: NIOWebSocketServerUpgrader? = nil
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        let handler = HTTP1ServerHandler(service: service)
        let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: true,
            withServerUpgrade: upgrader.map { upgrader in
                (
                    upgraders: [upgrader],
                    completionHandler: { $0.pipeline.syncOperations.removeHandler(bound.value, promise: nil) }
                )
            }
        )
        try pipeline.addHandler(handler)
    }

    /// Answers a TLS hello as something would that speaks no TLS.
    private static func failHandshake(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NoTLS())
        }
    }

    private func bind(
        _ provider: SimulatedProvider?,
        _ host: String,
        _ port: Int,
        serve: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        let connections = connections
        return ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                connections.add(channel, provider)
                return serve(channel)
            }
            .bind(host: host, port: port)
    }
}

/// Says something that is no TLS to the first bytes, and closes.
private final class NoTLS: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let text = ByteBuffer(string: "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        context.writeAndFlush(wrapOutboundOut(text), promise: nil)
        context.close(promise: nil)
    }
}
