import TocsinAPI
import TocsinCore

/// What GraphQL calls: the services, and the live feed of what they commit.
struct APIPart: Sendable {
    let services: Services
    let feed: LiveFeed

    init(_ process: ProcessPart, store: StorePart, push: PushPart, signIn: SignInPart, declarations: Declarations) {
        let report = FailureReport(
            logger: process.log.logger(.api),
            identifiers: process.identifiers,
            time: process.time
        )
        services = Services(
            environment: store.environment,
            schema: declarations.schema,
            sealer: process.sealer,
            forecast: push.forecast,
            categories: push.categories,
            signIn: signIn.service,
            sessions: signIn.sessions,
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
    }
}
