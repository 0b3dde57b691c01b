import TocsinCore

private enum SQL {
    static let open = "SELECT id FROM incidents WHERE source = $1 AND key = $2 AND resolved_ms IS NULL"
    static let lastResolved = """
        SELECT id FROM incidents WHERE source = $1 AND key = $2 AND resolved_ms IS NOT NULL
        ORDER BY resolved_ms DESC LIMIT 1
        """
    // Goes from one source to the next by the index, however many incidents each has.
    static let openSources = """
        WITH RECURSIVE places (source) AS (
            SELECT (SELECT source FROM incidents WHERE source >= $1 AND source < $2 AND resolved_ms IS NULL
                ORDER BY source LIMIT 1)
            UNION ALL
            SELECT (SELECT i.source FROM incidents AS i WHERE i.source > places.source AND i.source < $2
                AND i.resolved_ms IS NULL ORDER BY i.source LIMIT 1)
            FROM places WHERE places.source IS NOT NULL
        )
        SELECT source FROM places WHERE source IS NOT NULL LIMIT $3
        """
    static func newestSource(_ sources: BoundList, isOpen: Bool) -> String {
        """
        SELECT source FROM incidents WHERE source IN (\(sources.placeholders)) AND key = $1
            AND resolved_ms IS \(isOpen ? "" : "NOT ")NULL
        ORDER BY \(isOpen ? "opened_at" : "resolved_ms") DESC, source LIMIT 1
        """
    }
    static func firstSource(_ sources: BoundList, _ fingerprints: BoundList) -> String {
        """
        SELECT a.source FROM incident_alerts AS a JOIN incidents AS i ON i.id = a.incident_id
        WHERE a.source IN (\(sources.placeholders)) AND a.fingerprint IN (\(fingerprints.placeholders))
            AND a.resolved_ms IS NULL AND i.resolved_ms IS NULL ORDER BY a.source LIMIT 1
        """
    }
    static func openOfAlerts(_ fingerprints: BoundList) -> String {
        """
        SELECT a.fingerprint, a.incident_id FROM incident_alerts AS a JOIN incidents AS i ON i.id = a.incident_id
        WHERE a.source = $1 AND a.fingerprint IN (\(fingerprints.placeholders)) AND a.resolved_ms IS NULL
            AND i.resolved_ms IS NULL ORDER BY a.fingerprint, a.incident_id
        """
    }
    static let openCount = """
        SELECT count(*) FROM (SELECT 1 FROM incidents WHERE topic_id = $1 AND resolved_ms IS NULL LIMIT $2) AS part
        """
    static let otherCount = """
        SELECT count(*) FROM (SELECT 1 FROM incidents WHERE topic_id = $1 AND resolved_ms IS NULL AND id <> $2
            LIMIT $3) AS part
        """
    static let facts = "SELECT source, generation, last_entry, answered_number, standing FROM incidents WHERE id = $1"
    static let alertColumns = "fingerprint, title, labels, url, starts_at, ends_at, resolved_ms"
    static func alerts(_ fingerprints: BoundList) -> String {
        """
        SELECT \(alertColumns) FROM incident_alerts WHERE incident_id = $1
            AND fingerprint IN (\(fingerprints.placeholders))
        """
    }
    static func alertPage(firing: Bool?) -> String {
        let condition = firing.map { " AND resolved_ms IS \($0 ? "" : "NOT ")NULL" } ?? ""
        return """
            SELECT \(alertColumns) FROM incident_alerts WHERE incident_id = $1 AND fingerprint > $2\(condition)
            ORDER BY fingerprint LIMIT $3
            """
    }
    static let alertCounts = """
        SELECT count(*), coalesce(sum(CASE WHEN resolved_ms IS NULL THEN 1 ELSE 0 END), 0)
        FROM incident_alerts WHERE incident_id = $1
        """
    static let entries = """
        SELECT number, at, change, actor, via, place, text, message_id FROM incident_entries
        WHERE incident_id = $1 AND number > $2 ORDER BY number LIMIT $3
        """
    static let messages = """
        SELECT id FROM messages WHERE incident_id = $1 AND number > $2 AND coalesce(deleted, 0) = 0
        ORDER BY number NULLS FIRST LIMIT $3
        """
    static func answered(_ incidents: BoundList) -> String {
        "SELECT id, answered_number FROM incidents WHERE id IN (\(incidents.placeholders))"
    }
    static func reached(_ devices: BoundList) -> String {
        """
        SELECT DISTINCT x.device_id FROM messages AS m JOIN deliveries AS x ON x.message_id = m.id
        WHERE m.incident_id = $1 AND x.device_id IN (\(devices.placeholders))
            AND (x.status = 'accepted' AND coalesce(x.reason, '') <> '\(DeliveryReason.inSummary.rawValue)'
                OR x.status IN ('waiting', 'sending') AND x.attempts > 0 OR x.status = 'sending')
        """
    }
    static func live(_ incidents: BoundList, _ devices: BoundList) -> String {
        """
        SELECT \(Delivery.columns), m.incident_id, m.number FROM messages AS m JOIN deliveries AS x ON x.message_id = m.id
        WHERE m.incident_id IN (\(incidents.placeholders)) AND x.device_id IN (\(devices.placeholders))
            AND x.status IN ('waiting', 'sending', 'accepted') AND (m.number > $1 OR x.updated_at >= $2)
            AND coalesce(x.reason, '') <> '\(DeliveryReason.inSummary.rawValue)'
        """
    }
    static let again = """
        UPDATE deliveries SET status = 'waiting', reason = NULL, next_attempt_at = $3, updated_at = $3, redriven_at = $3
        WHERE message_id = $1 AND device_id = $2 AND status = 'accepted'
        """
    static let underWay = """
        SELECT 1 FROM messages AS m JOIN fanouts AS f ON f.message_id = m.id
        WHERE m.incident_id = $1 AND (m.incident_change IN (\(loud)) OR m.number < $2 AND f.node <> $3) LIMIT 1
        """
    static let nextNumber = "UPDATE topics SET last_incident = last_incident + 1 WHERE id = $1 RETURNING last_incident"
    static let save = """
        UPDATE incidents SET source = $2, generation = $3, last_entry = $4, answered_number = $5, standing = $6,
            resolved_ms = $7 WHERE id = $1
        """
    static let saveAlert = """
        INSERT INTO incident_alerts (incident_id, source, \(alertColumns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (incident_id, fingerprint) DO UPDATE SET title = excluded.title, labels = excluded.labels,
            url = excluded.url, starts_at = excluded.starts_at, ends_at = excluded.ends_at,
            resolved_ms = excluded.resolved_ms
        """
    static let endAlerts = "UPDATE incident_alerts SET resolved_ms = $2 WHERE incident_id = $1 AND resolved_ms IS NULL"
    static let addEntry = """
        INSERT INTO incident_entries (incident_id, number, at, change, actor, via, place, text, message_id)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """
    private static let loud = IncidentChange.allCases.filter(\.isLoud).map { "'\($0.rawValue)'" }.joined(
        separator: ", "
    )
    static let waiting = """
        SELECT \(Delivery.columns) FROM messages AS m JOIN deliveries AS x ON x.message_id = m.id
        WHERE m.incident_id = $1 AND m.incident_change IN (\(loud)) AND x.status = 'waiting'
        ORDER BY x.message_id, x.device_id
        """
    static let withdraw = """
        UPDATE deliveries SET status = 'ended', reason = '\(DeliveryReason.incidentAnswered.rawValue)',
            next_attempt_at = NULL, lease_until = NULL, updated_at = $3
        WHERE message_id = $1 AND device_id = $2 AND status = 'waiting'
        """
    static let due = """
        SELECT id FROM incidents WHERE resolved_ms IS NOT NULL AND resolved_ms < $1 ORDER BY resolved_ms LIMIT $2
        """
    static func remove(_ ids: BoundList) -> String { "DELETE FROM incidents WHERE id IN (\(ids.placeholders))" }
}

