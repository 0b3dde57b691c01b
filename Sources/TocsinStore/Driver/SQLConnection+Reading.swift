package import TocsinCore

/// Conveniences over `run`.
extension SQLConnection {
    /// Runs a statement that answers no rows; answers how many rows it changed.
    @discardableResult
    package func run(_ sql: String, _ bindings: [SQLValue] = []) throws(StoreError) -> Int {
        try run(sql, bindings) { _ in }
    }

    /// All rows, decoded; a row that `decode` cannot read is a `mismatch`.
    package func all<Value>(
        _ sql: String,
        _ bindings: [SQLValue] = [],
        _ decode: (any SQLRow) -> Value?
    ) throws(StoreError) -> [Value] {
        var values: [Value] = []
        var unreadable = 0
        _ = try run(sql, bindings) { row in
            if let value = decode(row) { values.append(value) } else { unreadable += 1 }
        }
        try refuse(unreadable, of: sql)
        return values
    }

    /// The same of several statements that are sent together; `decode` is told which
    /// of them a row belongs to.
    package func all<Value>(
        of statements: [(sql: String, bindings: [SQLValue])],
        _ decode: (_ statement: Int, _ row: any SQLRow) -> Value?
    ) throws(StoreError) -> [Value] {
        var values: [Value] = []
        var unreadable = 0
        try runTogether(statements) { statement, row in
            if let value = decode(statement, row) { values.append(value) } else { unreadable += 1 }
        }
        try refuse(unreadable, of: statements.map(\.sql).joined(separator: "; "))
        return values
    }

    private func refuse(_ unreadable: Int, of sql: String) throws(StoreError) {
        guard unreadable > 0 else { return }
        throw .mismatch(
            reason:
                "\(unreadable) stored rows hold values that this program does not know; was the database changed "
                + "by hand or by a newer program? Statement: \(sql)"
        )
    }

    /// The first row, decoded.
    package func first<Value>(
        _ sql: String,
        _ bindings: [SQLValue] = [],
        _ decode: (any SQLRow) -> Value?
    ) throws(StoreError) -> Value? {
        try all(sql, bindings, decode).first
    }
}

extension SQLRow {
    /// A text; nil where the column is null.
    package func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }

    /// Milliseconds since 1970 as a moment; 0 where the column is null.
    package func moment(_ column: Int) -> Timestamp { Timestamp(milliseconds: int(column)) }

    /// Milliseconds since 1970 as a moment; nil where the column is null.
    package func optionalMoment(_ column: Int) -> Timestamp? { isNull(column) ? nil : moment(column) }
}
