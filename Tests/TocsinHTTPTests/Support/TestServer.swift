import GraphQLTransport
import Logging
import NIOCore
import NIOPosix
import Synchronization
import TocsinHTTP

/// A clock that goes on when it is told to.
final class TestClock: Sendable {
    private let milliseconds = Atomic(TestServer.time)

    /// Unix milliseconds.
    var now: Int64 { milliseconds.load(ordering: .relaxed) }

    func advance(milliseconds count: Int64) { milliseconds.add(count, ordering: .relaxed) }
}

/// A running server with an echo behind it.
struct TestServer {
    /// What the clock of every test server says, in Unix milliseconds.
    static let time: Int64 = 784_111_777_000

    let server: HTTPServer<EchoService>
    let service: EchoService
    let host: String
    let port: Int

    /// Runs `body` against a server, then stops it.
    static func with(
        routes: [HTTPRoute] = [],
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        clock: TestClock = TestClock(),
        settings change: (inout HTTPServerSettings) -> Void = { _ in },
        _ body: (TestServer) async throws -> Void
    ) async throws {
        var settings = HTTPServerSettings()
        settings.lingerMilliseconds = 500
        change(&settings)
        let service = EchoService()
        let server = make(service, routes: routes, settings: settings, logger: logger, clock: clock)
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
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        clock: TestClock = TestClock()
    ) -> HTTPServer<EchoService> {
        HTTPServer(
            .init(service: service, health: GoodHealth(), routes: routes),
            settings: settings,
            logger: logger,
            now: { clock.now }
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
