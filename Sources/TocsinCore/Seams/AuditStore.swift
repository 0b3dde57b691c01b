/// What a read may ask about the audit.
package protocol AuditReading {
    /// Events that fit a query, the latest first.
    func auditEvents(_ query: AuditQuery) throws(StoreError) -> [StoredAuditEvent]
    /// Where the rows of a moment and later stand, the oldest first; at most `limit`.
    func auditPlaces(since moment: Timestamp, limit: Int) throws(StoreError) -> [AuditCursor]
    /// The rows at these places, the oldest first; those that are gone are left out.
    func auditEvents(at places: [AuditCursor]) throws(StoreError) -> [StoredAuditEvent]
}

/// How the audit is written: rows are added, and those that are over removed; none is ever changed.
package protocol AuditWriting {
    /// Adds a row, with what is known of where this write came from.
    func record(_ event: AuditEvent) throws(StoreError)
    /// Removes rows from before a moment, the oldest first; at most `limit`. Answers how many.
    func removeAuditEvents(before moment: Timestamp, limit: Int) throws(StoreError) -> Int
}

/// What is asked for of the audit; what is nil or empty restricts nothing.
package struct AuditQuery: Sendable, Hashable {
    /// Who looks: their own acts, and acts on them and theirs; nil for everything.
    package var viewer: AuditViewer?
    /// The actor's id.
    package var actor: String?
    /// The subject's id.
    package var subject: String?
    /// The action, or all actions of a noun as `topic.*`.
    package var action: String?
    /// What came of it.
    package var outcome: AuditOutcome?
    /// At this moment or later.
    package var since: Timestamp?
    /// Before this moment.
    package var until: Timestamp?
    /// Before this row in the order of answers.
    package var after: AuditCursor?
    /// Rows at most.
    package var limit: Int

    /// A query for so many of all rows.
    package init(limit: Int) { self.limit = limit }
}

/// Somebody who sees their own part of the audit.
package struct AuditViewer: Sendable, Hashable {
    /// The user, as actor, as owner of what was acted on, or as whom it concerns.
    package var user: UserID
    /// The owner texts of the user's topics.
    package var owners: [String]
    /// What the user is to whom topics may be granted with the role OWNER; empty where grants do
    /// not count.
    package var subjects: [GrantSubject]

    /// A caller's part of the audit.
    package init(_ caller: Identity, subjects: [GrantSubject] = []) {
        user = caller.userID
        owners = caller.ownerForms
        self.subjects = subjects
    }
}

/// Where a list of events goes on.
package struct AuditCursor: Sendable, Hashable {
    /// The last row's time.
    package var at: Timestamp
    /// The last row's id.
    package var id: String

    /// The place behind a row.
    package init(at: Timestamp, id: String) {
        self.at = at
        self.id = id
    }
}

/// An event as it stands in the audit; words of newer programs are read as they are.
package struct StoredAuditEvent: Sendable, Hashable {
    /// Its id, a UUID version 7.
    package var id: String
    /// When it was done.
    package var at: Timestamp
    /// What kind of actor did it (`AuditActor.Kind`).
    package var actorKind: String
    /// The actor's id.
    package var actor: String?
    /// By which token or session.
    package var token: String?
    /// The client's network.
    package var network: String?
    /// What was done.
    package var action: String
    /// What kind of thing it was done to (`AuditSubject.Kind`).
    package var subjectKind: String
    /// The subject's id.
    package var subject: String
    /// A JSON object.
    package var detail: String
    /// What came of it (`AuditOutcome`).
    package var outcome: String
    /// The request's id in the log.
    package var requestID: String?

    /// The place behind this row.
    package var cursor: AuditCursor { AuditCursor(at: at, id: id) }

    /// An event of this id and time; the rest is set afterwards.
    package init(id: String, at: Timestamp) {
        self.id = id
        self.at = at
        (actorKind, action, subjectKind, subject, detail, outcome) = ("", "", "", "", "{}", "")
    }
}
