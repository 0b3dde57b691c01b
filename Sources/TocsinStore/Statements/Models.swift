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
    /// When the messages were made that stand before the last so many of each topic.
    ///
    /// Each is looked up by itself: joined, they were found by reading all of the topic, by a plan from when it had none. And
    /// in order, which one index has: without, such a plan took whichever begins with the topic.
    static let latestMaking = """
        SELECT max((\(making("n.count")))) FROM unnest($1::text[], $2::bigint[]) AS n (topic, count)
            JOIN topics AS t ON t.id = n.topic
        """
    /// The same for one topic, `$1`.
    ///
    /// Of lists PostgreSQL thinks too highly to keep a plan for what one topic needs, and plans each time.
    static let latestMakingOfOne = "SELECT (\(making("$2"))) FROM topics AS t WHERE t.id = $1"
    private static func making(_ count: String) -> String {
        """
        SELECT m.made_at FROM messages AS m WHERE m.topic_id = t.id AND m.number <= t.last_number - \(count)
        ORDER BY m.number DESC NULLS LAST LIMIT 1
        """
    }
    static let topicBounds = "SELECT first_number, last_number FROM topics WHERE id = $1"
    static let ownerBounds = "SELECT first_position, last_position FROM feeds WHERE owner = $1"
}

/// Counters in rows of a table: how some are raised, in order of their names, and what they are then.
struct Counters: Sendable {
    /// Raises the one named `$1` by `$2`.
    let raise: String
    /// Ends a raise, on databases that have lists, before the columns that it answers of each row.
    let answer: String
    /// The columns of name and value.
    let names: String
    /// Names and values of those with these names.
    let selection: @Sendable (_ names: String) -> String
    /// Raises those named by the list `$1` by the list `$2`, on databases that have lists.
    let raiseListed: String

    /// Raises so many, and answers names, new values and these columns.
    func raising(_ count: Int, and columns: String? = nil) -> String {
        (count == 1 ? raise : raiseListed) + answer + names + (columns.map { ", " + $0 } ?? "")
    }

