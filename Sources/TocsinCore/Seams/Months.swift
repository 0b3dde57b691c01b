/// A calendar month of UTC: where messages stand in months, a part of their table.
package struct MessageMonth: Hashable, Sendable, Comparable {
    /// Months since that of year 0.
    private let index: Int64
    private static let prefix = "messages_"

    private init(index: Int64) { self.index = index }

    /// The month of a moment.
    package init(of moment: Timestamp) {
        let (year, month) = moment.yearAndMonth
        index = year * 12 + month - 1
    }

    /// The month whose part has this name; nil for another table.
    package init?(name: String) {
        let parts = name.dropFirst(Self.prefix.count).split(separator: "_").compactMap { Int64($0) }
        guard name.hasPrefix(Self.prefix), parts.count == 2, parts[0] >= 0, (1...12).contains(parts[1]) else {
            return nil
        }
        index = parts[0] * 12 + parts[1] - 1
        guard self.name == name else { return nil }
    }

    /// The name of its part, such as `messages_2026_12`.
    package var name: String {
        let (year, month) = (String(index / 12), index % 12 + 1)
        return Self.prefix + String(repeating: "0", count: max(0, 4 - year.count)) + year
            + (month < 10 ? "_0\(month)" : "_\(month)")
    }

    package var next: MessageMonth { MessageMonth(index: index + 1) }

    package var start: Timestamp { Timestamp(year: index / 12, month: index % 12 + 1) }

    package static func < (left: Self, right: Self) -> Bool { left.index < right.index }
}

/// What there is to do about the months in which messages stand.
package struct MonthPlan: Sendable, Hashable {
    /// Whether months of the time to come are missing.
    package var areDue = false
    /// The first ones, closed for so long that no reader remembers what they held.
    package var closed: [MessageMonth] = []
    /// Later ones, whose time is over, with nothing in them that is needed.
    package var over: [MessageMonth] = []

    package init() {}
}

/// How far the closing of a month has come.
package enum MonthPlace: Sendable, Hashable {
    case feeds(after: String)
    case topics(after: String)
    case deliveries

    package static let start = MonthPlace.feeds(after: "")
}

/// What came of a step in closing a month.
package enum MonthStep: Sendable, Hashable {
    case next(MonthPlace)
    case closed
    /// Something in it is needed, or another node is at it.
    case kept
}

/// Where PostgreSQL keeps messages in parts by month of their ids, parts are made ahead and go as a whole; elsewhere there is
/// nothing to do.
package protocol MonthReading {
    /// nil where messages do not stand in months.
    func monthsToKeep(at now: Timestamp, _ bounds: PruningBounds) throws(StoreError) -> MonthPlan?
}

package protocol MonthWriting {
    /// Puts the table of messages into months, once and for all; answers the first of them, nil where it stands in months
    /// already. Where the database has no such parts it throws `mismatch`.
    func standInMonths(at now: Timestamp) throws(StoreError) -> MessageMonth?
    /// Makes the months up to the second after the one that is now; answers how many. Moves so many messages into them at
    /// most, and throws `mismatch` where that does not do.
    func makeMonths(at now: Timestamp, moving limit: Int) throws(StoreError) -> Int
    /// Does the next step of closing a month, of at most so many rows: raises the bounds of feeds and topics past what it
    /// holds, removes what stands before that elsewhere, and its settled deliveries.
    func closeMonth(
        _ month: MessageMonth,
        _ bounds: PruningBounds,
        at now: Timestamp,
        from place: MonthPlace,
        limit: Int
    ) throws(StoreError) -> MonthStep
    /// Drops the first month, closed long ago; false when something has come into it since, so that it is open again, or
    /// another node is at it.
    func dropMonth(_ month: MessageMonth, at now: Timestamp) throws(StoreError) -> Bool
}
