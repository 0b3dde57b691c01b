/// Reads the audit: everything for administrators, for others what they did and what was done to
/// them and theirs.
package struct AuditService: Sendable {
    private let environment: ServiceEnvironment
    private let checks: InputChecks
    /// Bytes of a text in a filter.
    private static let filterBytes = 256

    /// A service over the store of `environment`.
    package init(environment: ServiceEnvironment) {
        self.environment = environment
        checks = InputChecks(limits: environment.limits)
    }

    /// Events that the caller may see, the latest first.
    ///
    /// The caller's `viewer` is set here, whatever the query says.
    package func events(_ query: AuditQuery, caller: Identity) async throws(ServiceError) -> [StoredAuditEvent] {
        guard AccessPolicy.mayReadAudit(caller) else { throw .unauthorized }
        var query = query
        query.viewer = caller.isAdmin ? nil : AuditViewer(caller)
        let found = try await events(query, for: caller.reads) { text in
            // Whether others' names exist is told to administrators alone.
            caller.isAdmin || text == caller.username
        }
        return caller.isAdmin ? found : found.map { $0.shown(to: caller.userID) }
    }

    /// All events that fit, for whoever has the data.
    package func events(_ query: AuditQuery) async throws(ServiceError) -> [StoredAuditEvent] {
        try await events(query, for: .server) { _ in true }
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
            var query = query
            if let name = query.actor, mayName(name), let account = try reader.account(named: name) {
                query.actor = account.id.text
            }
            if let name = query.subject, mayName(name), let account = try reader.account(named: name) {
                query.subject = account.id.text
            }
            return try reader.auditEvents(query)
        }
    }
}

extension AccessPolicy {
    /// Whether the caller may ask for their part of the audit: people may, by tokens that read.
    package static func mayReadAudit(_ caller: Identity) -> Bool {
        caller.isPerson && (caller.scope == .full || caller.scope == .readOnly)
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
