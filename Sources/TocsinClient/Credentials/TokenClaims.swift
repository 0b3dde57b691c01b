import Encodings
import JSON

/// What a token says of itself, unchecked: the client needs no more to plan by.
struct TokenClaims: Hashable {
    /// Whose token it is.
    var subject: String?
    /// Seconds since 1970.
    var issuedAt: Int64?
    /// Seconds since 1970.
    var endsAt: Int64?

    /// Reads a JSON Web Token (RFC 7519 §3); of any other text nothing is known.
    init(of token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].utf8.count <= 65_536, let bytes = Base64URL.decoded(parts[1]),
            let claims = try? JSONParser.parse(bytes, limits: JSONLimits(maximumBytes: 65_536))
        else { return }
        subject = claims["sub"]?.stringValue
        issuedAt = Self.seconds(claims["iat"])
        endsAt = Self.seconds(claims["exp"])
    }

    private static func seconds(_ value: JSONValue?) -> Int64? {
        guard let value else { return nil }
        return value.intValue ?? value.doubleValue.flatMap { Int64(exactly: $0.rounded(.down)) }
    }
}
