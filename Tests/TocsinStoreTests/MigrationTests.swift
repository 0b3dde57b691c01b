import Testing
import TocsinCore
import TocsinSQLite
import TocsinStore

@Suite("Migrations")
struct MigrationTests {
    private static let first = Migration(number: 1, name: "0001_one.sql", text: "CREATE TABLE one (a TEXT); -- first\n")
    private static let second = Migration(
        number: 2,
        name: "0002_two.sql",
        text: "CREATE TABLE two (b TEXT); INSERT INTO one VALUES ('x');"
    )

    /// A database, a connection to it, and what brings it to a level.
    private struct Scene {
        let database: any SQLDatabase
        let connection: any SQLConnection

        init(_ database: TestDatabase) throws {
            self.database = try database.make()
            connection = try self.database.connect(.writer)
        }

        func migrator(_ migrations: [Migration]) -> Migrator {
            Migrator(connection: connection, dialect: database.dialect, migrations: migrations)
        }
    }

    /// The reason why the body throws a `mismatch`.
    private func mismatch(_ body: () throws(StoreError) -> Void) -> String? {
        do throws(StoreError) {
            try body()
            return nil
        } catch {
            if case .mismatch(let reason) = error { return reason }
            return "not a mismatch: \(error)"
        }
    }

    @Test(
        "pending files are applied in order, once, and listed with their time",
        arguments: TestDatabase.available
    )
    func applying(database: TestDatabase) throws {
        let scene = try Scene(database)
        let connection = scene.connection
        defer { connection.close() }
        let both = scene.migrator([Self.first, Self.second])
        #expect(try both.status().map(\.appliedAt) == [nil, nil])
        try scene.migrator([Self.first]).migrate(at: moment(5))
        try both.migrate(at: moment(7))
        try both.migrate(at: moment(9))
        #expect(try both.status().map(\.appliedAt) == [moment(5), moment(7)])
        #expect(try connection.all("SELECT a FROM one") { $0.text(0) } == ["x"])
        try both.requireCurrent()
    }

