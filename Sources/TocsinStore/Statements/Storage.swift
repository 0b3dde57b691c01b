import TocsinCore

private enum SQL {
    /// The texts of a table's rows that clients write.
    static func texts(of table: String) -> [String] {
        switch table {
        case "messages": ["title", "body", "url", "key", "category", "data", "push", "extra"]
        case "topics": ["name", "arn", "extra"]
        default: ["extra"]
        }
    }

    /// In the order of the index by owner, so that a page reads no more rows than it has.
    static func page(of table: ModelTable, _ dialect: Dialect) -> String {
        let bytes = texts(of: table.name).map { "coalesce(\(dialect.bytes(of: $0)), 0)" }.joined(separator: " + ")
        let model = table.discriminator == nil ? "" : " AND model = $5"
        return """
            SELECT made_at, id, \(bytes) FROM \(table.name)
            WHERE owner = $1 AND (made_at, id) > ($2, $3)\(model) ORDER BY made_at NULLS FIRST, id NULLS FIRST LIMIT $4
            """
    }
}

extension Dialect {
    /// The bytes of a text in UTF-8.
    fileprivate func bytes(of column: String) -> String {
        switch self {
        case .sqlite: "length(CAST(\(column) AS BLOB))"
        case .postgres: "octet_length(\(column)::text)"
        }
    }
}

extension SQLReading {
    func storedBytes(
        of owner: String,
        from place: StorageCursor,
        limit: Int
    ) throws(StoreError) -> (bytes: Int64, next: StorageCursor?) {
        var bindings: [SQLValue] = [.text(owner), .int(place.madeAt), .text(place.id), .int(Int64(limit))]
        if let model = place.table.discriminator { bindings.append(.text(model)) }
        var next = place
        let rows = try connection.all(SQL.page(of: place.table, session.dialect), bindings) { row -> Int64 in
            (next.madeAt, next.id) = (row.int(0), row.text(1))
            return row.int(2) + Int64(ModelTable.rowBytes)
        }
        return (rows.reduce(0, +), rows.count == limit ? next : nil)
    }
}
