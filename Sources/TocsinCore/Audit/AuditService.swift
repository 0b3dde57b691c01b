/// Reads the audit: everything for administrators and for tokens made for this, for others what
/// they did and what was done to them and theirs.
package struct AuditService: Sendable {
    private let environment: ServiceEnvironment
    private let checks: InputChecks
    private let topics: ModelType?
    /// Bytes of a text in a filter.
    private static let filterBytes = 256

    /// A service over the store of `environment`; who has the role OWNER in one of `topics` sees
    /// what was done to it.
    package init(environment: ServiceEnvironment, topics: ModelType? = nil) {
        (self.environment, self.topics) = (environment, topics)
        checks = InputChecks(limits: environment.limits)
    }

    /// Events that the caller may see, the latest first.
    ///
    /// The caller's `viewer` is set here, whatever the query says.
    package func events(_ query: AuditQuery, caller: Identity) async throws(ServiceError) -> [StoredAuditEvent] {
        guard AccessPolicy.mayReadAudit(caller) else { throw .unauthorized }
        var query = query
        let seesAll = AccessPolicy.seesWholeAudit(caller)
        query.viewer = seesAll ? nil : AuditViewer(caller, subjects: owning(caller))
        let found = try await events(query, for: caller.reads) { text in
            // Whether others' names exist is told only to who sees all.
            seesAll || text == caller.username
        }
        return seesAll ? found : found.map { $0.shown(to: caller.userID) }
    }

    /// All events that fit, for whoever has the data.
    package func events(_ query: AuditQuery) async throws(ServiceError) -> [StoredAuditEvent] {
        try await events(query, for: .server) { _ in true }
    }

    /// Where the rows of a moment and later stand, the oldest first; at most `limit`.
    package func places(since moment: Timestamp, limit: Int) async throws(ServiceError) -> [AuditCursor] {
        try await environment.store.reading(for: .server) { reader throws(StoreError) in
            try reader.auditPlaces(since: moment, limit: limit)
        }
    }

    /// The whole rows at these places, the oldest first, for those who see everything.
    package func events(at places: [AuditCursor]) async throws(ServiceError) -> [StoredAuditEvent] {
        try await environment.store.reading(for: .server) { reader throws(StoreError) in
            try reader.auditEvents(at: places)
        }
    }

    private func events(
        _ query: AuditQuery,
        for origin: ReadOrigin,
        mayName: @escaping @Sendable (String) -> Bool
    ) async throws(ServiceError) -> [StoredAuditEvent] {
        for (text, field) in [(query.actor, "actor"), (query.subject, "subject"), (query.action, "action")] {
            if let text { try checks.checkText(text, field: field, maximumBytes: Self.filterBytes) }
        }
        return try await environment.store.reading(for: origin) { reader throws(StoreError) in
            let meant = { (text: String?) throws(StoreError) -> [String?] in
                guard let text, mayName(text), let account = try reader.account(named: text) else { return [text] }
                // An operator or a group may be called so, too.
                return [text, account.id.text]
            }
            var found: [StoredAuditEvent] = []
            for actor in try meant(query.actor) {
                for subject in try meant(query.subject) {
                    var query = query
                    (query.actor, query.subject) = (actor, subject)
                    found += try reader.auditEvents(query)
                }
            }
            return Array(found.sorted { ($0.at, $0.id) > ($1.at, $1.id) }.prefix(query.limit))
        }
    }

    /// What the caller is to whom topics may be granted; nothing where grants do not count.
    private func owning(_ caller: Identity) -> [GrantSubject] {
        guard let topics, case .allow(let readable) = AccessPolicy.decision(.read, on: topics, for: caller) else {
            return []
        }
        return readable.grantQuestions.first?.subjects ?? []
    }
}

extension AccessPolicy {
    /// Whether the caller may ask for their part of the audit: people may, by tokens that read, and
    /// by those that an operator made for this.
    package static func mayReadAudit(_ caller: Identity) -> Bool {
        caller.isPerson && (caller.scope.isFull || caller.scope == .readOnly || caller.scope.maySeeAudit)
    }

    /// Whether the caller sees every row as it is, and not their own part alone.
    package static func seesWholeAudit(_ caller: Identity) -> Bool {
        mayReadAudit(caller) && (caller.isAdmin || caller.scope.maySeeAudit)
    }
}

extension StoredAuditEvent {
    /// The event without where another person was when they did it.
    fileprivate func shown(to user: UserID) -> StoredAuditEvent {
        let isSomebodyElse = actor != user.text && [AuditActor.Kind.user, .key].map(\.rawValue).contains(actorKind)
        guard isSomebodyElse else { return self }
        var event = self
        (event.network, event.token, event.requestID) = (nil, nil, nil)
        return event
    }
}
