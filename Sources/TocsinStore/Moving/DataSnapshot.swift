package import TocsinCore

/// All data of a database at one moment, read in pages; used by one thread.
///
/// It is one read transaction: writers go on beside it, and what they write is not seen.
/// Until it is closed SQLite's log cannot begin anew, and PostgreSQL cannot clear away
/// rows that were replaced.
package final class DataSnapshot {
    private let connection: any SQLConnection
    private let dialect: Dialect
    /// The number of the database's last migration.
    package let migration: Int

    /// Opens the snapshot; refuses a database that is not at this program's level.
    package init(of database: any SQLDatabase) throws(StoreError) {
        let connection = try database.connect(.reader)
        dialect = database.dialect
        self.connection = connection
        do throws(StoreError) {
            let migrations = try Migration.embedded(for: dialect)
            try Migrator(connection: connection, dialect: dialect, migrations: migrations).requireCurrent()
            try connection.run(dialect.beginReading)
            for setting in dialect.longReadSettings { try connection.run(setting) }
            migration = migrations.count
        } catch {
            connection.close()
            throw error
        }
    }

    /// A table's columns, in order.
    package func columns(of table: MovedTable) throws(StoreError) -> [MovedColumn] {
        try connection.columns(of: table, dialect)
    }

    /// The rows of a table after a key, in order of the key.
    package func rows(
        of table: MovedTable,
        _ columns: [MovedColumn],
        after key: [SQLValue]?,
        limit: Int
    ) throws(StoreError) -> [[SQLValue]] {
        let order = table.key.joined(separator: ", ")
        var sql = "SELECT \(columns.map(\.name).joined(separator: ", ")) FROM \(table.name)"
        if let key {
            let parameters = key.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
            sql += " WHERE (\(order)) > (\(parameters))"
        }
        sql += " ORDER BY \(order) LIMIT \(limit)"
        return try connection.all(sql, key ?? []) { row in
            columns.enumerated().map { position, column in
                if row.isNull(position) { return .null }
                switch column.kind {
                case .text: return .text(row.text(position))
                case .integer: return .int(row.int(position))
                }
            }
        }
    }

    /// Lets the snapshot go.
    package func close() { connection.close() }
}
