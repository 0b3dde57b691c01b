import Encodings
import JSON
import TocsinCore

/// What an ID token must say (OpenID Connect Core §3.1.3.7).
struct IDTokenRules {
    /// What is known of the sign-in that brought the token.
    struct Circumstances {
        /// What the token must repeat; nil: a renewal, which has none.
        var nonce: String?
        /// The access token that came with it.
        var accessToken: String?
        /// When the sign-in began; nil: a renewal.
        var startedAt: Timestamp?
        /// Whether the person must have proved to be there since then.
        var isFresh = false
    }

    private static let leewaySeconds = 60.0

    let issuer: String
    let clientID: String

    /// Throws the first thing that is wrong with what the token says.
    func check(_ token: IDToken, _ circumstances: Circumstances, now: Timestamp) throws(OIDCRefusal) {
        let claims = token.claims
        try checkParties(claims)
        try checkTimes(claims, since: circumstances.startedAt, now: now)
        if let nonce = circumstances.nonce { try checkNonce(claims, nonce) }
        if let access = circumstances.accessToken { try checkAccessHash(token, of: access) }
        if circumstances.isFresh, let start = circumstances.startedAt { try checkAuthTime(claims, since: start) }
    }

    private func checkParties(_ claims: JSONObject) throws(OIDCRefusal) {
        guard Self.text("iss", in: claims, is: issuer) else {
            throw OIDCRefusal(.tokenIssuer, "The ID token is not of the issuer \(issuer).")
        }
        let audiences = ClaimRules.audiences(in: claims)
        guard audiences.contains(where: { $0.utf8.elementsEqual(clientID.utf8) }) else {
            throw OIDCRefusal(.tokenAudience, "The ID token's audience is not the client id \(clientID).")
        }
        let isParty = Self.text("azp", in: claims, is: clientID)
        guard isParty || (claims["azp"] == nil && audiences.count == 1) else {
            throw OIDCRefusal(
                .tokenParty,
                "The ID token was made for another party: its azp must be \(clientID), for it has one or several "
                    + "audiences."
            )
        }
        if let use = claims["token_use"], use != .string("id") {
            throw OIDCRefusal(.tokenMalformed, "The provider sent another token in place of an ID token.")
        }
    }

    /// An ID token is made during its sign-in, give or take what clocks may differ.
    private func checkTimes(_ claims: JSONObject, since start: Timestamp?, now: Timestamp) throws(OIDCRefusal) {
        guard let end = try Self.moment("exp", in: claims), now < end else {
            throw OIDCRefusal(.tokenExpired, "The ID token is over or says no end. Are both clocks right?")
        }
        guard let issue = try Self.moment("iat", in: claims), issue <= now.adding(seconds: Self.leewaySeconds),
            start.map({ issue >= $0.adding(seconds: -Self.leewaySeconds) }) ?? true,
            try Self.moment("nbf", in: claims).map({ $0 <= now.adding(seconds: Self.leewaySeconds) }) ?? true
        else {
            throw OIDCRefusal(
                .tokenIssuedAt,
                "The ID token was not made during this sign-in, give or take a minute. Are both clocks right?"
            )
        }
    }

    private func checkNonce(_ claims: JSONObject, _ nonce: String) throws(OIDCRefusal) {
        let named = claims["nonce"]?.stringValue ?? ""
        guard Digest.isEqual(Array(named.utf8), Array(nonce.utf8)) else {
            throw OIDCRefusal(.tokenNonce, "The ID token has not the nonce of this sign-in.")
        }
    }

    /// The left half of the access token's hash (OpenID Connect Core §3.1.3.6), where it is told.
    ///
    /// The hash is that of the signature, which is SHA-512 inside Ed25519.
    private func checkAccessHash(_ token: IDToken, of access: String) throws(OIDCRefusal) {
        guard token.claims["at_hash"] != nil else { return }
        let bytes = Array(access.utf8)
        let hash = token.algorithm == .edDSA ? Digest.sha512(bytes) : Digest.sha256(bytes)
        let half = Base64URL.encoded(hash.prefix(hash.count / 2))
        guard Self.text("at_hash", in: token.claims, is: half) else {
            throw OIDCRefusal(.tokenAccessHash, "The ID token came with another access token than it was made for.")
        }
    }

    /// Times of tokens are whole seconds, so the request's is rounded down.
    private func checkAuthTime(_ claims: JSONObject, since start: Timestamp) throws(OIDCRefusal) {
        let second = Timestamp(milliseconds: start.milliseconds / 1000 * 1000)
        guard let moment = try Self.moment("auth_time", in: claims), moment >= second else {
            throw OIDCRefusal(
                .tokenAuthTime,
                "The provider does not say that the person signed in again for this: auth_time is absent or older than "
                    + "the request. Are both clocks right?"
            )
        }
    }

    private static func text(_ name: String, in claims: JSONObject, is value: String) -> Bool {
        claims[name]?.stringValue?.utf8.elementsEqual(value.utf8) ?? false
    }

    private static func moment(_ name: String, in claims: JSONObject) throws(OIDCRefusal) -> Timestamp? {
        do throws(TokenProblem) {
            return try ClaimRules.moment(name, in: claims)
        } catch {
            throw OIDCRefusal(.tokenMalformed, "The ID token's \(name) is no time in seconds.")
        }
    }
}