extension SQLReading {
    func openIncident(of source: String, key: String) throws(StoreError) -> String? {
        try connection.first(SQL.open, [.text(source), .text(key)]) { $0.text(0) }
    }

    func lastResolvedIncident(of source: String, key: String) throws(StoreError) -> String? {
        try connection.first(SQL.lastResolved, [.text(source), .text(key)]) { $0.text(0) }
    }

    func openSources(in range: Range<String>, limit: Int) throws(StoreError) -> [String] {
        let bindings: [SQLValue] = [.text(range.lowerBound), .text(range.upperBound), .int(Int64(limit))]
        return try connection.all(SQL.openSources, bindings) { $0.text(0) }
    }

    func newestSource(of key: String, among sources: [String], isOpen: Bool) throws(StoreError) -> String? {
        let list = BoundList(sources, firstParameter: 2)
        let bindings = [.text(key)] + list.bindings
        return try connection.first(SQL.newestSource(list, isOpen: isOpen), bindings) { $0.text(0) }
    }

    func firstSource(among sources: [String], firing fingerprints: [String]) throws(StoreError) -> String? {
        let list = BoundList(sources)
        var first: String?
        for chunk in fingerprints.chunks(of: BoundList.maximumCount) {
            let alerts = BoundList(chunk, firstParameter: list.bindings.count + 1)
            let found = try connection.first(SQL.firstSource(list, alerts), list.bindings + alerts.bindings) {
                $0.text(0)
            }
            if let found { first = min(first ?? found, found) }
        }
        return first
    }

