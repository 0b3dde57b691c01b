import TocsinCore

/// The parts in which PostgreSQL keeps messages by month.
///
/// Ids that the server makes are UUIDs of version 7, whose text begins with the time; so a range of ids is a span of time. The
/// months lie between `messages_earlier` and `messages_later`, which take ids of those spans that clients chose, and
/// `messages_rest` has all others: what was there before, and texts that are no times. That it has nothing of the span of the
/// three is a constraint, so that no part that comes or goes makes PostgreSQL read it, however large it is.
struct MonthParts {
    struct Part: Hashable {
        let month: MessageMonth
        /// nil while it is open.
        let closing: MonthClosing?
    }

    /// In order; the span of one ends where that of the next begins.
    private(set) var months: [Part] = []
    /// The lowest id of the part before the first month, once a month was dropped.
    private(set) var earlierStart: String?

    static let rest = "messages_rest"
    static let later = "messages_later"
    static let earlier = "messages_earlier"
    /// So long what is to go with its month waits for what keeps that.
    static let patienceSeconds = 604_800.0
    /// Where the part for later ids ends: with the year 2099.
    static let end = DeliveryPartition.identifier(at: Timestamp(year: 2100, month: 1).milliseconds)

    private static let parts = """
        SELECT c.relname::text, coalesce(obj_description(c.oid, 'pg_class'), ''),
            coalesce(substring(pg_get_expr(c.relpartbound, c.oid) FROM 'FROM \\(''([^'']*)''\\)'), '')
        FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass('messages')
        """

    /// Reads the catalogue; nil where messages do not stand in months.
    init?(_ connection: any SQLConnection, _ dialect: Dialect) throws(StoreError) {
        guard dialect.hasPartitions else { return nil }
        let found = try connection.all(Self.parts) { ($0.text(0), $0.text(1), $0.text(2)) }
        for (name, comment, start) in found {
            if let month = MessageMonth(name: name) {
                months.append(Part(month: month, closing: MonthClosing(comment)))
            } else if name == Self.earlier {
                earlierStart = start
            }
        }
        guard !months.isEmpty else { return nil }
        months.sort { $0.month < $1.month }
    }

    /// The months that are missing up to the second after the one that is now.
    func missing(at now: Timestamp) -> [MessageMonth] {
        guard var next = months.last?.month.next else { return [] }
        let end = MessageMonth(of: now).next.next
        var missing: [MessageMonth] = []
        while next <= end, next.firstID < Self.end {
            missing.append(next)
            next = next.next
        }
        return missing
    }

    /// What makes a part for ids from one to another like that of the rest, with all its indexes.
    static func making(_ name: String, from start: String, to end: String) -> [String] {
        [making(name), attaching(name, from: start, to: end)]
    }

    private static func making(_ name: String) -> String {
        "CREATE TABLE \(name) (LIKE \(rest) INCLUDING ALL EXCLUDING CONSTRAINTS)"
    }

    /// What makes a month.
    static func making(_ month: MessageMonth) -> [String] {
        making(month.name, from: month.firstID, to: month.next.firstID) + [makingIndex(month)]
    }

    /// What makes a month that has those of its messages that stand in a table.
    static func making(_ month: MessageMonth, outOf table: String) -> [String] {
        making(month) + [moving(outOf: table, from: month.firstID, to: month.next.firstID)]
    }

    /// What makes the part for later ids, detached, that of a month, and another one for what else it has.
    static func turningLater(into month: MessageMonth) -> [String] {
        [
            "ALTER TABLE \(later) RENAME TO \(month.name)", making(later),
            moving(outOf: month.name, from: month.next.firstID, to: end, into: later), makingIndex(month),
            attaching(month.name, from: month.firstID, to: month.next.firstID),
        ]
    }

    /// Says whether anything in a month is younger than a time, at hardly any cost.
    private static func makingIndex(_ month: MessageMonth) -> String {
        "CREATE INDEX ON \(month.name) USING brin (made_at) WITH (autosummarize = on)"
    }

    static func attaching(_ name: String, from start: String, to end: String) -> String {
        "ALTER TABLE messages ATTACH PARTITION \(name) FOR VALUES FROM ('\(start)') TO ('\(end)')"
    }

    static func detaching(_ name: String) -> String { "ALTER TABLE messages DETACH PARTITION \(name)" }

    /// Moves the rows of ids from one to another out of a table, into the parts or into another table.
    static func moving(
        outOf table: String,
        from start: String,
        to end: String,
        into target: String = "messages"
    ) -> String {
        """
        WITH moved AS (DELETE FROM \(table) WHERE id >= '\(start)' AND id < '\(end)' RETURNING *)
        INSERT INTO \(target) SELECT * FROM moved
        """
    }
}

extension MessageMonth {
    /// The lowest id that is made in it.
    var firstID: String { DeliveryPartition.identifier(at: start.milliseconds) }

    /// When all its time is over, with a day for clocks that are not right.
    var end: Timestamp { next.start.adding(seconds: 86_400) }

    /// Its range of ids.
    var bounds: [SQLValue] { [.text(firstID), .text(next.firstID)] }
}
