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
        guard unreadable == 0 else {
            throw .mismatch(
                reason:
                    "\(unreadable) stored rows hold values that this program does not know; was the database changed "
                    + "by hand or by a newer program? Statement: \(sql)"
            )
        }
        return values
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
    package func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }

    package func moment(_ column: Int) -> Timestamp { Timestamp(milliseconds: int(column)) }

    package func optionalMoment(_ column: Int) -> Timestamp? { isNull(column) ? nil : moment(column) }
}
