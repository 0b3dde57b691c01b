import Foundation
import Synchronization
import Testing
import TocsinCore
import TocsinSQLite
import TocsinStore

@Suite("Opening and closing")
struct OpeningTests {
    private let models = TestModels()

    @Test(
        "a second server is refused, a tool is not, and the next server gets the database",
        arguments: TestDatabase.sqlite
    )
    func oneServer(database: TestDatabase) async throws {
        let (database, models) = (try database.make(), models)
        let first = try await SQLStore.open(database, at: moment(0))
        let error = await #expect(throws: StoreError.self) {
            _ = try await SQLStore.open(database, at: moment(0))
        }
        #expect(error?.description.contains("A server is running on this database") == true)
        let tool = try await SQLStore.open(database, role: .tool, at: moment(0))
        try await tool.insert([models.topic("t1")])
        let found = try await first.read { reader throws(StoreError) in
            try reader.records(models.topic, ids: ["t1"], where: .always).count
        }
        #expect(found == 1)
        await tool.close()
        await first.close()
        let next = try await SQLStore.open(database, at: moment(0))
        await next.close()
    }

    @Test(
        "what was written is there after closing and opening, and the log is emptied",
        arguments: TestDatabase.sqlite
    )
    func reopening(database: TestDatabase) async throws {
        let (database, models) = (try #require(try database.make() as? SQLiteDatabase), models)
        let first = try await SQLStore.open(database, at: moment(0))
        try await first.insert((0..<50).map { models.topic("t\($0)") })
        await first.close()
        await first.close()
        let log = try? Data(contentsOf: URL(filePath: database.path + "-wal"))
        #expect(log?.isEmpty ?? true)
        let second = try await SQLStore.open(database, at: moment(0))
        let count = try await second.read { reader throws(StoreError) in
            try reader.records(models.topic, ids: (0..<50).map { "t\($0)" }, where: .always).count
        }
        #expect(count == 50)
        await second.close()
        let connection = try database.connect(.tool)
        #expect(try connection.all("PRAGMA integrity_check") { $0.text(0) } == ["ok"])
        #expect(try connection.all("PRAGMA foreign_key_check") { $0.text(0) }.isEmpty)
        connection.close()
    }

    @Test("writes that wait when the store is closed are committed and answered")
    func closingUnderLoad() async throws {
        let (database, models) = (try SQLiteDatabase.temporary(), models)
        let store = try await SQLStore.open(database, at: moment(0))
        let outcomes = await withTaskGroup(of: StoreError?.self) { group in
            for index in 0..<200 {
                group.addTask {
                    do throws(StoreError) {
                        _ = try await store.write { writer throws(StoreError) in
                            try writer.insert(models.topic("t\(index)"))
                        }
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            group.addTask {
                await store.close()
                return nil
            }
            return await group.reduce(into: [StoreError?]()) { $0.append($1) }
        }
        #expect(outcomes.allSatisfy { $0 == nil || $0 == .stopped })
        let reopened = try await SQLStore.open(database, at: moment(0))
        let stored = try await reopened.page(
            ModelQuery(model: models.topic, predicate: .always, order: [ModelQuery.Order(field: 0)], limit: 1000)
        )
        #expect(stored.count == outcomes.count { $0 == nil } - 1)
        await reopened.close()
    }

    @Test("connections have the settings that durability needs, and none checkpoints by SQLite's own rule")
    func pragmas() throws {
        let database = try SQLiteDatabase.temporary()
        let expected: [(ConnectionUse, [String: String])] = [
            (.writer, ["journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "wal_autocheckpoint": "0"]),
            (.tool, ["journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "wal_autocheckpoint": "0"]),
            (.reader, ["journal_mode": "wal", "foreign_keys": "1", "wal_autocheckpoint": "0"]),
        ]
        for (use, settings) in expected {
            let connection = try database.connect(use)
            for (name, value) in settings {
                #expect(try connection.first("PRAGMA \(name)") { $0.text(0) } == value, "\(use) \(name)")
            }
            connection.close()
        }
    }

    @Test("a reader cannot write, whatever it is given")
    func readersOnlyRead() throws {
        let database = try SQLiteDatabase.temporary()
        let writer = try database.connect(.writer)
        try writer.execute(script: "CREATE TABLE x (a TEXT)")
        let reader = try database.connect(.reader)
        let error = #expect(throws: StoreError.self) { try reader.run("INSERT INTO x VALUES ('a')") }
        #expect(error?.description.contains("read-only") == true)
        reader.close()
        writer.close()
    }

    @Test("a statement of a reader that runs too long is ended, and the connection goes on")
    func timeLimit() throws {
        var database = try SQLiteDatabase.temporary()
        database.readLimitMilliseconds = 20
        let writer = try database.connect(.writer)
        let reader = try database.connect(.reader)
        let endless = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c"
        let error = #expect(throws: StoreError.self) { try reader.run(endless) }
        #expect(error?.description.contains("took too long") == true)
        #expect(try reader.first("SELECT 7") { $0.int(0) } == 7)
        reader.close()
        writer.close()
    }

    @Test("only its owner can read a database's files")
    func fileRights() throws {
        let database = try SQLiteDatabase.temporary()
        let writer = try database.connect(.writer)
        try writer.execute(script: "CREATE TABLE x (a TEXT)")
        for suffix in ["", "-wal", "-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: database.path + suffix)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(suffix)")
        }
        writer.close()
    }

    @Test("a folder that is absent is named, with what to look at")
    func absentFolder() async throws {
        let error = await #expect(throws: StoreError.self) {
            _ = try await SQLStore.open(SQLiteDatabase(path: "/nonexistent/x.sqlite"), at: moment(0))
        }
        #expect(error?.description.contains("/nonexistent/x.sqlite") == true)
        #expect(error?.description.contains("Does its folder exist") == true)
    }

    @Test("a file that is not a database is refused and left as it was")
    func foreignFile() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tocsin-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "notes.txt")
        let content = Data(String(repeating: "not a database\n", count: 500).utf8)
        try content.write(to: file)
        let error = await #expect(throws: StoreError.self) {
            _ = try await SQLStore.open(SQLiteDatabase(path: file.path()), at: moment(0))
        }
        #expect(error?.description.contains("not a SQLite database") == true)
        #expect(try Data(contentsOf: file) == content)
    }
}
