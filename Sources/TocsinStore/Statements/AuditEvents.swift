import TocsinCore

private enum SQL {
    static let columns = """
        at, id, actor_kind, actor, token_or_session, network, action, subject_kind, subject, subject_owner, about,
        detail, outcome, request_id
        """
    /// A topic's owner stands in its row, deleted topics' too.
    static let insert = """
        INSERT INTO audit_events (\(columns))
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, COALESCE($10, (SELECT owner FROM topics WHERE id = $15)), $11, $12,
            $13, $14)
        """
    /// What is behind this moment may be removed from now on; the table's trigger looks here.
    static let keepFrom = "UPDATE audit_retention SET kept_from = $1 WHERE name = 'audit' AND kept_from < $1"
    static let remove = """
        DELETE FROM audit_events
        WHERE (at, id) IN (SELECT at, id FROM audit_events WHERE at < $1 ORDER BY at, id LIMIT $2)
        """
    static let order = "ORDER BY at DESC, id DESC"
    /// The key holds all that is selected.
    static let places = "SELECT at, id FROM audit_events WHERE at >= $1 ORDER BY at, id LIMIT $2"

    static func rows(at ids: BoundList) -> String {
        "SELECT \(columns) FROM audit_events WHERE at >= $1 AND at <= $2 AND id IN (\(ids.placeholders)) ORDER BY at, id"
    }
}

extension SQLReading {
    func auditEvents(_ query: AuditQuery) throws(StoreError) -> [StoredAuditEvent] {
        var statement = AuditStatement(query, session.dialect)
        return try connection.all(statement.text(), statement.bindings, StoredAuditEvent.init)
    }

    func auditPlaces(since moment: Timestamp, limit: Int) throws(StoreError) -> [AuditCursor] {
        try connection.all(SQL.places, [SQLValue(moment), .int(Int64(limit))]) { row in
            AuditCursor(at: row.moment(0), id: row.text(1))
        }
    }

    func auditEvents(at places: [AuditCursor]) throws(StoreError) -> [StoredAuditEvent] {
        var events: [StoredAuditEvent] = []
        for chunk in places.sorted(by: { ($0.at, $0.id) < ($1.at, $1.id) }).chunks(of: BoundList.maximumCount) {
            guard let first = chunk.first, let last = chunk.last else { continue }
            let ids = BoundList(chunk.map(\.id), firstParameter: 3)
            let bindings = [SQLValue(first.at), SQLValue(last.at)] + ids.bindings
            events += try connection.all(SQL.rows(at: ids), bindings, StoredAuditEvent.init)
        }
        return events
    }
}

extension SQLWriter {
    func record(_ event: AuditEvent) throws(StoreError) {
        let origin = event.origin ?? origin
        let (actor, subject) = (event.actor, event.subject)
        try connection.run(
            SQL.insert,
            [
                SQLValue(event.at), .text(event.id), .text(actor.kind.rawValue), SQLValue(actor.id),
                SQLValue(actor.token), SQLValue(origin?.network), .text(event.action), .text(subject.kind.rawValue),
                .text(subject.id), SQLValue(subject.owner), SQLValue(event.about?.text), .text(event.detail.json),
                .text(event.outcome.rawValue), SQLValue(origin?.requestID),
                subject.kind == .topic ? .text(subject.id) : .null,
            ]
        )
    }

    func removeAuditEvents(before moment: Timestamp, limit: Int) throws(StoreError) -> Int {
        try connection.run(SQL.keepFrom, [SQLValue(moment)])
        return try connection.run(SQL.remove, [SQLValue(moment), .int(Int64(limit))])
    }
}

/// A selection of events: one walk of an index for everything, or one for each way in which a row
/// may be somebody's.
private struct AuditStatement {
    private let query: AuditQuery
    private let dialect: Dialect
    private(set) var bindings: [SQLValue] = []

    init(_ query: AuditQuery, _ dialect: Dialect) { (self.query, self.dialect) = (query, dialect) }

    mutating func text() -> String {
        let limit = bound(.int(Int64(query.limit)))
        let shared = conditions()
        guard let viewer = query.viewer else { return selection(shared, limit) }
        let user = bound(.text(viewer.user.text))
        let topics = viewer.owners.map { "subject_kind = 'TOPIC' AND subject_owner = \(bound(.text($0)))" }
        let ways =
            ["actor_kind = 'USER' AND actor = \(user)", "about = \(user)"]
            + ["subject_kind <> 'TOPIC' AND subject_owner = \(user)"] + topics + granted(viewer.subjects)
        let branches = ways.map { "SELECT * FROM (\(selection(shared + [$0], limit))) AS part" }
        return "SELECT * FROM (\(branches.joined(separator: " UNION "))) AS parts \(SQL.order) LIMIT \(limit)"
    }

    /// Rows of topics in which one of these has the role OWNER.
    private mutating func granted(_ subjects: [GrantSubject]) -> [String] {
        guard !subjects.isEmpty else { return [] }
        let texts = subjects.map { bound(.text($0.text)) }.joined(separator: ", ")
        return [
            """
            subject_kind = 'TOPIC' AND subject IN (SELECT g.topic_id FROM topic_grants AS g WHERE g.subject IN (\(texts))
                AND g.roles & \(TopicRole.owner.rawValue) <> 0 AND (g.expires_at IS NULL OR g.expires_at > \(dialect.moment)))
            """
        ]
    }

    private func selection(_ conditions: [String], _ limit: String) -> String {
        let condition = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        return "SELECT \(SQL.columns) FROM audit_events\(condition) \(SQL.order) LIMIT \(limit)"
    }

    private mutating func conditions() -> [String] {
        var conditions: [String] = []
        if let after = query.after {
            conditions.append("(at, id) < (\(bound(SQLValue(after.at))), \(bound(.text(after.id))))")
        }
        if let since = query.since { conditions.append("at >= \(bound(SQLValue(since)))") }
        if let until = query.until { conditions.append("at < \(bound(SQLValue(until)))") }
        if let actor = query.actor { conditions.append("actor = \(bound(.text(actor)))") }
        if let subject = query.subject { conditions.append("subject = \(bound(.text(subject)))") }
        if let outcome = query.outcome { conditions.append(condition(of: outcome)) }
        if let action = query.action { conditions.append(condition(of: action)) }
        return conditions
    }

    /// Refusals have an index of their own; they are few.
    private func condition(of outcome: AuditOutcome) -> String {
        outcome == .done ? "outcome = 'DONE'" : "outcome <> 'DONE'"
    }

    private mutating func condition(of action: String) -> String {
        guard action.hasSuffix(".*") else { return "action = \(bound(.text(action)))" }
        let noun = String(action.dropLast(2))
        // All texts that begin with the noun and a full stop; a slash follows the full stop.
        return "action >= \(bound(.text(noun + "."))) AND action < \(bound(.text(noun + "/")))"
    }

    private mutating func bound(_ value: SQLValue) -> String {
        bindings.append(value)
        return "$\(bindings.count)"
    }
}

extension StoredAuditEvent {
    fileprivate init(_ row: any SQLRow) {
        self.init(id: row.text(1), at: row.moment(0))
        (actorKind, actor, token) = (row.text(2), row.optionalText(3), row.optionalText(4))
        (network, action) = (row.optionalText(5), row.text(6))
        (subjectKind, subject) = (row.text(7), row.text(8))
        (detail, outcome, requestID) = (row.text(11), row.text(12), row.optionalText(13))
    }
}
