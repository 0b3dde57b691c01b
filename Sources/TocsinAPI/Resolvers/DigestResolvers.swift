import GraphQL
import JSON
import TocsinCore

/// Resolvers of summaries that people make for themselves.
enum DigestResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        registerRoots(in: &map)
        registerFields(in: &map)
    }

    private static func registerRoots(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Query.getDigest") { invocation throws(ServiceError) in
            let context = invocation.context
            let found = try await context.services.digests.digest(invocation.text("id"), caller: context.caller)
            return found.map { .object(.digest($0)) } ?? .null
        }
        map.service("Query.listDigests") { invocation throws(ServiceError) in try await page(invocation) }
        map.service("Mutation.createDigest") { invocation throws(ServiceError) in
            let (context, input) = (invocation.context, invocation.arguments["input"]?.objectValue ?? [:])
            var plan = PersonalDigest.Plan(name: "", atMinutes: 0, timeZone: "UTC")
            try change(&plan, by: input)
            let digest = try await context.services.digests.create(
                id: input["id"]?.stringValue,
                plan,
                caller: context.caller
            )
            return .object(.digest(digest))
        }
        map.service("Mutation.updateDigest") { invocation throws(ServiceError) in
            let (context, input) = (invocation.context, invocation.arguments["input"]?.objectValue ?? [:])
            var probe = PersonalDigest.Plan(name: "", atMinutes: 0, timeZone: "UTC")
            try change(&probe, by: input)
            let id = input["id"]?.stringValue ?? ""
            let digest = try await context.services.digests.update(id, caller: context.caller) { plan in
                // It was tried above.
                try? change(&plan, by: input)
            }
            return .object(.digest(digest))
        }
        map.service("Mutation.deleteDigest") { invocation throws(ServiceError) in
            let context = invocation.context
            let id = invocation.arguments["input"]?["id"]?.stringValue ?? ""
            return .object(.digest(try await context.services.digests.delete(id, caller: context.caller)))
        }
    }

    private static func page(
        _ invocation: FieldInvocation<RequestContext>
    ) async throws(ServiceError) -> ResolvedValue<APIObject> {
        let (context, token) = (invocation.context, invocation.pageToken)
        let after = try token.position(from: invocation.arguments["nextToken"]?.stringValue)?.first?.text ?? ""
        let limit = try invocation.pageSize()
        let digests = try await context.services.digests.digests(caller: context.caller)
            .filter { $0.id.utf8.lexicographicallyPrecedes(after.utf8) == false && $0.id != after }
        let page = Array(digests.prefix(limit))
        let next = digests.count > limit ? page.last.map { token.text(for: [.text($0.id)]) } : nil
        return .object(.digestPage(page, nextToken: next))
    }

    /// Puts the members of an input into a plan; those that are left out stay.
    private static func change(_ plan: inout PersonalDigest.Plan, by input: JSONObject) throws(ServiceError) {
        for name in ["name", "at", "timeZone"] where input[name]?.isNull == true {
            throw .badInput("\(name) cannot be null; leave it out to keep it as it is.")
        }
        if let name = input["name"]?.stringValue { plan.name = name }
        if let zone = input["timeZone"]?.stringValue { plan.timeZone = zone }
        if let at = input["at"]?.stringValue { plan.atMinutes = try WallClock.minutes(at, "at") }
        if let topics = input["topicIds"] {
            plan.topicIDs = topics.arrayValue.map { ids in ids.compactMap { $0.stringValue.map { TopicID($0) } } }
        }
        if let days = input["days"] {
            plan.days = days.arrayValue.map { names in
                Set(names.compactMap { WeeklyHours.dayNames.firstIndex(of: $0.stringValue ?? "") })
            }
        }
        if let priority = input["minPriority"] { plan.minPriority = priority.intValue ?? 1 }
        if let skips = input["skipEmpty"] { plan.skipsEmpty = skips.boolValue ?? true }
        if let url = input["url"] { plan.url = url.stringValue }
    }

    private static func registerFields(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.digest("id") { $1.string($0.id) }
        map.digest("name") { $1.string($0.plan.name) }
        map.digest("at") { $1.string(WallClock.text($0.plan.atMinutes)) }
        map.digest("timeZone") { $1.string($0.plan.timeZone) }
        map.digest("minPriority") { $1.int($0.plan.minPriority) }
        map.digest("skipEmpty") { $1.bool($0.plan.skipsEmpty) }
        map.digest("url") { $1.string($0.plan.url) }
        map.digest("lastMessageId") { $1.string($0.lastMessageID?.text) }
        map.digest("lastAt") { $1.string($0.lastAt?.iso8601) }
        map.digest("missed") { $1.int(Int64($0.missed)) }
        map.digest("nextAt") { $1.string($0.nextAt?.iso8601) }
        map.digest("owner") { $1.string($0.owner.username) }
        map.digest("createdAt") { $1.string($0.createdAt.iso8601) }
        map.digest("updatedAt") { $1.string($0.updatedAt.iso8601) }
        map.value("Digest.topicIds") { object, _ in
            guard case .digest(let digest) = object, let topics = digest.plan.topicIDs else { return .null }
            return .list(topics.map { .leaf(.string($0.text)) })
        }
        map.value("Digest.days") { object, _ in
            guard case .digest(let digest) = object, let days = digest.plan.days else { return .null }
            return .list(days.sorted().map { .leaf(.string(WeeklyHours.dayNames[$0 % 7])) })
        }
        map.connection("ModelDigestConnection", of: APIObject.digest) { object in
            if case .digestPage(let digests, let token) = object { (digests, token) } else { nil }
        }
    }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func digest(
        _ field: String,
        _ write: @escaping @Sendable (PersonalDigest, inout LeafWriter) -> Void
    ) {
        leaf("Digest.\(field)") { object, out in
            guard case .digest(let digest) = object else { return out.null() }
            write(digest, &out)
        }
    }
}
