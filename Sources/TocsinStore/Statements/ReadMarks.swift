import TocsinCore

private enum SQL {
    static let counted = "FROM topic_reads AS r JOIN topics AS t ON t.id = r.topic_id AND coalesce(t.deleted, 0) = 0"
    /// What is no longer kept is not unread either.
    private static let lastRead = "CASE WHEN r.number < t.first_number - 1 THEN t.first_number - 1 ELSE r.number END"
    static let ofUser =
        "SELECT r.topic_id, \(lastRead), t.last_number \(counted) WHERE r.user_id = $1 ORDER BY r.topic_id"
    static let isAnybodyCounting = "SELECT 1 FROM topic_reads LIMIT 1"
    static func unread(_ users: String) -> String {
        """
        SELECT r.user_id, sum(t.last_number - \(lastRead)) \(counted)
        JOIN memberships AS m ON m.topic_id = r.topic_id AND m.user_id = r.user_id
        WHERE r.user_id IN (\(users)) GROUP BY r.user_id
        """
    }

    static let onConflict = """
        ON CONFLICT (user_id, topic_id) DO UPDATE SET number = excluded.number, read_at = excluded.read_at
            WHERE excluded.number > topic_reads.number
        """
    static let mark = """
        INSERT INTO topic_reads (user_id, topic_id, number, read_at)
        SELECT $1, t.id, CASE WHEN t.last_number < $3 THEN t.last_number ELSE $3 END, $4 FROM topics AS t
        WHERE t.id = $2 \(onConflict)
        """
    /// The first message after the mark that is not the incident's ends the way.
    static let markIncident = """
        UPDATE topic_reads SET read_at = $4, number = coalesce(
            (SELECT m.number - 1 FROM messages AS m WHERE m.topic_id = $2 AND m.number > topic_reads.number
                AND (m.incident_id IS NULL OR m.incident_id <> $3) AND coalesce(m.deleted, 0) = 0
                ORDER BY m.number LIMIT 1),
            (SELECT t.last_number FROM topics AS t WHERE t.id = $2), number)
        WHERE user_id = $1 AND topic_id = $2
        """
    static let markAll = """
        INSERT INTO topic_reads (user_id, topic_id, number, read_at)
        SELECT $1, t.id, t.last_number, $2 FROM topics AS t WHERE t.id IN (
            SELECT topic_id FROM memberships WHERE user_id = $1 UNION SELECT topic_id FROM topic_reads WHERE user_id = $1
        ) \(onConflict)
        """
    static let end = "DELETE FROM topic_reads WHERE user_id = $1 AND topic_id = $2"
    /// Only for people who count already.
    static let begin = """
        INSERT INTO topic_reads (user_id, topic_id, number, read_at)
        SELECT $1, t.id, t.last_number, $3 FROM topics AS t
        WHERE t.id = $2 AND EXISTS (SELECT 1 FROM topic_reads AS r WHERE r.user_id = $1)
        ON CONFLICT (user_id, topic_id) DO NOTHING
        """
}

extension SQLReading {
    func readMarks(of user: UserID) throws(StoreError) -> [ReadMark] {
        try connection.all(SQL.ofUser, [.text(user.text)]) { row in
            ReadMark(topicID: TopicID(row.text(0)), number: row.int(1), lastNumber: row.int(2))
        }
    }

    /// The devices with what their owners have not read of the topics they are members of; costs
    /// one short look while nobody counts.
    func counted(_ devices: [Device]) throws(StoreError) -> [Device] {
        guard !devices.isEmpty, try connection.first(SQL.isAnybodyCounting, [], { $0.int(0) }) != nil else {
            return devices
        }
        var unread: [String: Int64] = [:]
        for chunk in Array(Set(devices.map(\.userID.text))).chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk)
            let counts = try connection.all(SQL.unread(list.placeholders), list.bindings) { ($0.text(0), $0.int(1)) }
            for (user, count) in counts { unread[user] = max(0, count) }
        }
        return devices.map { device in
            var device = device
            device.unread = unread[device.userID.text]
            return device
        }
    }
}

extension SQLWriter {
    func markRead(
        _ topic: TopicID,
        upTo number: MessageNumber,
        by user: UserID,
        now: Timestamp
    ) throws(StoreError) {
        noteRead(
            by: user,
            try connection.run(SQL.mark, [.text(user.text), .text(topic.text), .int(number), SQLValue(now)])
        )
    }

    func markRead(
        incident: String,
        in topic: TopicID,
        by user: UserID,
        now: Timestamp
    ) throws(StoreError) {
        noteRead(
            by: user,
            try connection.run(
                SQL.markIncident,
                [.text(user.text), .text(topic.text), .text(incident), SQLValue(now)]
            )
        )
    }

    func markAllRead(by user: UserID, now: Timestamp) throws(StoreError) {
        noteRead(by: user, try connection.run(SQL.markAll, [.text(user.text), SQLValue(now)]))
    }

    /// Tells of marks that were moved; none was where all had been read before.
    private func noteRead(by user: UserID, _ moved: Int) {
        if moved > 0 { note([.readMarksChanged(user)]) }
    }

    /// Who leaves a topic does not count it any more.
    func endCounting(_ topic: TopicID, by user: UserID) throws(StoreError) {
        try connection.run(SQL.end, [.text(user.text), .text(topic.text)])
    }

    /// What was there when somebody joined is not news to them.
    func beginCounting(_ membership: Membership) throws(StoreError) {
        try connection.run(
            SQL.begin,
            [.text(membership.userID.text), .text(membership.topicID.text), SQLValue(membership.createdAt)]
        )
    }
}
