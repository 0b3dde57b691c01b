import TocsinCore

/// Counters are rows of `feeds` and `topics`; to raise one locks its row
/// until the transaction ends.
private enum SQL {
    static let topicBounds = "SELECT first_number, last_number FROM topics WHERE id = $1"
    static let ownerBounds = "SELECT first_position, last_position FROM feeds WHERE owner = $1"
    private static let addingToFeed = """
        ON CONFLICT (owner) DO UPDATE SET last_position = feeds.last_position + excluded.last_position
        RETURNING owner, last_position
        """
    static let raiseFeed = "INSERT INTO feeds (owner, last_position) VALUES ($1, $2) \(addingToFeed)"
    /// The same for lists, of databases that have them.
    static let raiseFeeds = """
        INSERT INTO feeds (owner, last_position)
        SELECT n.owner, n.count FROM unnest($1::text[], $2::bigint[]) AS n (owner, count) ORDER BY n.owner COLLATE "C"
        \(addingToFeed)
        """
    static let lockTopic = "SELECT 1 FROM topics WHERE id = $1 FOR NO KEY UPDATE"
    static let lockTopics = "SELECT 1 FROM topics WHERE id = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE"
    static let raiseTopic = """
        UPDATE topics SET last_number = last_number + $2 WHERE id = $1 AND coalesce(deleted, 0) = 0
        RETURNING id, last_number
        """
    static let raiseTopics = """
        UPDATE topics SET last_number = last_number + raised_by
        FROM unnest($1::text[], $2::bigint[]) AS n (raised_id, raised_by)
        WHERE id = raised_id AND coalesce(deleted, 0) = 0
        RETURNING id, last_number
        """
}

extension SQLReading {
    func messages(_ model: ModelType, keys: Set<MessageKey>) throws(StoreError) -> [Record] {
        let statements = try session.statements(for: model)
        if keys.count > 1, session.dialect.hasManyWriters {
            let lists = ParameterLists(count: 2)
            for key in keys {
                lists.bind(key.topicID.text, at: 1)
                lists.bind(key.key, at: 2)
            }
            let listed = " WHERE (topic_id, key) IN (SELECT * FROM unnest($1::text[], $2::text[]))"
            return try connection.all(statements.selection + listed, lists.bindings) { statements.record($0) }
        }
        let one = statements.selection + " WHERE topic_id = $1 AND key = $2"
        var found: [Record] = []
        for key in keys {
            found += try connection.all(one, [.text(key.topicID.text), .text(key.key)]) { statements.record($0) }
        }
        return found
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
    func hold(
        _ topics: [TopicID],
        of model: ModelType,
        feedsOf owners: [String]
    ) throws(StoreError) -> HeldTopics {
        if session.dialect.hasManyWriters {
            try raiseFeeds(Dictionary(uniqueKeysWithValues: owners.map { ($0, 0) })) { _, _ in }
            try lockTopics(topics.map(\.text))
        }
        let statements = try session.statements(for: model)
        let ids = BoundList(topics.map(\.text))
        let look = (statements.topics + " (\(ids.placeholders))", ids.bindings)
        var members = FewMembers(of: Set(topics), limit: HeldTopic.fewMembers)
        var held = HeldTopics()
        try connection.runTogether([look] + members.questions(session.dialect)) { statement, row in
            if statement > 0 { return members.add(FewMembers.Row(row)) }
            held.topics[TopicID(row.text(0))] = HeldTopic(record: statements.record(row, from: 1))
            guard let making = row.optionalMoment(statements.model.fields.count + 1) else { return }
            held.latestMaking = max(held.latestMaking ?? making, making)
        }
        for (id, users) in members.withoutDevice { held.topics[id]?.membersWithoutDevice = users }
        return held
    }

    /// Raises the counters, then inserts the messages.
    ///
    /// On PostgreSQL nothing waits for an answer. The statement that inserts a message reads its
    /// number from the topic's row, which is locked and has just been raised. The answers come with
    /// the next one that is waited for.
    func create(_ messages: NewMessages) throws(StoreError) {
        guard let model = messages.records.first?.model else { return }
        let statements = try session.statements(for: model)
        noteCreated(messages)
        // Made before there are numbers: the statement counts from the last one.
        let insertion = session.dialect.hasManyWriters ? statements.numberedInsertion(of: messages.records) : nil
        try raiseFeeds(messages.ofOwner.mapValues(\.count)) { messages.assign(lastPosition: $1, ofOwner: $0) }
        try raiseTopics(of: messages)
        if let insertion { return try connection.queue(insertion.sql, bind: insertion.bind) }
        guard messages.areNumbered else {
            throw .mismatch(reason: "A topic has gone inside the transaction that made a message in it.")
        }
        try insertNew(messages.records, statements)
    }

    func awaitAnswers() throws(StoreError) {
        try connection.runTogether([]) { _, _ in }
    }

    /// Locks topics in order of id.
    func lockTopics(_ ids: [String]) throws(StoreError) {
        if ids.count == 1 { return try connection.queue(SQL.lockTopic, [.text(ids[0])]) }
        let list = ParameterLists(count: 1)
        for id in ids { list.bind(id, at: 1) }
        try connection.queue(SQL.lockTopics, list.bindings)
    }

    /// Raises the last positions of owners' feeds, which begin with their first
    /// message, in order of owner.
    func raiseFeeds(
        _ counts: [String: Int],
        last: @escaping (_ owner: String, _ position: FeedPosition) -> Void
    ) throws(StoreError) {
        try raise(counts, (SQL.raiseFeed, SQL.raiseFeeds), last)
    }

    /// Raises the last numbers of the messages' topics, each of which must be there; of several,
    /// `hold` has locked the rows in order.
    private func raiseTopics(of messages: NewMessages) throws(StoreError) {
        let counts = messages.ofTopic.mapValues(\.count)
        guard !counts.isEmpty else { return }
        try raise(counts, (SQL.raiseTopic, SQL.raiseTopics)) { messages.assign(lastNumber: $1, ofTopic: $0) }
    }

    /// Raises counters by name, each by its count; hands over names and new values when they are
    /// known.
    private func raise(
        _ counts: [String: Int],
        _ sql: (one: String, some: String),
        _ last: @escaping (_ name: String, _ value: Int64) -> Void
    ) throws(StoreError) {
        if counts.count > 1, session.dialect.hasManyWriters {
            let lists = ParameterLists(count: 2)
            for (name, count) in counts {
                lists.bind(name, at: 1)
                lists.bind(Int64(count), at: 2)
            }
            return try connection.queue(sql.some, lists.bindings) { last($0.text(0), $0.int(1)) }
        }
        for (name, count) in counts {
            try connection.queue(sql.one, [.text(name), .int(Int64(count))]) { last($0.text(0), $0.int(1)) }
        }
    }
}
