import GraphQLTransport
package import Logging

/// A WebSocket echo on the server's own socket code, for suites that judge the protocol.
package struct WebSocketEchoServer: Sendable {
    private let server: HTTPServer<NoService>

    /// An echo of messages of up to so many bytes on every client's socket at
    /// `/`; 0 takes a free port.
    package init(host: String = "127.0.0.1", port: Int, maximumMessageBytes: Int = 32 << 20, logger: Logger) {
        var settings = HTTPServerSettings()
        settings.host = host
        settings.port = port
        settings.maximumMessageBytes = maximumMessageBytes
        settings.maximumMessageBytesOfStrangers = maximumMessageBytes
        // One client alone may have all that its queue may.
        settings.maximumMemoryOfOwner = .max
        settings.maximumMemory = .max
        // A suite may send for long before it reads.
        settings.maximumQueueBytes = max(2 * maximumMessageBytes, 64 << 20)
        settings.maximumQueueEvents = 100_000
        settings.pingMilliseconds = 3_600_000
        settings.messagesPerSecond = 0
        let echo = SocketProtocol(name: "echo") { _ in EchoSession() }
        server = HTTPServer(
            .init(
                service: NoService(),
                health: AlwaysWell(),
                socketPaths: [SocketPath("/", protocols: [echo], otherwise: echo)]
            ),
            settings: settings,
            logger: logger,
            now: { 0 }
        )
    }

    /// Listens and answers the port.
    package func start() async throws(HTTPServerError) -> Int { try await server.start().port }

    /// Stops.
    package func stop() async { await server.shutdown(graceSeconds: 1) }
}

private struct AlwaysWell: HealthReporting {
    func live() -> HealthReport { HealthReport(status: .ok, body: Array("{}".utf8)) }
    func ready() async -> HealthReport { live() }
}
