import Logging
import Metrics
import NIOCore
import NIOPosix
import TocsinAPI
import TocsinAuth
import TocsinCore
import TocsinHTTP
import TocsinHTTP2
import TocsinPush

/// What goes out by itself: the outbox with its providers, and webhooks; what they report goes to
/// the log.
struct PushPart: Sendable {
    let outbox: OutboxWorker
    let webhooks: WebhookWorker
    let categories: [NotificationCategory]
    private let process: ProcessPart
    private let providers: Reloadable<PushProviders>
    private let tokens: APNsTokenSources
    private let metrics: PushMetrics
    private let transport: HTTP2Transport
    private let loops: MultiThreadedEventLoopGroup
    /// Of the event loop that sends.
    let pulse: LoopPulse

    init(_ process: ProcessPart, store: StorePart, schema: APISchema) throws(StartError) {
        let (settings, http, logger) = (process.settings, process.http, process.log.logger(.push))
        let webhookLogger = process.log.logger(.webhooks)
        let reading = try Declarations.categories(path: settings.server.categoriesPath)
        categories = reading.categories
        loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        pulse = LoopPulse(loops.any())
        process.metrics.loopLag.add([pulse], as: "push")
        do {
            var transportSettings = HTTP2Settings(authorityPath: settings.push.caPath)
            transportSettings.maximumConnections = settings.push.connections
            transport = try HTTP2Transport(group: loops, settings: transportSettings)
        } catch {
            throw StartError(error.description)
        }
        let metrics = PushMetrics()
        (self.process, self.metrics) = (process, metrics)
        tokens = APNsTokenSources(time: process.time, metrics: metrics)
        let apps = PushApps(
            settings: settings,
            transport: transport,
            http: http,
            time: process.time,
            tokens: tokens,
            metrics: metrics
        )
        let providers = try apps.providers()
        self.providers = Reloadable(providers)
        var outboxSettings = settings.ofOutbox
        outboxSettings.listeners = store.listeners
        outboxSettings.node = process.node?.instance ?? settings.server.nodeName
        let outbox = OutboxWorker(
            environment: store.environment,
            providers: providers,
            messages: schema.messages,
            topics: schema.topics,
            settings: outboxSettings,
            content: Self.content(settings, process.sealer, reading),
            tokenHash: Self.tokenHash(process),
            metrics: metrics,
            report: { PushLog.write($0, to: logger) }
        )
        let webhooks = WebhookWorker(
            webhooks: store.webhooks,
            environment: store.environment,
            http: http,
            policy: outboxSettings.retry,
            metrics: metrics,
            report: { PushLog.write($0, to: webhookLogger) }
        )
        (self.outbox, self.webhooks) = (outbox, webhooks)
        process.metrics.add(outbox)
        process.metrics.add(transport)
        let (backlog, time) = (BacklogMetrics(), process.time)
        process.metrics.refresh?.add { reader throws(StoreError) in try backlog.families(reader, at: time.now()) }
        store.hub.add(hearing: [.outboxFilled, .deviceEnded, .pushesUnwanted]) { Self.tell(outbox, of: $0) }
        store.hub.add(hearing: .webhooksFilled) { _ in webhooks.wake() }
    }

    /// Every provider there is, and whether it has credentials.
    var configured: [(name: String, isConfigured: Bool)] {
        let providers = providers.value
        return PushService.allCases.map { ($0.rawValue, providers.has($0)) }
    }

    /// Credentials, Google's quota and the content of pushes; nothing is changed until the step is
    /// run.
    ///
    /// New credentials open new connections. A key that is known keeps its provider token, since
    /// Apple refuses a second one within 20 minutes.
    func reloading(
        _ settings: Settings,
        from old: Settings,
        _ reading: CategoryReading
    ) throws(StartError) -> ReloadStep {
        var changed: PushProviders?
        if settings.pushCredentials != old.pushCredentials {
            let apps = PushApps(
                settings: settings,
                transport: transport,
                http: process.http,
                time: process.time,
                tokens: tokens,
                metrics: metrics
            )
            changed = try apps.providers()
        }
        let content = Self.content(settings, process.sealer, reading)
        return { [outbox, providers, transport, changed] in
            if let changed { providers.replace(with: changed) }
            outbox.replace(providers.value, content: content, fcmPerMinute: settings.push.fcmPerMinute)
            if changed != nil { transport.renew() }
        }
    }

    /// What explanations of deliveries ask.
    var forecast: any PushForecast { outbox }

    /// Closes the connections to the providers, once the outbox has ended.
    func close() async {
        await transport.shutdown()
        try? await loops.shutdownGracefully()
    }

    /// What pushes show beside the message itself.
    private static func content(
        _ settings: Settings,
        _ sealer: KeySealer,
        _ reading: CategoryReading
    ) -> PushContent {
        let push = settings.push
        var content = PushContent(
            categories: reading.categories,
            states: reading.states,
            cursor: { MessageCursor(inTopicOf: $0)?.text(sealer: sealer) }
        )
        content.links = settings.server.incidentLinks(sealer)
        content.placeholderTitle = push.placeholderTitle
        content.placeholderBody = push.placeholderBody
        return content
    }

    /// The hash by which the log names a token, the same on all nodes and after a restart; nil
    /// where nobody asks for a line a delivery.
    private static func tokenHash(_ process: ProcessPart) -> (@Sendable (String) -> String)? {
        guard process.settings.server.logsDeliveries else { return nil }
        let key = process.serverKey.derived(for: .tokenHashes)
        return { token in
            String(Digest.hmacSHA256(Array(token.utf8), key: key).hexadecimal.prefix(16))
        }
    }

    /// Tells the outbox that something waits, or that something is not to be
    /// sent any more; never blocks.
    private static func tell(_ outbox: OutboxWorker, of events: [DomainEvent]) {
        for event in events {
            switch event {
            case .deviceEnded(let device, let reason): outbox.cancelPushes(to: device, reason: reason)
            case .pushesUnwanted(let user, let topic, let reason):
                outbox.cancelPushes(to: user, of: topic, reason: reason)
            case .incidentAnswered(let incident, let number): outbox.cancelPushes(of: incident, upTo: number)
            default: break
            }
        }
        if events.contains(.outboxFilled) { outbox.wake() }
    }
}

extension Settings {
    /// What the providers are made from.
    fileprivate var pushCredentials: Settings {
        var credentials = Settings()
        (credentials.apns, credentials.fcm, credentials.webPush, credentials.apps) = (apns, fcm, webPush, apps)
        return credentials
    }

    fileprivate var ofOutbox: OutboxSettings {
        var outbox = OutboxSettings()
        outbox.leaseSeconds = push.leaseSeconds
        outbox.inFlight = push.inFlight
        outbox.fcmPerMinute = push.fcmPerMinute
        outbox.stopSeconds = server.stopSeconds
        if push.staleDays > 0 { outbox.staleSeconds = Double(push.staleDays) * 86_400 }
        outbox.retry.lifetimeSeconds = push.lifetimeSeconds
        outbox.retry.maximumAttempts = push.maximumAttempts
        outbox.retry.replacement = push.retrySeconds
        return outbox
    }
}
