import GraphQL
import JSON
import TocsinCore

/// Resolvers of monitors: their pings, and what people do.
enum MonitorResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        registerMutations(in: &map)
        registerFacts(in: &map)
        registerPings(in: &map)
    }

    private static func registerMutations(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Mutation.rotateMonitorKey") { invocation throws(ServiceError) in
            let (context, service) = (invocation.context, try invocation.context.services.monitorService)
            let made = try await service.keys.rotateKey(
                of: invocation.text("id"),
                overlapSeconds: invocation.arguments["overlapSeconds"]?.intValue ?? 86_400,
                by: context.caller
            )
            return .object(.integrationKey(made.record, topicName: made.topicName, key: made.text))
        }
        map.service("Mutation.pingMonitor") { invocation throws(ServiceError) in
            let (context, service) = (invocation.context, try invocation.context.services.monitorService)
            let signal = invocation.arguments["signal"]?.stringValue.flatMap(MonitorPing.Signal.init(rawValue:))
            var run = invocation.arguments["runId"]?.stringValue
            if let text = run {
                guard OwnerText.isSubject(text) else { throw .badInput("runId must be a UUID.") }
                run = text.lowercased()
            }
            let ping = MonitorPing(
                signal ?? .success,
                exitStatus: invocation.arguments["exitStatus"]?.intValue.map { Int($0) },
                runID: run,
                text: invocation.arguments["body"]?.stringValue ?? ""
            )
            return .object(.record(try await service.ping(invocation.text("id"), ping, caller: context.caller)))
        }
        map.service("Mutation.pauseMonitor") { invocation throws(ServiceError) in
            let (context, service) = (invocation.context, try invocation.context.services.monitorService)
            var end: Timestamp?
            if let text = invocation.arguments["until"]?.stringValue {
                guard let moment = Timestamp(awsDateTime: text) else {
                    throw .badInput("until must be a time such as 2026-12-01T08:00:00Z.")
                }
                end = moment
            }
            return .object(.record(try await service.pause(invocation.text("id"), until: end, caller: context.caller)))
        }
    }

    private static func registerFacts(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.batch("Monitor.incident") { parents, invocation throws(GraphQLError) in
            let (records, context) = (parents.compactMap(\.record), invocation.context)
            let found = try await invocation.serving { () throws(ServiceError) in
                let found = try await context.services.monitorService.incidents(of: records, caller: context.caller)
                try context.hold(found.reduce(0) { $0 + ($1?.approximateBytes ?? 0) })
                return found
            }
            return found.map { $0.map { .object(.record($0)) } ?? .null }
        }
        map.batch("Monitor.uptime") { parents, invocation throws(GraphQLError) in
            let (records, context) = (parents.compactMap(\.record), invocation.context)
            let days = invocation.arguments["days"]?.intValue ?? 30
            let found = try await invocation.serving { () throws(ServiceError) in
                try await context.services.monitorService.uptimes(of: records, days: days, caller: context.caller)
            }
            return found.map { $0.map { .leaf(.double($0)) } ?? .null }
        }
        map.pages("Monitor.pings", page)
    }

    private static func page(
        of record: Record,
        _ invocation: FieldInvocation<RequestContext>
    ) async throws(ServiceError) -> ResolvedValue<APIObject> {
        let context = invocation.context
        let token = invocation.pageToken(of: record.id)
        let after = try token.position(from: invocation.arguments["nextToken"]?.stringValue)?.first?.int
        let limit = try invocation.pageSize()
        let found = try await context.services.monitorService.pings(
            of: record,
            before: after ?? .max,
            limit: limit + 1,
            caller: context.caller
        )
        let pings = Array(found.prefix(limit))
        try context.hold(pings.reduce(0) { $0 + $1.ping.text.utf8.count })
        let next = found.count > limit ? pings.last.map { token.text(for: [.int($0.number)]) } : nil
        return .object(.pingPage(pings, nextToken: next))
    }

    private static func registerPings(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.ping("number") { $1.int($0.number) }
        map.ping("at") { $1.string($0.at.iso8601) }
        map.ping("signal") { $1.string($0.ping.signal.rawValue) }
        map.ping("exitStatus") { $1.int($0.ping.exitStatus) }
        map.ping("runId") { $1.string($0.ping.runID) }
        map.ping("durationMs") { $1.int($0.durationMilliseconds) }
        map.ping("body") { $1.string($0.ping.text) }
        map.connection("PingConnection", of: APIObject.ping) { object in
            if case .pingPage(let pings, let token) = object { (pings, token) } else { nil }
        }
    }
}

extension Services {
    /// The service of monitors, where the schema has them.
    fileprivate var monitorService: MonitorService {
        get throws(ServiceError) {
            guard let monitors else { throw .badInput("This server has no monitors.") }
            return monitors
        }
    }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func ping(
        _ field: String,
        _ write: @escaping @Sendable (StoredPing, inout LeafWriter) -> Void
    ) {
        leaf("Ping.\(field)") { object, out in
            guard case .ping(let ping) = object else { return out.null() }
            write(ping, &out)
        }
    }
}
