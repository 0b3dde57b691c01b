package import TocsinCore

/// A database that takes in a dump, chunk by chunk; used by one thread.
///
/// A chunk's rows and the note that it is here are one transaction: whatever dies, the import goes
/// on behind the last chunk.
package final class DataTarget {
    private let connection: any SQLConnection
    private let dialect: Dialect
    private let claim: (any ServerClaim)?
    /// The number of the database's last migration.
    package let migration: Int
    /// The first level whose rows fit here: migrations behind it only added.
    package let firstFittingMigration: Int

    /// Opens the database for this alone, and brings it to this program's level.
    package init(_ database: any SQLDatabase, at now: Timestamp) throws(StoreError) {
        dialect = database.dialect
        let migrations = try Migration.embedded(for: dialect)
        migration = migrations.count
        firstFittingMigration = migrations.last { !$0.isAdditive }?.number ?? 0
        let claim = try database.claimServer()
        self.claim = claim
        let connection: any SQLConnection
        do throws(StoreError) {
            connection = try database.connect(.writer)
        } catch {
            claim?.release()
            throw error
        }
        self.connection = connection
        do throws(StoreError) {
            try Migrator(connection: connection, dialect: dialect, migrations: migrations).migrate(at: now)
            if database.isShared { try refuseRunning(at: now) }
        } catch {
            connection.close()
            claim?.release()
            throw error
        }
    }

    /// Refuses a database that nodes run on, which nobody can claim for himself.
    private func refuseRunning(at now: Timestamp) throws(StoreError) {
        let reader = SQLReader(session: SQLSession(connection: connection, dialect: dialect))
        let nodes = try reader.nodes(seenSince: now.adding(seconds: -NodeEntry.lifeSeconds))
        guard !nodes.isEmpty else { return }
        let names = Set(nodes.map(\.name)).sorted().joined(separator: ", ")
        throw .mismatch(
            reason: "Servers run on this database (\(names)). Stop them first; one that was killed counts for "
                + "\(Int(NodeEntry.lifeSeconds)) s."
        )
    }

    /// A table's columns, in order.
    package func columns(of table: MovedTable) throws(StoreError) -> [MovedColumn] {
        try connection.columns(of: table, dialect)
    }

    /// The first table that has rows; nil when there is no data.
    package func firstFilledTable() throws(StoreError) -> String? {
        for table in MovedTable.all where !table.maySpeakOfBefore {
            let row = try connection.first("SELECT 1 FROM \(table.name) LIMIT 1", [], { $0.int(0) })
            if row != nil { return table.name }
        }
        return nil
    }

    /// How many rows a table has.
    package func count(of table: MovedTable) throws(StoreError) -> Int {
        Int(try connection.first("SELECT count(*) FROM \(table.name)") { $0.int(0) } ?? 0)
    }

    /// How far this dump is here; nil: it was never begun.
    package func state(of dump: String) throws(StoreError) -> ImportState? {
        try connection.first(
            "SELECT \(ImportState.columns) FROM imports WHERE dump = $1",
            [.text(dump)],
            ImportState.init
        )
    }

    /// An import that has begun and not ended.
    package func unfinished() throws(StoreError) -> ImportState? {
        try connection.first(ImportState.selectionOfUnfinished, [], ImportState.init)
    }

    /// Notes how far a dump is here.
    package func save(_ state: ImportState) throws(StoreError) {
        try connection.run(
            """
            INSERT INTO imports (\(ImportState.columns)) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (dump) DO UPDATE SET chunk = excluded.chunk, token = excluded.token,
                ended_at = excluded.ended_at
            """,
            state.bindings
        )
    }

    /// Takes in one chunk and notes it, all or nothing.
    package func load(_ chunk: MovedChunk, _ state: ImportState) throws(StoreError) {
        try connection.run(dialect.beginWriting())
        do throws(StoreError) {
            try insert(chunk, merges: state.merges)
            try save(state)
            try connection.run("COMMIT")
        } catch {
            if connection.isInTransaction { try connection.run("ROLLBACK") }
            throw error
        }
    }

    private func insert(_ chunk: MovedChunk, merges: Bool) throws(StoreError) {
        let names = chunk.columns.map(\.name).joined(separator: ", ")
        let placeholders = chunk.columns.enumerated().map { dialect.placeholder($0 + 1, of: $1.name) }.joined(
            separator: ", "
        )
        var sql = "INSERT INTO \(chunk.table.name) (\(names)) VALUES (\(placeholders))"
        if merges { sql += " ON CONFLICT (\(chunk.table.key.joined(separator: ", "))) DO NOTHING" }
        let rows = chunk.rows
        let inserted: Int
        do throws(StoreError) {
            inserted = try connection.runEach(sql, rows: rows.count) { row, parameters in
                for (position, value) in rows[row].enumerated() { parameters.bind(value, at: position + 1) }
            }
        } catch {
            let message: String
            switch error {
            case .statement(_, let words, _): message = words
            case .unstorable: message = "a text holds a zero byte, which PostgreSQL cannot store"
            default: throw error
            }
            throw .mismatch(
                reason:
                    "Rows of \(chunk.table.name) do not fit what is here: \(message). Import into an empty database, or "
                    + "mend what is different."
            )
        }
        if inserted < rows.count { try check(chunk) }
    }

    /// Refuses rows that are here under the same key with other values.
    private func check(_ chunk: MovedChunk) throws(StoreError) {
        let names = chunk.columns.map(\.name)
        // Nulls are equal here: `IS NOT DISTINCT FROM` is PostgreSQL's word for SQLite's `IS`, and
        // SQLite knows it from 3.39 on.
        let conditions = names.enumerated().map { position, name in
            chunk.table.key.contains(name)
                ? "\(name) = $\(position + 1)"
                : "\(name) IS NOT DISTINCT FROM \(dialect.placeholder(position + 1, of: name))"
        }
        let sql = "SELECT 1 FROM \(chunk.table.name) WHERE \(conditions.joined(separator: " AND "))"
        for row in chunk.rows where try connection.first(sql, row, { $0.int(0) }) == nil {
            let key = zip(names, row).filter { chunk.table.key.contains($0.0) }.map { "\($0.0) \($0.1.shown)" }
            throw .mismatch(
                reason:
                    "A row of \(chunk.table.name) is here already with other values (\(key.joined(separator: ", "))). "
                    + "Nothing of its chunk was taken in."
            )
        }
    }

    /// Closes the database and lets others have it.
    package func close() {
        // The log is complete without a checkpoint: a failure here only leaves it
        // for the next who opens it.
        if claim != nil { try? connection.checkpoint() }
        connection.close()
        claim?.release()
    }
}

/// Rows of one table that come in together.
package struct MovedChunk: Sendable {
    /// The table that the rows belong to.
    package var table: MovedTable
    /// The columns that each row has values for.
    package var columns: [MovedColumn]
    /// Each with a value for each column.
    package var rows: [[SQLValue]]

    /// Rows of one table; each has as many values as there are columns.
    package init(table: MovedTable, columns: [MovedColumn], rows: [[SQLValue]]) {
        self.table = table
        self.columns = columns
        self.rows = rows
    }
}

extension SQLValue {
    /// For people.
    fileprivate var shown: String {
        switch self {
        case .null: "null"
        case .int(let number): String(number)
        case .double(let number): String(number)
        case .text(let text): "\"\(text)\""
        }
    }
}
