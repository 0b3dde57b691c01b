import TestDatabases
import Testing
import TocsinCore
import TocsinPostgres
import TocsinStore

/// Another session holds what writes need.
@Suite("Writes that wait for locks", .enabled(if: PostgresServer.named != nil), .timeLimit(.minutes(5)))
struct LockedWriteTests {
    private let models = TestModels()

    /// Runs the body with a store of the database and another session on it,
    /// which is in a transaction.
    private func withStore(
        on database: any SQLDatabase,
        _ body: (SQLStore, any SQLConnection) async throws -> Void
    ) async throws {
        let store = try await SQLStore.open(database, at: moment(0))
        let other = try database.connect(.tool)
        defer { other.close() }
        do {
            try await store.insert([models.topic("held"), models.topic("free")])
            try other.run("BEGIN")
            try await body(store, other)
        } catch {
            await store.close()
            throw error
        }
        await store.close()
    }

    /// What becomes of a new version of a topic: nil when it is stored.
    private func renew(_ id: String, in store: SQLStore) async -> StoreError? {
        let models = models
        return await failure { () throws(StoreError) in
            try await store.write { writer throws(StoreError) in try Self.renew(id, models, writer) }
        }
    }

    /// Stores a new version of a topic.
    private static func renew(_ id: String, _ models: TestModels, _ writer: any StoreWriter) throws(StoreError) {
        for var topic in try writer.records(models.topic, ids: [id], where: .always) {
            topic["_version"] = .int(topic.version + 1)
            try writer.update(topic)
        }
    }

    private func failure(_ body: () async throws(StoreError) -> Void) async -> StoreError? {
        do throws(StoreError) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    /// Renews a topic, together with others.
    private struct Renewal: GroupedWrite {
        let id: String
        let models: TestModels

        static func perform(_ batch: [Renewal], _ writer: any StoreWriter) throws(StoreError) -> () -> [String] {
            for renewal in batch { try LockedWriteTests.renew(renewal.id, renewal.models, writer) }
            return { batch.map(\.id) }
        }
    }

    private static let blocked = StoreError.unavailable(reason: "something else has locked what this write needs")

    @Test(
        "one that needs a row of another session is refused as not stored, those beside it are stored",
        arguments: [true, false]
    )
    func row(prepares: Bool) async throws {
        let owner = try #require(PostgresServer.named).makeDatabase()
        var database = PostgresDatabase(url: owner.url)
        database.options.preparesStatements = prepares
        try await withStore(on: database) { store, other in
            try other.run("SELECT 1 FROM topics WHERE id = 'held' FOR UPDATE")
            let outcomes = try await store.whileWriterIsHeld {
                ["free", "held", "free"].map { id in Task.immediate { await renew(id, in: store) } }
            }
            #expect(outcomes == [nil, Self.blocked, nil])
            try other.run("ROLLBACK")
            #expect(await renew("held", in: store) == nil)
        }
    }

    @Test("of a batch those are refused that need a row of another session, however many are beside them")
    func batch() async throws {
        let database = try #require(PostgresServer.named).makeDatabase()
        try await withStore(on: database) { store, other in
            try other.run("SELECT 1 FROM topics WHERE id = 'held' FOR UPDATE")
            let ids = (0..<200).map { [5, 100, 190].contains($0) ? "held" : "free" }
            let models = models
            let outcomes = try await store.whileWriterIsHeld {
                ids.map { id in
                    Task.immediate {
                        await failure { () throws(StoreError) in
                            _ = try await Renewal(id: id, models: models).written(to: store)
                        }
                    }
                }
            }
            #expect(outcomes == ids.map { $0 == "held" ? Self.blocked : nil })
            try other.run("ROLLBACK")
        }
    }

    @Test("when all need what is locked, the group is refused after a bounded number of waits")
    func table() async throws {
        let savepoints = Collected<String>()
        let base = try #require(PostgresServer.named).makeDatabase()
        let database = ObservedDatabase(base: base) { sql, _, _ throws(StoreError) in
            if sql.hasPrefix("SAVEPOINT") { savepoints.append([sql]) }
        }
        try await withStore(on: database) { store, other in
            try other.run("LOCK TABLE topics IN ACCESS EXCLUSIVE MODE")
            let outcomes = try await store.whileWriterIsHeld {
                (0..<200).map { _ in Task.immediate { await renew("held", in: store) } }
            }
            #expect(outcomes == Array(repeating: Self.blocked, count: 200))
            #expect((2...66).contains(savepoints.all.count), "\(savepoints.all.count)")
            try other.run("ROLLBACK")
            #expect(await renew("held", in: store) == nil)
        }
    }

    @Test("one whose transaction cannot even begin is refused as not stored", arguments: [true, false])
    func begin(prepares: Bool) async throws {
        let owner = try #require(PostgresServer.named).makeDatabase()
        var database = PostgresDatabase(url: owner.url)
        database.options.preparesStatements = prepares
        try await withStore(on: database) { store, other in
            // As a fence of another node holds it.
            try other.run("SELECT pg_advisory_xact_lock(7401001)")
            #expect(await renew("free", in: store) == Self.blocked)
            try other.run("ROLLBACK")
            #expect(await renew("free", in: store) == nil)
        }
    }

    @Test("a write that runs too long is told as a write, not as a query to be narrowed")
    func slow() async throws {
        let owner = try #require(PostgresServer.named).makeDatabase()
        var base = PostgresDatabase(url: owner.url)
        base.options.writeLimitMilliseconds = 4000
        let database = ObservedDatabase(base: base) { sql, _, connection throws(StoreError) in
            if sql.hasPrefix("UPDATE \"topics\"") { try connection.run("SELECT pg_sleep(600)") }
        }
        try await withStore(on: database) { store, _ in
            let reason = "the database took too long over this write and ended it"
            #expect(await renew("free", in: store) == .unavailable(reason: reason))
        }
    }
}
