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
    func closing(
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
    func isUnderWay(_ month: MessageMonth) throws(StoreError) -> Bool {
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
                try connection.run(MonthClosing.noting(nil, on: month.name))
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
