import Metrics
import Testing
import TocsinCore
import TocsinSQLite
import TocsinStore

@Suite("What the store counts")
struct StoreMetricsTests {
    private let models = TestModels()

    private static func text(_ source: any MetricSource) -> String {
        String(decoding: MetricFormat.text.write(source.families), as: UTF8.self)
    }

    /// Waits until the source tells this line: a caller may have its answer before that is counted.
    private static func expect(_ line: String, of source: any MetricSource) async throws {
        let end = ContinuousClock.now + .seconds(10)
        while !text(source).contains("\n\(line)\n") {
            guard ContinuousClock.now < end else {
                Issue.record("\(line) is not in \(text(source))")
                return
            }
            await Task.yield()
        }
    }

    @Test("groups, writes and reads are counted with their waits", arguments: TestDatabase.available)
    func counts(database: TestDatabase) async throws {
        var settings = StoreSettings()
        settings.metrics = StoreMetrics()
        try await database.withStore(settings: settings) { store in
            for number in 0..<3 { try await store.insert([models.topic("t\(number)")]) }
            for _ in 0..<2 { _ = try await store.read { reader throws(StoreError) in try reader.account(UserID("u")) } }
            for line in [
                #"tocsin_store_commits_total{result="ok"} 3"#, #"tocsin_store_commits_total{result="failed"} 0"#,
                "tocsin_store_commit_duration_seconds_count 3", "tocsin_store_group_writes_sum 3.0",
                #"tocsin_store_wait_seconds_count{kind="write"} 3"#, #"tocsin_store_wait_seconds_count{kind="read"} 2"#,
                "tocsin_store_read_duration_seconds_count 2", #"tocsin_store_queue{kind="write"} 0"#,
                "tocsin_store_refusing_seconds 0.0",
            ] {
                try await Self.expect(line, of: store)
            }
        }
    }

    @Test("a store that is not asked to counts nothing", arguments: TestDatabase.available)
    func uncounted(database: TestDatabase) async throws {
        try await database.withStore { store in #expect(store.families.isEmpty) }
    }

    @Test("a log of so many pages is copied to the main file after a commit, which is counted")
    func checkpoints() async throws {
        var database = try SQLiteDatabase.temporary()
        database.checkpointPages = 20
        let store = try await SQLStore.open(database, at: Timestamp(milliseconds: 0))
        let metrics = try #require(database.metrics)
        let before = Self.text(metrics)
        // The migrations alone filled it.
        #expect(!before.contains(#"tocsin_sqlite_checkpoints_total{result="full"} 0"#))
        #expect(before.contains(#"tocsin_sqlite_checkpoints_total{result="busy"} 0"#))
        try await store.insert([models.topic("t1")])
        #expect(!Self.text(metrics).contains("tocsin_sqlite_database_bytes 0\n"))
        #expect(!Self.text(metrics).contains("tocsin_sqlite_wal_bytes 0\n"))
        await store.close()
    }
}
