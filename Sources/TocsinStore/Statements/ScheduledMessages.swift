import TocsinCore

private enum SQL {
    static let columns = """
        id, user_id, username, provider, name, topic_id, input, due_at, cron, time_zone, until_at, webhook, enabled, \
        disabled_reason, last_message_id, last_at, missed, next_at, generation, created_at, updated_at, \
        cron_changed_at, collapse_key, pushed, calls
        """
    static let one = "SELECT \(columns) FROM scheduled_messages WHERE id = $1"
    static let ofUser = "SELECT \(columns) FROM scheduled_messages WHERE user_id = $1 AND id > $2 ORDER BY id LIMIT $3"
    static let count = "SELECT count(*) FROM scheduled_messages WHERE user_id = $1"
    static let delayed = """
        SELECT id FROM scheduled_messages
        WHERE user_id = $1 AND topic_id = $2 AND collapse_key = $3 AND next_at IS NOT NULL ORDER BY id
        """
    /// Walks over the topic's last messages, by its index.
    static let recent = """
        SELECT push, data FROM (SELECT number, push, data, deleted FROM messages WHERE topic_id = $1
            ORDER BY number DESC NULLS LAST LIMIT 1000) AS recent
        WHERE push LIKE $2 AND coalesce(deleted, 0) = 0 ORDER BY number DESC
        """
    static let insert = """
        INSERT INTO scheduled_messages (\(columns))
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
            $23, $24, $25)
        ON CONFLICT (id) DO NOTHING
        """
    static let save = """
        UPDATE scheduled_messages SET username = $3, provider = $4, name = $5, topic_id = $6, input = $7, due_at = $8,
            cron = $9, time_zone = $10, until_at = $11, webhook = $12, enabled = $13, disabled_reason = $14,
            last_message_id = $15, last_at = $16, missed = $17, next_at = $18, generation = $19, created_at = $20,
            updated_at = $21, cron_changed_at = $22, collapse_key = $23, pushed = $24,
            calls = $25
        WHERE id = $1 AND user_id = $2
        """
    static let remove = "DELETE FROM scheduled_messages WHERE id = $1"
    static let removeOldestDone = """
        DELETE FROM scheduled_messages WHERE id IN (
            SELECT id FROM scheduled_messages WHERE user_id = $1 AND next_at IS NULL AND last_at IS NOT NULL
            ORDER BY last_at, id LIMIT 1)
        """
}

extension SQLReading {
    func scheduledMessage(_ id: String) throws(StoreError) -> ScheduledMessage? {
        try connection.first(SQL.one + lock("scheduled_messages"), [.text(id)], ScheduledMessage.init)
    }

    func scheduledMessages(of user: UserID, after id: String, limit: Int) throws(StoreError) -> [ScheduledMessage] {
        try connection.all(SQL.ofUser, [.text(user.text), .text(id), .int(Int64(limit))], ScheduledMessage.init)
    }

    func delayedMessages(of user: UserID, in topic: TopicID, collapsedBy key: String) throws(StoreError) -> [String] {
        try connection.all(SQL.delayed, [.text(user.text), .text(topic.text), .text(key)]) { $0.text(0) }
    }

    func recentPushes(in topic: TopicID, with text: String) throws(StoreError) -> [(push: String, data: String)] {
        // What patterns give a meaning stands for any character: the databases escape differently.
        let pattern = "%" + String(text.map { $0 == "%" || $0 == "\\" ? "_" : $0 }) + "%"
        return try connection.all(SQL.recent, [.text(topic.text), .text(pattern)]) { row in
            (push: row.text(0), data: row.text(1))
        }
    }

    func scheduledMessageCount(of user: UserID) throws(StoreError) -> Int {
        try connection.first(SQL.count, [.text(user.text)]) { Int($0.int(0)) } ?? 0
    }
}

extension SQLWriter {
    func insert(_ message: ScheduledMessage) throws(StoreError) -> Bool {
        try connection.run(SQL.insert, message.values) > 0
    }

    func save(_ message: ScheduledMessage) throws(StoreError) {
        try connection.run(SQL.save, message.values)
    }

    func removeScheduledMessage(_ id: String) throws(StoreError) {
        try connection.run(SQL.remove, [.text(id)])
    }

    func removeOldestDoneScheduledMessage(of user: UserID) throws(StoreError) -> Bool {
        try connection.run(SQL.removeOldestDone, [.text(user.text)]) > 0
    }
}

extension ScheduledMessage {
    /// In the order of the columns.
    fileprivate var values: [SQLValue] {
        [
            .text(id), .text(owner.userID.text), .text(owner.username), .text(owner.provider.rawValue),
            SQLValue(plan.name), SQLValue(plan.topicID?.text), SQLValue(plan.input), SQLValue(plan.dueAt),
            SQLValue(plan.cron), SQLValue(plan.timeZone), SQLValue(plan.until), SQLValue(plan.webhook),
            SQLValue(isEnabled), SQLValue(disabledReason), SQLValue(lastMessageID?.text),
            SQLValue(lastAt), .int(Int64(missed)), SQLValue(nextAt),
            .int(generation), SQLValue(createdAt), SQLValue(updatedAt), SQLValue(cronChangedAt),
            SQLValue(wish.collapseKey), SQLValue(wish.isPushed), SQLValue(wish.calls),
        ]
    }

    /// Reads the columns of a selection; nil when a value has no meaning.
    fileprivate init?(_ row: any SQLRow) {
        guard let provider = Identity.Provider(rawValue: row.text(3)) else { return nil }
        var plan = Plan()
        plan.name = row.optionalText(4)
        plan.topicID = row.optionalText(5).map { TopicID($0) }
        plan.input = row.optionalText(6)
        plan.dueAt = row.optionalMoment(7)
        plan.cron = row.optionalText(8)
        plan.timeZone = row.optionalText(9)
        plan.until = row.optionalMoment(10)
        plan.webhook = row.optionalText(11)
        let owner = Owner(userID: UserID(row.text(1)), username: row.text(2), provider: provider)
        self.init(id: row.text(0), owner: owner, plan: plan, createdAt: row.moment(19))
        isEnabled = row.int(12) != 0
        disabledReason = row.optionalText(13)
        lastMessageID = row.optionalText(14).map { MessageID($0) }
        lastAt = row.optionalMoment(15)
        missed = Int(row.int(16))
        nextAt = row.optionalMoment(17)
        generation = row.int(18)
        updatedAt = row.moment(20)
        cronChangedAt = row.optionalMoment(21)
        // Rows of older programs say nothing.
        (wish.collapseKey, wish.isPushed) = (row.optionalText(22), row.isNull(23) || row.int(23) != 0)
        wish.calls = row.optionalText(24)
    }
}
