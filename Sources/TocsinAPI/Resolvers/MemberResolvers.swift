import GraphQL
import JSON
import TocsinCore

/// Resolvers of a topic's members, for who may change the topic.
enum MemberResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.pages("Topic.members", page)
        map.connection("MembershipConnection", of: APIObject.membership) { object in
            if case .memberPage(let members, let token) = object { (members, token) } else { nil }
        }
        map.service("Mutation.removeMember") { invocation throws(ServiceError) in
            let context = invocation.context
            let membership = try await context.services.memberships.remove(
                UserID(invocation.text("userId")),
                from: TopicID(invocation.text("topicId")),
                caller: context.caller
            )
            return membership.map { .object(.membership($0)) } ?? .null
        }
    }

    private static func page(
        of topic: Record,
        _ invocation: FieldInvocation<RequestContext>
    ) async throws(ServiceError) -> ResolvedValue<APIObject> {
        let context = invocation.context
        let token = invocation.pageToken(of: topic.id)
        let after = try token.position(from: invocation.arguments["nextToken"]?.stringValue)
        let found = try await context.services.memberships.members(
            of: topic,
            after: after?.first?.text.map { UserID($0) },
            limit: try invocation.pageSize(),
            caller: context.caller
        )
        guard let (members, hasMore) = found else { return .null }
        let next = hasMore ? members.last.map { token.text(for: [.text($0.userID.text)]) } : nil
        return .object(.memberPage(members, nextToken: next))
    }
}
