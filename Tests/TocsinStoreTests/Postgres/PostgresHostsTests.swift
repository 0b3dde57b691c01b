import Glibc
import Synchronization
import TestDatabases
import Testing
import TocsinCore
import TocsinPostgres
import TocsinStore

/// URLs with several servers, of which some are silent; most need no PostgreSQL.
@Suite("Servers of a PostgreSQL URL")
struct PostgresHostsTests {
    /// The ports that were tried, in their order, as the failure names them.
    private func tried(_ error: StoreError?) throws -> [UInt16] {
        guard case .unavailable(_, let detail) = error else {
            throw Unexpected(description: "\(String(describing: error))")
        }
        return detail.split(separator: ", port ").dropFirst().compactMap { UInt16($0.prefix(while: \.isNumber)) }
    }

    private struct Unexpected: Error, CustomStringConvertible {
        let description: String
    }

    @Test("a server that takes connections and says nothing is given up")
    func silentServer() throws {
        let listener = try SilentListener()
        defer { listener.close() }
        var database = PostgresDatabase(url: "postgres://u@127.0.0.1:\(listener.port)/d?sslmode=disable")
        database.options.connectMilliseconds = 200
        let error = #expect(throws: StoreError.self) { _ = try database.connect(.writer) }
        #expect(error?.description.contains("cannot be reached") == true)
    }

    @Test(
        "a silent server of several is passed over, and tried last from then on",
        .enabled(if: PostgresServer.named != nil)
    )
    func silentFirstServer() throws {
        let listener = try SilentListener()
        defer { listener.close() }
        let port = try PostgresProxy.port(in: try #require(PostgresServer.named).url)
        let both = "127.0.0.1:\(listener.port),127.0.0.1:\(port)"
        var database = PostgresDatabase(
            url: "postgres://tocsin@\(both)/postgres?target_session_attrs=read-write"
        )
        // Half of it is the silent one's.
        database.options.connectMilliseconds = 12_000
        let news = Collected<ConnectionNews>()
        database.news = { news.append([$0]) }
        for _ in 0..<2 {
            let connection = try database.connect(.writer)
            defer { connection.close() }
            #expect(try connection.first("SELECT inet_server_port()") { $0.int(0) } == Int64(port))
            #expect(database.trouble == nil)
        }
        #expect(news.all.count { $0 == .passed(server: 1, of: 2) } == 1, "\(news.all)")
    }

    @Test("when no server answers it is said how many there are, and each has its share of the time")
    func silentServers() throws {
        let listeners = try [SilentListener(), SilentListener()]
        defer { for listener in listeners { listener.close() } }
        let hosts = listeners.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        var database = PostgresDatabase(url: "postgres://u@\(hosts)/d?target_session_attrs=prefer-standby")
        database.options.connectMilliseconds = 200
        let error = #expect(throws: StoreError.self) { _ = try database.connect(.writer) }
        let words = "the database cannot be reached: 2 of its 2 servers did not answer in time"
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        #expect(database.trouble?.reason == words)
    }

    @Test("a silent server is tried first again when it has not been heard of for ten seconds")
    func silenceExpires() throws {
        let listener = try SilentListener()
        defer { listener.close() }
        let dead = try #require(PostgresProxy.freePort())
        let clock = HandSetClock()
        var database = PostgresDatabase(
            url: "postgres://u@127.0.0.1:\(listener.port),127.0.0.1:\(dead)/d",
            in: PostgresDependencies(now: clock.now, randomUnit: { 0 })
        )
        // Half of it is the silent one's; enough for the other to refuse on a busy machine.
        database.options.connectMilliseconds = 2000
        let news = Collected<ConnectionNews>()
        database.news = { news.append([$0]) }
        // A silent server is passed only where another comes after it. Each try that it does not
        // answer begins its ten seconds anew.
        for (later, passed) in [(0, 1), (9, 1), (9, 1), (10, 2)] {
            clock.advance(by: .seconds(later))
            #expect(throws: StoreError.self) { _ = try database.connect(.writer) }
            #expect(news.all.count { $0 == .passed(server: 1, of: 2) } == passed, "after \(later) s more")
        }
    }

    @Test(
        "servers are tried in the URL's order, or in a random one that the URL asks for, whatever libpq's version",
        arguments: [
            ("", [0, 1, 2]), ("?load_balance_hosts=disable", [0, 1, 2]),
            ("?load_balance_hosts=random", [2, 0, 1]), ("?sslmode=disable&load_balance_hosts=random", [2, 0, 1]),
            ("?load_balance_hosts=random&sslmode=disable", [2, 0, 1]),
            ("?load_balance_hosts=random&target_session_attrs=prefer-standby", [2, 0, 1, 1, 0, 2]),
        ]
    )
    func order(query: String, expected: [Int]) throws {
        let ports = try (0..<3).map { _ in try #require(PostgresProxy.freePort()) }
        let hosts = ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
        let units = Mutex([0.99, 0, 0, 0.5, 0, 0])
        let database = PostgresDatabase(
            url: "postgres://u@\(hosts)/d\(query)",
            in: PostgresDependencies(now: { .now }, randomUnit: { units.withLock { $0.removeFirst() } })
        )
        let error = #expect(throws: StoreError.self) { _ = try database.connect(.writer) }
        #expect(try tried(error) == expected.map { ports[$0] })
    }

    @Test(
        "an order that libpq's newer versions do not know is refused in words",
        arguments: ["Random", "", "round-robin"]
    )
    func unknownOrder(value: String) {
        let url = "postgres://u:secret@a,b/d?load_balance_hosts=\(value)"
        #expect(PostgresDatabase.problem(inURL: url) == "load_balance_hosts is random or disable")
        #expect(PostgresDatabase.problem(inURL: "postgres://u@a,b/d?load_balance_hosts=random") == nil)
    }
}

/// A clock that stands still until it is told otherwise.
private final class HandSetClock: Sendable {
    private let time = Mutex(ContinuousClock.now)

    var now: @Sendable () -> ContinuousClock.Instant {
        { self.time.withLock { $0 } }
    }

    func advance(by duration: Duration) { time.withLock { $0 += duration } }
}

/// Accepts connections, as the kernel does, and never answers.
private struct SilentListener {
    private let descriptor: Int32
    let port: UInt16

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        try #require(isBound)
        port = UInt16(bigEndian: address.sin_port)
    }

    func close() { _ = Glibc.close(descriptor) }
}
