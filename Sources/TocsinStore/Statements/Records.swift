import TocsinCore

private enum SQL {
    /// The first count reads an index alone and settles it for all who have few
    /// topics, deleted ones included.
    static let hasTopics = """
        SELECT CASE WHEN (SELECT count(*) FROM (SELECT 1 FROM topics WHERE owner = $1 LIMIT $2) AS part) < $2 THEN 0
            WHEN (SELECT count(*) FROM
                (SELECT 1 FROM topics WHERE owner = $1 AND coalesce(deleted, 0) = 0 LIMIT $2) AS part) < $2 THEN 0
            ELSE 1 END
        """
    /// The index has owner and name, and finds the few candidates whose rows are looked at.
    ///
    /// The topics of direct pushes are not people's.
    static let doubledNames = """
        SELECT owner, name, count(*) FROM topics
        WHERE (owner, name) IN (SELECT owner, name FROM topics GROUP BY owner, name HAVING count(*) > 1)
            AND coalesce(deleted, 0) = 0 AND substr(id, 1, 5) <> 'push:'
        GROUP BY owner, name HAVING count(*) > 1 ORDER BY owner, name LIMIT $1
        """
    /// The texts of a table's rows that clients write.
    static func texts(of table: String) -> [String] {
        switch table {
        case "messages": ["title", "body", "url", "key", "category", "data", "push", "extra"]
        case "topics": ["name", "arn", "extra"]
        case "incidents": ["key", "extra"]
        default: ["extra"]
        }
    }
    /// How many bytes rows have, in the order of the index by owner, so that a page reads no more
    /// rows than it has.
    static func sizes(of table: ModelTable, _ dialect: Dialect) -> String {
        let bytes = texts(of: table.name).map { "coalesce(\(dialect.bytes(of: $0)), 0)" }.joined(separator: " + ")
        let model = table.discriminator == nil ? "" : " AND model = $5"
        return """
            SELECT made_at, id, \(bytes) FROM \(table.name)
            WHERE owner = $1 AND (made_at, id) > ($2, $3)\(model) ORDER BY made_at NULLS FIRST, id NULLS FIRST LIMIT $4
            """
    }
}

extension SQLReading {
    func records(_ model: ModelType, ids: [String], where predicate: Predicate) throws(StoreError) -> [Record] {
        let statements = try session.statements(for: model)
        if ids.count == 1, let id = ids.first {
            // One statement for all predicates: to look at the record is cheaper than to
            // word the predicate in SQL.
            let bindings = [SQLValue.text(id)] + (statements.discriminator.map { [$0] } ?? [])
            let sql = statements.selectionByID + (isWriting ? statements.rowLock : "")
            let found = try connection.all(sql, bindings) { statements.record($0) }
            return try judged(found, by: predicate)
        }
        var records: [Record] = []
        for chunk in ids.chunks(of: BoundList.maximumCount) {
            var translation = PredicateTranslation(statements: statements, builder: SQLBuilder())
            let list = BoundList(chunk)
            for value in list.bindings { _ = translation.builder.bind(value) }
            var sql = statements.selection + " WHERE id IN (\(list.placeholders))"
            if let discriminator = statements.discriminator {
                sql += " AND model = \(translation.builder.bind(discriminator))"
            }
            if predicate != .always { sql += " AND \(translation.condition(predicate))" }
            if isWriting { sql += statements.rowLock }
            records += try connection.all(sql, translation.builder.bindings) { statements.record($0) }
        }
        return records
    }

    /// Those records, of one at most, that satisfy the predicate.
    ///
    /// Grants are asked for only where the rules alone do not let the caller see the record, and
    /// where there is none as where there is one.
    private func judged(_ found: [Record], by predicate: Predicate) throws(StoreError) -> [Record] {
        let own = found.filter { predicate.matches($0) }
        let questions = predicate.grantQuestions
        guard own.isEmpty, !questions.isEmpty else { return own }
        var subjects: [GrantSubject] = []
        for question in questions where subjects != question.subjects { subjects += question.subjects }
        let topics = Set(questions.map { question in found.first.flatMap(question.topic) ?? TopicID("") })
        let roles = try roles(of: subjects, in: Array(topics))
        return found.filter { predicate.matches($0, roles) }
    }

    func records(_ query: ModelQuery) throws(StoreError) -> [Record] {
        let statements = try session.statements(for: query.model)
        let statement = PageStatement.make(query, statements)
        return try connection.all(statement.text, statement.bindings) { statements.record($0) }
    }

    func records(_ query: ModelQuery, upTo bytes: Int) throws(StoreError) -> (records: [Record], isCut: Bool) {
        let statements = try session.statements(for: query.model)
        var (query, isCut) = (query, false)
        if !session.dialect.readsRowByRow { (query.limit, isCut) = try rows(of: query, upTo: bytes) }
        let statement = PageStatement.make(query, statements)
        var (records, left) = ([Record](), bytes)
        try connection.read(
            statement.text,
            statement.bindings,
            whileWanted: { row in
                // The row behind the last one wanted tells that there is one.
                isCut = isCut || left <= 0
                guard left > 0 else { return false }
                let record = statements.record(row)
                left -= record.textBytes
                records.append(record)
                return true
            }
        )
        return (records, isCut)
    }

