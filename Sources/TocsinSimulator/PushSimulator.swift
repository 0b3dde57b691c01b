import Encodings
package import JSON
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// Fake APNs, FCM, Google token endpoint and push service of browsers on loopback, that refuse
/// what the real ones refuse.
package final class PushSimulator: Sendable {
    /// How it was set up.
    package let settings: SimulatorSettings
    private let keys: SimulatorKeys
    private let group: MultiThreadedEventLoopGroup
    private let recorder: Recorder
    private let providerTokens: ProviderTokenRules
    private let accessTokens: AccessTokens
    private let browsers: WebPushBrowsers
    private let controls: ProviderControls
    private let control = Mutex<(any Channel)?>(nil)

    /// Makes the keys and certificates, or reads those of an earlier start.
    package init(settings: SimulatorSettings) throws(SimulatorError) {
        self.settings = settings
        keys = try SimulatorKeys(folder: settings.folder)
        group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, settings.threads))
        recorder = Recorder(settings: settings)
        controls = ProviderControls(settings: settings, recorder: recorder)
        let conditions = controls.conditions
        providerTokens = ProviderTokenRules(settings: settings, conditions: conditions, key: keys.apnsKey)
        accessTokens = AccessTokens(settings: settings, conditions: conditions, key: keys.accountKey)
        browsers = WebPushBrowsers(
            serverKey: Base64URL.encoded(keys.vapidKey.point),
            nowMilliseconds: settings.nowMilliseconds
        )
    }

    /// Opens the ports; returns where they are.
    package func start() async throws(SimulatorError) -> SimulatorAddresses {
        let listener = Listener(
            group: group,
            tls: try tlsContext(),
            connections: controls.connections,
            conditions: controls.conditions
        )
        let apns = try await open(.apns, settings.apnsPort, listener, apnsService, allowsHTTP1: false)
        let fcm = try await open(.fcm, settings.fcmPort, listener, fcmService, allowsHTTP1: true)
        let webPush = try await open(.webpush, settings.webPushPort, listener, webPushService, allowsHTTP1: false)
        do {
            let channel = try await listener.listenHTTP1(
                host: settings.host,
                port: settings.controlPort,
                service: controlService,
                browsers: browsers
            ).get()
            control.withLock { $0 = channel }
            return try announce(apns: apns, fcm: fcm, webPush: webPush, control: channel.localAddress?.port ?? 0)
        } catch let error as SimulatorError {
            throw error
        } catch {
            throw SimulatorError.listen(address: "\(settings.host):\(settings.controlPort)", reason: "\(error)")
        }
    }

    private func open(
        _ provider: SimulatedProvider,
        _ number: Int,
        _ listener: Listener,
        _ service: any WireService,
        allowsHTTP1: Bool
    ) async throws(SimulatorError) -> Int {
        let host = settings.host
        let port = ProviderPort(loop: group.next()) { number in
            listener.listenHTTP2(provider, host: host, port: number, allowsHTTP1: allowsHTTP1, service: service)
        }
        controls.add(port, of: provider)
        return try await port.open(number, host: host)
    }

    private var apnsService: FakeAPNs {
        FakeAPNs(settings: settings, tokens: providerTokens, conditions: controls.conditions, recorder: recorder)
    }

    private var fcmService: FakeFCM {
        FakeFCM(settings: settings, tokens: accessTokens, conditions: controls.conditions, recorder: recorder)
    }

    private var webPushService: FakeWebPush {
        FakeWebPush(settings: settings, browsers: browsers, conditions: controls.conditions, recorder: recorder)
    }

    /// A browser's subscription, as `POST /_subscribe` gives it; with the name of a
    /// script, one that meets it.
    package func makeSubscription(script: String? = nil) throws(SimulatorError) -> JSONValue {
        try browsers.subscribe(script: script, serverKey: nil)
    }

    /// Closes the ports and all connections.
    package func stop() async {
        let channel = control.withLock { channel in
            defer { channel = nil }
            return channel
        }
        // A channel that closed on its own meanwhile is as good as closed.
        _ = try? await channel?.close().get()
        await controls.stop()
        // Nothing is left to do when the threads do not end.
        try? await group.shutdownGracefully()
    }

    /// Cuts all connections, as a network fault would; the ports stay open.
    package func cutConnections() async { await controls.cutConnections() }

    /// Begins an outage of a provider, which ends by itself after `seconds` if they are
    /// given, or ends it with `nil`.
    package func setOutage(_ outage: Outage?, of provider: SimulatedProvider, seconds: Double? = nil) {
        controls.setOutage(outage, of: provider, seconds: seconds)
    }

    /// Puts a script in force, as `POST /_script` does.
    package func apply(_ script: SimulatorScript) { controls.apply(script) }

    /// Ends a provider's connections with GOAWAY, as `POST /_connections?do=goaway` does.
    package func goAway(_ provider: SimulatedProvider, lastStream: Int32? = nil, reason: String = "Shutdown") {
        _ = controls.tell(.goAway(GoAway(lastStream: lastStream, reason: reason)), to: provider)
    }

    /// Ends all access tokens given out so far: FCM answers 401 to them.
    package func endAccessTokens() { accessTokens.endAll() }

    /// Takes a phone off the net or brings it back, as `POST /_phone` does.
    package func setOnline(_ online: Bool, token: String) { controls.setOnline(online, token: token) }

    /// What a phone shows, as `GET /_screen?token=T` says; `nil` for a phone that
    /// was never sent anything.
    package func screen(of token: String) -> JSONValue? { recorder.screen(of: token) }

    /// What all phones show, in numbers, as `GET /_screens` says.
    package var screens: JSONValue { recorder.screens }

    /// Forgets pushes, counts, screens and outages, and goes back to the script of the
    /// start, as `POST /_reset` does.
    package func reset() { controls.reset() }

    /// The counters, as `GET /_stats` shows them.
    package var stats: JSONValue { controlService.stats }

    /// The kept pushes after a sequence number, as `GET /_pushes` shows them.
    package func pushes(since sequence: Int = 0) -> [JSONValue] {
        recorder.pushes(since: sequence).map(\.json)
    }

    /// A valid APNs provider token, as a sender would sign it; other ids or
    /// time make an invalid one.
    package func makeProviderToken(
        issuedAtSeconds: Int64? = nil,
        teamID: String? = nil,
        keyID: String? = nil
    ) throws(SimulatorError) -> String {
        try JSONWebToken.makeES256(
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
        try JSONWebToken.makeRS256(
            header: ["alg": "RS256", "typ": "JWT", "kid": .string(SimulatorKeys.accountKeyID)],
            claims: claims,
            key: keys.accountKey
        )
    }

    /// The service account's address: `iss` of assertions.
    package var accountEmail: String { SimulatorKeys.accountEmail(projectID: settings.projectID) }

    private var controlService: ControlService {
        ControlService(
            controls: controls,
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
            environment: variables(apnsURL: apnsURL, fcmURL: fcmURL, tokenURL: tokenURL)
        )
    }

    /// What a server needs to know to use the simulator.
    private func variables(apnsURL: String, fcmURL: String, tokenURL: String) -> [(name: String, value: String)] {
        [
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
    }
}

/// Why the simulator could not start.
package enum SimulatorError: Error, Sendable, CustomStringConvertible {
    /// A file or folder of the simulator could not be read or written.
    case file(path: String, reason: String)
    /// A key, certificate or signature could not be made or read.
    case keys(reason: String)
    /// A port could not be listened on.
    case listen(address: String, reason: String)

    /// What happened and what to do next.
    package var description: String {
        switch self {
        case .file(let path, let reason):
            "The simulator cannot use \(path): \(reason). Give it a folder it may write to."
        case .keys(let reason):
            "The simulator's keys are unusable: \(reason). Empty its folder, and it makes new ones."
        case .listen(let address, let reason):
            "The simulator cannot listen on \(address): \(reason). Choose another port, or 0 for any."
        }
    }
}
