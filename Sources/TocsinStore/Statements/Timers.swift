import TocsinCore

private enum SQL {
    static let columns = "kind, subject, due_at, generation, payload, attempts, failed_at, error, owner"
    static func due(_ kinds: BoundList, besides owners: BoundList?) -> String {
        let others = owners.map { " AND coalesce(owner, '') NOT IN (\($0.placeholders))" } ?? ""
        return """
            SELECT \(columns) FROM timers WHERE due_at <= $1 AND kind IN (\(kinds.placeholders))\(others)
            ORDER BY due_at, kind, subject LIMIT $2
            """
    }
    static let waiting = "SELECT \(columns) FROM timers ORDER BY due_at, kind, subject LIMIT $1"
    static let failed = "SELECT \(columns) FROM timers WHERE attempts > 0 ORDER BY due_at, kind, subject LIMIT $1"
    static let one = "SELECT \(columns) FROM timers WHERE kind = $1 AND subject = $2"
    private static let insert = "INSERT INTO timers (\(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
    static let setUnlessThere = insert + " ON CONFLICT (kind, subject) DO NOTHING"
    static let set = """
        \(insert)
        ON CONFLICT (kind, subject) DO UPDATE SET due_at = excluded.due_at, generation = excluded.generation,
            payload = excluded.payload, attempts = excluded.attempts, failed_at = excluded.failed_at,
            error = excluded.error, owner = excluded.owner
        """
    static let claim = "DELETE FROM timers WHERE kind = $1 AND subject = $2 AND generation = $3 AND due_at = $4"
    static let remove = "DELETE FROM timers WHERE kind = $1 AND subject = $2"
    static let record = """
        UPDATE timers SET due_at = $5, attempts = $6, failed_at = $7, error = $8
        WHERE kind = $1 AND subject = $2 AND generation = $3 AND due_at = $4
        """
}

extension SQLReading {
    func dueTimers(
        of kinds: Set<TimerEntry.Kind>,
        at moment: Timestamp,
        besides owners: Set<UserID>,
        limit: Int
    ) throws(StoreError) -> [TimerEntry] {
        guard !kinds.isEmpty else { return [] }
        let list = BoundList(kinds.map(\.rawValue).sorted(), firstParameter: 3)
        let left = BoundList(owners.map(\.text).sorted(), firstParameter: 3 + list.bindings.count)
        return try connection.all(
            SQL.due(list, besides: owners.isEmpty ? nil : left),
            [SQLValue(moment), .int(Int64(limit))] + list.bindings + left.bindings,
            TimerEntry.init
        )
    }

    func timers(failedOnly: Bool, limit: Int) throws(StoreError) -> [TimerEntry] {
        try connection.all(failedOnly ? SQL.failed : SQL.waiting, [.int(Int64(limit))], TimerEntry.init)
    }

    func timer(_ kind: TimerEntry.Kind, of subject: String) throws(StoreError) -> TimerEntry? {
        try connection.first(SQL.one + lock("timers"), [.text(kind.rawValue), .text(subject)], TimerEntry.init)
    }
}

extension SQLWriter {
    func set(_ timer: TimerEntry) throws(StoreError) {
        try connection.run(SQL.set, timer.values)
    }

    func setUnlessThere(_ timer: TimerEntry) throws(StoreError) {
        try connection.run(SQL.setUnlessThere, timer.values)
    }

    func claim(_ timer: TimerEntry) throws(StoreError) -> Bool {
        try connection.run(SQL.claim, timer.standing) > 0
    }

    func removeTimer(_ kind: TimerEntry.Kind, of subject: String) throws(StoreError) {
        try connection.run(SQL.remove, [.text(kind.rawValue), .text(subject)])
    }

    func record(_ failed: TimerEntry, of timer: TimerEntry) throws(StoreError) {
        try connection.run(
            SQL.record,
            timer.standing + [
                SQLValue(failed.dueAt), .int(Int64(failed.attempts)), SQLValue(failed.failedAt), SQLValue(failed.error),
            ]
        )
    }
}

extension TimerEntry {
    /// The values of a row.
    fileprivate var values: [SQLValue] {
        [
            .text(kind.rawValue), .text(subject), SQLValue(dueAt), .int(generation), .text(payload),
            .int(Int64(attempts)), SQLValue(failedAt), SQLValue(error), SQLValue(owner?.text),
        ]
    }

    /// What a row must still have to be this one.
    fileprivate var standing: [SQLValue] {
        [.text(kind.rawValue), .text(subject), .int(generation), SQLValue(dueAt)]
    }

    /// Reads the columns of a selection; nil when a value has no meaning.
    fileprivate init?(_ row: any SQLRow) {
        guard let kind = Kind(rawValue: row.text(0)) else { return nil }
        self.init(
            kind: kind,
            subject: row.text(1),
            dueAt: row.moment(2),
            generation: row.int(3),
            payload: row.text(4)
        )
        attempts = Int(row.int(5))
        failedAt = row.optionalMoment(6)
        error = row.optionalText(7)
        owner = row.optionalText(8).map { UserID($0) }
    }
}
