import TocsinCore

private enum SQL {
    static let nextTopic = "SELECT topic_id FROM messages WHERE topic_id > $1 ORDER BY topic_id LIMIT 1"
    static let ends = """
        SELECT number, coalesce(made_at, 0), (SELECT max(number) FROM messages WHERE topic_id = $1)
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
    /// The list stands twice, so that every plan begins with it.
    static func removeDeliveries(_ list: String) -> String {
        """
        DELETE FROM deliveries WHERE message_id IN (\(list)) AND (message_id, device_id) IN (
            SELECT x.message_id, x.device_id FROM deliveries AS x
            WHERE x.message_id IN (\(list)) AND x.status NOT IN ('waiting', 'sending') LIMIT $1)
        """
    }
    static func removable(_ list: String) -> String {
        """
        SELECT m.id, m.number, m.owner, m.position,
            CASE WHEN EXISTS (SELECT 1 FROM fanouts AS f WHERE f.message_id = m.id)
                OR EXISTS (SELECT 1 FROM deliveries AS x WHERE x.message_id = m.id)
            THEN 1 ELSE 0 END
        FROM messages AS m WHERE m.id IN (\(list))
        """
    }
    static func remove(_ list: String) -> String { "DELETE FROM messages WHERE id IN (\(list))" }
    static let raiseFeed = "UPDATE feeds SET first_position = $2 WHERE owner = $1 AND first_position < $2"
    static let raiseTopic = "UPDATE topics SET first_number = $2 WHERE id = $1 AND first_number < $2"
}

extension PruningBounds {
    /// Whether a message may go that was made then and is `behind` numbers before its topic's last.
    fileprivate func leavesOut(madeAt moment: Int64, behind: Int64) -> Bool {
        if let madeBefore, moment < madeBefore.milliseconds { return true }
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
        var due: [TopicID] = []
        var last = topic.text
        for _ in 0..<limit {
            guard let next = try connection.first(SQL.nextTopic, [.text(last)], { $0.text(0) }) else {
                return (due, nil)
            }
            last = next
            let isDue = try connection.first(SQL.ends, [.text(next)]) { row in
                bounds.leavesOut(madeAt: row.int(1), behind: row.int(2) - row.int(0))
            }
            if isDue == true { due.append(TopicID(next)) }
        }
        return (due, TopicID(last))
    }

    func messagesToPrune(
        _ bounds: PruningBounds,
        of topic: TopicID,
        limit: Int
    ) throws(StoreError) -> [MessageID] {
        guard let last = try connection.first(SQL.lastNumber, [.text(topic.text)], { $0.int(0) }) else { return [] }
        let first = try connection.all(SQL.first, [.text(topic.text), .int(Int64(limit))]) { row in
            let isLeftOut = bounds.leavesOut(madeAt: row.int(2), behind: last - row.int(1))
            return (id: MessageID(row.text(0)), mayGo: isLeftOut && row.int(3) == 0)
        }
        return first.prefix { $0.mayGo }.map(\.id)
    }
}

/// A message whose settled deliveries are gone.
private struct RemovableMessage {
    let id: String
    let number: MessageNumber
    let owner: String?
    let position: FeedPosition?
    /// Whether it is on its way to somebody.
    let isUnderWay: Bool

    init(_ row: any SQLRow) {
        id = row.text(0)
        number = row.int(1)
        owner = row.optionalText(2)
        position = row.isNull(3) ? nil : row.int(3)
        isUnderWay = row.int(4) != 0
    }
}

extension SQLWriter {
    func prune(
        _ messages: [MessageID],
        of topic: TopicID,
        limit: Int
    ) throws(StoreError) -> PruningStep? {
        if let turn = session.dialect.pruningTurn, try connection.first(turn, [], { $0.int(0) }) != 1 { return nil }
        let page = messages.prefix(BoundList.maximumCount).map(\.text)
        let settled = BoundList(page, firstParameter: 2)
        let deliveries = try connection.run(
            SQL.removeDeliveries(settled.placeholders),
            [.int(Int64(limit))] + settled.bindings
        )
        let room = limit - deliveries
        guard room > 0 else { return PruningStep(messages: 0, deliveries: deliveries) }
        let list = BoundList(page)
        let gone = try connection.all(SQL.removable(list.placeholders), list.bindings) { RemovableMessage($0) }
            .sorted { $0.number < $1.number }.prefix(room).prefix { !$0.isUnderWay }
        return PruningStep(messages: try remove(gone, of: topic), deliveries: deliveries)
    }

    /// Removes messages after raising what is kept: rows of feeds by owner first, then the
    /// topic's (`NewMessages`).
    private func remove(_ messages: ArraySlice<RemovableMessage>, of topic: TopicID) throws(StoreError) -> Int {
        guard let last = messages.last else { return 0 }
        var positions: [String: FeedPosition] = [:]
        for message in messages {
            guard let owner = message.owner, let position = message.position else { continue }
            positions[owner] = max(position, positions[owner] ?? 0)
        }
        for (owner, position) in positions.sorted(by: { $0.key < $1.key }) { try keep(feedOf: owner, behind: position) }
        try keep(topic, behind: last.number)
        let list = BoundList(messages.map(\.id))
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
