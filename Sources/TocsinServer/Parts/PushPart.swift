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
    /// Every provider there is, and whether it has credentials.
    let providers: [(name: String, isConfigured: Bool)]
    private let transport: HTTP2Transport
    private let loops: MultiThreadedEventLoopGroup

    init(_ process: ProcessPart, store: StorePart, schema: APISchema) throws(StartError) {
        let (settings, http, logger) = (process.settings, process.http, process.logger)
        let reading = try Declarations.categories(path: settings.server.categoriesPath)
        categories = reading.categories
        loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        process.metrics.loopLag.watch(loops.makeIterator(), as: "push")
        do {
            var transportSettings = HTTP2Settings(authorityPath: settings.push.caPath)
            transportSettings.maximumConnections = settings.push.connections
            transport = try HTTP2Transport(group: loops, settings: transportSettings)
        } catch {
            throw StartError(error.description)
        }
        let metrics = PushMetrics()
        var apps = PushApps(
            settings: settings,
            transport: transport,
            http: http,
            time: process.time,
            metrics: metrics
        )
        let providers = try apps.providers()
        self.providers = PushService.allCases.map { ($0.rawValue, providers.has($0)) }
        var outboxSettings = settings.ofOutbox
        outboxSettings.listeners = store.listeners
        outboxSettings.node = process.node?.instance ?? settings.server.nodeName
        let outbox = OutboxWorker(
            environment: store.environment,
            providers: providers,
            messages: schema.messages,
            topics: schema.topics,
            settings: outboxSettings,
            content: Self.content(process, reading),
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
            report: { PushLog.write($0, to: logger) }
        )
        (self.outbox, self.webhooks) = (outbox, webhooks)
        process.metrics.add(outbox)
        process.metrics.add(transport)
        let (backlog, time) = (BacklogMetrics(), process.time)
        process.metrics.refresh?.add { reader throws(StoreError) in try backlog.families(reader, at: time.now()) }
        store.hub.add(hearing: [.outboxFilled, .deviceEnded, .pushesUnwanted]) { Self.tell(outbox, of: $0) }
        store.hub.add(hearing: .webhooksFilled) { _ in webhooks.wake() }
    }

    /// What explanations of deliveries ask.
    var forecast: any PushForecast { outbox }

    /// Closes the connections to the providers, once the outbox has ended.
    func close() async {
        await transport.shutdown()
        try? await loops.shutdownGracefully()
    }

    /// What pushes show beside the message itself.
    private static func content(_ process: ProcessPart, _ reading: CategoryReading) -> PushContent {
        let (push, sealer) = (process.settings.push, process.sealer)
        var content = PushContent(
            categories: reading.categories,
            states: reading.states,
            cursor: { MessageCursor(inTopicOf: $0)?.text(sealer: sealer) }
        )
        content.placeholderTitle = push.placeholderTitle
        content.placeholderBody = push.placeholderBody
        return content
    }

    /// The hash by which the log names a token, the same on all nodes and after a restart; nil
    /// where nobody asks for a line a delivery, or the log would drop it.
    private static func tokenHash(_ process: ProcessPart) -> (@Sendable (String) -> String)? {
        guard process.settings.server.logsDeliveries, process.logger.logLevel <= .debug else { return nil }
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
            default: break
            }
        }
        if events.contains(.outboxFilled) { outbox.wake() }
    }
}

extension Settings {
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
