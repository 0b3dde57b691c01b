import Synchronization
import TestDatabases
import Testing
import TocsinCore
import TocsinPostgres
import TocsinStore

@Suite("Plans that PostgreSQL keeps")
struct KeptPlanTests {
    private static let scans = """
        SELECT coalesce(sum(idx_scan), 0) FROM pg_stat_user_indexes
        WHERE relname LIKE 'messages%' AND indexrelname LIKE '%' || $1 || '%'
        """

    /// A statement that a session has prepared, and how often it was run, and planned for that.
    private struct Planned: Equatable {
        let uses: Int64
        let anew: Int64
        let sql: String
    }

    private static let planned = """
        SELECT generic_plans + custom_plans, custom_plans, statement FROM pg_prepared_statements
        """

    @Test(
        "one from when there was no message finds a topic's last by its number",
        arguments: TestDatabase.postgres
    )
    func lastOfTopic(database: TestDatabase) async throws {
        let models = TestModels()
        let made = try database.make()
        let store = try await SQLStore.open(made, at: moment(0))
        try await store.insert([models.topic("t")])
        // A plan is kept from the sixth time on.
        for _ in 1...20 {
            _ = try await store.writing { writer throws(StoreError) in
                .success(
                    try writer.assignNumbers(
                        ["u": 1],
                        [TopicID("t"): 1],
                        asking: PlaceQuestions(topics: models.topic, fewMembers: 8, now: moment(0))
                    )
                )
            }
        }
        await store.close()
        let connection = try made.connect(.tool)
        defer { connection.close() }
        // The server counts when it has seen that the connection was closed.
        var byNumber: Int64 = 0
        for _ in 0..<1000 where byNumber < 20 {
            byNumber = try connection.first(Self.scans, [.text("number")]) { $0.int(0) } ?? 0
            _ = try connection.first("SELECT 1 FROM pg_sleep(0.02)", []) { $0.int(0) }
        }
        #expect(byNumber >= 20)
        #expect(try connection.first(Self.scans, [.text("creation")]) { $0.int(0) } == 0)
    }

    @Test(
        "no statement of a group of messages is planned anew each time, nor where its places are expected",
        .enabled(if: PostgresServer.named != nil)
    )
    func groups() async throws {
        try await PlaceScene.with { scene in
            let plans = Mutex([Planned]())
            let observed = ObservedDatabase(base: scene.database) { sql, _, connection throws(StoreError) in
                guard sql.hasPrefix("BEGIN ISOLATION LEVEL READ COMMITTED") else { return }
                let found = try connection.all(Self.planned) {
                    Planned(uses: $0.int(0), anew: $0.int(1), sql: $0.text(2))
                }
                plans.withLock { $0 = found }
            }
            var settings = StoreSettings()
            settings.journal = Journal(instance: "third")
            let store = try await SQLStore.open(observed, at: moment(0), settings: settings)
            try await scene.join("bob")
            for _ in 0..<40 { _ = try await scene.make(3, by: store) }
            await store.close()
            let often = plans.withLock { $0 }.filter { $0.uses > 20 }
            #expect(often.contains { $0.sql.contains("INSERT INTO node_events") })
            // The server tries five times.
            #expect(often.filter { $0.anew > 5 } == [])
        }
    }

    @Test("a look at a long journal reads what is new in it, not all of it", arguments: TestDatabase.postgres)
    func longJournal(database: TestDatabase) async throws {
        let (made, looks, rows) = (try database.make(), 20, 20_000)
        await (try await SQLStore.open(made, at: moment(0))).close()
        let connection = try made.connect(.tool)
        defer { connection.close() }
        try connection.run(
            "INSERT INTO node_events (node, serial, body) SELECT 'b', i, '' FROM generate_series(1, \(rows)) AS i"
        )
        try connection.run("ANALYZE node_events")
        // What was committed since the oldest transaction under way began, in any database here, may be new to a look.
        let isOld = "SELECT xid < pg_snapshot_xmin(pg_current_snapshot()) FROM node_events ORDER BY xid DESC LIMIT 1"
        for _ in 0..<3000 where try connection.first(isOld, [], { $0.text(0) }) != "t" {
            _ = try connection.first("SELECT 1 FROM pg_sleep(0.02)", []) { $0.int(0) }
        }
        let node = try await JournalNode(made, named: "a")
        for _ in 0..<looks { await node.reader.looked() }
        await node.stop()
        let counts = """
            SELECT sum(i.idx_scan)::bigint, sum(i.idx_tup_read)::bigint + max(t.seq_tup_read)
            FROM pg_stat_user_indexes AS i JOIN pg_stat_user_tables AS t USING (relid) WHERE i.relname = 'node_events'
            """
        var (scans, read): (Int64, Int64) = (0, 0)
        for _ in 0..<1000 where scans < looks {
            (scans, read) = try connection.first(counts, []) { ($0.int(0), $0.int(1)) } ?? (0, 0)
            _ = try connection.first("SELECT 1 FROM pg_sleep(0.02)", []) { $0.int(0) }
        }
        #expect(scans >= looks)
        #expect(read < rows)
    }
}
