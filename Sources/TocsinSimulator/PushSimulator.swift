package import JSON
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// Fake APNs, FCM, Google token endpoint and push service of browsers on loopback, that refuse what the real ones refuse.
package final class PushSimulator: Sendable {
    /// How it was set up.
    package let settings: SimulatorSettings
    private let keys: SimulatorKeys
    private let group: MultiThreadedEventLoopGroup
    private let recorder: Recorder
    private let providerTokens: ProviderTokenRules
    private let accessTokens: AccessTokens
    private let browsers: WebPushBrowsers
    private let listening = Mutex<[any Channel]>([])
    private let connections = ConnectionList()

    /// Makes the keys and certificates, or reads those of an earlier start.
    package init(settings: SimulatorSettings) throws(SimulatorError) {
        self.settings = settings
        keys = try SimulatorKeys(folder: settings.folder)
        group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, settings.threads))
        recorder = Recorder(settings: settings)
        providerTokens = ProviderTokenRules(settings: settings, key: keys.apnsKey)
        accessTokens = AccessTokens(settings: settings, key: keys.accountKey)
        browsers = WebPushBrowsers(serverKey: Base64URL.encode(keys.vapidKey.point))
    }

    /// Opens the ports; returns where they are.
    package func start() async throws(SimulatorError) -> SimulatorAddresses {
        let listener = Listener(group: group, tls: try tlsContext(), connections: connections)
        let apns = try await listener.listenHTTP2(
            host: settings.host,
            port: settings.apnsPort,
            allowsHTTP1: false,
            service: FakeAPNs(settings: settings, tokens: providerTokens, recorder: recorder)
        )
        listening.withLock { $0.append(apns) }
        let fcm = try await listener.listenHTTP2(
            host: settings.host,
            port: settings.fcmPort,
            allowsHTTP1: true,
            service: FakeFCM(settings: settings, tokens: accessTokens, recorder: recorder)
        )
        listening.withLock { $0.append(fcm) }
        let webPush = try await listener.listenHTTP2(
            host: settings.host,
            port: settings.webPushPort,
            allowsHTTP1: false,
            service: FakeWebPush(settings: settings, browsers: browsers, recorder: recorder)
        )
        listening.withLock { $0.append(webPush) }
        let control = try await listener.listenHTTP1(
            host: settings.host,
            port: settings.controlPort,
            service: controlService
        )
        listening.withLock { $0.append(control) }
        return try announce(apns: port(apns), fcm: port(fcm), webPush: port(webPush), control: port(control))
    }

    /// Closes the ports and all connections.
    package func stop() async {
        let open = listening.withLock { channels in
            defer { channels = [] }
            return channels
        }
        for channel in open { await Self.close(channel) }
        for channel in connections.all { await Self.close(channel) }
        do {
            try await group.shutdownGracefully()
        } catch {
            settings.printer?("The simulator's threads did not end: \(error)")
        }
    }

    /// Cuts all provider connections, as a network fault would; the ports stay open.
    package func cutConnections() async {
        for channel in connections.all { await Self.close(channel) }
    }

    /// Begins an outage of a provider, or ends it with `nil`.
    package func setOutage(_ outage: Outage?, of provider: SimulatedProvider) {
        recorder.setOutage(outage, of: provider)
    }

    /// Forgets pushes, counts, script uses and outages, as `POST /_reset` does.
    package func reset() { recorder.reset() }

    /// The counters, as `GET /_stats` shows them.
    package var stats: JSONValue { controlService.stats }

    /// The kept pushes after a sequence number, as `GET /_pushes` shows them.
    package func pushes(since sequence: Int = 0) -> [JSONValue] {
        recorder.pushes(since: sequence).map(\.json)
    }

    /// A valid APNs provider token, as a sender would sign it; other ids or time make an invalid one.
    package func makeProviderToken(
        issuedAtSeconds: Int64? = nil,
        teamID: String? = nil,
        keyID: String? = nil
    ) throws(SimulatorError) -> String {
        try WebToken.makeES256(
            header: ["alg": "ES256", "kid": .string(keyID ?? settings.keyID)],
            claims: [
                "iss": .string(teamID ?? settings.teamID),
                "iat": .int(issuedAtSeconds ?? settings.nowMilliseconds() / 1000),
            ],
            key: keys.apnsKey
        )
    }

    /// An access token for FCM, as the token endpoint would give out.
    package func makeAccessToken() -> String { accessTokens.issue() }

    /// An assertion for the token endpoint, with these claims, signed by the service account's key.
    package func makeAssertion(claims: JSONValue) throws(SimulatorError) -> String {
        try WebToken.makeRS256(
            header: ["alg": "RS256", "typ": "JWT", "kid": .string(SimulatorKeys.accountKeyID)],
            claims: claims,
            key: keys.accountKey
        )
    }

    /// The service account's address: `iss` of assertions.
    package var accountEmail: String { SimulatorKeys.accountEmail(projectID: settings.projectID) }

    /// A browser's subscription, as `POST /_subscribe` gives it; with the name of a `WebPushRule`, one that meets it.
    package func makeSubscription(script: String? = nil, serverKey: String? = nil) throws(SimulatorError) -> JSONValue {
        try browsers.subscribe(script: script, serverKey: serverKey)
    }

    private var controlService: ControlService {
        ControlService(
            recorder: recorder,
            providerTokens: providerTokens,
            accessTokens: accessTokens,
            browsers: browsers
        )
    }

    private func tlsContext() throws(SimulatorError) -> NIOSSLContext? {
        guard settings.tls else { return nil }
        do {
            let certificate = try NIOSSLCertificate(bytes: keys.serverCertificatePEM, format: .pem)
            let key = try NIOSSLPrivateKey(bytes: keys.serverKeyPEM, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: [.certificate(certificate)],
                privateKey: .privateKey(key)
            )
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["h2", "http/1.1"]
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw SimulatorError.keys(reason: "\(error)")
        }
    }

    private func port(_ channel: any Channel) -> Int { channel.localAddress?.port ?? 0 }

    private func announce(
        apns: Int,
        fcm: Int,
        webPush: Int,
        control: Int
    ) throws(SimulatorError) -> SimulatorAddresses {
        let scheme = settings.tls ? "https" : "http"
        let controlURL = "http://\(settings.host):\(control)"
        let tokenURL = settings.tls ? "https://localhost:\(fcm)/token" : "\(controlURL)/token"
        let others = [
            "https://\(settings.host):\(fcm)/token", "\(controlURL)/token", "http://localhost:\(control)/token",
        ]
        accessTokens.audiences.withLock { $0 = [tokenURL] + others }
        try keys.writeAccount(projectID: settings.projectID, tokenURI: tokenURL)
        let apnsURL = "\(scheme)://localhost:\(apns)"
        let webPushURL = "\(scheme)://localhost:\(webPush)"
        browsers.listen(at: [webPushURL, "\(scheme)://\(settings.host):\(webPush)"])
        let fcmURL = "\(scheme)://localhost:\(fcm)"
        return SimulatorAddresses(
            apns: apnsURL,
            fcm: fcmURL,
            token: tokenURL,
            webPush: webPushURL,
            vapidKey: browsers.serverKey,
            control: controlURL,
            authorityPath: keys.authorityPath,
            environment: [
                ("APNS_KEY_ID", settings.keyID),
                ("APNS_TEAM_ID", settings.teamID),
                ("APNS_AUTH_KEY_PATH", keys.apnsKeyPath),
                ("APNS_BUNDLE_ID", settings.bundleIDs.first ?? ""),
                ("APNS_ENDPOINT", apnsURL),
                ("GOOGLE_APPLICATION_CREDENTIALS", keys.accountPath),
                ("FCM_ENDPOINT", fcmURL),
                ("FCM_TOKEN_ENDPOINT", tokenURL),
                ("VAPID_PRIVATE_KEY_FILE", keys.vapidKeyPath),
                ("VAPID_SUBJECT", "mailto:simulator@example.com"),
                ("WEBPUSH_ALLOW_PRIVATE_ADDRESSES", "true"),
                ("TOCSIN_PUSH_CA_FILE", keys.authorityPath),
            ]
        )
    }

    private static func close(_ channel: any Channel) async {
        // A channel that closed on its own meanwhile is as good as closed.
        _ = try? await channel.close().get()
    }
}
