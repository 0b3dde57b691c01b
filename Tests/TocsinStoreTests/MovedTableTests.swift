import Testing
import TocsinCore
import TocsinStore

/// A migration that adds a table or changes a key fails here until `MovedTable.all`
/// says what becomes of it.
@Suite("Moved tables")
struct MovedTableTests {
    private static func migrated(_ database: any SQLDatabase) throws -> any SQLConnection {
        let connection = try database.connect(.writer)
        let migrations = try Migration.embedded(for: database.dialect)
        try Migrator(connection: connection, dialect: database.dialect, migrations: migrations).migrate(at: moment(1))
        return connection
    }

    @Test("every table of the database moves or is said to stay", arguments: TestDatabase.available)
    func listed(database: TestDatabase) throws {
        let database = try database.make()
        let connection = try Self.migrated(database)
        defer { connection.close() }
        let found = try connection.tableNames(database.dialect)
        #expect(found == Set(MovedTable.all.map(\.name)).union(MovedTable.staying))
    }

    @Test(
        "what was never migrated is not exported, and it is said why",
        arguments: TestDatabase.postgres
    )
    func unmigrated(database: TestDatabase) throws {
        let database = try database.make()
        #expect {
            try DataSnapshot(of: database).close()
        } throws: { "\($0)".contains("lacks migrations: 0001") }
    }

    @Test("the keys by which tables are read are theirs, and hold no nulls", arguments: MovedTable.all)
    func keys(table: MovedTable) throws {
        let connection = try Self.migrated(try TestDatabase.available[0].make())
        defer { connection.close() }
        let key = try connection.all(
            "SELECT name FROM pragma_table_info($1) WHERE pk > 0 AND \"notnull\" = 1 ORDER BY pk",
            [.text(table.name)]
        ) { $0.text(0) }
        #expect(key == table.key)
    }

    @Test("rows are referred to only by tables that come after theirs", arguments: MovedTable.all)
    func order(table: MovedTable) throws {
        let connection = try Self.migrated(try TestDatabase.available[0].make())
        defer { connection.close() }
        let targets = try connection.all(
            "SELECT \"table\" FROM pragma_foreign_key_list($1)",
            [.text(table.name)]
        ) { $0.text(0) }
        let before = MovedTable.all.prefix { $0 != table }.map(\.name)
        #expect(Set(targets).isSubset(of: before), "\(table.name) refers to \(targets)")
    }
}
