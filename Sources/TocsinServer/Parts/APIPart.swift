import Logging
import TocsinAPI
import TocsinAuth
import TocsinCore

/// What GraphQL calls: the services, and the live feed of what they commit.
struct APIPart: Sendable {
    let services: Services
    let feed: LiveFeed
    /// What came in by integrations and is not written yet; nil: there are none.
    let integrationNotes: IntegrationNotes?
    private let time: any TimeSource
    private let logger: Logger

    init(_ process: ProcessPart, store: StorePart, push: PushPart, signIn: SignInPart, declarations: Declarations) {
        let report = FailureReport(
            logger: process.log.logger(.api),
            identifiers: process.identifiers,
            time: process.time
        )
        let rights = PushRights(
            topics: declarations.schema.topics,
            messages: declarations.schema.messages,
            claimedGroups: store.environment.claimedGroups
        )
        let notes = IntegrationNotes(keptRequests: process.settings.limits.receiverKeepRequests)
        let integrations = declarations.schema.integrations.map { model in
            IntegrationService(
                environment: store.environment,
                model: model,
                rights: rights,
                texts: IntegrationKeyText(),
                sealer: process.sealer,
                notes: notes
            )
        }
        integrationNotes = integrations.map { _ in notes }
        let buttons = declarations.schema.integrations.map { model in
            ButtonService(
                environment: store.environment,
                rights: rights,
                integrations: model,
                sealer: process.sealer,
                http: process.http,
                allowsLoopback: process.settings.webhooksAllowLoopback
            )
        }
        services = Services(
            environment: store.environment,
            schema: declarations.schema,
            sealer: process.sealer,
            forecast: push.forecast,
            categories: push.categories,
            signIn: signIn.service,
            sessions: signIn.sessions,
            integrations: integrations,
            integrationAddresses: IntegrationAddresses(base: process.settings.server.sendersBase),
            previews: ReceiverPreviews(catalog: store.receivers, time: process.time),
            buttons: buttons,
            report: report.callAsFunction
        )
        feed = LiveFeed(
            executor: declarations.executor,
            sealer: process.sealer,
            hub: store.hub,
            time: store.environment.time,
            listeners: store.listeners
        )
        process.metrics.add(feed.metrics)
        (time, logger) = (process.time, process.log.logger(.api))
    }

    /// Tells senders of integrations the port that was taken, where no public address is set.
    func tellAddress(_ address: String, of server: Settings.Server) {
        guard server.publicURL == nil, address.hasPrefix("http") else { return }
        services.integrationAddresses.replace(with: IntegrationAddresses(base: address))
    }

    /// Says in the log whose groups have rights that their makers could give.
    func reportKeptGroups() async { await KeptGroupReport.write(services.groups, to: logger) }

    /// Writes what came in by integrations, each second, until it is cancelled.
    func noteIntegrations(store: StorePart, jobs: JobMetrics) async {
        guard let integrationNotes else { return }
        let task = integrationNotes.task(store.store)
        await task.run(by: time, counting: jobs) {
            logger.error("\(task.failure)", metadata: ["event": "integration_notes_unwritten", "reason": "\($0)"])
        }
    }
}

extension Settings.Server {
    /// The address that senders of integrations are told to post to.
    fileprivate var sendersBase: String {
        let scheme = tlsCertificatePath == nil ? "http" : "https"
        let name = host.contains(":") ? "[\(host)]" : host
        return (publicURL ?? "\(scheme)://\(name):\(port)") + basePath
    }
}
