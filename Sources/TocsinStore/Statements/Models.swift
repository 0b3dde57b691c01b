import TocsinCore

private enum SQL {
    static let lastNumber = "SELECT last_number FROM topics WHERE id = $1"
    /// The first count reads an index alone and settles it for all who have few topics, deleted ones included.
    static let hasTopics = """
        SELECT CASE WHEN (SELECT count(*) FROM (SELECT 1 FROM topics WHERE owner = $1 LIMIT $2) AS part) < $2 THEN 0
            WHEN (SELECT count(*) FROM
                (SELECT 1 FROM topics WHERE owner = $1 AND coalesce(deleted, 0) = 0 LIMIT $2) AS part) < $2 THEN 0
            ELSE 1 END
        """
    static let raiseNumber = "UPDATE topics SET last_number = last_number + $2 WHERE id = $1"
    static func lastNumbers(_ ids: String) -> String { "SELECT id, last_number FROM topics WHERE id IN (\(ids))" }
    static let topicBounds = "SELECT first_number, last_number FROM topics WHERE id = $1"
    static let ownerBounds = "SELECT first_position, last_position FROM feeds WHERE owner = $1"
    static let raisePosition = """
        INSERT INTO feeds (owner, last_position) VALUES ($1, $2)
        ON CONFLICT (owner) DO UPDATE SET last_position = feeds.last_position + excluded.last_position
        """
    static func lastPositions(_ owners: String) -> String {
        "SELECT owner, last_position FROM feeds WHERE owner IN (\(owners))"
    }
}

extension SQLReading {
    func records(_ model: ModelType, ids: [String], where predicate: Predicate) throws(StoreError) -> [Record] {
        let statements = try session.statements(for: model)
        if ids.count == 1, let id = ids.first {
            // One statement for all predicates: to look at the record is cheaper than to word the predicate in SQL.
            let bindings = [SQLValue.text(id)] + (statements.discriminator.map { [$0] } ?? [])
            let sql = statements.selectionByID + (isWriting ? statements.rowLock : "")
            let found = try connection.all(sql, bindings) { statements.record($0) }
            return found.filter(predicate.matches)
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

    func records(_ query: ModelQuery) throws(StoreError) -> [Record] {
        let statements = try session.statements(for: query.model)
        let statement = PageStatement.make(query, statements)
        return try connection.all(statement.text, statement.bindings) { statements.record($0) }
    }

    func records(_ query: ModelQuery, of field: Int, in values: [FieldValue]) throws(StoreError) -> [Record] {
        let statements = try session.statements(for: query.model)
        var records: [Record] = []
        for chunk in values.chunks(of: PageStatement.maximumValues) {
            let statement = PageStatement.make(query, of: field, in: chunk, statements)
            records += try connection.all(statement.text, statement.bindings) { statements.record($0) }
        }
        return records
    }

    func message(_ model: ModelType, topic: TopicID, key: String) throws(StoreError) -> Record? {
        let statements = try session.statements(for: model)
        return try connection.first(
            statements.selection + " WHERE topic_id = $1 AND key = $2",
            [.text(topic.text), .text(key)]
        ) { statements.record($0) }
    }

    func messages(_ model: ModelType, keys: Set<MessageKey>) throws(StoreError) -> [Record] {
        var found: [Record] = []
        for key in keys {
            if let record = try message(model, topic: key.topicID, key: key.key) { found.append(record) }
        }
        return found
    }

    func hasTopics(_ count: Int, owner: String) throws(StoreError) -> Bool {
        try connection.first(SQL.hasTopics, [.text(owner), .int(Int64(count))]) { $0.int(0) } == 1
    }

    func lastNumber(of topic: TopicID) throws(StoreError) -> MessageNumber? {
        try connection.first(SQL.lastNumber, [.text(topic.text)]) { $0.int(0) }
    }

    func feedBounds(of topic: TopicID) throws(StoreError) -> FeedBounds? {
        try connection.first(SQL.topicBounds, [.text(topic.text)]) { FeedBounds(first: $0.int(0), last: $0.int(1)) }
    }

    func feedBounds(of owner: String) throws(StoreError) -> FeedBounds {
        try connection.first(SQL.ownerBounds, [.text(owner)]) { FeedBounds(first: $0.int(0), last: $0.int(1)) }
            ?? FeedBounds()
    }
}

extension SQLWriter {
    /// How many an owner has is decided upon.
    func hasTopics(_ count: Int, owner: String) throws(StoreError) -> Bool {
        try lock(name: "topics of " + owner)
        return try SQLReader(session: session).hasTopics(count, owner: owner)
    }

    func insert(_ record: Record) throws(StoreError) -> Record? {
        let statements = try session.statements(for: record.model)
        let changes = try connection.run(statements.insertion, statements.insertionBindings(of: record))
        if changes > 0 { return nil }
        guard let stored = try records(record.model, ids: [record.id], where: .always).first else {
            throw .mismatch(reason: "\(record.model.name) \(record.id) was not inserted though its id is free.")
        }
        return stored
    }

    func insertNew(_ records: [Record]) throws(StoreError) {
        guard let model = records.first?.model else { return }
        let statements = try session.statements(for: model)
        let inserted = try connection.runEach(statements.insertion, rows: records.count) { row, parameters in
            statements.bind(records[row], to: parameters)
        }
        guard inserted == records.count else {
            if session.dialect.hasManyWriters {
                throw .overtaken(isWhole: false, code: 0, message: "ids were just taken", sql: statements.insertion)
            }
            throw .mismatch(
                reason: "\(records.count - inserted) records of \(model.name) have ids that were just taken."
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

    func prepareIndexes(of models: [ModelType]) throws(StoreError) -> [String] {
        try ModelIndexes.prepare(models, session)
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
            try connection.run(sql, list.bindings + ofModel)
        }
        return due.count
    }

    func takeNumbers(_ counts: [TopicID: Int]) throws(StoreError) -> [TopicID: MessageNumber] {
        let ids = counts.keys.map(\.text).sorted()
        let texts = Dictionary(uniqueKeysWithValues: counts.map { ($0.text, $1) })
        let last = try raise(SQL.raiseNumber, SQL.lastNumbers, ids, by: texts)
        return Dictionary(
            uniqueKeysWithValues: last.map { (TopicID($0), $1 - Int64(texts[$0] ?? 0) + 1) }
        )
    }

    func takePositions(_ counts: [String: Int]) throws(StoreError) -> [String: FeedPosition] {
        let last = try raise(SQL.raisePosition, SQL.lastPositions, counts.keys.sorted(), by: counts)
        guard last.count == counts.count else {
            throw .mismatch(reason: "The feed of an owner has gone inside the transaction that wrote it.")
        }
        return Dictionary(uniqueKeysWithValues: last.map { ($0, $1 - Int64(counts[$0] ?? 0) + 1) })
    }

    /// Raises counters in this order, each by its count; answers their new values.
    ///
    /// The change comes first: where writes overlap it is what takes the rows' locks, kept until the commit.
    private func raise(
        _ change: String,
        _ selection: (String) -> String,
        _ names: [String],
        by counts: [String: Int]
    ) throws(StoreError) -> [(name: String, value: Int64)] {
        _ = try connection.runEach(change, rows: names.count) { row, parameters in
            parameters.bind(names[row], at: 1)
            parameters.bind(Int64(counts[names[row]] ?? 0), at: 2)
        }
        var values: [(name: String, value: Int64)] = []
        for chunk in names.chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk)
            values += try connection.all(selection(list.placeholders), list.bindings) { ($0.text(0), $0.int(1)) }
        }
        return values
    }
}
