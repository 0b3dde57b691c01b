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
            try await Task.sleep(for: .milliseconds(1))
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

    @Test("a node that is alone rings nobody, and one that comes hears at once that something was rung")
    func alone() async throws {
        let database = try #require(PostgresServer.named).makeDatabase()
        let one = try Listener(database.url, "one")
        #expect(try await eventually { one.doorbell.state.trouble == nil })
        // The first of the looks may have begun before the line listened.
        for _ in 0..<2 { one.doorbell.note(othersLive: false) }
        for count in 1...10 {
            one.doorbell.ring()
            one.doorbell.greet()
            #expect(try await eventually { one.doorbell.state.sent >= count })
            #expect(one.doorbell.state.sent == count, "more than the greetings went out")
        }
        one.doorbell.ring()
        let other = try Listener(database.url, "other")
        #expect(try await eventually { other.doorbell.state.heard > 0 })
        // For a while it is known that somebody is there, whatever the registry says.
        for _ in 0..<5 { one.doorbell.note(othersLive: false) }
        let before = other.doorbell.state.heard
        one.doorbell.ring()
        #expect(try await eventually { other.doorbell.state.heard > before })
        await one.end()
        await other.end()
    }

    @Test("what was rung while nobody was there goes out once the registry shows somebody")
    func registry() async throws {
        let database = try #require(PostgresServer.named).makeDatabase()
        let one = try Listener(database.url, "one")
        #expect(try await eventually { one.doorbell.state.trouble == nil })
        for _ in 0..<2 { one.doorbell.note(othersLive: false) }
        one.doorbell.ring()
        one.doorbell.greet()
        #expect(try await eventually { one.doorbell.state.sent == 1 })
        one.doorbell.ring()
        one.doorbell.note(othersLive: true)
        #expect(try await eventually { one.doorbell.state.sent == 2 })
        await one.end()
    }

    @Test("a stream of rings goes out every few milliseconds, and its last one too")
    func stream() async throws {
        let database = try #require(PostgresServer.named).makeDatabase()
        let (one, other) = (try Listener(database.url, "one"), try Listener(database.url, "other"))
        #expect(try await eventually { one.doorbell.state.trouble == nil && other.doorbell.state.trouble == nil })
        let start = ContinuousClock.now
        for round in 0..<40 {
            let before = one.doorbell.state.sent
            for _ in 0..<round { one.doorbell.ring(.soon) }
            one.doorbell.ring(.soon)
            #expect(try await eventually { one.doorbell.state.sent > before })
        }
        #expect(one.doorbell.state.sent <= Int((ContinuousClock.now - start) / DoorbellThrottle.rest) + 2)
        #expect(try await eventually { other.doorbell.state.heard == one.doorbell.state.sent })
        await one.end()
        await other.end()
    }
}
