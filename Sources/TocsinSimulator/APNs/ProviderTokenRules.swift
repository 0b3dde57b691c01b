import JSON
import Synchronization

/// Checks provider tokens: ES256 by the team's key, ids, age, what a connection is bound
/// to, and its 20-minute rule.
final class ProviderTokenRules: Sendable {
    /// A token whose signature and ids were found right.
    private struct Known {
        var issuedAt: Int64
        var key: SimulatedKey
    }

    private let settings: SimulatorSettings
    private let conditions: Conditions
    private let key: KeyPair
    private let known = Mutex<[String: Known]>([:])

    private static let maximumAgeSeconds: Int64 = 3600
    /// How far a provider's clock may run ahead.
    private static let allowedSkewSeconds: Int64 = 300
    private static let maximumKnown = 256

    init(settings: SimulatorSettings, conditions: Conditions, key: KeyPair) {
        self.settings = settings
        self.conditions = conditions
        self.key = key
    }

    /// How many different valid tokens were seen.
    var count: Int { known.withLock { $0.count } }

    func check(_ request: WireRequest, on connection: inout WireConnection) throws(APNsRefusal) {
        guard let header = request.value("authorization") else {
            throw APNsRefusal(.missingProviderToken, "authorization is missing")
        }
        guard header.utf8.count > 7, header.prefix(7).lowercased() == "bearer " else {
            throw APNsRefusal(.missingProviderToken, "authorization is not of the form: bearer <token>")
        }
        let now = settings.nowMilliseconds()
        if connection.authorization == header, let binding = connection.binding {
            return try checkAge(now / 1000 - binding.issuedAt)
        }
        let token = String(header.dropFirst(7))
        let known = try known(token)
        try checkAge(now / 1000 - known.issuedAt)
        try bind(&connection, to: known, now: now)
        connection.authorization = header
        connection.isOpened = true
    }

    private func checkAge(_ age: Int64) throws(APNsRefusal) {
        guard age <= Self.maximumAgeSeconds else {
            throw APNsRefusal(.expiredProviderToken, "the provider token is \(age) seconds old, allowed are 3600")
        }
        guard age >= -Self.allowedSkewSeconds else {
            throw APNsRefusal(.invalidProviderToken, "the provider token's iat is \(-age) seconds ahead of this clock")
        }
    }

    /// A connection takes team, key and apps of its first valid token, and keeps them.
    private func bind(_ connection: inout WireConnection, to known: Known, now: Int64) throws(APNsRefusal) {
        let key = known.key
        guard key.development ?? settings.development == settings.development else {
            throw APNsRefusal(.badEnvironmentKeyIDInToken, "key \(key.keyID) is of the other environment")
        }
        if let binding = connection.binding {
            guard binding.teamID == key.teamID else {
                throw APNsRefusal(.forbidden, "this connection is bound to team \(binding.teamID)")
            }
            guard binding.keyID == key.keyID else {
                throw APNsRefusal(.unrelatedKeyIDInToken, "this connection is bound to key \(binding.keyID)")
            }
            let usedSeconds = (now - binding.sinceMilliseconds) / 1000
            guard usedSeconds >= Int64(conditions.limits.providerTokenUpdateSeconds) else {
                throw APNsRefusal(
                    .tooManyProviderTokenUpdates,
                    "this connection changed its token after \(usedSeconds) seconds"
                )
            }
        }
        let isUsual = key.keyID == settings.keyID
        connection.binding = WireConnection.Binding(
            teamID: key.teamID,
            keyID: key.keyID,
            bundleIDs: connection.binding?.bundleIDs ?? (isUsual ? conditions.limits.bundleIDs : key.bundleIDs),
            issuedAt: known.issuedAt,
            sinceMilliseconds: now
        )
    }

    private func known(_ token: String) throws(APNsRefusal) -> Known {
        if let known = known.withLock({ $0[token] }) { return known }
        guard let parsed = JSONWebToken(token) else {
            throw APNsRefusal(.invalidProviderToken, "the provider token is no JSON Web Token")
        }
        let usual = SimulatedKey(teamID: settings.teamID, keyID: settings.keyID, bundleIDs: settings.bundleIDs)
        let keys = [usual] + settings.otherKeys
        guard let owner = keys.first(where: { $0.keyID == parsed.header["kid"]?.stringValue }) else {
            let names = keys.map(\.keyID).joined(separator: ", ")
            throw APNsRefusal(.invalidProviderToken, "the provider token's kid is none of \(names)")
        }
        guard parsed.claims["iss"]?.stringValue == owner.teamID else {
            throw APNsRefusal(.invalidProviderToken, "the provider token's iss is not \(owner.teamID)")
        }
        guard case .int(let issuedAt)? = parsed.claims["iat"] else {
            throw APNsRefusal(.invalidProviderToken, "the provider token's iat is not a number of seconds")
        }
        guard parsed.isES256(by: key) else {
            throw APNsRefusal(.invalidProviderToken, "the provider token is not signed with ES256 by the team's key")
        }
        let found = Known(issuedAt: issuedAt, key: owner)
        known.withLock { known in
            if known.count >= Self.maximumKnown { known.removeAll() }
            known[token] = found
        }
        return found
    }
}
