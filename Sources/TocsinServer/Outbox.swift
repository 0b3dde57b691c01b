import Logging
import NIOPosix
import TocsinAPI
import TocsinCore
import TocsinHTTP2
import TocsinPush

/// The outbox with its providers, made from settings; what it reports goes to the log.
final class Outbox: Sendable {
    /// Every provider there is, and whether it has credentials.
    let providers: [(name: String, isConfigured: Bool)]
    private let worker: OutboxWorker
    private let transport: HTTP2Transport

    init(
        settings: Settings,
        environment: ServiceEnvironment,
        schema: APISchema,
        content: PushContent,
        http: any OutgoingHTTP,
        loops: MultiThreadedEventLoopGroup,
        listeners: DeliveryListeners,
        node: String,
        logger: Logger
    ) throws(StartError) {
        do {
            var transportSettings = HTTP2Settings(authorityPath: settings.push.caPath)
            transportSettings.maximumConnections = settings.push.connections
            transport = try HTTP2Transport(group: loops, settings: transportSettings)
        } catch {
            throw StartError(error.description)
        }
        var apps = PushApps(settings: settings, transport: transport, http: http, time: environment.time)
        let providers = try apps.providers()
        self.providers = PushService.allCases.map { ($0.rawValue, providers.has($0)) }
        var outboxSettings = Self.outboxSettings(settings)
        outboxSettings.listeners = listeners
        outboxSettings.node = node
        worker = OutboxWorker(
            environment: environment,
            providers: providers,
            messages: schema.messages,
            topics: schema.topics,
            settings: outboxSettings,
            content: content,
            report: { PushLog.write($0, to: logger) }
        )
    }

    /// What explanations of deliveries ask.
    var forecast: any PushForecast { worker }

    /// What `hear` goes by.
    static let kindsHeard: EventKinds = [.outboxFilled, .deviceEnded, .pushesUnwanted]

    /// Tells the worker that something waits, or that something is not to be sent any more; never blocks.
    func hear(_ events: [DomainEvent]) {
        for event in events {
            switch event {
            case .deviceEnded(let device, let reason): worker.cancelPushes(to: device, reason: reason)
            case .pushesUnwanted(let user, let topic, let reason):
                worker.cancelPushes(to: user, of: topic, reason: reason)
            default: break
            }
        }
        if events.contains(.outboxFilled) { worker.wake() }
    }

    /// Works until `stop` or cancellation.
    func run() async { await worker.run() }

    /// Closes the connections to the providers, once `run` has returned.
    func close() async { await transport.shutdown() }

    /// Asks `run` to give pushes under way their time and return.
    func stop() { worker.stop() }

    static func outboxSettings(_ settings: Settings) -> OutboxSettings {
        var outbox = OutboxSettings()
        outbox.node = settings.server.nodeName
        outbox.leaseSeconds = settings.push.leaseSeconds
        outbox.inFlight = settings.push.inFlight
        outbox.fcmPerMinute = settings.push.fcmPerMinute
        outbox.stopSeconds = settings.server.stopSeconds
        if settings.push.staleDays > 0 { outbox.staleSeconds = Double(settings.push.staleDays) * 86_400 }
        outbox.retry.lifetimeSeconds = settings.push.lifetimeSeconds
        outbox.retry.maximumAttempts = settings.push.maximumAttempts
        outbox.retry.replacement = settings.push.retrySeconds
        return outbox
    }
}

/// Words the outbox's reports for the log: no tokens, no texts.
enum PushLog {
    static func write(_ report: PushReport, to logger: Logger) {
        switch report {
        case .providerNotConfigured(let service):
            logger.warning("push provider not configured; its pushes are skipped", metadata: ["provider": "\(service)"])
        case .providerPaused(let lane, let reason):
            logger.error(
                "push provider paused",
                metadata: ["provider": "\(lane.service)", "app": "\(lane.appID)", "reason": "\(reason)"]
            )
        case .providerResumed(let lane):
            logger.notice("push provider resumed", metadata: ["provider": "\(lane.service)", "app": "\(lane.appID)"])
        case .providerSlowed(let lane, let perSecond):
            logger.warning(
                "push quota used up; pushes slow down",
                metadata: ["provider": "\(lane.service)", "app": "\(lane.appID)", "per_second": "\(perSecond)"]
            )
        case .payloadRefused(let service, let reason, let delivery):
            logger.error(
                "push refused",
                metadata: ["provider": "\(service)", "reason": "\(reason)", "delivery": "\(delivery)"]
            )
        case .credentialTrouble(let service, let reason, let delivery):
            logger.warning(
                "push credentials need attention",
                metadata: ["provider": "\(service)", "reason": "\(reason)", "delivery": "\(delivery)"]
            )
        case .deviceRetired(let device, let reason):
            logger.info("device retired", metadata: ["device": "\(device)", "reason": "\(reason)"])
        case .settled(let service, let status, let count):
            logger.debug(
                "pushes settled",
                metadata: ["provider": "\(service)", "status": "\(status)", "count": "\(count)"]
            )
        case .storeFailed(let error):
            logger.error("the outbox waits for the database", metadata: ["reason": "\(error)"])
        case .stoppedUnanswered(let count):
            logger.notice("pushes without an answer wait for the next start", metadata: ["count": "\(count)"])
        }
    }
}
