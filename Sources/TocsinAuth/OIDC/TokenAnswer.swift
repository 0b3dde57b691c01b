import JSON

/// What a token endpoint hands out (OpenID Connect Core §3.1.3.3).
struct TokenAnswer {
    static let maximumBytes = 256 * 1024
    private static let limits = JSONLimits(maximumBytes: maximumBytes, maximumDepth: 16, maximumValues: 2000)

    let idToken: String?
    let accessToken: String?
    let refreshToken: String?

    init(json bytes: [UInt8]) throws(OIDCRefusal) {
        guard let members = StrictJSON.object(bytes, limits: Self.limits) else {
            throw OIDCRefusal(.tokenAnswerRefused, "The token endpoint's answer is no JSON object within the limits.")
        }
        idToken = try Self.text("id_token", in: members)
        accessToken = try Self.text("access_token", in: members)
        refreshToken = try Self.text("refresh_token", in: members)
    }

    /// The error of an answer with another status than 200 (RFC 6749 §5.2).
    static func error(json bytes: [UInt8]) -> ProviderError? {
        StrictJSON.object(bytes, limits: limits)?["error"]?.stringValue.map(ProviderError.init)
    }

    private static func text(_ name: String, in members: JSONObject) throws(OIDCRefusal) -> String? {
        guard let member = members[name], !member.isNull else { return nil }
        guard let text = member.stringValue, !text.isEmpty else {
            throw OIDCRefusal(.tokenAnswerRefused, "The token endpoint's \(name) is no text.")
        }
        return text
    }
}
