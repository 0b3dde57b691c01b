import GraphQL
import JSON
import TocsinCore

/// Resolvers of the audit.
enum AuditResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Query.auditEvents") { invocation throws(ServiceError) in try await page(invocation) }
        map.audited("id") { $1.string($0.id) }
        map.audited("at") { $1.string($0.at.iso8601) }
        map.audited("actorKind") { $1.string($0.actorKind) }
        map.audited("actor") { $1.string($0.actor) }
        map.audited("token") { $1.string($0.token) }
        map.audited("network") { $1.string($0.network) }
        map.audited("action") { $1.string($0.action) }
        map.audited("subjectKind") { $1.string($0.subjectKind) }
        map.audited("subject") { $1.string($0.subject) }
        map.audited("detail") { $1.string($0.detail) }
        map.audited("outcome") { $1.string($0.outcome) }
        map.audited("requestId") { $1.string($0.requestID) }
        map.connection("AuditEventConnection", of: APIObject.auditEvent) { object in
            if case .auditPage(let events, let token) = object { (events, token) } else { nil }
        }
    }

    private static func page(
        _ invocation: FieldInvocation<RequestContext>
    ) async throws(ServiceError) -> ResolvedValue<APIObject> {
        let (context, token) = (invocation.context, invocation.pageToken)
        let limit = try invocation.pageSize()
        var query = AuditQuery(limit: limit + 1)
        try restrict(&query, by: invocation.arguments["filter"]?.objectValue ?? [:])
        if let position = try token.position(from: invocation.arguments["nextToken"]?.stringValue) {
            guard position.count == 2, let at = position[0].int, let id = position[1].text else {
                throw .badPageToken
            }
            query.after = AuditCursor(at: Timestamp(milliseconds: at), id: id)
        }
        let found = try await context.services.audit.events(query, caller: context.caller)
        let events = Array(found.prefix(limit))
        try context.hold(events.reduce(0) { $0 + $1.detail.utf8.count })
        let last = found.count > limit ? events.last : nil
        return .object(
            .auditPage(
                events,
                nextToken: last.map { token.text(for: [.int($0.at.milliseconds), .text($0.id)]) }
            )
        )
    }

    private static func restrict(_ query: inout AuditQuery, by filter: JSONObject) throws(ServiceError) {
        query.actor = filter["actor"]?.stringValue
        query.subject = filter["subject"]?.stringValue
        query.action = filter["action"]?.stringValue
        query.outcome = filter["outcome"]?.stringValue.flatMap { AuditOutcome(rawValue: $0) }
        if let text = filter["since"]?.stringValue { query.since = try moment(text, "since") }
        if let text = filter["until"]?.stringValue { query.until = try moment(text, "until") }
    }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func audited(
        _ field: String,
        _ write: @escaping @Sendable (StoredAuditEvent, inout LeafWriter) -> Void
    ) {
        leaf("AuditEvent.\(field)") { object, out in
            guard case .auditEvent(let event) = object else { return out.null() }
            write(event, &out)
        }
    }
}
