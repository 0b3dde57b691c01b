package import TocsinCore

extension Dialect {
    /// Selects the names of all tables.
    var tableNames: String {
        switch self {
        case .sqlite: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        case .postgres:
            """
            SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
                AND relnamespace = current_schema()::regnamespace
            """
        }
    }

    /// Selects names and types of a table's columns in order; `$1` is the table's name.
    var columnTypes: String {
        switch self {
        case .sqlite: "SELECT name, lower(type) FROM pragma_table_info($1) ORDER BY cid"
        case .postgres:
            """
            SELECT column_name::text, data_type::text FROM information_schema.columns
            WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position
            """
        }
    }

    /// A parameter that is the text of a column's value.
    func placeholder(_ number: Int, of column: String) -> String {
        self == .postgres && column == "extra" ? "$\(number)::jsonb" : "$\(number)"
    }

    /// Run after the start of a read that lasts until somebody has taken all of it: the
    /// last one takes its snapshot.
    var longReadSettings: [String] {
        switch self {
        case .sqlite: []
        case .postgres:
            [
                "SET LOCAL statement_timeout = 0", "SET LOCAL idle_in_transaction_session_timeout = 0",
                "SELECT 1",
            ]
        }
    }
}

extension MovedColumn.Kind {
    /// The kind of a column with this type in the database's catalogue.
    init?(type: String) {
        switch type {
        case "text", "jsonb": self = .text
        case "integer", "bigint", "smallint": self = .integer
        default: return nil
        }
    }
}

extension SQLConnection {
    /// The names of all tables.
    package func tableNames(_ dialect: Dialect) throws(StoreError) -> Set<String> {
        Set(try all(dialect.tableNames) { $0.text(0) })
    }

    /// A table's columns, in order.
    package func columns(of table: MovedTable, _ dialect: Dialect) throws(StoreError) -> [MovedColumn] {
        let found = try all(dialect.columnTypes, [.text(table.name)]) { row in
            MovedColumn.Kind(type: row.text(1)).map { MovedColumn(name: row.text(0), kind: $0) }
        }
        guard !found.isEmpty else { throw .mismatch(reason: "The database has no table \(table.name).") }
        return found
    }
}
