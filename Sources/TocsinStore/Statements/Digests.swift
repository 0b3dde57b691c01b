import TocsinCore

private enum SQL {
    static let columns = """
        id, user_id, username, provider, name, topic_ids, at_minutes, days, time_zone, min_priority, skip_empty, url, \
        last_message_id, last_at, missed, next_at, generation, created_at, updated_at
        """
    static let one = "SELECT \(columns) FROM digests WHERE id = $1"
    static let ofUser = "SELECT \(columns) FROM digests WHERE user_id = $1 ORDER BY id"
    static let insert = """
        INSERT INTO digests (\(columns))
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
        ON CONFLICT (id) DO NOTHING
        """
    static let save = """
        UPDATE digests SET username = $3, provider = $4, name = $5, topic_ids = $6, at_minutes = $7, days = $8,
            time_zone = $9, min_priority = $10, skip_empty = $11, url = $12, last_message_id = $13, last_at = $14,
            missed = $15, next_at = $16, generation = $17, created_at = $18, updated_at = $19
        WHERE id = $1 AND user_id = $2
        """
    static let remove = "DELETE FROM digests WHERE id = $1"
    static let places = """
        SELECT topic_id, min_priority, number FROM digest_numbers WHERE user_id = $1 ORDER BY topic_id, min_priority
        """
    static let savePlace = """
        INSERT INTO digest_numbers (user_id, topic_id, min_priority, number) VALUES ($1, $2, $3, $4)
        ON CONFLICT (user_id, topic_id, min_priority) DO UPDATE SET number = excluded.number
        """
    static let removePlace = "DELETE FROM digest_numbers WHERE user_id = $1 AND topic_id = $2 AND min_priority = $3"
    static func windows(_ topics: BoundList) -> String {
        """
        SELECT id, name, last_number, first_number FROM topics
        WHERE id IN (\(topics.placeholders)) AND coalesce(deleted, 0) = 0 ORDER BY id
        """
    }
    static let messageCount = """
        SELECT count(*) FROM messages WHERE topic_id = $1 AND number >= $2 AND number <= $3 AND coalesce(deleted, 0) = 0
            AND coalesce(priority, 3) >= $4
        """
}

extension SQLReading {
    func digest(_ id: String) throws(StoreError) -> PersonalDigest? {
        try connection.first(SQL.one + lock("digests"), [.text(id)], PersonalDigest.init(_:))
    }

    func digests(of user: UserID) throws(StoreError) -> [PersonalDigest] {
        try connection.all(SQL.ofUser, [.text(user.text)], PersonalDigest.init(_:))
    }

    func digestPlaces(of user: UserID) throws(StoreError) -> [DigestPlace] {
        try connection.all(SQL.places, [.text(user.text)]) { row in
            DigestPlace(topicID: TopicID(row.text(0)), minPriority: row.int(1), number: row.int(2))
        }
    }

    func windows(of topics: [TopicID]) throws(StoreError) -> [DigestWindow] {
        guard !topics.isEmpty else { return [] }
        let list = BoundList(topics.map(\.text))
        return try connection.all(SQL.windows(list), list.bindings) { row in
            DigestWindow(
                topicID: TopicID(row.text(0)),
                name: row.optionalText(1) ?? row.text(0),
                told: row.int(2),
                last: row.int(2),
                first: row.int(3)
            )
        }
    }

    func messageCount(
        of topic: TopicID,
        numbers: ClosedRange<MessageNumber>,
        minPriority: Int64
    ) throws(StoreError) -> Int64 {
        let bounds: [SQLValue] = [.int(numbers.lowerBound), .int(numbers.upperBound), .int(minPriority)]
        return try connection.first(SQL.messageCount, [.text(topic.text)] + bounds) { $0.int(0) } ?? 0
    }
}

extension SQLWriter {
    /// What they become is decided upon.
    func digests(of user: UserID) throws(StoreError) -> [PersonalDigest] {
        try lock(name: "digests of " + user.text)
        return try unlocked.digests(of: user)
    }

    func insert(_ digest: PersonalDigest) throws(StoreError) -> Bool {
        try connection.run(SQL.insert, digest.values) > 0
    }

    func save(_ digest: PersonalDigest) throws(StoreError) {
        try connection.run(SQL.save, digest.values)
    }

    func removeDigest(_ id: String) throws(StoreError) {
        try connection.run(SQL.remove, [.text(id)])
    }

    func save(_ place: DigestPlace, of user: UserID) throws(StoreError) {
        try connection.run(SQL.savePlace, place.key(user) + [.int(place.number)])
    }

    func remove(_ place: DigestPlace, of user: UserID) throws(StoreError) {
        try connection.run(SQL.removePlace, place.key(user))
    }
}

extension DigestPlace {
    fileprivate func key(_ user: UserID) -> [SQLValue] { [.text(user.text), .text(topicID.text), .int(minPriority)] }
}

extension PersonalDigest {
    /// In the order of the columns.
    fileprivate var values: [SQLValue] {
        [
            .text(id), .text(owner.userID.text), .text(owner.username), .text(owner.provider.rawValue),
            .text(plan.name), SQLValue(plan.topicIDs.map { $0.map(\.text).joined(separator: "\n") }),
            .int(Int64(plan.atMinutes)),
            SQLValue(plan.days.map { $0.sorted().map(String.init).joined(separator: ",") }), .text(plan.timeZone),
            .int(plan.minPriority), SQLValue(plan.skipsEmpty), SQLValue(plan.url), SQLValue(lastMessageID?.text),
            SQLValue(lastAt), .int(Int64(missed)), SQLValue(nextAt), .int(generation), SQLValue(createdAt),
            SQLValue(updatedAt),
        ]
    }

    /// Reads the columns of a selection; nil when a value has no meaning.
    fileprivate init?(_ row: any SQLRow) {
        guard let provider = Identity.Provider(rawValue: row.text(3)) else { return nil }
        var plan = Plan(name: row.text(4), atMinutes: Int(row.int(6)), timeZone: row.text(8))
        plan.topicIDs = row.optionalText(5).map { $0.split(separator: "\n").map { TopicID(String($0)) } }
        plan.days = row.optionalText(7).map { Set($0.split(separator: ",").compactMap { Int($0) }) }
        plan.minPriority = row.int(9)
        plan.skipsEmpty = row.int(10) != 0
        plan.url = row.optionalText(11)
        let owner = ScheduledMessage.Owner(userID: UserID(row.text(1)), username: row.text(2), provider: provider)
        self.init(id: row.text(0), owner: owner, plan: plan, createdAt: row.moment(17))
        lastMessageID = row.optionalText(12).map { MessageID($0) }
        lastAt = row.optionalMoment(13)
        missed = Int(row.int(14))
        nextAt = row.optionalMoment(15)
        generation = row.int(16)
        updatedAt = row.moment(18)
    }
}
