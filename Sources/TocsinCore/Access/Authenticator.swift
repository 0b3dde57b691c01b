/// Turns a bearer token or an API key into an identity.
package protocol Authenticator: Sendable {
    /// The identity, or why not; `token` has no `Bearer ` prefix. What begins with
    /// `APIKey.prefix` is an API key.
    ///
    /// A token that may not be used from `address` is refused as a revoked one is. Nil stands for
    /// an address that is not known.
    func authenticate(token: String, from address: String?) async -> AuthenticationResult

    /// The identity of a browser's session by the secret in its cookie, or why not.
    func authenticate(cookie: String) async -> AuthenticationResult

    /// What stands for a cookie's secret where it is remembered; no token has the same.
    func fingerprint(ofCookie cookie: String) -> [UInt8]

    /// What a token of which the signature held says of itself: its id, and whose it is.
    ///
    /// To be asked of tokens that are over or revoked alone: of others it is not known whether they
    /// are anybody's.
    func claimed(by token: String) -> (token: TokenID, user: UserID)?

    /// What stands for a token where it is remembered; it tells nothing of the token's text.
    /// Empty for what is no token.
    func fingerprint(of token: String) -> [UInt8]

    /// The identity found for the token of this fingerprint a short while ago, if it still holds
    /// and the token may be used from `address`.
    func identity(rememberedBy fingerprint: [UInt8], from address: String?) -> Identity?
}

extension Authenticator {
    /// Tokens say nothing.
    package func claimed(by token: String) -> (token: TokenID, user: UserID)? { nil }

    /// The identity of a token that comes from nowhere that is known.
    package func authenticate(token: String) async -> AuthenticationResult {
        await authenticate(token: token, from: nil)
    }

    /// There are no sessions.
    package func authenticate(cookie: String) async -> AuthenticationResult { .refused(.notAuthorized) }

    /// Nothing is remembered.
    package func fingerprint(ofCookie cookie: String) -> [UInt8] { [] }

    /// Nothing is remembered.
    package func fingerprint(of token: String) -> [UInt8] { [] }

    /// Nobody is remembered.
    package func identity(rememberedBy fingerprint: [UInt8], from address: String?) -> Identity? { nil }
}

/// What came of a token.
package enum AuthenticationResult: Sendable, Hashable {
    case identity(Identity)
    /// The reason may be shown to the client: it tells nothing about the server's inside.
    case refused(AuthenticationRefusal)
    /// The keys or the store cannot be read just now.
    case unavailable(reason: String)
}

/// Why a token was refused.
package enum AuthenticationRefusal: String, Sendable, Hashable {
    case malformed = "Unable to parse JWT token."
    case expired = "Token has expired."
    case revoked = "Token has been revoked."
    case notAuthorized = "You are not authorized to make this call."
}
