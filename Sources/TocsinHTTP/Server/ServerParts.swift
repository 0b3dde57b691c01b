import GraphQLTransport
import Logging

/// What all connections of one server share.
struct ServerParts<Service: GraphQLService>: Sendable {
    let service: Service
    let responder: Responder<Service>
    let settings: HTTPServerSettings
    let registry: ConnectionRegistry
    let socketGroups: SocketGroups
    let deliveries = LoopDeliveries()
    let subscriptionGroups: SocketGroups
    let lifetimes: SocketLifetimes
    let socketPaths: [SocketPath]
    let date: HTTPDate
    let logger: Logger
    /// Unix milliseconds.
    let now: @Sendable () -> Int64

    func socketPath(_ path: String) -> SocketPath? { socketPaths.first { $0.path == path } }
}
