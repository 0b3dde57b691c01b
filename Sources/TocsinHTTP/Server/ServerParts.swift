import GraphQLTransport
import Logging
import NIOCore

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
    let proxies: TrustedProxies
    let budget: MemoryBudget
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
        proxies = TrustedProxies(settings.trustedProxies)
        budget = MemoryBudget(ofHolder: settings.maximumMemoryOfOwner, ofAll: settings.maximumMemory)
        date = HTTPDate(now: now)
        self.logger = logger
        accessLog = AccessLog(logger)
        self.now = now
    }

    /// What is known of a connection before its first byte.
    func connection(from address: SocketAddress?, number: Int) -> RequestHead.Connection {
        let peer = address?.ipAddress.flatMap(IPAddress.init)
        let isProxy = peer.map(proxies.trust) ?? false
        return RequestHead.Connection(peer: peer, proxies: isProxy ? proxies : nil, number: number)
    }

    func socketPath(_ path: String) -> SocketPath? { socketPaths.first { $0.path == path } }
}
