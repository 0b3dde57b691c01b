import GraphQLTransport
import Logging
import NIOCore
import NIOPosix
import TocsinHTTP

/// A running server with an echo behind it.
struct TestServer {
    let server: HTTPServer<EchoService>
    let service: EchoService
    let host: String
    let port: Int

    /// Runs `body` against a server, then stops it.
    static func with(
        routes: [HTTPRoute] = [],
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        settings change: (inout HTTPServerSettings) -> Void = { _ in },
        _ body: (TestServer) async throws -> Void
    ) async throws {
        var settings = HTTPServerSettings()
        settings.lingerMilliseconds = 500
        change(&settings)
        let service = EchoService()
        let server = make(service, routes: routes, settings: settings, logger: logger)
        let address = try await server.start()
        let running = TestServer(server: server, service: service, host: address.host, port: address.port)
        do {
            try await body(running)
        } catch {
            service.openGates()
            await server.shutdown(graceSeconds: 0)
            throw error
        }
        service.openGates()
        await server.shutdown(graceSeconds: 0)
    }

    /// A server that does not run yet.
    static func make(
        _ service: EchoService = EchoService(),
        routes: [HTTPRoute] = [],
        settings: HTTPServerSettings = HTTPServerSettings(),
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) -> HTTPServer<EchoService> {
        HTTPServer(
            .init(service: service, health: GoodHealth(), routes: routes),
            settings: settings,
            logger: logger,
            now: { 784_111_777_000 }
        )
    }

    func connect() async throws -> RawClient { try await RawClient.connect(host: host, port: port) }

    /// `nil` when nobody listens.
    func connectIfListening() async throws -> RawClient? {
        do {
            return try await connect()
        } catch is NIOConnectionError {
            return nil
        } catch is IOError {
            return nil
        }
    }
}
