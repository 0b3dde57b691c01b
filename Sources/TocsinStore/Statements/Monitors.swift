import TocsinCore

private enum SQL {
    private static let ofFacts = """
        generation, last_ping, failures, successes, first_ping_at, last_success_at, run_started_at, run_id, \
        paused_until, forgiven_until, spell_began_at
        """
    static let facts = "SELECT \(ofFacts) FROM monitor_facts WHERE monitor_id = $1"
    static let saveFacts = """
        INSERT INTO monitor_facts (monitor_id, \(ofFacts)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        ON CONFLICT (monitor_id) DO UPDATE SET generation = excluded.generation, last_ping = excluded.last_ping,
            failures = excluded.failures, successes = excluded.successes, first_ping_at = excluded.first_ping_at,
            last_success_at = excluded.last_success_at, run_started_at = excluded.run_started_at,
            run_id = excluded.run_id, paused_until = excluded.paused_until, forgiven_until = excluded.forgiven_until,
            spell_began_at = excluded.spell_began_at
        """
    static let pings = """
        SELECT number, at, signal, exit_status, run_id, duration_ms, body FROM monitor_pings
        WHERE monitor_id = $1 AND number < $2 ORDER BY number DESC LIMIT $3
        """
    static let insertPing = """
        INSERT INTO monitor_pings (monitor_id, number, at, signal, exit_status, run_id, duration_ms, body)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """
    static let removePings = "DELETE FROM monitor_pings WHERE monitor_id = $1 AND number <= $2"
    static let spells = """
        SELECT began_at, is_pause, ended_at FROM monitor_spells
        WHERE monitor_id = $1 AND coalesce(ended_at, \(Int64.max)) > $2 ORDER BY began_at
        """
    static let saveSpell = """
        INSERT INTO monitor_spells (monitor_id, began_at, is_pause, ended_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (monitor_id, began_at, is_pause) DO UPDATE SET ended_at = excluded.ended_at
        """
    static let removeOldSpells = "DELETE FROM monitor_spells WHERE monitor_id = $1 AND ended_at < $2"
    /// Of a monitor that comes and goes, the latest are kept.
    static let trimSpells = """
        DELETE FROM monitor_spells WHERE monitor_id = $1 AND began_at < (SELECT min(began_at) FROM
            (SELECT began_at FROM monitor_spells WHERE monitor_id = $1 ORDER BY began_at DESC LIMIT 1000) AS latest)
        """
    static let watch = "SELECT seen_at, gap_from, gap_to FROM monitor_watch WHERE id = 1"
    static let saveWatch = """
        INSERT INTO monitor_watch (id, seen_at, gap_from, gap_to) VALUES (1, $1, $2, $3)
        ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, gap_from = excluded.gap_from,
            gap_to = excluded.gap_to
        """
    static let tables = ["monitor_facts", "monitor_pings", "monitor_spells"]
}

extension SQLReading {
    func monitorFacts(_ id: String) throws(StoreError) -> MonitorFacts? {
        try connection.first(SQL.facts + lock("monitor_facts"), [.text(id)]) { row in
            var facts = MonitorFacts()
            (facts.generation, facts.lastPing) = (row.int(0), row.int(1))
            (facts.failures, facts.successes) = (row.int(2), row.int(3))
            (facts.firstPingAt, facts.lastSuccessAt) = (row.optionalMoment(4), row.optionalMoment(5))
            facts.run = row.optionalMoment(6).map { MonitorStanding.Run(startedAt: $0, id: row.optionalText(7)) }
            (facts.pausedUntil, facts.forgivenUntil) = (row.optionalMoment(8), row.optionalMoment(9))
            facts.spellBeganAt = row.optionalMoment(10)
            return facts
        }
    }

    func pings(of monitor: String, before number: Int64, limit: Int) throws(StoreError) -> [StoredPing] {
        try connection.all(SQL.pings, [.text(monitor), .int(number), .int(Int64(limit))]) { row in
            MonitorPing.Signal(rawValue: row.text(2)).map { signal in
                let status = row.isNull(3) ? nil : Int(row.int(3))
                let ping = MonitorPing(signal, exitStatus: status, runID: row.optionalText(4), text: row.text(6))
                return StoredPing(
                    number: row.int(0),
                    at: row.moment(1),
                    ping,
                    durationMilliseconds: row.isNull(5) ? nil : row.int(5)
                )
            }
        }
    }

    func monitorSpells(of monitor: String, after moment: Timestamp) throws(StoreError) -> [MonitorSpell] {
        try connection.all(SQL.spells, [.text(monitor), SQLValue(moment)]) { row in
            MonitorSpell(beganAt: row.moment(0), endedAt: row.optionalMoment(2), isPause: row.int(1) != 0)
        }
    }

    func monitorWatch() throws(StoreError) -> MonitorWatch? {
        try connection.first(SQL.watch + lock("monitor_watch"), []) { row in
            var watch = MonitorWatch(seenAt: row.moment(0))
            if let start = row.optionalMoment(1), let end = row.optionalMoment(2), start <= end {
                watch.gap = start..<end
            }
            return watch
        }
    }
}

extension SQLWriter {
    func save(_ facts: MonitorFacts, of monitor: String) throws(StoreError) {
        try connection.run(
            SQL.saveFacts,
            [
                .text(monitor), .int(facts.generation), .int(facts.lastPing), .int(facts.failures),
                .int(facts.successes), SQLValue(facts.firstPingAt), SQLValue(facts.lastSuccessAt),
                SQLValue(facts.run?.startedAt), SQLValue(facts.run?.id), SQLValue(facts.pausedUntil),
                SQLValue(facts.forgivenUntil), SQLValue(facts.spellBeganAt),
            ]
        )
    }

    func insert(_ ping: StoredPing, of monitor: String, keeping count: Int64) throws(StoreError) {
        try connection.run(
            SQL.insertPing,
            [
                .text(monitor), .int(ping.number), SQLValue(ping.at), .text(ping.ping.signal.rawValue),
                ping.ping.exitStatus.map { .int(Int64($0)) } ?? .null, SQLValue(ping.ping.runID),
                ping.durationMilliseconds.map { .int($0) } ?? .null, .text(ping.ping.text),
            ]
        )
        try connection.run(SQL.removePings, [.text(monitor), .int(ping.number - count)])
    }

    func save(
        _ spell: MonitorSpell,
        of monitor: String,
        removingEndedBefore moment: Timestamp
    ) throws(StoreError) {
        try connection.run(
            SQL.saveSpell,
            [.text(monitor), SQLValue(spell.beganAt), SQLValue(spell.isPause), SQLValue(spell.endedAt)]
        )
        try connection.run(SQL.removeOldSpells, [.text(monitor), SQLValue(moment)])
        try connection.run(SQL.trimSpells, [.text(monitor)])
    }

    func save(_ watch: MonitorWatch) throws(StoreError) {
        try connection.run(
            SQL.saveWatch,
            [SQLValue(watch.seenAt), SQLValue(watch.gap?.lowerBound), SQLValue(watch.gap?.upperBound)]
        )
    }

    func removeMonitorRows(of monitor: String) throws(StoreError) {
        for table in SQL.tables {
            try connection.run("DELETE FROM \(table) WHERE monitor_id = $1", [.text(monitor)])
        }
    }
}