    /// How many rows of a query have texts of so many bytes, the row that reaches it included, and
    /// whether more rows follow.
    ///
    /// For databases that send all rows of an answer at once.
    private func rows(of query: ModelQuery, upTo bytes: Int) throws(StoreError) -> (count: Int, isCut: Bool) {
        let statements = try session.statements(for: query.model)
        let page = PageStatement.make(query, statements)
        let sizes = try connection.all(statements.sizes(ofPage: page.text), page.bindings) { Int($0.int(0)) }
        var (count, left) = (0, bytes)
        for size in sizes where left > 0 {
            left -= size
            count += 1
        }
        return (max(1, count), count < sizes.count)
    }

    func hasTopics(_ count: Int, owner: String) throws(StoreError) -> Bool {
        try connection.first(SQL.hasTopics, [.text(owner), .int(Int64(count))]) { $0.int(0) } == 1
    }

    func doubledTopicNames(limit: Int) throws(StoreError) -> [DoubledTopicName] {
        try connection.all(SQL.doubledNames, [.int(Int64(limit))]) { row in
            DoubledTopicName(owner: row.text(0), name: row.text(1), count: Int(row.int(2)))
        }
    }

    func storedBytes(
        of owner: String,
        from start: StorageCursor,
        limit: Int
    ) throws(StoreError) -> (bytes: Int64, next: StorageCursor?) {
        var bindings: [SQLValue] = [.text(owner), .int(start.madeAt), .text(start.id), .int(Int64(limit))]
        if let model = start.table.discriminator { bindings.append(.text(model)) }
        var next = start
        let rows = try connection.all(SQL.sizes(of: start.table, session.dialect), bindings) { row -> Int64 in
            (next.madeAt, next.id) = (row.int(0), row.text(1))
            return row.int(2) + Int64(ModelTable.rowBytes)
        }
        return (rows.reduce(0, +), rows.count == limit ? next : nil)
    }
}

extension SQLWriter {
    func holdTopics(of owner: String) throws(StoreError) { try lock(name: "topics of " + owner) }

    /// How many an owner has is decided upon.
    func hasTopics(_ count: Int, owner: String) throws(StoreError) -> Bool {
        try holdTopics(of: owner)
        return try SQLReader(session: session).hasTopics(count, owner: owner)
    }

    func insert(_ record: Record) throws(StoreError) -> Record? {
        let statements = try session.statements(for: record.model)
        let changes = try connection.run(statements.insertion.single, statements.insertionBindings(of: record))
        if changes > 0 { return nil }
        guard let stored = try records(record.model, ids: [record.id], where: .always).first else {
            throw .mismatch(reason: "\(record.model.name) \(record.id) was not inserted though its id is free.")
        }
        return stored
    }

    /// Inserts records, each of which must be new, on a database with one writer.
    func insertNew(_ records: [Record], _ statements: ModelStatements) throws(StoreError) {
        let inserted = try connection.insert(statements.insertion, rows: records.count) { row, parameters in
            statements.bind(records[row], to: parameters)
        }
        guard inserted == records.count else {
            throw .mismatch(
                reason: "\(records.count - inserted) records of \(statements.model.name) have ids that were just taken."
            )
        }
    }

    func update(_ record: Record) throws(StoreError) {
        let statements = try session.statements(for: record.model)
        let changes = try connection.run(statements.replacement, statements.replacementBindings(of: record))
        guard changes > 0 else {
            throw .mismatch(reason: "\(record.model.name) \(record.id) is not stored, so it cannot be updated.")
        }
    }

    func prepareIndexes(
        of models: [ModelType],
        noting note: (_ done: Int, _ of: Int) -> Void
    ) throws(StoreError) -> [String] {
        try ModelIndexes.prepare(models, session, noting: note)
    }

    func removeTombstones(
        _ model: ModelType,
        changedBefore moment: Timestamp,
        limit: Int
    ) throws(StoreError) -> Int {
        let statements = try session.statements(for: model)
        let ofModel = statements.discriminator.map { [$0] } ?? []
        let due = try connection.all(
            statements.selectionOfTombstones,
            [.int(moment.milliseconds), .int(Int64(limit))] + ofModel
        ) { $0.text(0) }
        for chunk in due.chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk)
            var sql = statements.removal + " WHERE deleted = 1 AND id IN (\(list.placeholders))"
            if !ofModel.isEmpty { sql += " AND model = $\(list.bindings.count + 1)" }
            if model.name == "Message" { try removeDeliveries(ofTombstones: list) }
            try connection.run(sql, list.bindings + ofModel)
        }
        return due.count
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
