import Foundation
import TestDatabases
import TocsinPostgres
import TocsinStore

/// PgBouncer in transaction mode, on loopback before a server.
final class PgBouncerProcess {
    /// Where Debian's program is; nil where it is not installed.
    private static let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Whether tests with it run: continuous integration must have it.
    static var isWanted: Bool { program != nil || ProcessInfo.processInfo.environment["CI"] != nil }

    private let port: UInt16
    private let folder: String
    private let server: PostgresServer
    private var process: ChildProcess?

    private init(before server: PostgresServer) throws {
        guard let port = PostgresProxy.freePort() else { throw HarnessFailure("There is no free port.") }
        self.port = port
        self.server = server
        folder = NSTemporaryDirectory() + "tocsin-pgbouncer-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        let settings = """
            [databases]
            * = host=127.0.0.1 port=\(try PostgresProxy.port(in: server.url)) user=tocsin
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = any
            pool_mode = transaction
            max_client_conn = 200
            default_pool_size = 20
            server_login_retry = 1
            """
        try settings.write(toFile: file, atomically: true, encoding: .utf8)
        chmod(file, 0o644)
    }

    private var file: String { folder + "/pgbouncer.ini" }

    /// Runs the body with a PgBouncer before the server, which is ended
    /// afterwards whatever happens.
    ///
    /// The body gets the server with PgBouncer as the way that nodes take.
    static func run(
        before server: PostgresServer,
        _ body: (PgBouncerProcess, PostgresServer) async throws -> Void
    ) async throws {
        let bouncer = try PgBouncerProcess(before: server)
        var reached = server
        reached.entrance = bouncer.port
        do {
            try await bouncer.start()
            try await body(bouncer, reached)
        } catch {
            let words = bouncer.process?.errors.suffix(2000) ?? ""
            await bouncer.remove()
            throw HarnessFailure("\(error) PgBouncer said: \(words)")
        }
        await bouncer.remove()
    }

    func start() async throws {
        guard let program = Self.program else {
            throw HarnessFailure("There is no pgbouncer: install Debian's package of that name.")
        }
        // It refuses to be root.
        let user = getuid() == 0 ? ["-u", "nobody"] : []
        process = try ChildProcess(program, user + [file], environment: TestBinary.environment, folder: folder)
        let url = "postgres://tocsin@127.0.0.1:\(port)/postgres"
        try await eventually("PgBouncer answers at port \(port)") { [process] in
            if let status = process?.status { throw HarnessFailure("PgBouncer ended: \(status)") }
            var database = PostgresDatabase(url: url)
            database.options.preparesStatements = false
            guard let connection = try? database.connect(.reader) else { return false }
            connection.close()
            return true
        }
    }

    /// Ends it at once, with all connections through it.
    func stop() async throws {
        process?.signal(SIGTERM)
        try await process?.untilExit()
    }

    private func remove() async {
        process?.signal(SIGKILL)
        _ = try? await process?.untilExit()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
