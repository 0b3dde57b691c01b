import JSON
import Synchronization
import TocsinAuth
import TocsinCore

/// Sessions of people for whom a sign-in provider vouches, and whether it still does.
final class ProviderSessions: Sendable {
    let signIns: OIDCSignIns
    private let pools: [String: Identity.Provider]
    /// The claim under which grants look for groups.
    private let groupClaim: String
    private let sessions: SessionService
    private let store: any Store
    private let sealer: any Sealer
    private let time: any TimeSource
    private let asked = Mutex<[TokenID: Timestamp]>([:])
    private let queue: AsyncStream<TokenID>
    private let inbox: AsyncStream<TokenID>.Continuation

    /// How often at most a provider is asked of a session that is used.
    private static let pauseSeconds = 900.0
    private static let maximumSessions = 10_000
    private static let scope = "session provider"
    /// What may be sealed of a provider's tokens; more could not be opened again.
    private static let maximumSecretBytes = 10_000

    /// nil where the settings name no provider.
    init?(_ process: ProcessPart, store: StorePart, sessions: SessionService) {
        let settings = process.settings
        guard let url = settings.server.publicURL, let address = EndpointAddress(url + settings.server.basePath) else {
            return nil
        }
        let all = settings.signIn.allOIDC
        guard !all.isEmpty else { return nil }
        let providers = settings.signIn.providers
        let pool: Identity.Provider = settings.signIn.provider == "oidc" ? .oidc : .userPools
        pools = Dictionary(providers.filter(\.isUserPool).map { ($0.id, pool) }) { first, _ in first }
        groupClaim = store.environment.claimedGroups.claim
        (self.sessions, self.store) = (sessions, store.store)
        (sealer, time) = (process.sealer, process.time)
        signIns = OIDCSignIns(
            providers,
            publicAddress: address,
            sealer: process.sealer,
            http: process.http,
            time: process.time,
            metrics: process.metrics.auth
        )
        (queue, inbox) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1000))
    }

    /// Keeps what providers say of themselves, and asks them of sessions that are used, until it is
    /// cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.signIns.run() }
            for await id in queue { await renew(id) }
        }
    }

    /// Takes other settings of the providers, whose ids and issuers stay.
    func reload(_ signIn: Settings.SignIn) { signIns.replace(signIn.providers) }

    /// Takes that a session was used; never waits.
    func note(_ session: Session) {
        guard session.provider != nil, session.secrets != nil, let last = session.renewedAt else { return }
        let now = time.now()
        guard last.adding(seconds: Self.pauseSeconds) <= now else { return }
        let isDue = asked.withLock { asked in
            if asked.count >= Self.maximumSessions { asked.removeAll() }
            if let last = asked[session.id], now < last.adding(seconds: Self.pauseSeconds) { return false }
            asked[session.id] = now
            return true
        }
        if isDue { inbox.yield(session.id) }
    }

    private func renew(_ id: TokenID) async {
        do {
            let session = try await store.read { reader throws(StoreError) in try reader.session(id) }
            guard let session, session.isGood(at: time.now()), let provider = session.provider,
                let signIn = signIns[provider], let tokens = tokens(of: session), let refresh = tokens.refresh,
                let user = try await provided(session)
            else { return }
            let outcome: SessionService.ProviderOutcome
            switch await signIn.renew(refresh, of: user) {
            case .renewed(let person, let newer):
                let kept = ProviderTokens(refresh: newer ?? refresh, identity: tokens.identity)
                outcome = .renewed(person.map { vouched($0) }, secrets: sealed(kept))
            case .ended(let refusal): outcome = .ended(reason: refusal.code.rawValue)
            case .unanswered: outcome = .unanswered
            }
            try await sessions.renew(id, outcome)
        } catch {
            // The next use asks again.
            asked.withLock { $0[id] = nil }
        }
    }

    /// Whom the provider of a session vouches for, by the id of a user of their own; nil where the
    /// provider is no longer set, or the identity no longer linked.
    func provided(_ session: Session) async throws(StoreError) -> UserID? {
        guard let id = session.identityID else { return session.userID }
        let identity = try await store.read { reader throws(StoreError) in try reader.identity(id) }
        guard let identity, let provider = session.provider.flatMap({ signIns[$0]?.provider }),
            provider.issuer == identity.issuer
        else { return nil }
        return provider.userID(ofSubject: identity.subject)
    }

    /// Somebody who has signed in, as a session takes them.
    func person(of signedIn: SignedIn) -> VouchedPerson {
        var person = vouched(signedIn.person)
        person.isElevated = signedIn.elevated != nil
        person.mustBeKnown = signIns[person.provider]?.provider.signup == .invited
        person.secrets = sealed(ProviderTokens(refresh: signedIn.refreshToken, identity: signedIn.idToken))
        return person
    }

    private func vouched(_ person: ProviderPerson) -> VouchedPerson {
        let pool = pools[person.provider]
        // Names of other providers' people must not be taken for those of anybody here.
        let name = pool == nil ? person.provider + ":" + person.username : person.username
        var vouched = VouchedPerson(
            provider: person.provider,
            issuer: person.issuer,
            subject: person.subject,
            userID: person.userID,
            username: name
        )
        vouched.vouchedBy = pool ?? .userPools
        vouched.claims = person.claims
        if !person.groups.isEmpty {
            for claim in [AccessRule.groupClaim, groupClaim] { vouched.claims[claim] = person.groups }
        }
        vouched.isAdmin = person.isAdmin
        vouched.providerSession = person.providerSession
        return vouched
    }

    /// Where the browser ends its session with the provider; nil where it cannot.
    func logoutAddress(of session: Session, returnAddress: String) async -> String? {
        guard let provider = session.provider, let signIn = signIns[provider] else { return nil }
        let identity = tokens(of: session)?.identity
        return await signIn.logoutAddress(idToken: identity, returnAddress: returnAddress)
    }
}

extension Settings.SignIn {
    /// The sign-in providers, that of variables first.
    var providers: [OIDCProvider] {
        allOIDC.enumerated().map { index, provider in
            // People of bearer tokens of the same issuer are the same people.
            provider.provider(isUserPool: issuer.map { $0 == provider.issuer } ?? (index == 0))
        }
    }
}

/// A provider's tokens, as a session keeps them.
private struct ProviderTokens {
    var refresh: String?
    var identity: String?
}

extension ProviderSessions {
    private func sealed(_ tokens: ProviderTokens) -> String? {
        var members: JSONObject = [:]
        var room = Self.maximumSecretBytes
        for (name, text) in [("refresh", tokens.refresh), ("identity", tokens.identity)] {
            guard let text, text.utf8.count <= room else { continue }
            room -= text.utf8.count
            members[name] = .string(text)
        }
        return members.isEmpty ? nil : sealer.seal(JSONValue.object(members).serialized(), scope: Self.scope)
    }

    private func tokens(of session: Session) -> ProviderTokens? {
        guard let text = session.secrets, let bytes = sealer.open(text, scope: Self.scope),
            let members = (try? JSONParser.parse(bytes))?.objectValue
        else { return nil }
        return ProviderTokens(
            refresh: members["refresh"]?.stringValue,
            identity: members["identity"]?.stringValue
        )
    }
}
