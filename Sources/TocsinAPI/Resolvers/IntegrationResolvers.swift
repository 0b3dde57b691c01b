import GraphQL
import JSON
import TocsinCore

/// Resolvers of integrations: their keys and secrets, and what came in.
enum IntegrationResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        registerRoots(in: &map)
        registerFacts(in: &map)
        registerKeys(in: &map)
        registerRequests(in: &map)
    }

    private static func registerRoots(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Mutation.rotateIntegrationKey") { invocation throws(ServiceError) in
            let (context, service) = (invocation.context, try invocation.context.services.integrationService)
            let made = try await service.rotateKey(
                of: invocation.text("id"),
                overlapSeconds: invocation.arguments["overlapSeconds"]?.intValue ?? 86_400,
                by: context.caller
            )
            return .object(.integrationKey(made.record, topicName: made.topicName, key: made.text))
        }
        map.service("Mutation.revokeIntegrationKey") { invocation throws(ServiceError) in
            let (context, service) = (invocation.context, try invocation.context.services.integrationService)
            let record = try await service.revokeKey(
                of: invocation.text("id"),
                hint: invocation.text("hint"),
                by: context.caller
            )
            return .object(.record(record))
        }
        map.service("Mutation.setIntegrationSecret") { invocation throws(ServiceError) in
            let (context, service) = (invocation.context, try invocation.context.services.integrationService)
            guard let name = IntegrationSecret(rawValue: invocation.text("name")) else {
                throw .badInput("There is no secret of this name.")
            }
            let record = try await service.setSecret(
                name,
                of: invocation.text("id"),
                to: invocation.arguments["value"]?.stringValue,
                by: context.caller
            )
            return .object(.record(record))
        }
    }

    private static func registerFacts(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.fact("secrets") { _, facts, _ in .list(facts.secrets.map { .leaf(.string($0.rawValue)) }) }
        map.fact("keyHint") { _, facts, _ in facts.hints.first.map { .leaf(.string($0)) } ?? .null }
        map.fact("keyHints") { _, facts, _ in .list(facts.hints.map { .leaf(.string($0)) }) }
        map.fact("url") { record, facts, services in
            guard let kind = record.integrationKind,
                let url = services.integrationAddresses.value.url(kind, topicName: facts.topicName, key: nil)
            else { return .null }
            return .leaf(.string(url))
        }
        map.fact("lastEventAt") { _, facts, _ in
            facts.counts.lastEventAt.map { .leaf(.string($0.iso8601)) } ?? .null
        }
        map.fact("events") { _, facts, _ in .leaf(.int(Int64(facts.counts.events))) }
        map.fact("refused") { _, facts, _ in .leaf(.int(Int64(facts.counts.refused))) }
        map.fact("unmatchedResolves") { _, facts, _ in .leaf(.int(Int64(facts.counts.unmatchedResolves))) }
        map.fact("trouble") { _, facts, _ in facts.counts.trouble.map { .leaf(.string($0)) } ?? .null }
        map.batch("Integration.recent") { parents, invocation throws(GraphQLError) in
            let limit = invocation.arguments["limit"]?.intValue ?? 20
            var lists: [ResolvedValue<APIObject>] = []
            for parent in parents {
                guard let record = parent.record else { continue }
                let found = try await invocation.serving { () throws(ServiceError) in
                    let context = invocation.context
                    let requests = try await context.services.integrationService
                        .recent(record, limit: limit, caller: context.caller)
                    try context.hold(requests.reduce(0) { $0 + ($1.body?.utf8.count ?? 0) })
                    return requests
                }
                lists.append(.objects(found.map { .receivedRequest($0) }))
            }
            return lists
        }
    }

    private static func registerKeys(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.value("IntegrationKey.integration") { object, _ in
            guard case .integrationKey(let record, _, _) = object, !record.isMonitor else { return .null }
            return .object(.record(record))
        }
        map.value("IntegrationKey.monitor") { object, _ in
            guard case .integrationKey(let record, _, _) = object, record.isMonitor else { return .null }
            return .object(.record(record))
        }
        map.leaf("IntegrationKey.key") { object, out in
            guard case .integrationKey(_, _, let key) = object else { return out.null() }
            out.string(key)
        }
        map.value("IntegrationKey.url") { object, invocation in
            guard case .integrationKey(let record, let topicName, let key) = object,
                let kind = record.integrationKind,
                let url = invocation.context.services.integrationAddresses.value.url(
                    kind,
                    topicName: topicName,
                    key: key
                )
            else { return .null }
            return .leaf(.string(url))
        }
        map.value("IntegrationKey.snippets") { object, invocation in
            guard case .integrationKey(let record, let topicName, let key) = object,
                let kind = record.integrationKind
            else { return .null }
            let addresses = invocation.context.services.integrationAddresses.value
            var members: JSONObject = [:]
            let snippets = addresses.snippets(kind, topicName: topicName, key: key, ofMonitor: record.isMonitor)
            for snippet in snippets {
                members[snippet.product] = .string(snippet.text)
            }
            return .leaf(.string(JSONValue.object(members).serializedString()))
        }
    }

    private static func registerRequests(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.received("at") { $1.string($0.at.iso8601) }
        map.received("status") { $1.int(Int64($0.status)) }
        map.received("outcome") { $1.string($0.outcome) }
        map.received("incidentId") { $1.string($0.incidentID) }
        map.received("messageId") { $1.string($0.messageID) }
        map.received("body") { $1.string($0.body) }
    }
}

extension Record {
    /// The shape of an integration's posts.
    fileprivate var integrationKind: Integration.Kind? {
        isMonitor ? .heartbeat : self["kind"].text.flatMap(Integration.Kind.init(rawValue:))
    }

    fileprivate var isMonitor: Bool { model.name == "Monitor" }
}

extension Services {
    /// The service of integrations, where the schema has them.
    var integrationService: IntegrationService {
        get throws(ServiceError) {
            guard let integrations else { throw .badInput("This server has no integrations.") }
            return integrations
        }
    }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    /// A field of `Integration` that comes from what is known beside the row, read once for all.
    fileprivate mutating func fact(
        _ field: String,
        _ value: @escaping @Sendable (Record, IntegrationService.Facts, Services) -> ResolvedValue<APIObject>
    ) {
        batch("Integration.\(field)") { parents, invocation throws(GraphQLError) in
            let records = parents.compactMap(\.record)
            let services = invocation.context.services
            let facts = try await invocation.serving { () throws(ServiceError) in
                try await services.integrationService.facts(of: records, caller: invocation.context.caller)
            }
            return zip(records, facts).map { value($0, $1, services) }
        }
    }

    fileprivate mutating func received(
        _ field: String,
        _ write: @escaping @Sendable (ReceivedRequest, inout LeafWriter) -> Void
    ) {
        leaf("ReceivedRequest.\(field)") { object, out in
            guard case .receivedRequest(let request) = object else { return out.null() }
            write(request, &out)
        }
    }
}
