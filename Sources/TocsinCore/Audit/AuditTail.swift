/// How far somebody has read the end of the audit, whose rows do not show in the order of their
/// times.
///
/// A row tells when it was written, and shows once its transaction commits. Transactions that run
/// beside each other may commit in either order. So the last part of the audit is read again at
/// each look, and rows that were seen are known by their ids.
package struct AuditTail: Sendable {
    /// How far a row may come after a later one, in seconds: no transaction lasts longer.
    package static let overlapSeconds = 60.0
    /// What is to be read at the next look: rows of this moment and later.
    package private(set) var since: Timestamp
    private var seen: Set<String> = []
    private let overlapSeconds: Double

    /// A tail of which rows of this moment and later are new.
    package init(since moment: Timestamp, overlapSeconds: Double = Self.overlapSeconds) {
        (since, self.overlapSeconds) = (moment, overlapSeconds)
    }

    /// Whether this row was not seen yet.
    package func isNew(_ row: AuditCursor) -> Bool { !seen.contains(row.id) }

    /// Takes rows for seen, which `advance` will be told of again.
    package mutating func note(_ rows: some Sequence<AuditCursor>) { seen.formUnion(rows.lazy.map(\.id)) }

    /// Takes all rows since `since` for seen.
    ///
    /// A row that claims to be of a later time than `now` does not move the tail on; without `now`
    /// all times are believed.
    package mutating func advance(over rows: [AuditCursor], now: Timestamp? = nil) {
        seen = Set(rows.lazy.map(\.id))
        guard let latest = rows.lazy.map(\.at).max() else { return }
        since = max(since, min(latest, now ?? latest).adding(seconds: -overlapSeconds))
    }
}
