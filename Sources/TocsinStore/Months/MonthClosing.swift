import TocsinCore

/// The note on a month's table that the bounds of topics and feeds were raised past all that was in it.
struct MonthClosing: Hashable {
    var closedAt: Timestamp
    /// All that was in it was made before; zero: nothing was in it.
    var madeBefore: Timestamp
    /// Longer than any read of an earlier moment lasts, but for exports, which hold the table.
    private static let graceSeconds = 600.0

    init(closedAt: Timestamp, madeBefore: Timestamp) {
        self.closedAt = closedAt
        self.madeBefore = madeBefore
    }

    /// The note in a table's comment; nil for another comment.
    init?(_ comment: String) {
        let numbers = comment.split { !$0.isNumber }.compactMap { Int64($0) }
        guard numbers.count == 2 else { return nil }
        self.init(closedAt: Timestamp(milliseconds: numbers[0]), madeBefore: Timestamp(milliseconds: numbers[1]))
        guard comment == self.comment else { return nil }
    }

    var comment: String {
        "closed at \(closedAt.milliseconds), all was made before \(madeBefore.milliseconds); to be dropped"
    }

    /// What puts a note on a table, or takes it off.
    static func noting(_ closing: MonthClosing?, on table: String) -> String {
        "COMMENT ON TABLE \(table) IS \(closing.map { "'\($0.comment)'" } ?? "NULL")"
    }

    func isOver(at now: Timestamp) -> Bool { closedAt.adding(seconds: Self.graceSeconds) <= now }
}

private enum SQL {
    static func nextFeed(_ part: String) -> String {
        "SELECT owner FROM \(part) WHERE owner > $1 AND position IS NOT NULL ORDER BY owner LIMIT 1"
    }
    /// What is younger than `$2` came in while the month is being closed, and keeps it.
    static func lastPosition(_ part: String) -> String {
        "SELECT max(position) FROM \(part) WHERE owner = $1 AND position IS NOT NULL AND coalesce(made_at, 0) < $2"
    }
    static func nextTopic(_ part: String) -> String {
        "SELECT topic_id FROM \(part) WHERE topic_id > $1 ORDER BY topic_id LIMIT 1"
    }
    static func lastNumber(_ part: String) -> String {
        "SELECT max(number) FROM \(part) WHERE topic_id = $1 AND coalesce(made_at, 0) < $2"
    }
    /// Messages of a topic that stand before one of a month's, elsewhere.
    static let stragglers = """
        SELECT id FROM messages WHERE topic_id = $1 AND number <= $2 AND (id < $3 OR id >= $4)
        ORDER BY number NULLS FIRST LIMIT $5
        """
    static let removeDeliveries = """
        DELETE FROM deliveries WHERE (message_id, device_id) IN (
            SELECT x.message_id, x.device_id FROM deliveries AS x
            WHERE x.message_id >= $1 AND x.message_id < $2 AND x.status NOT IN ('waiting', 'sending') LIMIT $3)
        """
}

extension SQLWriter {
    func closeMonth(
        _ month: MessageMonth,
        _ bounds: PruningBounds,
        at now: Timestamp,
        from place: MonthPlace,
        limit: Int
    ) throws(StoreError) -> MonthStep {
        guard let turn = session.dialect.pruningTurn, try connection.first(turn, [], { $0.int(0) }) == 1,
            let parts = try MonthParts(connection, session.dialect),
            parts.months.contains(where: { $0.month == month }),
            let closing = try closing(of: month, bounds, at: now), try !isUnderWay(month)
        else { return .kept }
        switch place {
        case .feeds(let owner): return .next(try closeFeeds(month, closing, after: owner, limit))
        case .topics(let topic): return try closeTopics(month, closing, after: topic, limit)
        case .deliveries:
            let removed = try connection.run(SQL.removeDeliveries, month.bounds + [.int(Int64(limit))])
            guard removed < limit else { return .next(.deliveries) }
            try connection.run(MonthClosing.noting(closing, on: month.name))
            return .closed
        }
    }

    private func closeFeeds(
        _ month: MessageMonth,
        _ closing: MonthClosing,
        after owner: String,
        _ limit: Int
    ) throws(StoreError) -> MonthPlace {
        var place = owner
        for _ in 0..<limit {
            guard let next = try connection.first(SQL.nextFeed(month.name), [.text(place)], { $0.text(0) }) else {
                return .topics(after: "")
            }
            place = next
            let bindings = [.text(next), SQLValue(closing.madeBefore)]
            let last = try connection.first(SQL.lastPosition(month.name), bindings) { $0.int(0) }
            try keep(feedOf: next, behind: last ?? 0)
        }
        return .feeds(after: place)
    }

    private func closeTopics(
        _ month: MessageMonth,
        _ closing: MonthClosing,
        after topic: String,
        _ limit: Int
    ) throws(StoreError) -> MonthStep {
        var place = topic
        for _ in 0..<limit {
            guard let next = try connection.first(SQL.nextTopic(month.name), [.text(place)], { $0.text(0) }) else {
                return .next(.deliveries)
            }
            let bindings = [.text(next), SQLValue(closing.madeBefore)]
            let last = try connection.first(SQL.lastNumber(month.name), bindings) { $0.int(0) } ?? 0
            let stragglers = try connection.all(
                SQL.stragglers,
                [.text(next), .int(last)] + month.bounds + [.int(Int64(limit))]
            ) { MessageID($0.text(0)) }
            guard stragglers.isEmpty else {
                // A step of its own: rows of feeds are locked before those of topics.
                guard place == topic else { return .next(.topics(after: place)) }
                let step = try prune(stragglers, of: TopicID(next), limit: limit)
                guard let step, step.messages + step.deliveries > 0 else { return .kept }
                return .next(.topics(after: place))
            }
            try keep(TopicID(next), behind: last)
            place = next
        }
        return .next(.topics(after: place))
    }
}
