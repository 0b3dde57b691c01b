/// One line of the simulator's script table: device tokens that begin with `prefix` meet `effect`.
///
/// Counted rules read how often to fail from what follows the prefix. APNs (hex): `0` or `1`
/// once, `2`–`9` that many times, anything else always. FCM: a number and a hyphen
/// (`unavailable-2-…`), else always.
package struct ScriptRule: Sendable {
    /// Which fake provider the rule belongs to.
    package let provider: SimulatedProvider
    /// How a device token must begin.
    package let prefix: String
    /// What happens, in words.
    package let summary: String
    /// Whether what follows the prefix says how often.
    package let isCounted: Bool
    let effect: ScriptEffect

    /// How often a token meets the rule before it is served as usual; `nil` is always.
    func times(for token: String) -> Int? {
        guard isCounted else { return nil }
        let rest = token.dropFirst(prefix.count)
        switch provider {
        case .apns:
            guard let digit = rest.first?.wholeNumberValue else { return nil }
            return max(1, digit)
        case .fcm, .token, .webpush:
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            return rest.dropFirst(digits.count).first == "-" ? Int(digits) : nil
        }
    }
}

/// The providers the simulator stands in for.
package enum SimulatedProvider: String, Sendable, CaseIterable {
    /// Apple Push Notification service.
    case apns
    /// Firebase Cloud Messaging, HTTP v1.
    case fcm
    /// Google's OAuth token endpoint.
    case token
    /// The push service of a browser.
    case webpush
}

extension ScriptRule {
    /// Every scripted token prefix; `--help` and the documentation print it.
    package static let all: [ScriptRule] = apns + fcm + webPush

    private static func apns(
        _ prefix: String,
        _ summary: String,
        counted: Bool = false,
        _ effect: ScriptEffect
    ) -> ScriptRule {
        ScriptRule(provider: .apns, prefix: prefix, summary: summary, isCounted: counted, effect: effect)
    }

    private static func fcm(
        _ prefix: String,
        _ summary: String,
        counted: Bool = false,
        _ effect: ScriptEffect
    ) -> ScriptRule {
        ScriptRule(provider: .fcm, prefix: prefix, summary: summary, isCounted: counted, effect: effect)
    }