    /// Last numbers of topics that are not deleted.
    ///
    /// Rows are locked in order first, then changed, whatever others have done to them meanwhile; only to have deleted a
    /// topic counts, since what was read of it before was not locked.
    static let numbers = Counters(
        raise: "UPDATE topics SET last_number = last_number + $2 WHERE id = $1 AND coalesce(deleted, 0) = 0",
        answer: " RETURNING ",
        names: "id, last_number",
        selection: { "SELECT id, last_number FROM topics WHERE id IN (\($0)) AND coalesce(deleted, 0) = 0" },
        raiseListed: """
            WITH raised AS MATERIALIZED (
                SELECT t.id AS raised_id, n.count AS raised_by FROM topics AS t
                JOIN unnest($1::text[], $2::bigint[]) AS n (id, count) ON n.id = t.id
                WHERE coalesce(t.deleted, 0) = 0 ORDER BY t.id FOR NO KEY UPDATE OF t)
            UPDATE topics SET last_number = last_number + raised_by FROM raised WHERE id = raised_id
            """
    )
    /// Last positions of owners' feeds, which begin with their first message.
    static let positions = Counters(
        raise: """
            INSERT INTO feeds (owner, last_position) VALUES ($1, $2)
            ON CONFLICT (owner) DO UPDATE SET last_position = feeds.last_position + excluded.last_position
            """,
        answer: " RETURNING ",
        names: "owner, last_position",
        selection: { "SELECT owner, last_position FROM feeds WHERE owner IN (\($0))" },
        raiseListed: """
            INSERT INTO feeds (owner, last_position)
            SELECT n.owner, n.count FROM unnest($1::text[], $2::bigint[]) AS n (owner, count) ORDER BY n.owner
            ON CONFLICT (owner) DO UPDATE SET last_position = feeds.last_position + excluded.last_position
            """
    )
    static let raisingOnePosition = positions.raising(1)
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
        if keys.count > 1, session.dialect.hasManyWriters {
            let (statements, lists) = (try session.statements(for: model), ParameterLists(count: 2))
            for key in keys {
                lists.bind(key.topicID.text, at: 1)
                lists.bind(key.key, at: 2)
            }
            let listed = " WHERE (topic_id, key) IN (SELECT * FROM unnest($1::text[], $2::text[]))"
            return try connection.all(statements.selection + listed, lists.bindings) { statements.record($0) }
        }
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
        let changes = try connection.run(statements.insertion.single, statements.insertionBindings(of: record))
        if changes > 0 { return nil }
        guard let stored = try records(record.model, ids: [record.id], where: .always).first else {
            throw .mismatch(reason: "\(record.model.name) \(record.id) was not inserted though its id is free.")
        }
        return stored
    }

    func insertNew(_ records: [Record]) throws(StoreError) {
        guard let model = records.first?.model else { return }
        let statements = try session.statements(for: model)
        if session.dialect.hasManyWriters {
            if records.count > 1, let listed = statements.creation.listed {
                var columns = statements.columns(of: records)
                if let text = statements.listTexts.text(of: statements.creation, columns.lists) {
                    return try connection.queue(text) { columns.bindShortly(to: $0) }
                }
                return try connection.queue(listed) { columns.bind(to: $0) }
            }
            return try connection.queueInsert(statements.creation, rows: records.count) { row, parameters in
                statements.bind(records[row], to: parameters)
            }
        }
        let inserted = try connection.insert(statements.insertion, rows: records.count) { row, parameters in
            statements.bind(records[row], to: parameters)
        }
        guard inserted == records.count else {
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
        let last = try raise(Counters.numbers, ids, by: texts)
        return Dictionary(
            uniqueKeysWithValues: last.map { (TopicID($0), $1 - Int64(texts[$0] ?? 0) + 1) }
        )
    }

    func takePositions(_ counts: [String: Int]) throws(StoreError) -> [String: FeedPosition] {
        let last = try raise(Counters.positions, counts.keys.sorted(), by: counts)
        guard last.count == counts.count else {
            throw .mismatch(reason: "The feed of an owner has gone inside the transaction that wrote it.")
        }
        return Dictionary(uniqueKeysWithValues: last.map { ($0, $1 - Int64(counts[$0] ?? 0) + 1) })
    }

    func takePlaces(
        _ positions: [String: Int],
        _ numbers: [TopicID: Int],
        asking questions: PlaceQuestions?
    ) throws(StoreError) -> TakenPlaces {
        guard session.dialect.hasManyWriters else {
            return TakenPlaces(
                firstPositions: positions.isEmpty ? [:] : try takePositions(positions),
                firstNumbers: try takeNumbers(numbers)
            )
        }
        let byTopic = Dictionary(uniqueKeysWithValues: numbers.map { ($0.text, $1) })
        let (owners, topics) = (Self.bindings(positions), Self.bindings(byTopic))
        let topicStatements = try questions.map { asked throws(StoreError) in try session.statements(for: asked.topics)
        }
        var taken = TakenPlaces()
        var members = questions.map { FewMembers(of: Set(numbers.keys), limit: $0.fewMembers) }
        var statements = [
            (positions.count == 1 ? Counters.raisingOnePosition : Counters.positions.raising(positions.count), owners),
            (Self.raising(numbers.count, and: topicStatements), topics),
        ]
        let lasts = session.lastMessages.expected(in: byTopic.keys)
        if lasts == nil { statements.append(Self.askingLatestMaking(byTopic)) }
        let firstOfMembers = statements.count
        statements += members?.questions(session.dialect) ?? []
        try connection.runTogether(statements) { statement, row in
            guard statement < firstOfMembers else {
                members?.add(FewMembers.Row(row))
                return
            }
            let name = statement < 2 ? row.text(0) : ""
            switch statement {
            case 0: taken.firstPositions[name] = row.int(1) - Int64(positions[name] ?? 0) + 1
            case 1:
                taken.firstNumbers[TopicID(name)] = row.int(1) - Int64(byTopic[name] ?? 0) + 1
                if let topicStatements { taken.topics[TopicID(name)] = topicStatements.record(row, from: 2) }
            default: taken.latestMaking = row.optionalMoment(0)
            }
        }
        taken.deviceless = members?.withoutDevice
        if let lasts { taken.latestMaking = try latestMaking(byTopic, lasts, taken.firstNumbers) }
        return taken
    }

    /// When the latest of the messages before these was made, of which some were expected to be the last.
    private func latestMaking(
        _ counts: [String: Int],
        _ expected: [String: LastMessages.Last],
        _ firstNumbers: [TopicID: MessageNumber]
    ) throws(StoreError) -> Timestamp? {
        var makings: [Timestamp] = []
        var unknown: [String: Int] = [:]
        for (topic, last) in expected {
            guard let first = firstNumbers[TopicID(topic)] else { continue }
            if first == last.number + 1 { makings.append(last.madeAt) } else { unknown[topic] = counts[topic] }
        }
        if !unknown.isEmpty {
            let asking = Self.askingLatestMaking(unknown)
            makings += try connection.all(asking.0, asking.1) { $0.optionalMoment(0) }.compactMap { $0 }
        }
        return makings.max()
    }

    /// Asks when the messages before the last so many of each topic were made.
    private static func askingLatestMaking(_ counts: [String: Int]) -> (String, [SQLValue]) {
        (counts.count == 1 ? SQL.latestMakingOfOne : SQL.latestMaking, bindings(counts))
    }

    /// Raises the last numbers of so many topics, and answers them as they are where their statements are given.
    private static func raising(_ count: Int, and topics: ModelStatements?) -> String {
        guard let topics else { return Counters.numbers.raising(count) }
        return count == 1 ? topics.raising.one : topics.raising.some
    }

    /// A name and its count, or lists of all.
    private static func bindings(_ counts: [String: Int]) -> [SQLValue] {
        guard counts.count == 1, let one = counts.first else { return lists(counts).bindings }
        return [.text(one.key), .int(Int64(one.value))]
    }

    /// Names in order, and the count of each.
    private static func lists(_ counts: [String: Int]) -> ParameterLists {
        let lists = ParameterLists(count: 2)
        for name in counts.keys.sorted() {
            lists.bind(name, at: 1)
            lists.bind(Int64(counts[name] ?? 0), at: 2)
        }
        return lists
    }

    /// Raises counters in this order, each by its count; answers their new values.
    ///
    /// The change comes first: where writes overlap it is what takes the rows' locks, kept until the commit.
    private func raise(
        _ counters: Counters,
        _ names: [String],
        by counts: [String: Int]
    ) throws(StoreError) -> [(name: String, value: Int64)] {
        if session.dialect.hasManyWriters {
            let raising = counters.raiseListed + counters.answer + counters.names
            return try connection.all(raising, Self.lists(counts).bindings) { ($0.text(0), $0.int(1)) }
        }
        _ = try connection.runEach(counters.raise, rows: names.count) { row, parameters in
            parameters.bind(names[row], at: 1)
            parameters.bind(Int64(counts[names[row]] ?? 0), at: 2)
        }
        var values: [(name: String, value: Int64)] = []
        for chunk in names.chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk)
            values += try connection.all(counters.selection(list.placeholders), list.bindings) {
                ($0.text(0), $0.int(1))
            }
        }
        return values
    }
}
