import TocsinCore

private enum SQL {
    static let keys = "SELECT digest, integration_id, hint, created_at, ends_at FROM integration_keys"
    static let key = keys + " WHERE digest = $1"
    static let keysOf = keys + " WHERE integration_id = $1"
    static let inOrder = " ORDER BY created_at, digest"
    static let saveKey = """
        INSERT INTO integration_keys (digest, integration_id, hint, created_at, ends_at) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (digest) DO UPDATE SET ends_at = excluded.ends_at
        """
    static let removeKeys = "DELETE FROM integration_keys WHERE integration_id = $1 AND ends_at <= $2"
    static let secrets = "SELECT name, sealed FROM integration_secrets WHERE integration_id = $1"
    static let saveSecret = """
        INSERT INTO integration_secrets (integration_id, name, sealed) VALUES ($1, $2, $3)
        ON CONFLICT (integration_id, name) DO UPDATE SET sealed = excluded.sealed
        """
    static let removeSecret = "DELETE FROM integration_secrets WHERE integration_id = $1 AND name = $2"
    static let counts = """
        SELECT integration_id, events, refused, unmatched_resolves, last_event_at, trouble FROM integration_counts
        WHERE integration_id = $1
        """
    static let addCounts = """
        INSERT INTO integration_counts (integration_id, events, refused, unmatched_resolves, last_event_at, trouble)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (integration_id) DO UPDATE SET events = integration_counts.events + excluded.events,
            refused = integration_counts.refused + excluded.refused,
            unmatched_resolves = integration_counts.unmatched_resolves + excluded.unmatched_resolves,
            last_event_at = coalesce(excluded.last_event_at, integration_counts.last_event_at),
            trouble = coalesce(excluded.trouble, integration_counts.trouble)
        """
    static let requests = """
        SELECT id, integration_id, at, status, outcome, incident_id, message_id, body FROM received_requests
        WHERE integration_id = $1 ORDER BY at DESC, id DESC LIMIT $2
        """
    static let insertRequest = """
        INSERT INTO received_requests (id, integration_id, at, status, outcome, incident_id, message_id, body)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """
    static let trimRequests = """
        DELETE FROM received_requests WHERE integration_id = $1 AND id NOT IN (
            SELECT id FROM received_requests WHERE integration_id = $1 ORDER BY at DESC, id DESC LIMIT $2)
        """
    static let removeRequests = """
        DELETE FROM received_requests WHERE id IN (SELECT id FROM received_requests WHERE at < $1 ORDER BY at LIMIT $2)
        """
    static let tables = ["integration_keys", "integration_secrets", "integration_counts", "received_requests"]
}

extension SQLReading {
    func integrationKey(digest: String) throws(StoreError) -> IntegrationKey? {
        try connection.first(SQL.key + lock("integration_keys"), [.text(digest)], IntegrationKey.init)
    }

    func integrationKeys(of integration: String) throws(StoreError) -> [IntegrationKey] {
        let statement = SQL.keysOf + SQL.inOrder + lock("integration_keys")
        return try connection.all(statement, [.text(integration)], IntegrationKey.init)
    }

    func integrationSecrets(of integration: String) throws(StoreError) -> [IntegrationSecret: String] {
        let rows = try connection.all(SQL.secrets, [.text(integration)]) { ($0.text(0), $0.text(1)) }
        return rows.reduce(into: [:]) { found, row in
            if let name = IntegrationSecret(rawValue: row.0) { found[name] = row.1 }
        }
    }

    func integrationCounts(of integration: String) throws(StoreError) -> IntegrationCounts? {
        try connection.first(SQL.counts, [.text(integration)]) { row in
            var counts = IntegrationCounts(integrationID: row.text(0))
            (counts.events, counts.refused) = (Int(row.int(1)), Int(row.int(2)))
            counts.unmatchedResolves = Int(row.int(3))
            (counts.lastEventAt, counts.trouble) = (row.optionalMoment(4), row.optionalText(5))
            return counts
        }
    }

    func receivedRequests(of integration: String, limit: Int) throws(StoreError) -> [ReceivedRequest] {
        try connection.all(SQL.requests, [.text(integration), .int(Int64(limit))]) { row in
            var request = ReceivedRequest(
                id: row.text(0),
                integrationID: row.text(1),
                at: row.moment(2),
                status: Int(row.int(3)),
                outcome: row.text(4)
            )
            (request.incidentID, request.messageID) = (row.optionalText(5), row.optionalText(6))
            request.body = row.optionalText(7)
            return request
        }
    }
}

extension SQLWriter {
    func save(_ key: IntegrationKey) throws(StoreError) {
        try connection.run(
            SQL.saveKey,
            [
                .text(key.digest), .text(key.integrationID), .text(key.hint), SQLValue(key.createdAt),
                SQLValue(key.endsAt),
            ]
        )
    }

    func removeIntegrationKeys(of integration: String, endedBefore moment: Timestamp) throws(StoreError) {
        try connection.run(SQL.removeKeys, [.text(integration), SQLValue(moment)])
    }

    func saveSecret(_ name: IntegrationSecret, of integration: String, sealed: String?) throws(StoreError) {
        let key: [SQLValue] = [.text(integration), .text(name.rawValue)]
        guard let sealed else {
            try connection.run(SQL.removeSecret, key)
            return
        }
        try connection.run(SQL.saveSecret, key + [.text(sealed)])
    }

    func add(_ counts: IntegrationCounts) throws(StoreError) {
        try connection.run(
            SQL.addCounts,
            [
                .text(counts.integrationID), .int(Int64(counts.events)), .int(Int64(counts.refused)),
                .int(Int64(counts.unmatchedResolves)), SQLValue(counts.lastEventAt), SQLValue(counts.trouble),
            ]
        )
    }

    func insert(_ request: ReceivedRequest) throws(StoreError) {
        try connection.run(
            SQL.insertRequest,
            [
                .text(request.id), .text(request.integrationID), SQLValue(request.at), .int(Int64(request.status)),
                .text(request.outcome), SQLValue(request.incidentID), SQLValue(request.messageID),
                SQLValue(request.body),
            ]
        )
    }

    func removeReceivedRequests(of integration: String, keeping count: Int) throws(StoreError) {
        try connection.run(SQL.trimRequests, [.text(integration), .int(Int64(count))])
    }

    func removeReceivedRequests(before moment: Timestamp, limit: Int) throws(StoreError) -> Int {
        try connection.run(SQL.removeRequests, [SQLValue(moment), .int(Int64(limit))])
    }

    func removeIntegrationRows(of integration: String) throws(StoreError) {
        for table in SQL.tables {
            try connection.run("DELETE FROM \(table) WHERE integration_id = $1", [.text(integration)])
        }
    }
}

extension IntegrationKey {
    fileprivate init?(_ row: any SQLRow) {
        self.init(
            digest: row.text(0),
            integrationID: row.text(1),
            hint: row.text(2),
            createdAt: row.moment(3)
        )
        endsAt = row.optionalMoment(4)
    }
}
