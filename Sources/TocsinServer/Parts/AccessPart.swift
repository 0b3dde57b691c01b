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

    init(_ process: ProcessPart, store: StorePart, signIn: SignInPart, schema: APISchema) throws(StartError) {
        let time = process.time
        (self.time, jobs, logger) = (time, process.metrics.jobs, process.logger)
        let userFacts = UserFactsKeeper(
            store: store.store,
            time: time,
            rights: PushRights(
                topics: schema.topics,
                messages: schema.messages,
                claimedGroups: store.environment.claimedGroups
            )
        )
        let authenticator = TokenAuthenticator(
            local: LocalTokens(process.serverKey),
            external: try Self.externalTokens(process)
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
            logger: process.logger
        )
    }

    /// Writes when tokens were last used, once a minute, until it is cancelled.
    func noteUses(_ store: any Store) async {
        let task = tokenUses.task(store)
        await task.run(by: time, counting: jobs) { logger.error("\(task.failure)", metadata: ["reason": "\($0)"]) }
    }

    /// nil where people sign in by the server's own tokens alone.
    private static func externalTokens(_ process: ProcessPart) throws(StartError) -> ExternalTokens? {
        let signIn = process.settings.signIn
        guard let issuer = signIn.issuer else { return nil }
        return ExternalTokens(
            issuer: issuer,
            audiences: Set(signIn.audiences),
            keys: try keySource(process),
            provider: signIn.provider == "oidc" ? .oidc : .userPools,
            usernameClaims: signIn.usernameClaims,
            claimedGroups: signIn.claimedGroups
        )
    }

    /// Tokens of the first sign-in provider, which is the user pool where nothing else is.
    private static func externalTokens(of providers: ProviderSessions?) -> ExternalTokens? {
        guard let first = providers?.signIns.all.first, first.provider.isUserPool else { return nil }
        return ExternalTokens(
            issuer: first.provider.issuer,
            audiences: [first.provider.clientID],
            keys: .discovered(first.discovery)
        )
    }

    private static func keySource(_ process: ProcessPart) throws(StartError) -> KeySource {
        let signIn = process.settings.signIn
        do {
            if let secret = signIn.hs256Secret { return .secret(try HMACKey(secret: Array(secret.contents.utf8))) }
            if let json = signIn.jwks { return .fixed(try KeySet(json: json)) }
        } catch {
            throw StartError(error.description)
        }
        guard let url = signIn.jwksURL else {
            throw StartError(
                "External sign-in needs keys: set TOCSIN_JWKS_URL, TOCSIN_JWKS_FILE or TOCSIN_JWT_HS256_SECRET."
            )
        }
        let gauge = process.metrics.auth?.makeKeySetGauge()
        return .remote(RemoteKeySet(url: url, http: process.http, time: process.time, fetchGauge: gauge))
    }
}
