import Synchronization
import TestDatabases
import Testing
import TocsinCore
import TocsinPostgres
import TocsinStore

@Suite("Doorbell over NOTIFY", .enabled(if: PostgresServer.named != nil), .timeLimit(.minutes(5)))
struct PostgresDoorbellTests {
    /// A doorbell that runs, and how often it was heard.
    private final class Listener: Sendable {
        let doorbell: PostgresDoorbell
        private let calls = Atomic(0)
        private let task = Mutex<Task<Void, Never>?>(nil)

        init(_ url: String, _ name: String) throws {
            doorbell = try #require(PostgresDoorbell(PostgresDatabase(url: url), instance: name))
            let started = Task { [self] in await doorbell.run { [weak self] in self?.calls.add(1, ordering: .relaxed) }
            }
            task.withLock { $0 = started }
        }

        /// Times that it was called, also after connecting.
        var count: Int { calls.load(ordering: .relaxed) }

        func end() async {
            let running = task.withLock { $0 }
            running?.cancel()
            await running?.value
        }
    }

    private func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            if try await condition() { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    @Test(
        "a ring is heard by the others and not by who rang, and rings under way gather",
        arguments: ["plain", "o'clock"]
    )
    func rings(name: String) async throws {
        let database = try #require(PostgresServer.named).makeDatabase()
        let (one, other) = (try Listener(database.url, name), try Listener(database.url, "other"))
        #expect(try await eventually { one.doorbell.state.trouble == nil && other.doorbell.state.trouble == nil })
        for _ in 0..<1000 { one.doorbell.ring() }
        #expect(try await eventually { other.doorbell.state.heard > 0 })
        other.doorbell.ring()
        #expect(try await eventually { one.doorbell.state.heard > 0 })
        #expect(one.doorbell.state.heard == other.doorbell.state.sent)
        #expect(one.doorbell.state.sent < 1000)
        await one.end()
        await other.end()
    }

    @Test("a line that is cut comes back, and says that something may have been rung meanwhile")
    func cut() async throws {
        let database = try #require(PostgresServer.named).makeDatabase()
        let listener = try Listener(database.url, "one")
        #expect(try await eventually { listener.doorbell.state.trouble == nil })
        let before = listener.count
        let killer = try database.connect(.tool)
        defer { killer.close() }
        _ = try killer.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND query SIMILAR TO '(LISTEN|NOTIFY)%' AND pid <> pg_backend_pid()
            """,
            []
        ) { _ in }
        #expect(try await eventually { listener.count > before && listener.doorbell.state.trouble == nil })
        await listener.end()
    }

    @Test("a server that is not there is told, and the doorbell ends at once when it is to")
    func away() async throws {
        let listener = try Listener("postgres://nobody@127.0.0.1:1/nothing", "one")
        #expect(
            try await eventually {
                listener.doorbell.state.trouble.map { $0 != "not connected yet" } ?? false
            }
        )
        for _ in 0..<10 { listener.doorbell.ring() }
        await listener.end()
    }
}
