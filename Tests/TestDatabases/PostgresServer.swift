import Glibc
import Synchronization
package import TocsinCore
import TocsinPostgres
package import TocsinStore

/// The PostgreSQL server that tests run on: `scripts/test.sh` starts one and names it.
package struct PostgresServer: Sendable {
    /// The variable with the URL of a database in which others may be made.
    package static let variable = "TOCSIN_TEST_POSTGRES"

    /// nil where no server was named: then the tests run without.
    package static let named: PostgresServer? = getenv(variable).map { PostgresServer(url: String(cString: $0)) }

    /// The file with the certificate that the named server shows; nil where it speaks no TLS.
    package static let authorityFile = getenv("TOCSIN_TEST_POSTGRES_CA").map { String(cString: $0) }

    package let url: String
    /// Where nodes reach it, where that is another port: something stands in between.
    package var entrance: UInt16?

    /// The server with this database, in which others may be made.
    package init(url: String) {
        self.url = url
    }

    /// A database of its own with this release's tables, dropped with the last copy of the value.
    package func makeCurrentDatabase() throws -> TemporaryDatabase {
        let database = try OwnDatabase(self, like: try CurrentTemplate.options(on: self))
        return TemporaryDatabase(
            server: self,
            database: database,
            base: PostgresDatabase(url: url(of: database.name))
        )
    }

    /// An empty database of its own, dropped with the last copy of the value.
    ///
    /// - Parameters:
    ///   - waitMilliseconds: How long writes wait for locks, where not as long as usual.
    ///   - options: What sessions are told at their begin, as it stands in a URL.
    package func makeDatabase(
        waitMilliseconds: Int? = nil,
        options: String? = nil
    ) throws -> TemporaryDatabase {
        let database = try OwnDatabase(self)
        let url = url(of: database.name)
        var base = PostgresDatabase(
            url: url + (options.map { (url.contains("?") ? "&" : "?") + "options=" + $0 } ?? "")
        )
        if let waitMilliseconds {
            base.options.writeLimitMilliseconds = waitMilliseconds
            base.options.writerLockLimitMilliseconds = waitMilliseconds
        }
        return TemporaryDatabase(server: self, database: database, base: base)
    }

    /// The URL of another database of the server.
    package func url(of database: String) -> String {
        guard let slash = url.lastIndex(of: "/") else { return url }
        let query = url[slash...].firstIndex(of: "?").map { url[$0...] } ?? ""
        return url[...slash] + database + query
    }

    /// Runs a statement beside all tests.
    package func run(_ sql: String) throws {
        let connection = try PostgresDatabase(url: url).connect(.tool)
        defer { connection.close() }
        try connection.run(sql)
    }
}

/// A PostgreSQL database that is dropped when nobody refers to it any more.
package struct TemporaryDatabase: SQLDatabase {
    package let server: PostgresServer
    private let database: OwnDatabase
    private let base: PostgresDatabase

    fileprivate init(server: PostgresServer, database: OwnDatabase, base: PostgresDatabase) {
        self.server = server
        self.database = database
        self.base = base
    }

    package var name: String { database.name }
    package var url: String { server.url(of: database.name) }
    /// As nodes reach it.
    package var nodeURL: String {
        guard let entrance = server.entrance, let port = try? PostgresProxy.port(in: url) else { return url }
        return url.replacing(":\(port)/", with: ":\(entrance)/")
    }
    package var dialect: Dialect { base.dialect }
    package var version: String { base.version }
    package var isShared: Bool { base.isShared }

    package func connect(_ use: ConnectionUse) throws(StoreError) -> any SQLConnection { try base.connect(use) }

    package func claimServer() throws(StoreError) -> (any ServerClaim)? { try base.claimServer() }
}

/// Makes a database and drops it.
private final class OwnDatabase: Sendable {
    let name: String
    private let server: PostgresServer
    private static let count = Mutex(0)

    /// - Parameter options: Of `CREATE DATABASE`.
    init(_ server: PostgresServer, like options: String = "") throws {
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        name = "test_\(getpid())_\(number)"
        self.server = server
        try server.run("CREATE DATABASE \(name) \(options)")
    }

    deinit { try? server.run("DROP DATABASE IF EXISTS \(name) WITH (FORCE)") }
}

/// The database that others are copied from; it stays on the server, for later runs too.
///
/// To copy the tables takes a third of the time that migrations take.
private enum CurrentTemplate {
    private static let made = Mutex<String?>(nil)

    /// The options that make a database its copy.
    static func options(on server: PostgresServer) throws -> String {
        try made.withLock { made in
            if let made { return made }
            let migrations = try Migration.embedded(for: .postgres)
            let all = Migration(number: 1, name: "all", text: migrations.map(\.text).joined())
            let name = "test_template_\(all.checksum)"
            if try !exists(name, on: server) { try make(name, migrations, on: server) }
            // Its files as they are: a copy through the log takes twice as long. Older servers know
            // no other way.
            let options = "TEMPLATE \(name)" + (try knowsStrategies(server) ? " STRATEGY file_copy" : "")
            made = options
            return options
        }
    }

    private static func exists(_ name: String, on server: PostgresServer) throws -> Bool {
        let connection = try PostgresDatabase(url: server.url).connect(.tool)
        defer { connection.close() }
        return try connection.first("SELECT 1 FROM pg_database WHERE datname = $1", [.text(name)]) { $0.int(0) } != nil
    }

    private static func knowsStrategies(_ server: PostgresServer) throws -> Bool {
        let connection = try PostgresDatabase(url: server.url).connect(.tool)
        defer { connection.close() }
        let version = try connection.first("SELECT current_setting('server_version_num')::int", []) { $0.int(0) }
        return (version ?? 0) >= 150_000
    }

    /// Makes it under another name first, so that nobody finds half of it.
    private static func make(_ name: String, _ migrations: [Migration], on server: PostgresServer) throws {
        let draft = try OwnDatabase(server)
        let base = PostgresDatabase(url: server.url(of: draft.name))
        let connection = try base.connect(.tool)
        do {
            defer { connection.close() }
            try Migrator(connection: connection, dialect: base.dialect, migrations: migrations)
                .migrate(at: Timestamp(milliseconds: 0))
        }
        do {
            try server.run("ALTER DATABASE \(draft.name) RENAME TO \(name)")
        } catch {
            // Another process was quicker.
            guard try exists(name, on: server) else { throw error }
        }
    }
}
