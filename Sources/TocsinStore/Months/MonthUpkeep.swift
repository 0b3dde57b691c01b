import TocsinCore

private enum SQL {
    static func isYoung(_ part: String) -> String { "SELECT 1 FROM \(part) WHERE made_at >= $1 LIMIT 1" }
    static func isFilled(_ part: String) -> String { "SELECT 1 FROM \(part) LIMIT 1" }
    static let isUnderWay = """
        SELECT 1 WHERE EXISTS (SELECT 1 FROM fanouts WHERE message_id >= $1 AND message_id < $2)
            OR EXISTS (SELECT 1 FROM deliveries WHERE message_id >= $1 AND message_id < $2 AND status = 'waiting')
            OR EXISTS (SELECT 1 FROM deliveries WHERE message_id >= $1 AND message_id < $2 AND status = 'sending')
        """
    static let isDelivered = "SELECT 1 FROM deliveries WHERE message_id >= $1 AND message_id < $2 LIMIT 1"
    static func nextFeed(_ part: String) -> String {
        "SELECT owner FROM \(part) WHERE owner > $1 AND position IS NOT NULL ORDER BY owner LIMIT 1"
    }
    static func lastPosition(_ part: String) -> String {
        "SELECT max(position) FROM \(part) WHERE owner = $1 AND position IS NOT NULL"
    }
    static func nextTopic(_ part: String) -> String {
        "SELECT topic_id FROM \(part) WHERE topic_id > $1 ORDER BY topic_id LIMIT 1"
    }
    static func lastNumber(_ part: String) -> String { "SELECT max(number) FROM \(part) WHERE topic_id = $1" }
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
    static func note(_ closing: MonthClosing?, on part: String) -> String {
        "COMMENT ON TABLE \(part) IS \(closing.map { "'\($0.comment)'" } ?? "NULL")"
    }
}

extension SQLReading {
    /// From the lowest id of the months in which messages stand to that behind them; nil where they stand in none.
    func idsInMonths() throws(StoreError) -> Range<String>? {
        guard let months = try MonthParts(connection, session.dialect)?.months, let first = months.first,
            let last = months.last
        else { return nil }
        return first.month.firstID..<last.month.next.firstID
    }

    func monthsToKeep(at now: Timestamp, _ bounds: PruningBounds) throws(StoreError) -> MonthPlan? {
        guard let parts = try MonthParts(connection, session.dialect) else { return nil }
        var plan = MonthPlan()
        plan.areDue = !parts.missing(at: now).isEmpty
        var isFirst = true
        for part in parts.months {
            if let closing = part.closing {
                isFirst = isFirst && closing.isOver(at: now)
                if isFirst { plan.closed.append(part.month) }
            } else {
                isFirst = false
                guard try closing(of: part.month, bounds, at: now) != nil, try !isUnderWay(part.month) else { break }
                plan.over.append(part.month)
            }
        }
        return plan
    }

    /// How a month may be closed: where all its time is over, with a day for clocks that are not right, and nothing in it is
    /// to be kept.
    fileprivate func closing(
        of month: MessageMonth,
        _ bounds: PruningBounds,
        at now: Timestamp
    ) throws(StoreError) -> MonthClosing? {
        let end = month.next.start.adding(seconds: 86_400)
        guard end <= now else { return nil }
        if try connection.first(SQL.isFilled(month.name), [], { $0.int(0) }) == nil {
            return MonthClosing(closedAt: now, madeBefore: Timestamp(milliseconds: 0))
        }
        guard let madeBefore = bounds.madeBefore, end <= madeBefore else { return nil }
        let closing = MonthClosing(closedAt: now, madeBefore: madeBefore)
        return try hasMore(month, than: closing) ? nil : closing
    }

    /// Whether anything is in a month that was not there when it was closed so.
    fileprivate func hasMore(_ month: MessageMonth, than closing: MonthClosing) throws(StoreError) -> Bool {
        guard closing.madeBefore.milliseconds > 0 else {
            return try connection.first(SQL.isFilled(month.name), [], { $0.int(0) }) != nil
        }
        return try connection.first(SQL.isYoung(month.name), [SQLValue(closing.madeBefore)], { $0.int(0) }) != nil
    }

