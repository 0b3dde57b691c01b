import Encodings
import Glibc
import GraphQLTransport
import HTTPTypes
import Logging
import Synchronization
import TocsinCore
import TocsinHTTP

/// Serves those who run the server, on event loops and connections of its own: it answers when the
/// main port is full.
///
/// It opens before the database, so what it serves is put in as it comes to be.
final class AdminListener: Sendable {
    /// Connections of one address of the listener.
    private static let maximumConnections = 64
    /// A backup of a large database takes its time.
    private static let answerMilliseconds = 3_600_000

    private let routes = Mutex<[any AdminRoute]>([])
    private let servers = Mutex<[HTTPServer<NoService>]>([])
    private let token: String?
    private let time: any TimeSource
    private let logger: Logger

    init(token: Secret?, time: any TimeSource, logger: Logger) {
        self.token = token?.contents
        (self.time, self.logger) = (time, logger)
    }

    /// Serves these from now on, and nothing else.
    func serve(_ routes: [any AdminRoute]) { self.routes.withLock { $0 = routes } }

    /// Listens; answers the address.
    ///
    /// - Parameter descriptor: Listens there already.
    func open(_ address: AdminAddress, on descriptor: Int32? = nil) async throws(HTTPServerError) -> String {
        // Probes ask every few seconds: what changes something is logged by its route.
        var quiet = logger
        quiet.logLevel = .warning
        let route = HTTPRoute(nil, "/*") { [weak self] request in
            guard let self else { return AdminAnswer.error(.serviceUnavailable, .unavailable, "The server has ended.") }
            return await answer(request, at: address)
        }
        let time = time
        let server = HTTPServer(
            HTTPServer<NoService>.Content(service: NoService(), health: nil, routes: [route], socketPaths: []),
            settings: Self.settings(address, descriptor),
            logger: quiet,
            now: { time.now().milliseconds }
        )
        let real = try await server.start()
        servers.withLock { $0.append(server) }
        guard case .network = address else { return address.description }
        return AdminAddress.network(host: real.host, port: real.port).description
    }

    /// Closes all connections and removes the socket.
    func close() async {
        let servers = servers.withLock { servers in
            defer { servers = [] }
            return servers
        }
        for server in servers { await server.shutdown(graceSeconds: 1) }
    }

    /// The pulses of its event loops.
    var pulses: [LoopPulse] { servers.withLock { $0.flatMap(\.pulses) } }

    private static func settings(_ address: AdminAddress, _ descriptor: Int32?) -> HTTPServerSettings {
        var settings = HTTPServerSettings()
        settings.listeningSocket = descriptor
        switch address {
        case .socket(let path):
            settings.unixSocket = UnixSocket(path)
            // The file's rights say the same, but for the moment in which it is made.
            settings.admitsUser = { [own = geteuid()] user in user == own || user == 0 }
        case .network(let host, let port): (settings.host, settings.port) = (host, port)
        }
        settings.graphQLPath = ""
        settings.maximumConnections = maximumConnections
        settings.maximumConnectionsOfAddress = maximumConnections
        settings.maximumBodyBytes = 16 * 1024
        settings.answerMilliseconds = answerMilliseconds
        return settings
    }
}

extension AdminListener {
    private func answer(_ request: IncomingRequest, at address: AdminAddress) async -> OutgoingResponse {
        // Pages in a browser of this machine reach its ports too.
        guard request.header("origin") == nil, request.header("sec-fetch-site") == nil else {
            return AdminAnswer.error(.forbidden, .unauthorized, "The admin listener answers no web pages.")
        }
        let here = routes.withLock { routes in routes.filter { $0.path == request.path } }
        guard !here.isEmpty else {
            return AdminAnswer.error(.notFound, .badRequest, "The admin listener has nothing at this path.")
        }
        let method = request.method == .head ? .get : request.method
        guard let route = here.first(where: { $0.method == method }) else {
            let allow = here.map(\.method.rawValue).joined(separator: ", ")
            let text = "\(request.method.rawValue) is not served at this path. Send one of: \(allow)."
            return AdminAnswer.error(.methodNotAllowed, .badRequest, text, [("allow", allow)])
        }
        if let refusal = refusal(of: request, at: address, needing: route.access) { return refusal }
        return await route.answer(request)
    }

    private func refusal(
        of request: IncomingRequest,
        at address: AdminAddress,
        needing access: AdminAccess
    ) -> OutgoingResponse? {
        let isOpen =
            switch address {
            case .socket: true
            case .network: access == .everybody || access == .readers && address.isOfThisMachine
            }
        if shows(token, request) { return nil }
        if isOpen {
            // A page of a browser here can give its own name this address.
            guard case .network = address, !Self.namesAddress(request.header("host")) else { return nil }
            let text = "Name the address itself, such as 127.0.0.1, and no other host."
            return AdminAnswer.error(.forbidden, .unauthorized, text)
        }
        guard token != nil else {
            let text =
                "Over the network this path needs a token: set TOCSIN_ADMIN_TOKEN_FILE, or use the socket in the file system."
            return AdminAnswer.error(.forbidden, .unauthorized, text)
        }
        let text = "Show the token of TOCSIN_ADMIN_TOKEN_FILE as Authorization: Bearer."
        return AdminAnswer.error(.unauthorized, .unauthenticated, text, [("www-authenticate", "Bearer")])
    }

    /// Whether a host field holds an IP address or `localhost`.
    private static func namesAddress(_ host: String?) -> Bool {
        guard let host else { return true }
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") {
            return IPAddress(String(host[host.index(after: host.startIndex)..<end])) != nil
        }
        let name = host.prefix { $0 != ":" }.lowercased()
        return name == "localhost" || IPAddress(name) != nil
    }

    /// Whether a request shows the token; takes as long whatever it shows.
    private func shows(_ token: String?, _ request: IncomingRequest) -> Bool {
        guard let token, let shown = request.header("authorization"), shown.lowercased().hasPrefix("bearer ") else {
            return false
        }
        let (mine, theirs) = (Array(token.utf8), Array(shown.utf8.dropFirst("bearer ".utf8.count)))
        guard mine.count == theirs.count else { return false }
        return zip(mine, theirs).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
