import TocsinCore

private enum SQL {
    static let columns = """
        id, webhook, type, body, status, reason, attempts, next_attempt_at, lease_until, created_at
        """
    static let add = RowInsertions(
        into: "webhook_events",
        [
            ("id", .text), ("webhook", .text), ("type", .text), ("body", .text), ("status", .text), ("reason", .text),
            ("attempts", .integer), ("next_attempt_at", .integer), ("lease_until", .integer), ("created_at", .integer),
        ]
    )
    /// Two walks over two indexes, each in order and no longer than the limit.
    static func claim(_ dialect: Dialect) -> String {
        let lock = dialect.claimLock("webhook_events")
        return """
            WITH chosen AS MATERIALIZED (
                SELECT * FROM (SELECT id, next_attempt_at AS due FROM webhook_events
                    WHERE webhook = $1 AND status = 'waiting' AND next_attempt_at <= $3
                    ORDER BY next_attempt_at LIMIT $4\(lock)) AS waiting
                UNION ALL
                SELECT * FROM (SELECT id, lease_until AS due FROM webhook_events
                    WHERE webhook = $1 AND status = 'sending' AND lease_until <= $3
                    ORDER BY lease_until LIMIT $4\(lock)) AS leased
                ORDER BY 2, 1 LIMIT $4)
            UPDATE webhook_events SET status = 'sending', lease_until = $2, next_attempt_at = NULL
            WHERE id IN (SELECT id FROM chosen)
            RETURNING \(columns)
            """
    }
    static let nextDue = """
        SELECT min(due) FROM (
            SELECT min(next_attempt_at) AS due FROM webhook_events WHERE webhook = $1 AND status = 'waiting'
            UNION ALL
            SELECT min(lease_until) AS due FROM webhook_events WHERE webhook = $1 AND status = 'sending') AS moments
        """
    static let list = "SELECT \(columns) FROM webhook_events ORDER BY created_at, id LIMIT $1"
    static let listOfStatus = "SELECT \(columns) FROM webhook_events WHERE status = $2 ORDER BY created_at, id LIMIT $1"
    static let finish = "DELETE FROM webhook_events WHERE id = $1 AND status = 'sending' AND lease_until = $2"
    static let record = """
        UPDATE webhook_events SET status = $3, reason = $4, attempts = $5, next_attempt_at = $6, lease_until = NULL
        WHERE id = $1 AND status = 'sending' AND lease_until = $2
        """
    static let redrive = """
        UPDATE webhook_events SET status = 'waiting', attempts = 0, next_attempt_at = $1, created_at = $1
        WHERE status = 'dead' AND ($2 = '' OR webhook = $2)
        """
    static let prune = """
        DELETE FROM webhook_events WHERE id IN (
            SELECT id FROM webhook_events WHERE created_at < $1 ORDER BY created_at LIMIT $2)
        """
    static let dropLeases = """
        UPDATE webhook_events SET status = 'waiting', next_attempt_at = created_at, lease_until = NULL
        WHERE status = 'sending'
        """
}

extension SQLReading {
    func nextWebhookEventDue(of webhook: String) throws(StoreError) -> Timestamp? {
        try connection.first(SQL.nextDue, [.text(webhook)]) { Optional.some($0.optionalMoment(0)) } ?? nil
    }

    func webhookEvents(status: WebhookEvent.Status?, limit: Int) throws(StoreError) -> [WebhookEvent] {
        guard let status else { return try connection.all(SQL.list, [.int(Int64(limit))]) { WebhookEvent($0) } }
        return try connection.all(SQL.listOfStatus, [.int(Int64(limit)), .text(status.rawValue)]) { WebhookEvent($0) }
    }
}

extension SQLWriter {
    func add(_ events: [WebhookEvent]) throws(StoreError) {
        _ = try connection.insert(SQL.add[session.dialect], rows: events.count) { row, parameters in
            let event = events[row]
            parameters.bind(event.id.text, at: 1)
            parameters.bind(event.webhook, at: 2)
            parameters.bind(event.type.rawValue, at: 3)
            parameters.bind(event.body, at: 4)
            parameters.bind(event.status.rawValue, at: 5)
            parameters.bind(event.reason, at: 6)
            parameters.bind(Int64(event.attempts), at: 7)
            parameters.bind(event.nextAttemptAt, at: 8)
            parameters.bind(event.leaseUntil, at: 9)
            parameters.bind(event.createdAt.milliseconds, at: 10)
        }
    }

    func claimWebhookEvents(
        of webhook: String,
        now: Timestamp,
        leaseUntil: Timestamp,
        limit: Int
    ) throws(StoreError) -> [WebhookEvent] {
        let claimed = try connection.all(
            SQL.claim(session.dialect),
            [.text(webhook), SQLValue(leaseUntil), SQLValue(now), .int(Int64(limit))]
        ) { WebhookEvent($0) }
        return claimed.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    func finish(_ event: WebhookEvent, heldUntil lease: Timestamp) throws(StoreError) {
        try connection.run(SQL.finish, [.text(event.id.text), SQLValue(lease)])
    }

    func record(_ event: WebhookEvent, heldUntil lease: Timestamp) throws(StoreError) {
        try connection.run(
            SQL.record,
            [
                .text(event.id.text), SQLValue(lease), .text(event.status.rawValue), SQLValue(event.reason),
                .int(Int64(event.attempts)), SQLValue(event.nextAttemptAt),
            ]
        )
    }

    func redriveWebhookEvents(of webhook: String?, now: Timestamp) throws(StoreError) -> Int {
        try connection.run(SQL.redrive, [SQLValue(now), .text(webhook ?? "")])
    }

    func removeWebhookEvents(madeBefore moment: Timestamp, limit: Int) throws(StoreError) -> Int {
        try connection.run(SQL.prune, [SQLValue(moment), .int(Int64(limit))])
    }

    func dropWebhookLeases() throws(StoreError) {
        try connection.run(SQL.dropLeases)
    }
}

extension WebhookEvent {
    /// Reads the columns of a selection; nil when a value has no meaning.
    fileprivate init?(_ row: any SQLRow) {
        guard let type = WebhookEventType(rawValue: row.text(2)), let status = Status(rawValue: row.text(4)) else {
            return nil
        }
        self.init(
            id: WebhookEventID(row.text(0)),
            webhook: row.text(1),
            type: type,
            body: row.text(3),
            createdAt: row.moment(9)
        )
        self.status = status
        reason = row.optionalText(5)
        attempts = Int(row.int(6))
        nextAttemptAt = row.optionalMoment(7)
        leaseUntil = row.optionalMoment(8)
    }
}
