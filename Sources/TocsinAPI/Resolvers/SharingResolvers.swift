import GraphQL
import JSON
import TocsinCore

/// Resolvers of shared topics: who may do what, and how that is given and taken back.
enum SharingResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        registerTopicFields(in: &map)
        registerGrant(in: &map)
        map.value("Message.author") { object, _ in
            guard let record = object.record else { return .null }
            let author = record.author?.text ?? record.owner.flatMap(subject)
            return author.map { .leaf(.string($0)) } ?? .null
        }
        map.service("Mutation.grantTopic") { invocation throws(ServiceError) in
            let context = invocation.context
            let order = try order(invocation.arguments["input"]?.objectValue ?? [:])
            return .object(.grant(try await context.services.sharing.grant(order, caller: context.caller)))
        }
        map.service("Mutation.revokeGrant") { invocation throws(ServiceError) in
            let context = invocation.context
            let id = GrantID(invocation.text("id"))
            return .object(.grant(try await context.services.sharing.revoke(id, caller: context.caller)))
        }
        map.service("Mutation.leaveTopic") { invocation throws(ServiceError) in
            let context = invocation.context
            let topic = TopicID(invocation.text("topicId"))
            let membership = try await context.services.sharing.leave(topic, caller: context.caller)
            return membership.map { .object(.membership($0)) } ?? .null
        }
    }

    /// The subject in the owner text of a message whose owner published it: `<sub>::<username>`.
    private static func subject(_ owner: String) -> String? {
        let name = ShownOwner.text(owner)
        guard name.utf8.count < owner.utf8.count else { return nil }
        return String(decoding: owner.utf8.dropLast(name.utf8.count + 2), as: UTF8.self)
    }

    private static func order(_ input: JSONObject) throws(ServiceError) -> GrantOrder {
        let receivers: [GrantOrder.Receiver?] = [
            input["user"]?.stringValue.map { .user($0) }, input["group"]?.stringValue.map { .group($0) },
            input["everybody"]?.boolValue == true ? .everybody : nil,
        ]
        let named = receivers.compactMap(\.self)
        guard named.count == 1 else {
            throw .badInput("Share with one at a time: give user, group or everybody: true, and the others not.")
        }
        let roles = (input["roles"]?.arrayValue ?? []).compactMap { $0.stringValue.flatMap(TopicRole.init(name:)) }
        var order = GrantOrder(
            topicID: TopicID(input["topicId"]?.stringValue ?? ""),
            receiver: named[0],
            roles: roles.reduce([]) { $0.union($1) }
        )
        order.push = input["push"]?.boolValue ?? false
        if let end = input["expiresAt"]?.stringValue { order.expiresAt = try moment(end, "expiresAt") }
        return order
    }

    private static func registerTopicFields(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.batch("Topic.roles") { parents, invocation throws(GraphQLError) in
            let context = invocation.context
            let roles = try await invocation.serving { () throws(ServiceError) in
                try await context.services.sharing.roles(in: parents.compactMap(\.record), caller: context.caller)
            }
            return parents.map { parent in
                let names = roles[TopicID(parent.record?.id ?? "")]?.names ?? []
                return .leaf(.array(names.map { .string($0) }))
            }
        }
        map.batch("Topic.watchers") { parents, invocation throws(GraphQLError) in
            let context = invocation.context
            let readable = try await invocation.serving { () throws(ServiceError) in
                try await context.services.sharing.readable(parents.compactMap(\.record), caller: context.caller)
            }
            return parents.map { parent in
                let topic = TopicID(parent.record?.id ?? "")
                let count = readable.contains(topic) ? context.services.watchers.count(of: topic) : 0
                return .leaf(.int(Int64(count)))
            }
        }
        map.pages("Topic.grants", page)
    }

    private static func page(
        of topic: Record,
        _ invocation: FieldInvocation<RequestContext>
    ) async throws(ServiceError) -> ResolvedValue<APIObject> {
        let context = invocation.context
        let token = invocation.pageToken(of: topic.id)
        let after = try token.position(from: invocation.arguments["nextToken"]?.stringValue)
        let found = try await context.services.sharing.grants(
            of: topic,
            after: after?.first?.text ?? "",
            limit: try invocation.pageSize(),
            caller: context.caller
        )
        guard let (grants, hasMore) = found else { return .null }
        let next = hasMore ? grants.last.map { token.text(for: [.text($0.id.text)]) } : nil
        return .object(.grantPage(grants, nextToken: next))
    }

    private static func registerGrant(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.connection("TopicGrantConnection", of: APIObject.grant) { object in
            if case .grantPage(let grants, let token) = object { (grants, token) } else { nil }
        }
        map.value("TopicGrant.roles") { object, _ in
            guard case .grant(let grant) = object else { return .null }
            return .leaf(.array(grant.roles.names.map { .string($0) }))
        }
        map.grant("id") { $1.string($0.id.text) }
        map.grant("topicId") { $1.string($0.topicID.text) }
        map.grant("subjectKind") { $1.string($0.subject.kind.rawValue) }
        map.grant("subject") { $1.string($0.subject.name) }
        map.grant("subjectName") { grant, out in
            if case .group(let name) = grant.subject { out.string(name) } else { out.string(grant.userName) }
        }
        map.grant("push") { $1.bool($0.push) }
        map.grant("expiresAt") { $1.string($0.expiresAt?.iso8601) }
        map.grant("createdAt") { $1.string($0.createdAt.iso8601) }
        map.grant("createdBy") { $1.string($0.createdBy.text) }
        map.grant("pending") { $1.bool(false) }
    }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func grant(
        _ field: String,
        _ write: @escaping @Sendable (TopicGrant, inout LeafWriter) -> Void
    ) {
        leaf("TopicGrant.\(field)") { object, out in
            guard case .grant(let grant) = object else { return out.null() }
            write(grant, &out)
        }
    }
}
