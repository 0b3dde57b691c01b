import GraphQL
import TocsinCore

/// Resolvers of what clients may know of the server.
enum ServerInfoResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Query.serverInfo") { _ throws(ServiceError) in .object(.serverInfo) }
        map.leaf("ServerInfo.version") { $1.string(ServerInfo.version) }
        map.value("ServerInfo.features") { _, _ in .list(ServerInfo.features.map { .leaf(.string($0)) }) }
        map.leaf("ServerInfo.reconnectSpreadMs") { $1.int(ServerInfo.reconnectSpreadMilliseconds) }
    }
}
