import JSON
import Synchronization

/// Checks provider tokens: ES256 by the team's key, ids, age, and the 20-minute rule of each connection.
final class ProviderTokenRules: Sendable {
    private let settings: SimulatorSettings
    private let key: PrivateKey
    /// Tokens whose signature and ids were found right, with their `iat`.
    private let known = Mutex<[String: Int64]>([:])

    private static let maximumAgeSeconds: Int64 = 3600
    /// How far a provider's clock may run ahead.
    private static let allowedSkewSeconds: Int64 = 300
    private static let maximumKnown = 256

    init(settings: SimulatorSettings, key: PrivateKey) {
        self.settings = settings
        self.key = key
    }

    /// How many different valid tokens were seen.
    var count: Int { known.withLock { $0.count } }

    func check(_ request: WireRequest, on connection: inout WireConnection) throws(APNsRefusal) {
        guard let header = request.value("authorization") else {
            throw APNsRefusal(.missingProviderToken, "authorization is missing")
        }
        guard header.count > 7, header.prefix(7).lowercased() == "bearer " else {
            throw APNsRefusal(.missingProviderToken, "authorization is not of the form: bearer <token>")
        }
        let token = String(header.dropFirst(7))
        let issuedAt = try issueTime(of: token)
        let now = settings.nowMilliseconds()
        let age = now / 1000 - issuedAt
        guard age <= Self.maximumAgeSeconds else {
            throw APNsRefusal(.expiredProviderToken, "the provider token is \(age) seconds old, allowed are 3600")
        }
        guard age >= -Self.allowedSkewSeconds else {
            throw APNsRefusal(.invalidProviderToken, "the provider token's iat is \(-age) seconds ahead of this clock")
        }
        if let used = connection.providerToken, used != token {
            let usedSeconds = (now - connection.providerTokenSince) / 1000
            guard usedSeconds >= Int64(settings.providerTokenUpdateSeconds) else {
                throw APNsRefusal(
                    .tooManyProviderTokenUpdates,
                    "this connection changed its token after \(usedSeconds) seconds"
                )
            }
        }
        if connection.providerToken != token {
            connection.providerToken = token
            connection.providerTokenSince = now
        }
        connection.isOpened = true
    }

    private func issueTime(of token: String) throws(APNsRefusal) -> Int64 {
        if let issuedAt = known.withLock({ $0[token] }) { return issuedAt }
        guard let parsed = WebToken(token) else {
            throw APNsRefusal(.invalidProviderToken, "the provider token is no JSON Web Token")
        }
        guard parsed.header["kid"]?.stringValue == settings.keyID else {
            throw APNsRefusal(.invalidProviderToken, "the provider token's kid is not \(settings.keyID)")
        }
        guard parsed.claims["iss"]?.stringValue == settings.teamID else {
            throw APNsRefusal(.invalidProviderToken, "the provider token's iss is not \(settings.teamID)")
        }
        guard case .int(let issuedAt)? = parsed.claims["iat"] else {
            throw APNsRefusal(.invalidProviderToken, "the provider token's iat is not a number of seconds")
        }
        guard parsed.isES256(by: key) else {
            throw APNsRefusal(.invalidProviderToken, "the provider token is not signed with ES256 by the team's key")
        }
        known.withLock { known in
            if known.count >= Self.maximumKnown { known.removeAll() }
            known[token] = issuedAt
        }
        return issuedAt
    }
}
