import TocsinCore

private enum SQL {
    static func isYoung(_ part: String) -> String { "SELECT 1 FROM \(part) WHERE made_at >= $1 LIMIT 1" }
    static func isFilled(_ part: String) -> String { "SELECT 1 FROM \(part) LIMIT 1" }
    static let isCrowded = "SELECT 1 FROM \(MonthParts.later) WHERE id >= $1 AND id < $2 OFFSET $3 LIMIT 1"
    static let isUnderWay = """
        SELECT 1 WHERE EXISTS (SELECT 1 FROM fanouts WHERE message_id >= $1 AND message_id < $2)
            OR EXISTS (SELECT 1 FROM deliveries WHERE message_id >= $1 AND message_id < $2 AND status = 'waiting')
            OR EXISTS (SELECT 1 FROM deliveries WHERE message_id >= $1 AND message_id < $2 AND status = 'sending')
        """
    static let isDelivered = "SELECT 1 FROM deliveries WHERE message_id >= $1 AND message_id < $2 LIMIT 1"
}

extension SQLReading {
    /// From the lowest id of the months that are to go as a whole to that behind them; nil where there are none.
    ///
    /// A month that should have gone long ago is kept by something in it, perhaps a single message of somebody whose clock is
    /// behind: what else is in it goes row by row.
    func idsInMonths(_ bounds: PruningBounds) throws(StoreError) -> Range<String>? {
        let months = try MonthParts(connection, session.dialect)?.months.map(\.month) ?? []
        let whole = months.drop { month in
            bounds.madeBefore.map { month.end.adding(seconds: MonthParts.patienceSeconds) <= $0 } ?? false
        }
        guard let first = whole.first, let last = whole.last else { return nil }
        return first.firstID..<last.next.firstID
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

    /// How a month may be closed: where all its time is over, and nothing in it is to be kept.
    func closing(
        of month: MessageMonth,
        _ bounds: PruningBounds,
        at now: Timestamp
    ) throws(StoreError) -> MonthClosing? {
        guard month.end <= now else { return nil }
        if try connection.first(SQL.isFilled(month.name), [], { $0.int(0) }) == nil {
            return MonthClosing(closedAt: now, madeBefore: Timestamp(milliseconds: 0))
        }
        guard let madeBefore = bounds.madeBefore, month.end <= madeBefore else { return nil }
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
    func makeMonths(at now: Timestamp, moving limit: Int) throws(StoreError) -> Int {
        try holding(whole: "messages") { () throws(StoreError) in
            guard let missing = try MonthParts(connection, session.dialect)?.missing(at: now), let newest = missing.last
            else { return 0 }
            try connection.run(MonthParts.detaching(MonthParts.later))
            for month in missing { try make(month, moving: limit) }
            let (start, end) = (newest.next.firstID, MonthParts.end)
            try connection.run(MonthParts.attaching(MonthParts.later, from: start, to: end))
            return missing.count
        } ?? 0
    }

    /// Makes a month while the part for later ids is detached: moves what that has of it, or all else.
    private func make(_ month: MessageMonth, moving limit: Int) throws(StoreError) {
        let statements: [String]
        if try !isCrowded(month.firstID, month.next.firstID, limit) {
            statements = MonthParts.making(month, outOf: MonthParts.later)
        } else if try !isCrowded(month.next.firstID, MonthParts.end, limit) {
            statements = MonthParts.turningLater(into: month)
        } else {
            throw .mismatch(
                reason: """
                    \(MonthParts.later) has too many messages with ids of a time to come, both of \(month.name) and of later \
                    months, to move them while all others wait; no month is made until it has fewer
                    """
            )
        }
        for statement in statements { try connection.run(statement) }
    }

    /// Whether the part for later ids has more of these than may be moved while all others wait.
    private func isCrowded(_ start: String, _ end: String, _ limit: Int) throws(StoreError) -> Bool {
        let bindings: [SQLValue] = [.text(start), .text(end), .int(Int64(limit))]
        return try connection.first(SQL.isCrowded, bindings, { $0.int(0) }) != nil
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
