import Encodings
import GraphQLTransport
import Logging
import NIOCore
import Synchronization

/// What all connections of one server share; an object, for each of them holds it several times.
final class ServerParts<Service: GraphQLService>: Sendable {
    let service: Service
    let responder: Responder<Service>
    let settings: HTTPServerSettings
    let headCheck: RequestHeadCheck
    let registry: ConnectionRegistry
    let socketGroups: SocketGroups
    let broadcasters = LoopBroadcasters()
    let subscriptionGroups: SocketGroups
    let lifetimes: SocketLifetimes
    let socketPaths: [SocketPath]
    let budget: MemoryBudget
    let date: DateField
    let logger: Logger
    let accessLog: AccessLog
    /// Counts sockets and event streams.
    let sockets = SocketMetrics()
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
        budget = MemoryBudget(ofHolder: settings.maximumMemoryOfOwner, ofAll: settings.maximumMemory)
        date = DateField(now: now)
        self.logger = logger
        accessLog = AccessLog(logger, responder.rules, maskedPath: settings.maskedPath)
        self.now = now
    }

    /// What is known of a connection before its first byte.
    func connection(from address: SocketAddress?, number: Int) -> RequestHead.Connection {
        let peer = address?.ipAddress.flatMap(IPAddress.init)
        return RequestHead.Connection(
            peer: peer,
            isFromHere: settings.unixSocket != nil,
            responder.rules.value,
            cookies: settings.cookies,
            name: settings.requestIDPrefix + "\(number)"
        )
    }

    func socketPath(_ path: String) -> SocketPath? { socketPaths.first { $0.path == path } }
}

/// How long each socket and event stream may live.
///
/// It is a tenth more or less, so that those opened at one time do not all come back at one time.
final class SocketLifetimes: Sendable {
    private let milliseconds: Int64
    private let opened = Atomic(0)

    /// Lifetimes around this one; 0 for ever.
    init(milliseconds: Int) { self.milliseconds = Int64(milliseconds) }

    /// The lifetime of the next one, in milliseconds; `nil` when it has no end.
    func next() -> Int64? {
        guard milliseconds > 0 else { return nil }
        // Multiples of the golden ratio fill the unit interval evenly, however many there are.
        let number = Double(opened.add(1, ordering: .relaxed).newValue)
        let fraction = (number * 0.618_033_988_749_895).truncatingRemainder(dividingBy: 1)
        return milliseconds + Int64(Double(milliseconds) * (fraction - 0.5) / 5)
    }
}
