import Synchronization
import Testing
import TocsinCore
import TocsinSQLite
import TocsinStore

@Suite("Failures")
struct FailureTests {
    private let models = TestModels()

    /// Something a test switches while the store runs.
    private final class Switch: Sendable {
        private let value = Mutex(false)
        var isOn: Bool {
            get { value.withLock { $0 } }
            set { value.withLock { $0 = newValue } }
        }
    }

    private func open(
        _ database: any SQLDatabase,
        observer: @escaping SQLStore.CommitObserver = { _ in },
        diagnostics: @escaping @Sendable (StoreError) -> Void = { _ in },
        _ onRun: @escaping ObservedDatabase.Observer
    ) async throws -> SQLStore {
        try await SQLStore.open(
            ObservedDatabase(base: database, observer: onRun),
            at: moment(0),
            commitObserver: observer,
            diagnostics: diagnostics
        )
    }

    private func reason(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch StoreError.unavailable(let reason, let detail) {
            return detail.isEmpty ? reason : "tells clients \(detail)"
        } catch {
            return "not unavailable: \(error)"
        }
    }

    @Test("a full disk refuses writes, reads go on, and writing resumes by itself")
    func fullDisk() async throws {
        let (disk, models) = (Switch(), models)
        let store = try await open(try SQLiteDatabase.temporary()) { sql, _, connection throws(StoreError) in
            guard sql == "BEGIN IMMEDIATE" else { return }
            let pages = try connection.first("PRAGMA page_count") { $0.int(0) } ?? 0
            try connection.execute(script: "PRAGMA max_page_count = \(disk.isOn ? pages : 1_000_000)")
        }
        var large = models.topic("large")
        large["name"] = .text(String(repeating: "x", count: 100_000))
        let record = large
        try await store.insert([models.topic("t1")])
        disk.isOn = true
        let refusal = await reason { try await store.insert([record]) }
        #expect(refusal?.contains("the disk is full") == true, "\(refusal ?? "accepted")")
        let found = try await store.read { reader throws(StoreError) in
            try reader.records(models.topic, ids: ["t1", "large"], where: .always).map(\.id)
        }
        #expect(found == ["t1"])
        disk.isOn = false
        try await store.insert([record])
        await store.close()
    }

    @Test("writes count as refused until a row can be written: a group that writes nothing proves nothing")
    func refusedUntilWritten() async throws {
        let (disk, wrote, models) = (Switch(), Switch(), models)
        var settings = StoreSettings()
        settings.refusalEndsAfter = .zero
        let full = ObservedDatabase(base: try SQLiteDatabase.temporary()) { sql, _, _ throws(StoreError) in
            if sql.hasPrefix("BEGIN") { wrote.isOn = false }
            if sql.hasPrefix("INSERT") || sql.hasPrefix("UPDATE") { wrote.isOn = true }
            guard disk.isOn, wrote.isOn, sql == "COMMIT" else { return }
            throw .unavailable(reason: "the disk is full", detail: sql)
        }
        let store = try await SQLStore.open(full, at: moment(0), settings: settings)
        disk.isOn = true
        #expect(await reason { try await store.insert([models.topic("t1")]) } == "the disk is full")
        let since = try #require(store.statistics.refusal?.since)
        try await store.write { _ throws(StoreError) in }
        #expect(store.statistics.refusal?.since == since)
        disk.isOn = false
        try await store.write { _ throws(StoreError) in }
        #expect(store.statistics.refusal == nil)
        await store.close()
    }

    @Test("callers get a plain sentence, the operator all that is known, once a second for each kind")
    func diagnostics() async throws {
        let (told, models) = (Collected<StoreError>(), models)
        let secret = StoreError.unavailable(reason: "the disk failed", detail: "/var/lib/x.db, in: INSERT INTO topics")
        let store = try await open(try SQLiteDatabase.temporary(), diagnostics: { told.append([$0]) }) {
            sql,
            _,
            _ throws(StoreError) in
            if sql.hasPrefix("INSERT INTO \"topics\"") { throw secret }
            if sql.hasPrefix("INSERT INTO memberships") {
                throw .statement(code: 1, message: "no such column", sql: sql)
            }
        }
        for _ in 0..<5 { #expect(await reason { try await store.insert([models.topic("t1")]) } == "the disk failed") }
        let membership = Membership(topicID: TopicID("t1"), userID: UserID("u"), push: true, createdAt: moment(1))
        await #expect(throws: StoreError.self) {
            try await store.write { writer throws(StoreError) in try writer.save(membership) }
        }
        #expect(told.all.first == secret)
        #expect(told.all.count >= 2 && told.all.count < 6, "\(told.all)")
        #expect(told.all.last?.description.contains("no such column") == true)
        await store.close()
    }

