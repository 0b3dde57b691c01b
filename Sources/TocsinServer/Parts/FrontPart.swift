import GraphQLTransport
import Metrics
import TocsinAPI
import TocsinCore
import TocsinHTTP
import TocsinReceivers

/// What is served over HTTP: GraphQL, the routes, and whether the server is well.
struct FrontPart: Sendable {
    let health: Health
    let server: HTTPServer<TocsinGraphQL>
    let metrics: ServerMetrics
    /// What senders post to integrations of kind TEMPLATE is read by these.
    let receivers: Reloadable<ReceiverCatalog>
    private let service: TocsinGraphQL
    private let rates: RequestRates
    private let buttons: ButtonService?
    /// Paths that no settings change.
    private let ownRoutes: [HTTPRoute]
    private let settings: Settings.Server

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
        stalls: StallWatch,
        sockets: ActivatedSockets
    ) {
        let (limits, time) = (process.settings.limits, process.time)
        settings = process.settings.server
        receivers = store.receivers
        health = Health(store: store.store, providers: { push.configured }, cluster: cluster, stalls: stalls)
        metrics = ServerMetrics(process, health: health)
        let rates = RequestRates(
            perSecond: limits.ratePerSecond,
            burst: limits.rateBurst,
            time: time,
            refused: process.metrics.auth?.limited[.owner]
        )
        let service = TocsinGraphQL(
            executor: declarations.executor,
            feed: api.feed,
            services: api.services,
            schema: declarations.schema,
            authenticator: access.authenticator,
            revoked: access.revoked,
            settle: cluster?.settle,
            documents: declarations.documents,
            rates: rates,
            refusedTokens: refusedTokens
        )
        let auth = AuthPaths(
            signIn: signIn,
            authenticator: access.authenticator,
            report: api.services.report,
            time: time
        )
        let console = Console(process.settings.server)
        let senders = Self.senders(process, access: access, api: api, catalog: store.receivers)
        buttons = api.services.buttons
        let actions = ActionPages(
            incidents: api.services.incidents,
            buttons: buttons,
            sealer: process.sealer,
            report: api.services.report,
            time: time,
            limited: process.metrics.auth?.limited
        )
        let ownRoutes =
            (ClientFiles.routes + console.routes).map { $0.labelled(.console) } + auth.routes.map { $0.labelled(.auth) }
            + actions.routes.map { $0.labelled(.receivers) }
            + process.metrics.routes(for: service) + (senders?.routes ?? [])
        (self.service, self.rates, self.ownRoutes) = (service, rates, ownRoutes)
        var (front, routes) = Self.surface(process.settings, service, declarations.routes)
        routes += ownRoutes
        front.cookies = signIn.cookies
        front.sessionRefused = { lack, source in signIn.notePageRefused(lack, from: RequestOrigin(source)) }
        front.requestIDPrefix = process.identifiers.makeID().suffix(6) + "-"
        (front.metrics, front.loopLag) = (process.metrics.http, process.metrics.loopLag)
        front.listeningSocket = sockets.take(name: "http")
        let server: HTTPServer<TocsinGraphQL> = HTTPServer(
            HTTPServer.Content(service: service, health: health, routes: routes),
            settings: front,
            logger: process.log.logger(.http),
            now: { time.now().milliseconds }
        )
        self.server = server
        process.metrics.add(metrics)
        process.metrics.add(CertificateMetrics { server.certificateEnd })
        process.metrics.add(service)
        process.metrics.add(server.sockets)
        // Told again once the list knows of it: what comes before finds nobody.
        store.hub.add(hearing: .accessEnded) { _ in server.accessHasEnded() }
    }

    /// The paths of senders; nil: the schema has no integrations.
    private static func senders(
        _ process: ProcessPart,
        access: AccessPart,
        api: APIPart,
        catalog: Reloadable<ReceiverCatalog>
    ) -> ReceiverRoutes? {
        guard let integrations = api.services.integrations else { return nil }
        let (services, monitors) = (api.services, api.services.monitors)
        let bodyBytes = process.settings.limits.receiverBodyBytes
        let pings = monitors.map {
            PingDesk(
                monitors: $0,
                report: services.report,
                time: process.time,
                maximumBodyBytes: bodyBytes,
                limited: process.metrics.auth?.limited
            )
        }
        var intake: any EventIntake = services.incidents
        if let monitors { intake = WatchdogIntake(intake, monitors: monitors) }
        intake = ButtonSealing(intake, sealer: process.sealer)
        return ReceiverRoutes(
            desk: ReceiverDesk(
                integrations: integrations,
                intake: intake,
                authenticator: access.authenticator,
                receiver: { record in
                    guard record.integration.kind == .template else { return Receivers.of(record.integration.kind) }
                    // It was checked when it was saved; what a reload took away takes nothing.
                    return try? catalog.value.receiver(named: record.receiver, template: record.template)
                },
                report: api.services.report,
                subscriptions: SNSConfirmations(
                    http: process.http,
                    endpoint: process.settings.server.snsEndpoint
                ),
                identifiers: process.identifiers,
                time: process.time,
                maximumBodyBytes: bodyBytes,
                shapes: process.settings.server.receiverShapes,
                limited: process.metrics.auth?.limited
            ),
            pings: pings,
            shapes: process.settings.server.receiverShapes
        )
    }

    /// Listens; answers the server's address.
    func listen() async throws(StartError) -> String {
        do {
            let address = try await server.start()
            let scheme = settings.tlsCertificatePath == nil ? "http" : "https"
            if settings.socketPath != nil { return Settings.socketPrefix + address.host }
            let host = address.host.contains(":") ? "[\(address.host)]" : address.host
            return "\(scheme)://\(host):\(address.port)\(settings.basePath)"
        } catch {
            throw StartError(error.description)
        }
    }

    /// Certificate, origins, proxies, routes, receivers, documents and rates as settings and files
    /// are now; nothing is changed until the step is run.
    func reloading(_ settings: Settings, _ declarations: Declarations) throws(StartError) -> ReloadStep {
        let (front, routes) = Self.surface(settings, service, declarations.routes)
        let change: HTTPServerChange
        do throws(HTTPServerError) {
            change = try server.change(to: front, routes: routes + ownRoutes)
        } catch {
            throw StartError(error.description)
        }
        return { [server, service, rates, receivers, buttons] in
            server.apply(change)
            receivers.replace(with: declarations.receivers)
            service.documents.replace(with: declarations.documents)
            buttons?.allow(loopback: settings.webhooksAllowLoopback)
            rates.set(perSecond: settings.limits.ratePerSecond, burst: settings.limits.rateBurst)
        }
    }

    /// The front's settings, and the paths of REST routes.
    private static func surface(
        _ settings: Settings,
        _ service: TocsinGraphQL,
        _ routes: [Route]
    ) -> (HTTPServerSettings, [HTTPRoute]) {
        var front = settings.ofHTTPServer
        let base = front.basePath
        front.maskedPath = { path in
            path.hasPrefix(base) ? base + SenderKeys.masked(String(path.dropFirst(base.count))) : path
        }
        let gateway = Gateway(service: service, routes: routes, limits: front.request.json)
        front.crossOrigin.methods += gateway.methods.filter { !front.crossOrigin.methods.contains($0) }
        return (front, gateway.httpRoutes.map { $0.labelled(.rest) })
    }
}
