import Logging
import TocsinAPI
import TocsinAuth
import TocsinCore
import TocsinStore

/// Who may come in: whose tokens are good, what they say of people, and what has been revoked.
struct AccessPart: Sendable {
    let authenticator: TokenAuthenticator
    let userFacts: UserFactsKeeper
    let tokenUses = TokenUses()
    let revoked = RevocationList()
    let revocations: RevocationWatch
    private let time: any TimeSource
    private let jobs: JobMetrics
    private let logger: Logger
    private let keySource: ProviderKeySource
    private let providers: ProviderSessions?

    init(_ process: ProcessPart, store: StorePart, signIn: SignInPart, schema: APISchema) throws(StartError) {
        let time = process.time
        (self.time, jobs, providers) = (time, process.metrics.jobs, signIn.providers)
        logger = process.log.logger(.signIn)
        keySource = ProviderKeySource(http: process.http, time: time, metrics: process.metrics.auth)
        let userFacts = UserFactsKeeper(
            store: store.store,
            time: time,
            sharing: SharingService(
                environment: store.environment,
                rights: PushRights(
                    topics: schema.topics,
                    messages: schema.messages,
                    claimedGroups: store.environment.claimedGroups
                )
            )
        )
        let authenticator = TokenAuthenticator(
            local: LocalTokens(process.serverKey),
            external: try keySource.externalTokens(process.settings.signIn)
                ?? Self.externalTokens(of: signIn.providers),
            store: store.store,
            time: time,
            uses: tokenUses,
            noted: userFacts.note,
            sessionUsed: signIn.used,
            claimedGroups: store.environment.claimedGroups,
            metrics: process.metrics.auth
        )
        (self.userFacts, self.authenticator) = (userFacts, authenticator)
        let revoked = revoked
        store.hub.add(hearing: .accessEnded) { events in
            for event in events {
                authenticator.observe(event)
                // Known at once to whoever asks the list; who needs to be told hears this event.
                if case .rightsChanged(let user, let moment) = event { _ = revoked.note([user: moment]) }
            }
        }
        revocations = RevocationWatch(
            store: store.store,
            list: revoked,
            hub: store.hub,
            time: time,
            isTold: process.node != nil,
            logger: logger
        )
    }

    /// Writes when tokens were last used, once a minute, until it is cancelled.
    func noteUses(_ store: any Store) async {
        let task = tokenUses.task(store)
        await task.run(by: time, counting: jobs) {
            logger.error("\(task.failure)", metadata: ["event": "token_uses_unwritten", "reason": "\($0)"])
        }
    }

    /// Other keys for the sign-in provider's tokens; nothing is changed until the step is run.
    func reloading(_ signIn: Settings.SignIn) throws(StartError) -> ReloadStep {
        let external = try keySource.externalTokens(signIn)
        return { [authenticator, providers] in
            // Those of a provider follow its settings, which have changed by now.
            authenticator.replaceExternal(with: external ?? Self.externalTokens(of: providers))
        }
    }

    /// Tokens of the first sign-in provider, which is the user pool where nothing else is.
    private static func externalTokens(of providers: ProviderSessions?) -> ExternalTokens? {
        guard let first = providers?.signIns.all.first, first.provider.isUserPool else { return nil }
        return ExternalTokens(
            issuer: first.provider.issuer,
            audiences: [first.provider.clientID],
            keys: .discovered(first.discovery),
            areToBeKnown: first.provider.signup == .invited
        )
    }
}
