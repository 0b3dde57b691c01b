import GraphQLTransport
import Logging
import TocsinAPI
import TocsinAuth
import TocsinCore
import TocsinHTTP

/// Who signs in: by a password or with a provider; and what becomes of their sessions.
struct SignInPart: Sendable {
    let service: SignInService
    let sessions: SessionService
    let setup: SetupService
    let identities: IdentityService
    let cookies: SessionCookies
    /// The path of our first page, with a slash at its end.
    let home: String
    /// By which browsers find the server, base path included; nil where no address is set.
    let publicAddress: String?
    /// nil where nobody signs in with a provider.
    let providers: ProviderSessions?
    private let keeper: SessionKeeper
    private let refusals: RefusedSignIns

    init(_ process: ProcessPart, store: StorePart) {
        let (settings, logger) = (process.settings, process.log.logger(.signIn))
        let limits = SessionLimits(
            idleSeconds: settings.signIn.sessionIdleSeconds ?? SessionLimits().idleSeconds,
            lifetimeSeconds: settings.signIn.sessionLifetimeSeconds ?? SessionLimits().lifetimeSeconds
        )
        let secrets = SessionSecretText()
        refusals = RefusedSignIns(environment: store.environment) { Self.write($0, to: logger) }
        service = SignInService(
            environment: store.environment,
            limits: limits,
            secrets: secrets,
            passwords: store.environment.passwords ?? PasswordGate(),
            decoy: PasswordHash.decoy,
            takesPasswords: settings.signIn.takesPasswords,
            refusals: refusals,
            metrics: process.metrics.auth
        )
        sessions = SessionService(environment: store.environment, limits: limits, secrets: secrets)
        setup = SetupService(environment: store.environment, secrets: secrets, refusals: refusals)
        identities = IdentityService(environment: store.environment)
        keeper = SessionKeeper(store: store.store, time: process.time, limits: limits)
        home = settings.server.basePath + "/"
        publicAddress = settings.server.publicURL.map { $0 + settings.server.basePath }
        cookies = SessionCookies(
            Self.place(settings.server),
            path: settings.server.basePath.isEmpty ? "/" : settings.server.basePath
        )
        providers = ProviderSessions(process, store: store, sessions: sessions)
    }

    /// Takes a refused sign-in for log and audit; never waits.
    func note(_ refusal: SignInRefusal) { refusals.note(refusal) }

    /// Takes what no page of ours has sent, and what it lacks; never waits.
    func notePageRefused(_ lack: String, from origin: RequestOrigin? = RequestOrigin.current) {
        note(SignInRefusal(reason: SignInRefusal.ofPage, sentence: lack, origin: origin))
    }

    /// Takes that a session was used; never waits.
    var used: @Sendable (Session) -> Void {
        let (keeper, providers) = (keeper, providers)
        return { session in
            keeper.note(session)
            providers?.note(session)
        }
    }

    /// Works beside requests until it is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await refusals.run() }
            group.addTask { await keeper.run() }
            if let providers { group.addTask { await providers.run() } }
        }
    }

    /// Tells the set-up code once, where there is no administrator and none was told.
    func tellSetupCode(address: String, publicURL: String?, to logger: Logger, time: any TimeSource) async {
        let code = SessionSecretText().makeSetupCode()
        while !Task.isCancelled {
            do throws(ServiceError) {
                guard try await setup.begin(code: code) else { return }
                logger.notice(
                    "there is no administrator yet: open the set-up address and enter the code; it is told once",
                    metadata: [
                        "event": "setup_code", "address": "\(publicURL ?? address)/auth/setup",
                        "setup_code": "\(code)",
                    ]
                )
                return
            } catch .unavailable {
                // The store has said so.
            } catch {
                return logger.error(
                    "the set-up code could not be made",
                    metadata: ["event": "setup_code_not_made", "reason": "\(error)"]
                )
            }
            try? await time.sleep(until: time.now().adding(seconds: 1))
        }
    }

    private static func place(_ server: Settings.Server) -> SessionCookies.Place {
        guard let url = server.publicURL?.lowercased() else {
            return .loopback(scheme: server.tlsCertificatePath == nil ? "http" : "https")
        }
        // Plain http is for this machine alone.
        return EndpointAddress(url) == nil ? .unsafe : .origin(url)
    }

    private static func write(_ refusal: SignInRefusal, to logger: Logger) {
        var metadata: Logger.Metadata = ["event": "sign_in_refused", "reason": "\(refusal.reason)"]
        if let user = refusal.user { metadata["user"] = "\(user)" }
        if let provider = refusal.provider { metadata["provider"] = "\(provider)" }
        if let network = refusal.origin?.network { metadata["network"] = "\(network)" }
        if let id = refusal.origin?.requestID { metadata["request_id"] = "\(id)" }
        if let sentence = refusal.sentence { metadata["detail"] = "\(sentence)" }
        logger.notice("a sign-in was refused", metadata: metadata)
    }
}