    func openIncidents(of source: String, alerts fingerprints: [String]) throws(StoreError) -> [String: String] {
        var found: [String: String] = [:]
        for chunk in fingerprints.chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk, firstParameter: 2)
            for (fingerprint, id) in try connection.all(
                SQL.openOfAlerts(list),
                [.text(source)] + list.bindings,
                { ($0.text(0), $0.text(1)) }
            ) where found[fingerprint] == nil { found[fingerprint] = id }
        }
        return found
    }

    func hasOpenIncidents(_ count: Int, in topic: TopicID) throws(StoreError) -> Bool {
        try connection.first(SQL.openCount, [.text(topic.text), .int(Int64(count))]) { $0.int(0) } == Int64(count)
    }

    func openIncidents(in topic: TopicID, besides id: String, atMost count: Int) throws(StoreError) -> Int {
        let bindings: [SQLValue] = [.text(topic.text), .text(id), .int(Int64(count))]
        return Int(try connection.first(SQL.otherCount, bindings) { $0.int(0) } ?? 0)
    }

    func incidentFacts(_ id: String) throws(StoreError) -> IncidentFacts? {
        try connection.first(SQL.facts + lock("incidents"), [.text(id)]) { row in
            var facts = IncidentFacts(source: row.optionalText(0) ?? "")
            (facts.generation, facts.lastEntry, facts.answeredNumber) = (row.int(1), row.int(2), row.int(3))
            facts.memory = row.text(4)
            return facts
        }
    }

    func incidentAlerts(of id: String, fingerprints: [String]) throws(StoreError) -> [StoredAlert] {
        var found: [StoredAlert] = []
        for chunk in fingerprints.chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk, firstParameter: 2)
            found += try connection.all(SQL.alerts(list), [.text(id)] + list.bindings, StoredAlert.init)
        }
        return found
    }

    func incidentAlerts(
        of id: String,
        firing: Bool?,
        after fingerprint: String,
        limit: Int
    ) throws(StoreError) -> [StoredAlert] {
        let bindings: [SQLValue] = [.text(id), .text(fingerprint), .int(Int64(limit))]
        return try connection.all(SQL.alertPage(firing: firing), bindings, StoredAlert.init)
    }

    func alertCounts(of id: String) throws(StoreError) -> (all: Int64, firing: Int64) {
        try connection.first(SQL.alertCounts, [.text(id)]) { ($0.int(0), $0.int(1)) } ?? (0, 0)
    }

    func incidentEntries(of id: String, after number: Int64, limit: Int) throws(StoreError) -> [IncidentEntry] {
        try connection.all(SQL.entries, [.text(id), .int(number), .int(Int64(limit))], IncidentEntry.init)
    }

    func incidentMessages(
        _ model: ModelType,
        of id: String,
        after number: MessageNumber,
        limit: Int
    ) throws(StoreError) -> [String] {
        try connection.all(SQL.messages, [.text(id), .int(number), .int(Int64(limit))]) { $0.text(0) }
    }

    func answeredNumbers(of incidents: Set<String>) throws(StoreError) -> [String: MessageNumber] {
        var found: [String: MessageNumber] = [:]
        for chunk in incidents.sorted().chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk)
            for (id, number) in try connection.all(SQL.answered(list), list.bindings, { ($0.text(0), $0.int(1)) }) {
                found[id] = number
            }
        }
        return found
    }

    func devicesReached(
        byIncident id: String,
        before number: MessageNumber,
        among devices: [DeviceID],
        node: String
    ) throws(StoreError) -> Set<DeviceID> {
        // What is under way may have reached any of them.
        let bindings: [SQLValue] = [.text(id), .int(number), .text(node)]
        if try connection.first(SQL.underWay, bindings, { $0.int(0) }) != nil { return Set(devices) }
        var found: Set<DeviceID> = []
        for chunk in devices.map(\.text).chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk, firstParameter: 2)
            for device in try connection.all(
                SQL.reached(list),
                [.text(id)] + list.bindings,
                { DeviceID($0.text(0)) }
            ) { found.insert(device) }
        }
        return found
    }

    func livePushes(
        ofIncidents ids: Set<String>,
        to devices: Set<DeviceID>,
        after number: MessageNumber,
        orSince moment: Timestamp
    ) throws(StoreError) -> [IncidentPush] {
        var found: [IncidentPush] = []
        for ids in ids.sorted().chunks(of: BoundList.maximumCount) {
            for devices in devices.map(\.text).sorted().chunks(of: BoundList.maximumCount) {
                let incidents = BoundList(ids, firstParameter: 3)
                let list = BoundList(devices, firstParameter: 3 + incidents.bindings.count)
                found += try connection.all(
                    SQL.live(incidents, list),
                    [.int(number), SQLValue(moment)] + incidents.bindings + list.bindings
                ) { row in
                    Delivery(row).map { IncidentPush(incident: row.text(12), number: row.int(13), delivery: $0) }
                }.compactMap { $0 }
            }
        }
        return found
    }
}

