import GraphQL
import JSON
import TocsinCore

/// Resolvers of local groups.
enum GroupResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        registerQueries(in: &map)
        registerMutations(in: &map)
        registerFields(in: &map)
    }

    private static func registerQueries(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Query.groups") { invocation throws(ServiceError) in
            let (context, token) = (invocation.context, invocation.pageToken)
            let after = try token.position(from: invocation.arguments["nextToken"]?.stringValue)
            let (groups, hasMore) = try await context.services.groups.groups(
                after: after?.first?.text ?? "",
                limit: try invocation.pageSize(),
                by: context.authority
            )
            let next = hasMore ? groups.last.map { token.text(for: [.text($0.name)]) } : nil
            return .object(.groupPage(groups, nextToken: next))
        }
        map.service("Query.group") { invocation throws(ServiceError) in
            let (context, arguments) = (invocation.context, invocation.arguments)
            let (id, name) = (arguments["id"]?.stringValue, arguments["name"]?.stringValue)
            guard (id == nil) != (name == nil) else { throw .badInput("Write either id or name.") }
            let reference = id.map { GroupReference(id: $0) } ?? GroupReference(name: name ?? "")
            let group = try await context.services.groups.group(reference, by: context.authority)
            return group.map { .object(.group($0)) } ?? .null
        }
    }

    private static func registerMutations(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Mutation.createGroup") { invocation throws(ServiceError) in
            let context = invocation.context
            let group = try await context.services.groups.add(
                name: invocation.text("name"),
                description: invocation.arguments["description"]?.stringValue,
                by: context.authority
            )
            return .object(.group(group))
        }
        map.service("Mutation.deleteGroup") { invocation throws(ServiceError) in
            let context = invocation.context
            let reference = GroupReference(id: invocation.text("id"))
            return .object(.group(try await context.services.groups.remove(reference, by: context.authority)))
        }
        map.service("Mutation.addGroupMember") { invocation throws(ServiceError) in
            let context = invocation.context
            let (group, _) = try await context.services.groups.add(
                UserReference(invocation.text("user")),
                to: GroupReference(id: invocation.text("groupId")),
                by: context.authority
            )
            return .object(.group(group))
        }
        map.service("Mutation.removeGroupMember") { invocation throws(ServiceError) in
            let context = invocation.context
            let (group, _) = try await context.services.groups.remove(
                UserReference(invocation.text("user")),
                from: GroupReference(id: invocation.text("groupId")),
                by: context.authority
            )
            return .object(.group(group))
        }
    }

    private static func registerFields(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.group("id") { $1.string($0.id.text) }
        map.group("name") { $1.string($0.name) }
        map.group("description") { $1.string($0.description) }
        map.group("source") { $1.string("LOCAL") }
        map.group("maker") { $1.string($0.createdBy?.text) }
        map.group("createdAt") { $1.string($0.createdAt.iso8601) }
        map.batch("Group.members") { parents, invocation throws(GraphQLError) in
            var pages: [ResolvedValue<APIObject>] = []
            for parent in parents {
                guard case .group(let group) = parent else { continue }
                pages.append(
                    try await invocation.serving { () throws(ServiceError) in try await page(of: group, invocation) }
                )
            }
            return pages
        }
        map.connection("GroupConnection", of: APIObject.group) { object in
            if case .groupPage(let groups, let token) = object { (groups, token) } else { nil }
        }
    }

    private static func page(
        of group: Group,
        _ invocation: FieldInvocation<RequestContext>
    ) async throws(ServiceError) -> ResolvedValue<APIObject> {
        let context = invocation.context
        let token = invocation.pageToken(of: group.id.text)
        let after = try token.position(from: invocation.arguments["nextToken"]?.stringValue)
        let (members, hasMore) = try await context.services.groups.members(
            of: group.id,
            after: after?.first?.text.map { UserID($0) },
            limit: try invocation.pageSize(),
            by: context.authority
        )
        let next = hasMore ? members.last.map { token.text(for: [.text($0.id.text)]) } : nil
        return .object(.userPage(members, nextToken: next))
    }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func group(_ field: String, _ write: @escaping @Sendable (Group, inout LeafWriter) -> Void) {
        leaf("Group.\(field)") { object, out in
            guard case .group(let group) = object else { return out.null() }
            write(group, &out)
        }
    }
}
