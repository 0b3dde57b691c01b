import JSON
package import TocsinCore

/// Turns a bearer token into an identity: one of the server's own, or one of the configured sign-in
/// provider; or an API key.
///
/// The token's issuer decides which rules it must satisfy; what it says is believed only
/// after they have been checked.
package struct TokenAuthenticator: Authenticator {
    /// How long a local token is believed without its row being read again, should
    /// no event tell of its end.
    private static let localMemorySeconds = 5.0
    private static let externalMemorySeconds = 60.0

    private let local: LocalTokens
    private let external: Reloadable<ExternalTokens?>
    let store: any Store
    let time: any TimeSource
    let verified = VerifiedTokens()
    /// Is told whom a token names, when it was verified anew; must not wait.
    let noted: @Sendable (Identity) -> Void
    /// Is told of each session that was verified anew; must not wait.
    ///
    /// nil: there are no sessions.
    let sessionUsed: (@Sendable (Session) -> Void)?
    /// How the groups of people of sign-in providers are taken.
    let claimedGroups: ClaimedGroups
    private let uses: TokenUses?
    let metrics: AuthMetrics?

    /// `external` is nil when no sign-in provider is configured; `uses` is told of local tokens and
    /// keys that were used.
    package init(
        local: LocalTokens,
        external: ExternalTokens?,
        store: any Store,
        time: any TimeSource,
        uses: TokenUses? = nil,
        noted: @escaping @Sendable (Identity) -> Void = { _ in },
        sessionUsed: (@Sendable (Session) -> Void)? = nil,
        claimedGroups: ClaimedGroups = ClaimedGroups(),
        metrics: AuthMetrics? = nil
    ) {
        (self.sessionUsed, self.claimedGroups, self.metrics) = (sessionUsed, claimedGroups, metrics)
        (self.noted, self.uses) = (noted, uses)
        self.local = local
        self.external = Reloadable(external)
        self.store = store
        self.time = time
    }

    /// Takes other keys, or other rules, for the sign-in provider's tokens; what was verified by
    /// the old ones is verified anew.
    package func replaceExternal(with external: ExternalTokens?) {
        self.external.replace(with: external)
        verified.forgetAll()
    }

    /// Verifies a token or API key; a token that was verified a moment ago is believed without a
    /// look at the store.
    package func authenticate(token: String, from address: String?) async -> AuthenticationResult {
        let digest = fingerprint(of: token)
        guard !digest.isEmpty else { return .refused(.malformed) }
        let now = time.now()
        if let identity = verified.identity(for: digest, now: now) { return Self.result(identity, from: address) }
        let begin = ContinuousClock.now
        let result = await verify(token, digest, now)
        metrics?.note(method(of: token), Self.outcome(of: result), took: .now - begin)
        guard case .identity(let identity) = result else { return result }
        if identity.isUsable(from: address) { uses?.note(identity, from: address, at: now) }
        return Self.result(identity, from: address)
    }

    /// A token is where it may not be used as one that was revoked: nobody learns that it is good
    /// elsewhere.
    private static func result(_ identity: Identity, from address: String?) -> AuthenticationResult {
        identity.isUsable(from: address) ? .identity(identity) : .refused(.revoked)
    }

    /// The ids in the token's claims.
    package func claimed(by token: String) -> (token: TokenID, user: UserID)? {
        guard let token = try? CompactToken(token), let id = token.claims["jti"]?.stringValue,
            let user = token.claims["sub"]?.stringValue, id.utf8.count <= 128, user.utf8.count <= 256
        else { return nil }
        return (TokenID(id), UserID(user))
    }

    /// SHA-256 of a token; empty for a text that can be no token.
    package func fingerprint(of token: String) -> [UInt8] {
        guard !token.isEmpty, token.utf8.count <= CompactToken.maximumBytes else { return [] }
        return Digest.sha256(Array(token.utf8))
    }

    /// The caller of a token that was verified before and is still believed; never waits.
    package func identity(rememberedBy fingerprint: [UInt8], from address: String?) -> Identity? {
        guard !fingerprint.isEmpty, let identity = verified.identity(for: fingerprint, now: time.now()) else {
            return nil
        }
        return identity.isUsable(from: address) ? identity : nil
    }

    /// What a text is that was shown as a token.
    private func method(of token: String) -> AuthMetrics.Method {
        if token.hasPrefix(APIKey.prefix) { return .key }
        if token.hasPrefix(Session.appPrefix) { return .session }
        guard external.value != nil, let issuer = try? CompactToken(token).claims["iss"]?.stringValue else {
            return .token
        }
        return issuer == LocalTokens.issuer ? .token : .jwt
    }

    static func outcome(of result: AuthenticationResult) -> AuthMetrics.Outcome {
        switch result {
        case .identity: .ok
        case .refused(.expired): .expired
        case .refused(.revoked): .revoked
        case .refused: .bad
        case .unavailable: .away
        }
    }

    /// Apart, so that tokens that are remembered pay nothing for what the others need.
    private func verify(_ token: String, _ digest: [UInt8], _ now: Timestamp) async -> AuthenticationResult {
        let generation = verified.generation
        do throws(TokenProblem) {
            let identity: Identity
            if token.hasPrefix(APIKey.prefix) {
                identity = try await bearer(ofKey: APIKeyText.hexadecimal(digest), now: now)
            } else if token.hasPrefix(Session.appPrefix) {
                identity = try await self.identity(ofSession: token, .app, now: now)
            } else {
                identity = try await self.identity(of: try CompactToken(token), now: now)
            }
            remember(identity, digest, now, generation)
            return .identity(identity)
        } catch {
            return Self.result(of: error)
        }
    }

    func remember(_ identity: Identity, _ digest: [UInt8], _ now: Timestamp, _ generation: Int) {
        let seconds = identity.tokenID == nil ? Self.externalMemorySeconds : Self.localMemorySeconds
        let memoryEnd = now.adding(seconds: seconds)
        let goodUntil = identity.expiresAt.map { min($0, memoryEnd) } ?? memoryEnd
        verified.remember(identity, for: digest, until: goodUntil, generation: generation)
    }

    /// To be told of every event of the store: a revoked token or disabled
    /// user is forgotten at once, and so are the groups that somebody had.
    package func observe(_ event: DomainEvent) {
        switch event {
        case .accessEnded(let user, let token): verified.forget(user, token)
        case .rightsChanged(let user, let moment): verified.forget(user, before: moment)
        default: return
        }
    }

    private func identity(of token: CompactToken, now: Timestamp) async throws(TokenProblem) -> Identity {
        switch token.claims["iss"]?.stringValue {
        case LocalTokens.issuer?:
            let identity = try await local.identity(of: try local.claims(of: token, now: now), in: store, now: now)
            noted(identity)
            return identity
        case let issuer?:
            guard let external = external.value, external.issuer == issuer else { throw .notAuthorized }
            return try await user(of: try await external.identity(of: token, now: now), external)
        case nil: throw .notAuthorized
        }
    }

    /// The bearer of the API key with this digest; one that is unknown, over or revoked
    /// is refused all the same.
    private func bearer(ofKey digest: String, now: Timestamp) async throws(TokenProblem) -> Identity {
        let key: APIKey?
        do throws(StoreError) {
            // Whoever sends a text that looks like a key asks for this. Such reads take turns as
            // 256 owners do: few beside all owners, and a flood of made-up keys fills the line of a
            // true one by a 256th of it.
            key = try await store.read(for: .owner("key \(digest.prefix(2))")) { reader throws(StoreError) in
                try reader.apiKey(digest: digest)
            }
        } catch {
            throw .unavailable(reason: error.description)
        }
        guard let key, key.isGood(at: now) else { throw .notAuthorized }
        return key.identity
    }

    static func result(of problem: TokenProblem) -> AuthenticationResult {
        switch problem {
        case .malformed: .refused(.malformed)
        case .expired: .refused(.expired)
        case .revoked: .refused(.revoked)
        case .notAuthorized: .refused(.notAuthorized)
        case .unavailable(let reason): .unavailable(reason: reason)
        }
    }
}
