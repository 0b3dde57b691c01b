import GraphQLTransport
import Logging
import TocsinAPI
import TocsinCore
import TocsinHTTP

/// What is served over HTTP: GraphQL, the routes, and whether the server is well.
struct FrontPart: Sendable {
    let health: Health
    let server: HTTPServer<TocsinGraphQL>
    private let settings: Settings.Server
    private let logger: Logger

    init(
        _ process: ProcessPart,
        store: StorePart,
        signIn: SignInPart,
        access: AccessPart,
        push: PushPart,
        api: APIPart,
        cluster: Cluster?,
        declarations: Declarations,
        refusedTokens: RefusedTokens,
        sockets: ActivatedSockets
    ) {
        let (limits, time) = (process.settings.limits, process.time)
        (settings, logger) = (process.settings.server, process.logger)
        health = Health(store: store.store, providers: push.providers, cluster: cluster)
        let service = TocsinGraphQL(
            executor: declarations.executor,
            feed: api.feed,
            services: api.services,
            schema: declarations.schema,
            authenticator: access.authenticator,
            revoked: access.revoked,
            settle: cluster?.settle,
            documents: declarations.documents,
            rates: RequestRates(perSecond: limits.ratePerSecond, burst: limits.rateBurst, time: time),
            refusedTokens: refusedTokens
        )
        var front = process.settings.ofHTTPServer
        let gateway = Gateway(service: service, routes: declarations.routes, limits: front.request.json)
        front.crossOrigin.methods += gateway.methods.filter { !front.crossOrigin.methods.contains($0) }
        front.cookies = signIn.cookies
        front.listeningSocket = sockets.take(name: "http")
        let auth = AuthPaths(
            signIn: signIn,
            authenticator: access.authenticator,
            report: api.services.report,
            time: time
        )
        let routes = gateway.httpRoutes + ClientFiles.routes + auth.routes
        let server: HTTPServer<TocsinGraphQL> = HTTPServer(
            HTTPServer.Content(service: service, health: health, routes: routes),
            settings: front,
            logger: logger,
            now: { time.now().milliseconds }
        )
        self.server = server
        // Told again once the list knows of it: what comes before finds nobody.
        store.hub.add(hearing: .accessEnded) { _ in server.accessHasEnded() }
    }

    /// Listens; answers the server's address.
    func listen() async throws(StartError) -> String {
        do {
            let address = try await server.start()
            let scheme = settings.tlsCertificatePath == nil ? "http" : "https"
            let host = address.host.contains(":") ? "[\(address.host)]" : address.host
            return "\(scheme)://\(host):\(address.port)"
        } catch {
            throw StartError(error.description)
        }
    }

    /// Takes the files of TLS anew, all or nothing.
    func reload() {
        guard let key = settings.tlsKeyPath else {
            return logger.notice("nothing to reload: the server speaks no TLS; other settings need a restart")
        }
        do throws(HTTPServerError) {
            try server.reloadTLS()
            logger.notice(
                "the TLS certificate and key were reloaded",
                metadata: ["certificate": "\(settings.tlsCertificatePath ?? "")"]
            )
        } catch {
            logger.error(
                "the TLS certificate and key could not be reloaded; those of before stay in use",
                metadata: ["reason": "\(error)"]
            )
        }
        if SettingsFiles.system(environment: [:]).isOpenToOthers(key) {
            logger.warning("\(SettingsFiles.openFileSentence(key, name: "TOCSIN_TLS_KEY"))")
        }
    }
}