extension SQLWriter {
    func sendAgain(_ delivery: Delivery, now: Timestamp) throws(StoreError) {
        let key: [SQLValue] = [.text(delivery.messageID.text), .text(delivery.deviceID.text)]
        guard try connection.run(SQL.again, key + [SQLValue(now)]) > 0 else { return }
        var due = delivery
        (due.status, due.reason) = (.waiting, nil)
        (due.nextAttemptAt, due.updatedAt, due.redrivenAt) = (now, now, now)
        note(.deliveryChanged(due))
    }

    func nextIncidentNumber(in topic: TopicID) throws(StoreError) -> Int64 {
        guard let number = try connection.first(SQL.nextNumber, [.text(topic.text)], { $0.int(0) }) else {
            throw .mismatch(reason: "A topic has gone inside the transaction that opened an incident in it.")
        }
        return number
    }

    func save(_ facts: IncidentFacts, of id: String, resolvedAt: Timestamp?) throws(StoreError) {
        try connection.run(
            SQL.save,
            [
                .text(id), .text(facts.source), .int(facts.generation), .int(facts.lastEntry),
                .int(facts.answeredNumber), .text(facts.memory), SQLValue(resolvedAt),
            ]
        )
    }

    func save(_ alerts: [StoredAlert], of id: String, source: String) throws(StoreError) {
        for alert in alerts {
            try connection.run(
                SQL.saveAlert,
                [
                    .text(id), .text(source), .text(alert.fingerprint), .text(alert.title), .text(alert.labels),
                    SQLValue(alert.url), SQLValue(alert.startsAt), SQLValue(alert.endsAt), SQLValue(alert.resolvedAt),
                ]
            )
        }
    }

    func endAlerts(of id: String, at now: Timestamp) throws(StoreError) {
        try connection.run(SQL.endAlerts, [.text(id), SQLValue(now)])
    }

    func add(_ entry: IncidentEntry, to id: String) throws(StoreError) {
        try connection.run(
            SQL.addEntry,
            [
                .text(id), .int(entry.number), SQLValue(entry.at), .text(entry.change.rawValue),
                SQLValue(entry.actor.name), .text(entry.actor.via.rawValue), SQLValue(entry.actor.place),
                .text(entry.text), SQLValue(entry.messageID?.text),
            ]
        )
    }

    func withdrawPushes(ofIncident id: String, now: Timestamp) throws(StoreError) {
        for delivery in try connection.all(SQL.waiting + lock("x"), [.text(id)], { Delivery($0) }) {
            let key: [SQLValue] = [.text(delivery.messageID.text), .text(delivery.deviceID.text)]
            guard try connection.run(SQL.withdraw, key + [SQLValue(now)]) > 0 else { continue }
            var ended = delivery
            (ended.status, ended.reason, ended.updatedAt) = (.ended, .incidentAnswered, now)
            (ended.nextAttemptAt, ended.leaseUntil) = (nil, nil)
            note(.deliveryChanged(ended))
        }
    }

    func removeIncidents(resolvedBefore moment: Timestamp, limit: Int) throws(StoreError) -> Int {
        let due = try connection.all(SQL.due, [SQLValue(moment), .int(Int64(limit))]) { $0.text(0) }
        for chunk in due.chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk)
            try connection.run(SQL.remove(list), list.bindings)
        }
        return due.count
    }
}

extension StoredAlert {
    /// Reads the columns of a selection.
    fileprivate init(_ row: any SQLRow) {
        self.init(fingerprint: row.text(0), title: row.text(1), labels: row.text(2), url: row.optionalText(3))
        (startsAt, endsAt, resolvedAt) = (row.optionalMoment(4), row.optionalMoment(5), row.optionalMoment(6))
    }
}

extension IncidentEntry {
    /// Reads the columns of a selection; nil when a value has no meaning.
    fileprivate init?(_ row: any SQLRow) {
        guard let change = IncidentChange(rawValue: row.text(2)) else { return nil }
        let via = row.optionalText(4).flatMap(IncidentVia.init) ?? .api
        self.init(
            number: row.int(0),
            at: row.moment(1),
            change: change,
            actor: IncidentActor(row.optionalText(3), via: via, on: row.optionalText(5)),
            text: row.text(6),
            messageID: row.optionalText(7).map { MessageID($0) }
        )
    }
}
