import JSON
package import TocsinCore

/// Verifies tokens of the sign-in provider (Cognito, Auth0, Keycloak…).
package struct ExternalTokens: Sendable {
    let issuer: String
    private let rules: ClaimRules
    private let keys: KeySource
    private let provider: Identity.Provider
    private let usernameClaims: [String]
    /// Whether the issuer's people come in only if they are known here.
    let areToBeKnown: Bool
    private let claimedGroups: ClaimedGroups

    /// Tokens must name exactly this issuer and one of the audiences.
    ///
    /// - Parameters:
    ///   - provider: whether the issuer stands for the user pool, whose people rules for owners
    ///     mean unless they say otherwise, or is beside it.
    ///   - usernameClaims: the first of these that is there names the user.
    ///   - claimedGroups: how the groups that tokens name are taken.
    ///   - areToBeKnown: whether only people come in who are known here (`TOCSIN_OIDC_SIGNUP`).
    package init(
        issuer: String,
        audiences: Set<String>,
        keys: KeySource,
        provider: Identity.Provider = .userPools,
        usernameClaims: [String] = OwnerClaims.usernameClaims,
        claimedGroups: ClaimedGroups = ClaimedGroups(),
        areToBeKnown: Bool = false
    ) {
        self.areToBeKnown = areToBeKnown
        self.claimedGroups = claimedGroups
        self.issuer = issuer
        self.provider = provider
        self.usernameClaims = usernameClaims
        self.rules = ClaimRules(issuer: issuer, audiences: audiences)
        self.keys = keys
    }

    /// The identity of a token, its signature checked first.
    func identity(of token: CompactToken, now: Timestamp) async throws(TokenProblem) -> Identity {
        guard try await isSigned(token) else { throw .notAuthorized }
        let expiry = try rules.expiry(of: token.claims, now: now)
        if let use = token.claims["token_use"], use != .string("access"), use != .string("id") {
            throw .notAuthorized
        }
        let (userID, username) = try OwnerClaims.read(token.claims, usernameClaims: usernameClaims)
        let claims = OwnerClaims.named(in: token.claims)
        return Identity(
            userID: userID,
            username: username,
            expiresAt: expiry,
            provider: provider,
            claims: claims,
            claimedGroups: claimedGroups.subjects(in: claims)
        )
    }

    /// The algorithm is the key's; a token that names another one is not believed.
    private func isSigned(_ token: CompactToken) async throws(TokenProblem) -> Bool {
        let key: PublicKey?
        switch keys {
        case .secret(let secret):
            return token.algorithm == secret.algorithm && secret.verifies(token.signature, for: token.signedBytes)
        case .fixed(let set): key = set.key(id: token.keyID)
        // The others are not worth a fetch: no key of a provider could have made them.
        case .remote(let set):
            guard SignatureAlgorithm.publicNames.contains(token.algorithm) else { return false }
            key = try await set.key(id: token.keyID)
        case .discovered(let provider):
            guard SignatureAlgorithm.publicNames.contains(token.algorithm) else { return false }
            key = try await provider.key(id: token.keyID)
        }
        guard let key, key.algorithm.isNamed(token.algorithm) else { return false }
        return key.verifies(token.signature, for: token.signedBytes)
    }
}
