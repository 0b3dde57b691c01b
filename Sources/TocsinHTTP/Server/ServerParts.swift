import GraphQLTransport
import Logging

/// What all connections of one server share; an object, for each of them holds it several times.
final class ServerParts<Service: GraphQLService>: Sendable {
    let service: Service
    let responder: Responder<Service>
    let settings: HTTPServerSettings
    let headCheck: RequestHeadCheck
    let registry: ConnectionRegistry
    let socketGroups: SocketGroups
    let deliveries = LoopDeliveries()
    let subscriptionGroups: SocketGroups
    let lifetimes: SocketLifetimes
    let socketPaths: [SocketPath]
    let date: HTTPDate
    let logger: Logger
    let accessLog: AccessLog
    /// Unix milliseconds.
    let now: @Sendable () -> Int64

    init(
        _ content: HTTPServer<Service>.Content,
        _ responder: Responder<Service>,
        logger: Logger,
        now: @escaping @Sendable () -> Int64
    ) {
        service = content.service
        self.responder = responder
        settings = responder.settings
        headCheck = RequestHeadCheck(settings)
        registry = responder.registry
        socketGroups = SocketGroups(limit: settings.maximumSocketsOfGroup)
        subscriptionGroups = SocketGroups(limit: settings.maximumSubscriptionsOfGroup)
        lifetimes = SocketLifetimes(milliseconds: settings.lifetimeMilliseconds)
        socketPaths = content.socketPaths ?? SocketPath.standard(graphQLPath: settings.graphQLPath)
        date = HTTPDate(now: now)
        self.logger = logger
        accessLog = AccessLog(logger)
        self.now = now
    }

    func socketPath(_ path: String) -> SocketPath? { socketPaths.first { $0.path == path } }
}