    @Test("a file that fails leaves the database as it was", arguments: TestDatabase.available)
    func failing(database: TestDatabase) throws {
        let scene = try Scene(database)
        let connection = scene.connection
        defer { connection.close() }
        let broken = Migration(
            number: 2,
            name: "0002_broken.sql",
            text: "CREATE TABLE three (c TEXT); CREATE nonsense;"
        )
        #expect(throws: StoreError.self) {
            try scene.migrator([Self.first, broken]).migrate(at: moment(5))
        }
        #expect(!connection.isInTransaction)
        let tables =
            scene.database.dialect == .sqlite
            ? "SELECT name FROM sqlite_schema" : "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
        #expect(try connection.all(tables) { $0.text(0) }.isEmpty)
    }

    @Test(
        "an edited file stops the start and says what to do",
        arguments: TestDatabase.available
    )
    func tampering(database: TestDatabase) throws {
        let scene = try Scene(database)
        let connection = scene.connection
        defer { connection.close() }
        try scene.migrator([Self.first]).migrate(at: moment(5))
        var edited = Self.first
        edited.text += " "
        let reason = mismatch { () throws(StoreError) in
            try scene.migrator([edited, Self.second]).migrate(at: moment(6))
        }
        #expect(
            reason
                == "Migration 0001_one.sql was changed after it was applied (checksum differs). Restore the file, or add "
                + "a new migration."
        )
        #expect(try scene.migrator([Self.first, Self.second]).status().map(\.appliedAt) == [moment(5), nil])
    }

    @Test(
        "what a newer program only added hinders an older one not, what it changed does",
        arguments: TestDatabase.available
    )
    func rollingUpgrade(database: TestDatabase) throws {
        let scene = try Scene(database)
        let connection = scene.connection
        defer { connection.close() }
        let old = scene.migrator([Self.first, Self.second])
        let added = Migration(
            number: 3,
            name: "0003_three.sql",
            text: "-- additive: a column that may be null\nALTER TABLE one ADD COLUMN c TEXT;"
        )
        try old.migrate(at: moment(1))
        try scene.migrator([Self.first, Self.second, added]).migrate(at: moment(2))
        try old.requireCurrent()
        try old.migrate(at: moment(3))
        try connection.run("INSERT INTO one (a) VALUES ($1)", [.text("by the old one")])
        #expect(try old.status().map(\.name) == ["0001_one.sql", "0002_two.sql", "0003_three.sql"])
        #expect(try old.status().map(\.isAdditive) == [false, false, nil], "what it does not know it cannot judge")
        #expect(
            try scene.migrator([Self.first, Self.second, added]).status().map(\.isAdditive) == [false, false, true]
        )
        let changed = Migration(number: 4, name: "0004_four.sql", text: "ALTER TABLE two RENAME TO too;")
        let later = Migration(number: 5, name: "0005_five.sql", text: "-- additive\nCREATE TABLE five (e TEXT);")
        try scene.migrator([Self.first, Self.second, added, changed, later]).migrate(at: moment(4))
        let reason = mismatch { () throws(StoreError) in try old.migrate(at: moment(5)) } ?? ""
        #expect(reason.contains("0004_four.sql") && reason.contains("newer version"), "\(reason)")
    }

    @Test(
        "a database of a newer program is refused with advice",
        arguments: TestDatabase.available
    )
    func newerDatabase(database: TestDatabase) throws {
        let scene = try Scene(database)
        let connection = scene.connection
        defer { connection.close() }
        try scene.migrator([Self.first, Self.second]).migrate(at: moment(5))
        let old = scene.migrator([Self.first])
        for migrates in [true, false] {
            let refusal = mismatch { () throws(StoreError) in
                if migrates { try old.migrate(at: moment(6)) } else { try old.requireCurrent() }
            }
            let reason = try #require(refusal)
            #expect(reason.contains("0002_two.sql") && reason.contains("newer version"), "\(reason)")
        }
        #expect(try old.status().map(\.name) == ["0001_one.sql", "0002_two.sql"])
    }

    @Test(
        "a store that must not migrate refuses a database that lacks migrations",
        arguments: TestDatabase.available
    )
    func requiring(database: TestDatabase) async throws {
        let database = try database.make()
        var strict = StoreSettings()
        strict.migrations = .require
        let settings = strict
        let error = await #expect(throws: StoreError.self) {
            _ = try await SQLStore.open(database, at: moment(0), settings: settings)
        }
        #expect(error?.description.contains("0001_tables.\(database.dialect.rawValue).sql") == true)
        var lenient = StoreSettings()
        lenient.migrations = .ignore
        let looking = try await SQLStore.open(database, role: .tool, at: moment(0), settings: lenient)
        #expect(try await looking.migrationStatus().allSatisfy { $0.appliedAt == nil })
        #expect(try await looking.health().migration == 0)
        await looking.close()
        let store = try await SQLStore.open(database, at: moment(77))
        #expect(try await store.migrationStatus().allSatisfy { $0.appliedAt == moment(77) })
        #expect(try await store.health().migration == Migration.embedded(for: database.dialect).count)
        await store.close()
    }

    @Test(
        "a database whose messages an earlier version put into parts by month is refused with advice",
        arguments: TestDatabase.postgres
    )
    func messagesByMonth(database: TestDatabase) async throws {
        let database = try database.make()
        let store = try await SQLStore.open(database, at: moment(0))
        await store.close()
        let connection = try database.connect(.tool)
        try connection.execute(
            script: """
                ALTER TABLE messages RENAME TO messages_rest;
                CREATE TABLE messages (LIKE messages_rest INCLUDING ALL EXCLUDING INDEXES) PARTITION BY RANGE (id);
                ALTER TABLE messages ATTACH PARTITION messages_rest DEFAULT;
                """
        )
        connection.close()
        for migrations in [MigrationMode.apply, .require] {
            var mutable = StoreSettings()
            mutable.migrations = migrations
            let settings = mutable
            let error = await #expect(throws: StoreError.self) {
                _ = try await SQLStore.open(database, at: moment(1), settings: settings)
            }
            let reason = error?.description ?? ""
            #expect(reason.contains("parts by month") && reason.contains("tocsin export"), "\(reason)")
        }
    }

    @Test("files are taken by dialect, and must be numbered without holes")
    func files() throws {
        let files = [
            ("0002_b.postgres.sql", "p"), ("0002_b.sqlite.sql", "s"), ("0001_a.sql", "a"), ("0003_c.sql", "c"),
        ]
        .map { (name: $0.0, text: $0.1) }
        #expect(try Migration.migrations(of: files, for: .sqlite).map(\.text) == ["a", "s", "c"])
        for wrong in [["0002_b.sql"], ["0001_a.sql", "0001_b.sql"], ["one.sql"]] {
            #expect(throws: StoreError.self) {
                try Migration.migrations(of: wrong.map { (name: $0, text: "") }, for: .sqlite)
            }
        }
    }
}
