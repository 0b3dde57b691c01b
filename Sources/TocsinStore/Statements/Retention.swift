import TocsinCore

private enum SQL {
    static let nextTopic = "SELECT topic_id FROM messages WHERE topic_id > $1 ORDER BY topic_id LIMIT 1"
    static let ends = """
        SELECT number, coalesce(made_at, 0), (SELECT max(number) FROM messages WHERE topic_id = $1), id
        FROM messages WHERE topic_id = $1 ORDER BY number NULLS FIRST LIMIT 1
        """
    static let lastNumber = "SELECT max(number) FROM messages WHERE topic_id = $1"
    static let first = """
        SELECT m.id, m.number, coalesce(m.made_at, 0),
            CASE WHEN EXISTS (SELECT 1 FROM fanouts AS f WHERE f.message_id = m.id)
                OR EXISTS (SELECT 1 FROM deliveries AS x
                    WHERE x.message_id = m.id AND x.status IN ('waiting', 'sending'))
            THEN 1 ELSE 0 END
        FROM messages AS m WHERE m.topic_id = $1 ORDER BY m.number NULLS FIRST LIMIT $2
        """
    static let removeDeliveries = """
        DELETE FROM deliveries WHERE message_id = $1 AND device_id IN (
            SELECT x.device_id FROM deliveries AS x
            WHERE x.message_id = $1 AND x.status NOT IN ('waiting', 'sending') ORDER BY x.device_id LIMIT $2)
        """
    static let isNeeded = """
        SELECT 1 WHERE EXISTS (SELECT 1 FROM fanouts WHERE message_id = $1)
            OR EXISTS (SELECT 1 FROM deliveries WHERE message_id = $1)
        """
    static func places(_ list: String) -> String {
        """
        SELECT owner, max(position) FROM messages WHERE id IN (\(list)) AND position IS NOT NULL AND owner IS NOT NULL
        GROUP BY owner
        """
    }
    static func lastPlace(_ list: String) -> String { "SELECT max(number) FROM messages WHERE id IN (\(list))" }
    static func remove(_ list: String) -> String { "DELETE FROM messages WHERE id IN (\(list))" }
    static let raiseFeed = "UPDATE feeds SET first_position = $2 WHERE owner = $1 AND first_position < $2"
    static let raiseTopic = "UPDATE topics SET first_number = $2 WHERE id = $1 AND first_number < $2"
}

extension PruningBounds {
    /// Whether a message may go by itself that was made then and is `behind` numbers before its topic's last.
    ///
    /// What stands in a month goes with that by age.
    fileprivate func leavesOut(madeAt moment: Int64, behind: Int64, isInMonth: Bool) -> Bool {
        if let madeBefore, !isInMonth, moment < madeBefore.milliseconds { return true }
        if let keptPerTopic, behind >= Int64(keptPerTopic) { return true }
        return false
    }
}

extension SQLReading {
    func topicsToPrune(
        _ bounds: PruningBounds,
        after topic: TopicID,
        limit: Int
    ) throws(StoreError) -> (due: [TopicID], last: TopicID?) {
        let months = try idsInMonths(bounds)
        var due: [TopicID] = []
        var place = topic.text
        for _ in 0..<limit {
            guard let next = try connection.first(SQL.nextTopic, [.text(place)], { $0.text(0) }) else {
                return (due, nil)
            }
            place = next
            let isDue = try connection.first(SQL.ends, [.text(next)]) { row in
                bounds.leavesOut(
                    madeAt: row.int(1),
                    behind: row.int(2) - row.int(0),
                    isInMonth: months?.contains(row.text(3)) ?? false
                )
            }
            if isDue == true { due.append(TopicID(next)) }
        }
        return (due, TopicID(place))
    }

    func messagesToPrune(
        _ bounds: PruningBounds,
        of topic: TopicID,
        limit: Int
    ) throws(StoreError) -> [MessageID] {
        guard let last = try connection.first(SQL.lastNumber, [.text(topic.text)], { $0.int(0) }) else { return [] }
        let months = try idsInMonths(bounds)
        let first = try connection.all(SQL.first, [.text(topic.text), .int(Int64(limit))]) { row in
            let isLeftOut = bounds.leavesOut(
                madeAt: row.int(2),
                behind: last - row.int(1),
                isInMonth: months?.contains(row.text(0)) ?? false
            )
            return (id: MessageID(row.text(0)), mayGo: isLeftOut && row.int(3) == 0)
        }
        return first.prefix { $0.mayGo }.map(\.id)
    }
}

extension SQLWriter {
    func prune(
        _ messages: [MessageID],
        of topic: TopicID,
        limit: Int
    ) throws(StoreError) -> PruningStep? {
        if let turn = session.dialect.pruningTurn, try connection.first(turn, [], { $0.int(0) }) != 1 { return nil }
        var step = PruningStep()
        var gone: [String] = []
        for message in messages {
            let room = limit - step.deliveries - gone.count
            guard room > 0 else { break }
            let id = SQLValue.text(message.text)
            step.deliveries += try connection.run(SQL.removeDeliveries, [id, .int(Int64(room))])
            guard try connection.first(SQL.isNeeded, [id], { $0.int(0) }) == nil else { break }
            gone.append(message.text)
        }
        step.isDone = gone.count == messages.count
        for chunk in gone.chunks(of: BoundList.maximumCount) {
            step.messages += try remove(BoundList(chunk), of: topic)
        }
        return step
    }

    /// Removes messages after raising what is kept: rows of feeds by owner first, then the topic's (`NewMessages`).
    private func remove(_ list: BoundList, of topic: TopicID) throws(StoreError) -> Int {
        let places = try connection.all(SQL.places(list.placeholders), list.bindings) { ($0.text(0), $0.int(1)) }
        let last = try connection.first(SQL.lastPlace(list.placeholders), list.bindings) { $0.int(0) } ?? 0
        for (owner, position) in places.sorted(by: { $0.0 < $1.0 }) { try keep(feedOf: owner, behind: position) }
        try keep(topic, behind: last)
        return try connection.run(SQL.remove(list.placeholders), list.bindings)
    }

    /// Says that an owner's feed is kept from behind a position on.
    func keep(feedOf owner: String, behind position: FeedPosition) throws(StoreError) {
        try connection.run(SQL.raiseFeed, [.text(owner), .int(position + 1)])
    }

    /// Says that a topic is kept from behind a number on.
    func keep(_ topic: TopicID, behind number: MessageNumber) throws(StoreError) {
        try connection.run(SQL.raiseTopic, [.text(topic.text), .int(number + 1)])
    }
}
