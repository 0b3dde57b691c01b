import TocsinCore

/// Reading the journal; `Journal` writes it.
private enum SQL {
    /// One row at least, so that the moment and the snapshot are always told.
    ///
    /// Rows after the id `$2`, the highest that was ever read, are new. Those before it are
    /// when their transaction is visible now and was not in the snapshot `$1`. They are found
    /// and sorted once, however many pages they fill. Those are looked for from the
    /// snapshot's oldest transaction on: by the index of ids, which `id + 0` is none of, all
    /// of the journal would be read.
    private static let new = """
        WITH new AS MATERIALIZED (
            SELECT id, node, serial, made_at, body FROM node_events WHERE id > $2
            UNION ALL
            SELECT id, node, serial, made_at, body FROM node_events
            WHERE xid >= pg_snapshot_xmin($1::text::pg_snapshot) AND id + 0 <= $2
                AND NOT pg_visible_in_snapshot(xid, $1::text::pg_snapshot)
        )
        SELECT s.snapshot, s.moment, s.is_older, e.id, e.node, e.serial, e.made_at, e.body
        FROM (SELECT pg_current_snapshot()::text AS snapshot,
                (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS moment,
                pg_snapshot_xmax(pg_current_snapshot()) < pg_snapshot_xmax($1::text::pg_snapshot) AS is_older) AS s
            LEFT JOIN new AS e ON true
        ORDER BY e.id
        """
    static let look = new + " LIMIT $3"
    /// The same rows, however many: planned each time.
    static let cursor = "DECLARE look NO SCROLL CURSOR FOR " + new
    /// Keeps one plan for the look, by the index.
    ///
    /// Without it the look would be planned each time, by the table's size, which is of no use
    /// here. And a plan that knows nothing of its parameters takes a third of the table for new,
    /// and may read it whole.
    static let keepPlans = """
        SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true)
        """
    static let begin = """
        SELECT pg_current_snapshot()::text, (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
            coalesce((SELECT max(id) FROM node_events), 0),
            CASE WHEN pg_is_in_recovery() THEN '' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END
        """
    static let others = """
        SELECT count(*), coalesce(max(wants_deliveries), 0) FROM nodes WHERE instance <> $1 AND seen_at >= $2
        """
}

/// A row of the journal.
struct JournalRow: Sendable {
    var id: Int64
    var node: String
    var serial: Int64
    var madeAt: Timestamp
    var body: String
}

/// Where a reader of the journal begins.
struct JournalStart {
    var snapshot: String
    var moment: Timestamp
    /// The highest id there.
    var lastID: Int64
    /// The history that the server writes.
    var timeline: String
}

/// Rows of the journal, and from when they were read.
struct JournalPage {
    var rows: [JournalRow] = []
    /// What was visible; later pages of one look have the same.
    var snapshot = ""
    /// When the look began.
    var moment = Timestamp(milliseconds: 0)
    /// Whether the database knows less than before: it is another one, or was restored.
    var isOlder = false
}

extension SQLSession {
    /// Where a reader begins, and the history that the server writes: a
    /// promoted standby's is another.
    func journalStart() throws(StoreError) -> JournalStart {
        let start = try connection.first(SQL.begin) { row in
            JournalStart(snapshot: row.text(0), moment: row.moment(1), lastID: row.int(2), timeline: row.text(3))
        }
        guard let start else { throw .mismatch(reason: "The database did not say what it shows.") }
        return start
    }

    /// Reads, in the open transaction, the first rows that are new since a look that saw the
    /// snapshot and no id above `lastID`.
    func lookInJournal(since snapshot: String, lastID: Int64, limit: Int) throws(StoreError) -> JournalPage {
        try connection.queue(SQL.keepPlans, [])
        return try journalPage(SQL.look, [.text(snapshot), .int(lastID), .int(Int64(limit))])
    }

    /// Makes ready to read on behind so many rows of the same look.
    func lookFurther(since snapshot: String, lastID: Int64, behind count: Int) throws(StoreError) {
        try connection.queue(SQL.cursor, [.text(snapshot), .int(lastID)])
        try connection.queue("MOVE \(count) FROM look", [])
    }

    /// The next rows of the look, by id; none of them says anything else either.
    func journalPage(limit: Int) throws(StoreError) -> JournalPage {
        try journalPage("FETCH \(limit) FROM look", [])
    }

    private func journalPage(_ sql: String, _ bindings: [SQLValue]) throws(StoreError) -> JournalPage {
        var page = JournalPage()
        _ = try connection.run(sql, bindings) { row in
            (page.snapshot, page.moment, page.isOlder) = (row.text(0), row.moment(1), row.int(2) != 0)
            guard !row.isNull(3) else { return }
            page.rows.append(
                JournalRow(
                    id: row.int(3),
                    node: row.text(4),
                    serial: row.int(5),
                    madeAt: row.moment(6),
                    body: row.text(7)
                )
            )
        }
        return page
    }

    /// What other nodes have been heard of since the moment.
    func peers(of instance: String, seenSince moment: Timestamp) throws(StoreError) -> JournalPeers {
        let found = try connection.first(SQL.others, [.text(instance), SQLValue(moment)]) { row in
            JournalPeers(count: Int(row.int(0)), wantDeliveries: row.int(1) > 0)
        }
        return found ?? JournalPeers()
    }
}
