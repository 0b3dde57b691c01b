import Synchronization
import TocsinAuth
import TocsinCore
import TocsinHTTP2
import TocsinPush

/// Makes the providers of all apps from settings.
struct PushApps {
    private let settings: Settings
    private let transport: HTTP2Transport
    private let http: any OutgoingHTTP
    private let time: any TimeSource
    private let metrics: PushMetrics
    private let tokens: APNsTokenSources

    init(
        settings: Settings,
        transport: HTTP2Transport,
        http: any OutgoingHTTP,
        time: any TimeSource,
        tokens: APNsTokenSources,
        metrics: PushMetrics
    ) {
        self.metrics = metrics
        self.settings = settings
        self.transport = transport
        self.http = http
        self.time = time
        self.tokens = tokens
    }

    func providers() throws(StartError) -> PushProviders {
        var apps = [try defaultApp()]
        for app in settings.apps { apps.append(try self.app(app)) }
        return PushProviders(apps.filter { !$0.providers.isEmpty }, browsers: try webPush())
    }

    /// The app whose credentials stand outside of apps.
    ///
    /// If it names no bundle, its key serves every app of the team. A Firebase project serves
    /// everybody while there is no other app.
    private func defaultApp() throws(StartError) -> PushProviders.App {
        var app = PushProviders.App(providers: [])
        if let apple = try apple(settings.apns, Set(PushEnvironment.allCases), of: "APNS_KEY_CONTENTS") {
            app.providers.append(apple)
            if settings.apns.bundleID == nil { app.adopts.insert(.apns) }
        }
        if let google = try google(settings.fcm, [settings.apns], of: "FCM_PRIVATE_KEY") {
            app.providers.append(google)
            if settings.apps.isEmpty { app.adopts.insert(.fcm) }
        }
        app.aliases = Set([settings.apns.bundleID, settings.fcm.projectID].compactMap(\.self))
        return app
    }

    private func app(_ settings: Settings.App) throws(StartError) -> PushProviders.App {
        var app = PushProviders.App(id: settings.id, providers: [])
        for key in settings.apns {
            if let apple = try apple(key.settings, key.environments, of: settings.id) { app.providers.append(apple) }
            if let bundleID = key.settings.bundleID { app.aliases.insert(bundleID) }
        }
        if let fcm = settings.fcm, let google = try google(fcm, settings.apns.map(\.settings), of: settings.id) {
            app.providers.append(google)
        }
        if let projectID = settings.fcm?.projectID { app.aliases.insert(projectID) }
        if settings.isDefault { app.aliases.insert("") }
        app.aliases.remove(settings.id)
        return app
    }

    private func apple(
        _ apns: Settings.APNs,
        _ environments: Set<PushEnvironment>,
        of name: String
    ) throws(StartError) -> APNsProvider? {
        guard let teamID = apns.teamID, let keyID = apns.keyID, let key = apns.privateKey else { return nil }
        let signer = try Self.signer(key, of: name)
        let fallback: PushEnvironment = apns.isProduction ? .production : .sandbox
        let edition = String(Digest.sha256(Array(key.contents.utf8)).hexadecimal.prefix(16))
        let source = tokens.source(teamID: teamID, keyID: keyID, edition: edition, signer: signer)
        var credentials = APNsCredentials(
            teamID: teamID,
            keyID: keyID,
            signer: signer,
            bundleID: apns.bundleID,
            defaultEnvironment: fallback,
            environments: environments,
            origin: apns.endpoint
        )
        credentials.mayBeCritical = apns.mayBeCritical
        credentials.edition = "/" + edition
        return APNsProvider(
            credentials: credentials,
            transport: transport,
            time: time,
            tokens: source,
            timeoutSeconds: settings.push.requestTimeoutSeconds,
            metrics: metrics[.apns]
        )
    }

    /// `apple` says what Apple lets the same app do, for its iPhones that Firebase reaches.
    private func google(
        _ fcm: Settings.FCM,
        _ apple: [Settings.APNs],
        of name: String
    ) throws(StartError) -> FCMProvider? {
        guard let projectID = fcm.projectID, let email = fcm.clientEmail, let key = fcm.privateKey else { return nil }
        var credentials = FCMCredentials(
            projectID: projectID,
            clientEmail: email,
            keyID: fcm.privateKeyID,
            signer: try Self.signer(key, of: name)
        )
        credentials.mayBeCritical = apple.contains { $0.mayBeCritical }
        if let endpoint = fcm.endpoint { credentials.origin = endpoint }
        if let endpoint = fcm.tokenEndpoint { credentials.tokenURL = endpoint }
        return FCMProvider(
            credentials: credentials,
            transport: transport,
            http: http,
            time: time,
            timeoutSeconds: settings.push.requestTimeoutSeconds,
            metrics: metrics[.fcm]
        )
    }

    private func webPush() throws(StartError) -> WebPushProvider? {
        guard let key = try settings.webPush.key(), let subject = settings.webPush.subject else { return nil }
        return WebPushProvider(
            credentials: WebPushCredentials(signer: key, publicKey: key.publicText, subject: subject),
            crypto: WebPushCipher(),
            rules: settings.webPush.rules,
            transport: transport,
            time: time,
            timeoutSeconds: settings.push.requestTimeoutSeconds,
            metrics: metrics[.webPush]
        )
    }

    private static func signer(_ key: Secret, of name: String) throws(StartError) -> PrivateKey {
        do {
            return try PrivateKey(pem: key.contents)
        } catch {
            throw StartError("\(name): \(error.description)")
        }
    }
}

/// The provider tokens of Apple's keys, one for each key, whichever apps use it and however often
/// settings are reloaded: Apple refuses a second token of a key within 20 minutes.
final class APNsTokenSources: Sendable {
    private let time: any TimeSource
    private let sources = Mutex<[String: APNsTokenSource]>([:])
    /// Keys that are remembered; more than any server has.
    private static let maximumSources = 1000

    private let metrics: PushMetrics

    init(time: any TimeSource, metrics: PushMetrics) { (self.time, self.metrics) = (time, metrics) }

    /// - Parameter edition: Tells keys apart that have one id.
    func source(teamID: String, keyID: String, edition: String, signer: any Signer) -> APNsTokenSource {
        sources.withLock { sources in
            let name = [teamID, keyID, edition].joined(separator: "/")
            if let source = sources[name] { return source }
            if sources.count >= Self.maximumSources { sources = [:] }
            let source = APNsTokenSource(
                teamID: teamID,
                keyID: keyID,
                signer: signer,
                time: time,
                metrics: metrics[.apns]
            )
            sources[name] = source
            return source
        }
    }
}

extension Settings.WebPush {
    /// What browsers' subscriptions are checked by, whether or not pushes to them can be signed.
    func registrar() throws(StartError) -> WebPushRegistrar {
        WebPushRegistrar(applicationServerKey: try key()?.publicText, crypto: WebPushCipher(), rules: rules)
    }

    fileprivate func key() throws(StartError) -> VAPIDKey? {
        guard let privateKey else { return nil }
        do {
            return try VAPIDKey(privateText: privateKey.contents)
        } catch {
            throw StartError("VAPID_PRIVATE_KEY: \(error.description)")
        }
    }
}