    /// Tokens of APNs are hexadecimal, so the prefixes spell what can be spelt.
    static let apns: [ScriptRule] = [
        apns("dead", "410 Unregistered, since now", .unregistered(agoSeconds: 0)),
        apns("de1d", "410 Unregistered, since a year ago", .unregistered(agoSeconds: 365 * 86_400)),
        apns("de01", "410 ExpiredToken", .apns(.expiredToken)),
        apns("bad0", "400 BadDeviceToken", .apns(.badDeviceToken)),
        apns("bad1", "400 DeviceTokenNotForTopic", .apns(.deviceTokenNotForTopic)),
        apns("bad2", "400 TopicDisallowed", .apns(.topicDisallowed)),
        apns("bad3", "400 IdleTimeout", counted: true, .apns(.idleTimeout)),
        apns("bad4", "413 PayloadTooLarge", .apns(.payloadTooLarge)),
        apns("bad5", "400 with a reason nobody has heard of", .unheardReason),
        apns("bad6", "400 BadCollapseId", .apns(.badCollapseID)),
        apns("bad7", "400 BadExpirationDate", .apns(.badExpirationDate)),
        apns("bad8", "400 BadMessageId", .apns(.badMessageID)),
        apns("bad9", "400 BadPriority", .apns(.badPriority)),
        apns("bada", "400 BadTopic", .apns(.badTopic)),
        apns("badb", "400 DuplicateHeaders", .apns(.duplicateHeaders)),
        apns("badc", "400 InvalidPushType", .apns(.invalidPushType)),
        apns("badd", "400 MissingDeviceToken", .apns(.missingDeviceToken)),
        apns("bade", "400 MissingTopic", .apns(.missingTopic)),
        apns("badf", "400 PayloadEmpty", .apns(.payloadEmpty)),
        apns("4030", "403 MissingProviderToken", .apns(.missingProviderToken)),
        apns("4031", "403 BadCertificate", .apns(.badCertificate)),
        apns("4032", "403 BadCertificateEnvironment", .apns(.badCertificateEnvironment)),
        apns("403a", "403 ExpiredProviderToken", counted: true, .apns(.expiredProviderToken)),
        apns("403b", "403 InvalidProviderToken", .apns(.invalidProviderToken)),
        apns("403c", "403 Forbidden", .apns(.forbidden)),
        apns("403d", "403 BadEnvironmentKeyIdInToken", .apns(.badEnvironmentKeyIDInToken)),
        apns("403e", "403 BadEnvironmentKeyInToken, its other spelling", .apns(.badEnvironmentKeyInToken)),
        apns("403f", "403 UnrelatedKeyIdInToken", counted: true, .apns(.unrelatedKeyIDInToken)),
        apns("404a", "404 BadPath", .apns(.badPath)),
        apns("405a", "405 MethodNotAllowed", .apns(.methodNotAllowed)),
        apns("429a", "429 TooManyProviderTokenUpdates", counted: true, .apns(.tooManyProviderTokenUpdates)),
        apns("429", "429 TooManyRequests", counted: true, .apns(.tooManyRequests)),
        apns("500", "500 InternalServerError", counted: true, .apns(.internalServerError)),
        apns("502", "502 with a page of HTML", counted: true, .wire(.foreign(status: 502))),
        apns("503d", "503 Shutdown, then GOAWAY", counted: true, .shutdown),
        apns("503", "503 ServiceUnavailable", counted: true, .apns(.serviceUnavailable)),
        apns("510e", "200, but late", .wire(.slow(seconds: nil))),
        apns("57a1", "no answer", counted: true, .wire(.silence)),
        apns("57a2", "response HEADERS, then nothing", counted: true, .wire(.headersOnly)),
        apns("e5e1", "RST_STREAM INTERNAL_ERROR", counted: true, .wire(.reset(errorCode: 2))),
        apns("e5e7", "RST_STREAM REFUSED_STREAM: not processed", counted: true, .wire(.reset(errorCode: 7))),
        apns("e5ea", "accepted, but RST_STREAM instead of the answer", counted: true, .wire(.acceptedThenReset)),
        apns("60a1", "200, then GOAWAY", .wire(.goAway(GoAway()))),
        apns("60a2", "GOAWAY below this stream: not processed", counted: true, .wire(refusedByGoAway)),
        apns("c105", "the connection closes without an answer", counted: true, .wire(.hangUp)),
        apns("c10a", "accepted, but the connection closes first", counted: true, .wire(.acceptedThenHangUp)),
    ]

    private static let refusedByGoAway = WireFault.goAway(GoAway(isAnswered: false))

