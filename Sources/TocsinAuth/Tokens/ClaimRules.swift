import JSON
import TocsinCore

/// What every token's claims must satisfy (RFC 7519 §4.1).
struct ClaimRules: Sendable {
    /// How far two clocks may be apart; it counts for `nbf` and `iat`, but not for `exp`.
    static let leewaySeconds = 60.0

    let issuer: String
    /// The token's audience must be one of these; nil asks for none.
    let audiences: Set<String>?

    /// When the token ends; throws when it is not good at `now`.
    func expiry(of claims: JSONObject, now: Timestamp) throws(TokenProblem) -> Timestamp {
        guard claims["iss"] == .string(issuer) else { throw .notAuthorized }
        if let audiences, !Self.audiences(in: claims).contains(where: audiences.contains) { throw .notAuthorized }
        guard let expiry = try Self.moment("exp", in: claims) else { throw .notAuthorized }
        guard now < expiry else { throw .expired }
        let latest = now.adding(seconds: Self.leewaySeconds)
        if let start = try Self.moment("nbf", in: claims), latest < start { throw .notAuthorized }
        if let issue = try Self.moment("iat", in: claims), latest < issue { throw .notAuthorized }
        return expiry
    }

    /// `aud` as text or list of texts.
    ///
    /// Cognito's access tokens name their audience `client_id` and have no `aud`.
    static func audiences(in claims: JSONObject) -> [String] {
        switch claims["aud"] {
        case .string(let audience)?: return [audience]
        case .array(let values)?:
            let audiences = values.compactMap(\.stringValue)
            return audiences.count == values.count ? audiences : []
        case nil where claims["token_use"] == .string("access"):
            return claims["client_id"]?.stringValue.map { [$0] } ?? []
        default: return []
        }
    }

    /// Seconds since 1970, whole or not; throws for anything else.
    static func moment(_ name: String, in claims: JSONObject) throws(TokenProblem) -> Timestamp? {
        guard let value = claims[name] else { return nil }
        let seconds: Double
        switch value {
        case .int(let whole): seconds = Double(whole)
        case .double(let number): seconds = number
        default: throw .notAuthorized
        }
        guard seconds > -1e11, seconds < 1e11 else { throw .notAuthorized }
        return Timestamp(milliseconds: Int64(seconds * 1000))
    }
}

/// The claims that name an owner: `sub`, and `username` or `cognito:username`.
package enum OwnerClaims {
    /// Longer names are refused.
    package static let maximumCharacters = 256

    /// The claims that may hold the name people see; the first one present counts.
    ///
    /// Cognito's access and ID tokens come first, then what other providers send.
    package static let usernameClaims = ["username", "cognito:username", "preferred_username", "email"]

    /// Whether `text` can be one half of an owner: 1 to 256 printable characters.
    ///
    /// It must not contain `::`, which separates the halves, nor begin or end with a colon. So two
    /// callers never have the same owner text.
    package static func isValid(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        guard (1...maximumCharacters).contains(scalars.count), scalars.allSatisfy(isPrintable) else { return false }
        return !text.hasPrefix(":") && !text.hasSuffix(":") && !text.contains("::")
    }

    /// The subject and the user name; throws when either is no valid text.
    ///
    /// The user name is empty when no claim has one. A token without a user name owns nothing; it
    /// may read older rows whose owner is the subject alone. A token without a subject is refused.
    static func read(
        _ claims: JSONObject,
        usernameClaims: [String] = usernameClaims
    ) throws(TokenProblem) -> (userID: UserID, username: String) {
        guard let subject = claims["sub"]?.stringValue, isValid(subject) else { throw .notAuthorized }
        guard let name = usernameClaims.first(where: { claims[$0] != nil }) else { return (UserID(subject), "") }
        guard let username = claims[name]?.stringValue, isValid(username) else { throw .notAuthorized }
        return (UserID(subject), username)
    }

    /// How many claims rules may look at, and how many values of each.
    package static let maximumValues = 200

    /// The claims that are texts or lists of texts; rules may name these, as `cognito:groups`.
    static func named(in claims: JSONObject) -> [String: [String]] {
        var named: [String: [String]] = [:]
        for claim in claims.prefix(maximumValues) {
            let values = claim.value.arrayValue ?? [claim.value]
            let texts = values.prefix(maximumValues).compactMap(\.stringValue)
            if !texts.isEmpty, texts.count == min(values.count, maximumValues) { named[claim.key] = texts }
        }
        return named
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
