import GraphQL
import GraphQLTransport
import JSON
import TocsinCore

extension TocsinGraphQL {
    /// The subscription to the audit.
    static let auditField = "onAuditEvent"

    /// Subscribes to every row that is written to the audit from now on.
    func joinAudit(
        _ plan: ExecutionPlan,
        _ field: SubscriptionSource,
        _ key: GroupKey,
        _ caller: Identity,
        _ sink: any ResponseSink
    ) async throws(RequestErrors) -> any StreamHandle {
        guard AccessPolicy.seesWholeAudit(caller) else { throw RequestErrors(refusal(.unauthorized, of: field)) }
        var key = key
        // Who sees all rows sees the same ones.
        key.rights = CallerRights(readersOf: nil)
        let member = QueuedMember<String>(caller: caller, sink: sink, maximumWaiting: AuditFeed.maximumWaiting)
        let listener = AuditFeed.Listener(
            key: key,
            plan: plan,
            context: RequestContext(caller: caller, services: services),
            member: member
        )
        switch await feed.audits.join(listener) {
        case .joined: return member
        case .stopping: throw RequestErrors(Self.stopping)
        case .unreadable: throw RequestErrors(Self.auditUnreadable)
        case .tooMuch: throw RequestErrors(Self.auditFlooded)
        }
    }

    private static let auditUnreadable = GraphQLError(
        .unavailable,
        "The audit cannot be read just now. Subscribe again in a moment."
    )
    private static let auditFlooded = GraphQLError(
        .unavailable,
        "More is written to the audit just now than can be followed. Ask for auditEvents."
    )
}