    static let fcm: [ScriptRule] = [
        fcm("unregistered-", "404 UNREGISTERED", .fcm(.unregistered)),
        fcm("invalid-", "400 INVALID_ARGUMENT that names the token", .fcm(.invalidToken)),
        fcm("badpayload-", "400 INVALID_ARGUMENT that names a field", .fcm(.invalidField("message.data", "scripted"))),
        fcm("toolarge-", "400 message too big", .fcm(.tooBig(5000))),
        fcm("mismatch-", "403 SENDER_ID_MISMATCH", .fcm(.senderIDMismatch)),
        fcm("forbidden-", "403 PERMISSION_DENIED", .fcm(.permissionDenied)),
        fcm("thirdparty-", "401 THIRD_PARTY_AUTH_ERROR", .fcm(.thirdPartyAuthError)),
        fcm(
            "applekey-",
            "401 THIRD_PARTY_AUTH_ERROR, for Apple says InvalidProviderToken",
            .fcm(.apple(.invalidProviderToken))
        ),
        fcm("appletoken-", "400 INVALID_ARGUMENT, for Apple says BadDeviceToken", .fcm(.apple(.badDeviceToken))),
        fcm("unauthenticated-", "401 UNAUTHENTICATED", counted: true, .fcm(.unauthenticated("scripted"))),
        fcm("notfound-", "404 without an FCM code: wrong project", .fcm(.projectNotFound)),
        fcm(
            "quota-date-",
            "429 QUOTA_EXCEEDED of the device, Retry-After as a date",
            counted: true,
            .fcm(.quotaExceeded(.device, .date))
        ),
        fcm(
            "quota-project-",
            "429 QUOTA_EXCEEDED of the project, Retry-After: 1",
            counted: true,
            .fcm(.quotaExceeded(.project, .seconds(1)))
        ),
        fcm("quota-bare-", "429 QUOTA_EXCEEDED, no Retry-After", counted: true, .fcm(.quotaExceeded(.device, .none))),
        fcm(
            "quota-",
            "429 QUOTA_EXCEEDED of the device, Retry-After: 1",
            counted: true,
            .fcm(.quotaExceeded(.device, .seconds(1)))
        ),
        fcm("unavailable-date-", "503 UNAVAILABLE, Retry-After as a date", counted: true, .fcm(.unavailable(.date))),
        fcm("unavailable-", "503 UNAVAILABLE, Retry-After: 1", counted: true, .fcm(.unavailable(.seconds(1)))),
        fcm("overloaded-", "503 UNAVAILABLE without Retry-After", counted: true, .fcm(.unavailable(.none))),
        fcm("internal-", "500 INTERNAL", counted: true, .fcm(.internalError)),
        fcm("unspecified-", "500 UNSPECIFIED_ERROR", counted: true, .fcm(.unspecified)),
        fcm("unheard-", "500 with an error code nobody has heard of", counted: true, .fcm(.unheardCode)),
        fcm("gateway-", "502 with a page of HTML", counted: true, .wire(.foreign(status: 502))),
        fcm("slow-", "200, but late", .wire(.slow(seconds: nil))),
        fcm("stall-headers-", "response HEADERS, then nothing", counted: true, .wire(.headersOnly)),
        fcm("stall-", "no answer", counted: true, .wire(.silence)),
        fcm("reset-", "RST_STREAM INTERNAL_ERROR", counted: true, .wire(.reset(errorCode: 2))),
        fcm("refused-", "RST_STREAM REFUSED_STREAM: not processed", counted: true, .wire(.reset(errorCode: 7))),
        fcm("lost-", "accepted, but RST_STREAM instead of the answer", counted: true, .wire(.acceptedThenReset)),
        fcm("goaway-refused-", "GOAWAY below this stream: not processed", counted: true, .wire(refusedByGoAway)),
        fcm("goaway-", "200, then GOAWAY", .wire(.goAway(GoAway()))),
        fcm("close-accepted-", "accepted, but the connection closes first", counted: true, .wire(.acceptedThenHangUp)),
        fcm("close-", "the connection closes without an answer", counted: true, .wire(.hangUp)),
    ]

    /// The first rule whose prefix the token has.
    static func rule(for token: String, of provider: SimulatedProvider) -> ScriptRule? {
        guard let first = token.utf8.first else { return nil }
        if provider == .webpush { return webPush.first { token.hasPrefix($0.prefix) } }
        return (provider == .apns ? apnsByFirstByte : fcmByFirstByte)[first]?.first { token.hasPrefix($0.prefix) }
    }

    /// Most tokens meet no rule, and one look says so.
    private static let apnsByFirstByte = Dictionary(grouping: apns) { $0.prefix.utf8.first ?? 0 }
    private static let fcmByFirstByte = Dictionary(grouping: fcm) { $0.prefix.utf8.first ?? 0 }
}
