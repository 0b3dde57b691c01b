import Logging
import NIOPosix
import TocsinAPI
import TocsinAuth
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
        logger: Logger
    ) throws(StartError) {
        do {
            var transportSettings = HTTP2Settings(authorityPath: settings.push.caPath)
            transportSettings.maximumConnections = settings.push.connections
            transport = try HTTP2Transport(group: loops, settings: transportSettings)
        } catch {
            throw StartError(error.description)
        }
        var providers: [any PushProvider] = []
        if let apns = try Self.apns(settings) {
            providers.append(
                APNsProvider(
                    credentials: apns,
                    transport: transport,
                    time: environment.time,
                    timeoutSeconds: settings.push.requestTimeoutSeconds
                )
            )
        }
        if let fcm = try Self.fcm(settings) {
            providers.append(
                FCMProvider(
                    credentials: fcm,
                    transport: transport,
                    http: http,
                    time: environment.time,
                    timeoutSeconds: settings.push.requestTimeoutSeconds
                )
            )
        }
        if let webPush = try Self.webPush(settings) {
            providers.append(
                WebPushProvider(
                    credentials: webPush,
                    crypto: WebPushCipher(),
                    rules: settings.webPush.rules,
                    transport: transport,
                    time: environment.time,
                    timeoutSeconds: settings.push.requestTimeoutSeconds
                )
            )
        }
        self.providers = [
            ("apns", settings.apns.isConfigured), ("fcm", settings.fcm.isConfigured),
            ("webpush", settings.webPush.isConfigured),
        ]
        worker = OutboxWorker(
            environment: environment,
            providers: providers,
            messages: schema.messages,
            topics: schema.topics,
            settings: Self.outboxSettings(settings),
            content: content,
            report: { PushLog.write($0, to: logger) }
        )
    }

    /// Tells the worker that something waits; never blocks.
    func wake() { worker.wake() }

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
        outbox.stopSeconds = settings.server.stopSeconds
        outbox.retry.lifetimeSeconds = settings.push.lifetimeSeconds
        outbox.retry.maximumAttempts = settings.push.maximumAttempts
        outbox.retry.replacement = settings.push.retrySeconds
        return outbox
    }

    private static func apns(_ settings: Settings) throws(StartError) -> APNsCredentials? {
        guard let teamID = settings.apns.teamID, let keyID = settings.apns.keyID, let key = settings.apns.privateKey
        else {
            return nil
        }
        var credentials = APNsCredentials(
            teamID: teamID,
            keyID: keyID,
            signer: try signer(key, of: "APNS_KEY_CONTENTS"),
            bundleID: settings.apns.bundleID,
            defaultEnvironment: settings.apns.isProduction ? .production : .sandbox,
            origin: settings.apns.endpoint
        )
        credentials.mayBeCritical = settings.apns.mayBeCritical
        return credentials
    }

    private static func fcm(_ settings: Settings) throws(StartError) -> FCMCredentials? {
        guard let projectID = settings.fcm.projectID, let email = settings.fcm.clientEmail,
            let key = settings.fcm.privateKey
        else { return nil }
        var credentials = FCMCredentials(
            projectID: projectID,
            clientEmail: email,
            keyID: settings.fcm.privateKeyID,
            signer: try signer(key, of: "FCM_PRIVATE_KEY")
        )
        if let endpoint = settings.fcm.endpoint { credentials.origin = endpoint }
        if let endpoint = settings.fcm.tokenEndpoint { credentials.tokenURL = endpoint }
        return credentials
    }

    private static func webPush(_ settings: Settings) throws(StartError) -> WebPushCredentials? {
        guard let key = try Wiring.vapidKey(settings), let subject = settings.webPush.subject else { return nil }
        return WebPushCredentials(signer: key, publicKey: key.publicText, subject: subject)
    }

    private static func signer(_ key: Secret, of name: String) throws(StartError) -> PrivateKey {
        do {
            return try PrivateKey(pem: key.contents)
        } catch {
            throw StartError("\(name): \(error.description)")
        }
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
