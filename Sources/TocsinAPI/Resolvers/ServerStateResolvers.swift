import GraphQL
import JSON
import TocsinCore

/// Resolvers of what administrators see of the server that answers.
enum ServerStateResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Query.server") { invocation throws(ServiceError) in
            let context = invocation.context
            guard context.authority.isAdmin(writing: false), let report = context.services.server.value else {
                return .null
            }
            return .object(.embedded(await report.state()))
        }
        map.value("ServerState.series") { _, invocation throws(GraphQLError) in
            do throws(ServiceError) {
                return try series(invocation)
            } catch {
                throw invocation.worded(error)
            }
        }
        for (type, fields) in members {
            for field in fields { map.leaf("\(type).\(field)") { $1.json(EmbeddedResolvers.member(field, of: $0)) } }
        }
        for (type, field) in lists {
            map.value("\(type).\(field)") { object, _ in
                EmbeddedResolvers.value(EmbeddedResolvers.member(field, of: object))
            }
        }
    }

    private static let lists = [
        ("ServerState", "providers"), ("ServerState", "peers"), ("ServerState", "settings"),
        ("ServerProvider", "pauses"),
    ]

    private static let members = [
        "ServerState": [
            "node", "version", "commit", "startedAt", "ready", "database", "connections", "sockets", "subscriptions",
        ],
        "ServerProvider": ["name", "configured", "underWay"],
        "ServerPause": ["app", "reason", "until"],
        "ServerPeer": ["node", "seenAt"],
        "ServerSetting": ["name", "value", "origin", "reloads", "pendingRestart"],
        "ServerSeries": ["name", "labels", "since", "step", "points"],
    ]

    private static func series(
        _ invocation: FieldInvocation<RequestContext>
    ) throws(ServiceError) -> ResolvedValue<APIObject> {
        let arguments = invocation.arguments
        let since = try moment(invocation.text("since"), "since")
        let found = try invocation.context.services.server.value?.series(
            arguments["names"]?.arrayValue?.compactMap(\.stringValue) ?? [],
            since: since,
            step: Int(arguments["step"]?.intValue ?? 0)
        )
        return found.map { .objects($0.map { .embedded($0) }) } ?? .null
    }
}