    /// Whether a message of a month is on its way to somebody.
    fileprivate func isUnderWay(_ month: MessageMonth) throws(StoreError) -> Bool {
        try connection.first(SQL.isUnderWay, month.bounds, { $0.int(0) }) != nil
    }
}

// MARK: Making and dropping

extension SQLWriter {
    func makeMonths(at now: Timestamp) throws(StoreError) -> Int {
        try holding(whole: "messages") { () throws(StoreError) in
            guard let parts = try MonthParts(connection, session.dialect), let last = parts.months.last?.month else {
                return 0
            }
            let missing = parts.missing(at: now)
            guard let newest = missing.last else { return 0 }
            let (start, end) = (last.next.firstID, newest.next.firstID)
            var statements = [MonthParts.detaching(MonthParts.later)] + missing.flatMap { MonthParts.making($0) }
            statements.append(MonthParts.moving(outOf: MonthParts.later, from: start, to: end))
            statements.append(MonthParts.attaching(MonthParts.later, from: end, to: MonthParts.end))
            for statement in statements { try connection.run(statement) }
            return missing.count
        } ?? 0
    }

    func dropMonth(_ month: MessageMonth, at now: Timestamp) throws(StoreError) -> Bool {
        try holding(whole: "messages") { () throws(StoreError) in
            guard let parts = try MonthParts(connection, session.dialect), let first = parts.months.first,
                first.month == month, let closing = first.closing, closing.isOver(at: now)
            else { return false }
            let isDelivered = try connection.first(SQL.isDelivered, month.bounds, { $0.int(0) }) != nil
            guard !isDelivered, try !isUnderWay(month), try !hasMore(month, than: closing) else {
                try connection.run(SQL.note(nil, on: month.name))
                return false
            }
            try connection.run("DROP TABLE \(month.name)")
            try widenEarlier(parts.earlierStart, over: month)
            return true
        } ?? false
    }

    /// Ids of a month that is gone are those of clients, if any come: the part before the months takes them.
    private func widenEarlier(_ start: String?, over month: MessageMonth) throws(StoreError) {
        let end = month.next.firstID
        let statements =
            start.map { start in
                [
                    MonthParts.detaching(MonthParts.earlier),
                    MonthParts.attaching(MonthParts.earlier, from: start, to: end),
                ]
            } ?? MonthParts.making(MonthParts.earlier, from: month.firstID, to: end)
        for statement in statements { try connection.run(statement) }
    }
}

// MARK: Closing

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
        case .feeds(let owner): return .next(try closeFeeds(month, after: owner, limit))
        case .topics(let topic): return try closeTopics(month, after: topic, limit)
        case .deliveries:
            let removed = try connection.run(SQL.removeDeliveries, month.bounds + [.int(Int64(limit))])
            guard removed < limit else { return .next(.deliveries) }
            try connection.run(SQL.note(closing, on: month.name))
            return .closed
        }
    }

    private func closeFeeds(_ month: MessageMonth, after owner: String, _ limit: Int) throws(StoreError) -> MonthPlace {
        var place = owner
        for _ in 0..<limit {
            guard let next = try connection.first(SQL.nextFeed(month.name), [.text(place)], { $0.text(0) }) else {
                return .topics(after: "")
            }
            place = next
            let last = try connection.first(SQL.lastPosition(month.name), [.text(next)]) { $0.int(0) }
            try keep(feedOf: next, behind: last ?? 0)
        }
        return .feeds(after: place)
    }

    private func closeTopics(_ month: MessageMonth, after topic: String, _ limit: Int) throws(StoreError) -> MonthStep {
        var place = topic
        for _ in 0..<limit {
            guard let next = try connection.first(SQL.nextTopic(month.name), [.text(place)], { $0.text(0) }) else {
                return .next(.deliveries)
            }
            let last = try connection.first(SQL.lastNumber(month.name), [.text(next)]) { $0.int(0) } ?? 0
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
