import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOTLS

/// Opens the simulator's ports.
struct Listener: Sendable {
    let group: MultiThreadedEventLoopGroup
    let tls: NIOSSLContext?
    let connections: ConnectionList

    /// HTTP/2; over TLS a client that negotiates nothing else gets HTTP/1.1 if `allowsHTTP1`, else it is cut off.
    func listenHTTP2(
        host: String,
        port: Int,
        allowsHTTP1: Bool,
        service: any WireService
    ) async throws(SimulatorError) -> any Channel {
        let tls = tls
        return try await bind(host, port) { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
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

    /// HTTP/1.1 in clear text.
    func listenHTTP1(host: String, port: Int, service: any WireService) async throws(SimulatorError) -> any Channel {
        try await bind(host, port) { channel in
            channel.eventLoop.makeCompletedFuture { try Self.serveHTTP1(channel, service: service) }
        }
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

    private static func serveHTTP1(_ channel: any Channel, service: any WireService) throws {
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: true)
        try channel.pipeline.syncOperations.addHandler(HTTP1ServerHandler(service: service))
    }

    private func bind(
        _ host: String,
        _ port: Int,
        serve: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) async throws(SimulatorError) -> any Channel {
        let connections = connections
        do {
            return try await ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 256)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelInitializer { channel in
                    connections.add(channel)
                    return serve(channel)
                }
                .bind(host: host, port: port)
                .get()
        } catch {
            throw SimulatorError.listen(address: "\(host):\(port)", reason: "\(error)")
        }
    }
}
