import Foundation
import Testing
import TocsinCore
import TocsinSQLite
import TocsinStore

@Suite("Backup of SQLite", .timeLimit(.minutes(5)))
struct BackupTests {
    private let models = TestModels()

    /// Runs the body with an open store, its file and a path for the backup,
    /// all in a folder that goes.
    private func withStore(_ body: (SQLStore, _ source: String, _ copy: String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "tocsin-backup-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try await SQLStore.open(SQLiteDatabase(path: folder + "/source.db"), at: moment(1))
        try await store.insert([models.topic("t")])
        do {
            try await body(store, folder + "/source.db", folder + "/copy.db")
        } catch {
            await store.close()
            throw error
        }
        await store.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).allSatisfy { !$0.contains(".part") })
    }

    private func publish(_ count: Int, _ prefix: String, to store: SQLStore) async throws {
        let models = models
        try await store.write { writer throws(StoreError) in
            for index in 0..<count {
                var record = models.message("\(prefix)-\(index)", topic: "t")
                record["body"] = .text(String(repeating: "text ", count: 200))
                try writer.create(record)
            }
        }
    }

    /// Publishes five at a time until it is told that this is enough, and at least twenty
    /// times; answers how often.
    private func publishing(to store: SQLStore, until isEnough: @Sendable () -> Bool) async throws -> Int {
        var rounds = 0
        while !isEnough() || rounds < 20 {
            try await publish(5, "during-\(rounds)", to: store)
            rounds += 1
        }
        return rounds
    }

    /// How a backup ends: `done`, or why not.
    private func reason(
        _ source: String,
        _ copy: String,
        replaces: Bool,
        onlyCopies: Bool = false,
        steps: Int = .max
    ) -> String {
        var done = 0
        do throws(StoreError) {
            let backup = SQLiteBackup(
                of: source,
                to: copy,
                replaces: replaces,
                onlyCopies: onlyCopies,
                pagesAtOnce: 4
            )
            try backup.run(isStopped: {
                done += 1
                return done > steps
            })
            return "done"
        } catch {
            return error.description
        }
    }

    private func numbers(of path: String) throws -> [Int64] {
        let connection = try SQLiteDatabase(path: path).connect(.reader)
        defer { connection.close() }
        #expect(try connection.all("PRAGMA integrity_check") { $0.text(0) } == ["ok"])
        let last = try connection.first("SELECT last_number FROM topics") { $0.int(0) }
        let numbers = try connection.all("SELECT number FROM messages ORDER BY number") { $0.int(0) }
        #expect(last == Int64(numbers.count))
        return numbers
    }

    @Test(
        "a copy made while messages are written is whole, of one moment, and holds a dense beginning of their numbers"
    )
    func whileWriting() async throws {
        try await withStore { store, source, copy in
            try await publish(2000, "before", to: store)
            let done = Collected<Bool>()
            async let rounds = publishing(to: store) { !done.all.isEmpty }
            let backup = SQLiteBackup(of: source, to: copy, replaces: false, pagesAtOnce: 16)
            try await withThread("backup") { () throws(StoreError) in try backup.run() }
            done.append([true])
            let written = try await rounds
            let numbers = try numbers(of: copy)
            #expect(numbers == Array(1...Int64(numbers.count)))
            #expect((2000...(2000 + 5 * written)).contains(numbers.count))
            let attributes = try FileManager.default.attributesOfItem(atPath: copy)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test("a write between two steps neither waits nor makes the copy begin again")
    func steps() async throws {
        try await withStore { store, source, copy in
            try await publish(1000, "before", to: store)
            let database = SQLiteDatabase(path: source)
            let (copied, failures) = (Collected<Int>(), Collected<String>())
            let backup = SQLiteBackup(of: source, to: copy, replaces: false, pagesAtOnce: 8)
            try await withThread("backup") { () throws(StoreError) in
                try backup.run(report: { progress in
                    copied.append([progress.copiedPages])
                    do throws(StoreError) {
                        let connection = try database.connect(.tool)
                        try connection.run("UPDATE topics SET name = name || 'x'")
                        connection.close()
                    } catch {
                        failures.append([error.description])
                    }
                })
            }
            #expect(copied.all.count > 10)
            #expect(copied.all == copied.all.sorted())
            #expect(failures.all.isEmpty, "\(failures.all)")
            let reader = try SQLiteDatabase(path: copy).connect(.reader)
            #expect(try reader.first("SELECT name FROM topics") { $0.text(0) } == "news")
            reader.close()
        }
    }

    @Test("a file that is there is replaced only when that is asked for, and the database itself never")
    func replacing() async throws {
        try await withStore { store, source, copy in
            try Data("mine".utf8).write(to: URL(filePath: copy))
            #expect(reason(source, copy, replaces: false).contains("--force"))
            #expect(try String(contentsOfFile: copy, encoding: .utf8) == "mine")
            #expect(reason(source, source, replaces: true).contains("the database itself"))
            #expect(reason(source, "/dev/null", replaces: true).contains("not a file"))
            let nowhere = reason(source, copy + "/nowhere/x", replaces: false)
            #expect(nowhere.contains("cannot be written") && !nowhere.contains("unavailable"), "\(nowhere)")
            #expect(reason(source, copy, replaces: true) == "done")
            #expect(try numbers(of: copy).isEmpty)
        }
    }

    @Test("a copy may be bound to take the place of copies alone; names beside the database are nobody's")
    func otherFiles() async throws {
        try await withStore { store, source, copy in
            try await publish(5, "kept", to: store)
            #expect(reason(source, copy, replaces: false) == "done")
            #expect(reason(source, copy, replaces: true, onlyCopies: true) == "done")
            let key = source + ".key"
            try Data("a key".utf8).write(to: URL(filePath: key))
            let said = reason(source, key, replaces: true, onlyCopies: true)
            #expect(said.contains("is no database, and stays as it is"), "\(said)")
            #expect(try Data(contentsOf: URL(filePath: key)) == Data("a key".utf8))
            for suffix in ["-wal", "-shm", "-journal", ".lock"] {
                let said = reason(source, source + suffix, replaces: true)
                #expect(said.contains("has the name of a file beside a database"), "\(suffix): \(said)")
            }
        }
    }

    @Test("a copy that is stopped, or whose source is damaged, leaves nothing behind")
    func failing() async throws {
        try await withStore { store, source, copy in
            try await publish(500, "before", to: store)
            #expect(reason(source, copy, replaces: false, steps: 3) == StoreError.stopped.description)
            #expect(!FileManager.default.fileExists(atPath: copy))
            let damaged = source + ".damaged"
            try SQLiteBackup(of: source, to: damaged, replaces: false).run()
            let file = try FileHandle(forUpdating: URL(filePath: damaged))
            try file.seek(toOffset: 40 * 4096)
            try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
            try file.close()
            #expect(reason(damaged, copy, replaces: false).contains("damaged"))
            #expect(!FileManager.default.fileExists(atPath: copy))
        }
    }
}