    @Test("when the begin of a group fails in an unforeseen way, its callers see no SQL")
    func failingBegin() async throws {
        let (failing, models) = (Switch(), models)
        let store = try await open(try SQLiteDatabase.temporary()) { sql, _, _ throws(StoreError) in
            if failing.isOn, sql == "COMMIT" { throw .statement(code: 1, message: "odd", sql: "COMMIT") }
        }
        failing.isOn = true
        #expect(await reason { try await store.insert([models.topic("t1")]) } == "the database failed")
        await store.close()
    }

    @Test("a database that turned read-only refuses writes, reads go on, and writing resumes by itself")
    func readOnly() async throws {
        let (locked, models) = (Switch(), models)
        let store = try await open(try SQLiteDatabase.temporary()) { sql, _, connection throws(StoreError) in
            guard sql == "BEGIN IMMEDIATE" else { return }
            try connection.execute(script: "PRAGMA query_only = \(locked.isOn ? 1 : 0)")
        }
        try await store.insert([models.topic("t1")])
        locked.isOn = true
        let refusal = await reason { try await store.insert([models.topic("t2")]) }
        #expect(refusal?.contains("the database is read-only") == true, "\(refusal ?? "accepted")")
        let found = try await store.read { reader throws(StoreError) in
            try reader.records(models.topic, ids: ["t1", "t2"], where: .always).map(\.id)
        }
        #expect(found == ["t1"])
        locked.isOn = false
        try await store.insert([models.topic("t2")])
        await store.close()
    }

    @Test("when the commit fails nobody is told of success, nothing is stored or announced, and the next group works")
    func failingCommit() async throws {
        let (failing, models, events) = (Switch(), models, Collected<DomainEvent>())
        let store = try await open(try SQLiteDatabase.temporary(), observer: events.append) {
            sql,
            _,
            _ throws(StoreError) in
            if sql == "COMMIT", failing.isOn { throw .unavailable(reason: "the disk failed") }
        }
        failing.isOn = true
        let refusal = await reason {
            try await store.write { writer throws(StoreError) in
                _ = try writer.insert(models.topic("t1"))
                writer.note(.created(models.topic("t1")))
            }
        }
        #expect(refusal == "the disk failed")
        #expect(events.all.isEmpty)
        #expect(store.statistics.failedGroups == 1)
        failing.isOn = false
        let stored = try await store.write { writer throws(StoreError) in try writer.insert(models.topic("t1")) }
        #expect(stored == nil)
        await store.close()
    }

    @Test("a connection that cannot roll back is given up, and a new one takes its place")
    func lostConnection() async throws {
        let (lost, models, opened) = (Switch(), models, Collected<Int>())
        let store = try await open(try SQLiteDatabase.temporary()) { sql, _, _ throws(StoreError) in
            if sql == "BEGIN IMMEDIATE" { opened.append([1]) }
            if lost.isOn, sql == "COMMIT" || sql == "ROLLBACK" { throw .unavailable(reason: "the server went away") }
        }
        lost.isOn = true
        #expect(await reason { try await store.insert([models.topic("t1")]) } == "the server went away")
        lost.isOn = false
        try await store.insert([models.topic("t1")])
        await store.close()
    }

    @Test("another process that holds the database makes writes wait, then fail with a reason")
    func busy() async throws {
        var database = try SQLiteDatabase.temporary()
        database.busyTimeoutMilliseconds = 50
        let store = try await SQLStore.open(database, at: moment(0))
        let other = try database.connect(.tool)
        try other.run("BEGIN IMMEDIATE")
        let refusal = await reason { try await store.insert([models.topic("t1")]) }
        #expect(refusal?.contains("another process is writing") == true, "\(refusal ?? "accepted")")
        try other.run("ROLLBACK")
        other.close()
        try await store.insert([models.topic("t1")])
        await store.close()
    }

    @Test("a model whose stored names are not plain words is refused before any SQL is made of them")
    func names() async throws {
        for name in ["a b", "a\"b", "1a", ""] {
            let field = ModelField(
                name: name,
                typeName: "String",
                kind: .text,
                isRequired: false,
                storage: .extra(name)
            )
            let id = ModelField(name: "id", typeName: "ID", kind: .text, isRequired: true, storage: .column("id"))
            let model = ModelType(
                name: "Odd",
                plural: "Odds",
                table: ModelTable(name: "records", discriminator: "Odd"),
                fields: [id, field],
                indexes: [],
                relations: [],
                rules: []
            )
            let store = try await SQLStore.open(try SQLiteDatabase.temporary(), at: moment(0))
            let error = await #expect(throws: StoreError.self) {
                try await store.read { reader throws(StoreError) in
                    _ = try reader.records(model, ids: ["x"], where: .always)
                }
            }
            #expect(error?.description.contains("only letters, digits and _") == true)
            await store.close()
        }
    }
}
