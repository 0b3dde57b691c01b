import Testing
import TocsinCore
import TocsinPush

/// One row of the providers' answer tables: an answer, given each time, and
/// all that it must lead to.
struct AnswerRow: Sendable, CustomTestStringConvertible {
    /// What becomes of the lane.
    enum Lane: Sendable { case open, paused, slowed }

    /// What becomes of the delivery, its endpoint and its lane, after the pushes of one try.
    struct Outcome: Sendable, Equatable, CustomStringConvertible {
        var status: DeliveryStatus
        var attempts: Int
        /// Seconds until the next try; nil when there is none.
        var waitSeconds: Double?
        var endpointStays: Bool
        var lane: Lane
        /// Requests that left.
        var sends: Int

        var description: String {
            "\(status), \(attempts) counted, wait \(waitSeconds.map { "\($0)" } ?? "none"), endpoint "
                + "\(endpointStays ? "stays" : "ends"), lane \(lane), \(sends) sent"
        }
    }

    var name: String
    var answer: PushAnswer
    var outcome: Outcome
    /// The ledger's reason.
    var reason: String?
    var testDescription: String { name }

    private init(_ name: String, _ answer: PushAnswer, _ reason: String?, _ outcome: Outcome) {
        (self.name, self.answer, self.reason, self.outcome) = (name, answer, reason, outcome)
    }

    static func accepted(_ name: String, _ answer: PushAnswer) -> AnswerRow {
        AnswerRow(name, answer, nil, outcome(.accepted, 1))
    }

    /// The endpoint is gone.
    static func ended(_ name: String, _ answer: PushAnswer, _ reason: String) -> AnswerRow {
        var outcome = outcome(.ended, 1)
        outcome.endpointStays = false
        return AnswerRow(name, answer, reason, outcome)
    }

    /// Our bug.
    static func failed(_ name: String, _ answer: PushAnswer, _ reason: String, sends: Int = 1) -> AnswerRow {
        AnswerRow(name, answer, reason, outcome(.failed, 1, sends: sends))
    }

    /// The lane waits for somebody, the delivery is innocent.
    static func paused(_ name: String, _ answer: PushAnswer, _ reason: String, sends: Int = 1) -> AnswerRow {
        var outcome = outcome(.waiting, 0, wait: 1, sends: sends)
        outcome.lane = .paused
        return AnswerRow(name, answer, reason, outcome)
    }

    static func waits(
        _ name: String,
        _ answer: PushAnswer,
        _ reason: String,
        _ seconds: Double,
        sends: Int = 1,
        counts: Bool = true,
        lane: Lane = .open
    ) -> AnswerRow {
        var outcome = outcome(.waiting, counts ? 1 : 0, wait: seconds, sends: sends)
        outcome.lane = lane
        return AnswerRow(name, answer, reason, outcome)
    }

    private static func outcome(
        _ status: DeliveryStatus,
        _ attempts: Int,
        wait: Double? = nil,
        sends: Int = 1
    ) -> Outcome {
        Outcome(
            status: status,
            attempts: attempts,
            waitSeconds: wait,
            endpointStays: true,
            lane: .open,
            sends: sends
        )
    }
}

extension AnswerRow {
    /// The same for every provider.
    ///
    /// Jitter is in the middle: a pause is as planned, a wish a twentieth longer.
    static let transport: [AnswerRow] = [
        .waits(
            "REFUSED_STREAM or above a GOAWAY's last stream",
            .notProcessed(reason: "REFUSED_STREAM"),
            "NOT_PROCESSED: REFUSED_STREAM",
            1.05,
            sends: 4,
            counts: false
        ),
        .waits("reset, lost connection, time limit", .unknown(reason: "reset"), "NO_ANSWER: reset", 1),
        .paused("DNS, refused, TLS", .unreachable(reason: "TLS failed"), "UNREACHABLE: TLS failed"),
    ]

    private static func body(_ status: Int, _ text: String, _ headers: [PushHeader] = []) -> PushAnswer {
        .response(PushResponse(status: status, headers: headers, body: Array(text.utf8)))
    }

    private static let wish = [PushHeader("retry-after", "120")]
    private static let wishedDate = [PushHeader("retry-after", "Sat, 25 Jul 2026 17:22:00 GMT")]
    /// The sample device was registered on 14 November 2023.
    private static let beforeRegistration: Int64 = 1_600_000_000_000
    private static let sinceRegistration: Int64 = 1_784_000_000_000

    static let apns: [AnswerRow] =
        [
            .accepted("200", body(200, "")),
            .ended("400 BadDeviceToken", .apns(400, "BadDeviceToken"), "BadDeviceToken"),
            .ended("400 DeviceTokenNotForTopic", .apns(400, "DeviceTokenNotForTopic"), "DeviceTokenNotForTopic"),
            .waits("400 IdleTimeout", .apns(400, "IdleTimeout"), "IdleTimeout", 10, sends: 2),
            .paused(
                "403 ExpiredProviderToken",
                .apns(403, "ExpiredProviderToken"),
                "ExpiredProviderToken",
                sends: 2
            ),
            .paused(
                "403 UnrelatedKeyIdInToken",
                .apns(403, "UnrelatedKeyIdInToken"),
                "UnrelatedKeyIdInToken",
                sends: 2
            ),
            .failed("404 BadPath", .apns(404, "BadPath"), "BadPath"),
            .failed("405 MethodNotAllowed", .apns(405, "MethodNotAllowed"), "MethodNotAllowed"),
            .ended("410 Unregistered", .apns(410, "Unregistered", timestamp: sinceRegistration), "Unregistered"),
            .ended(
                "410 Unregistered, in seconds",
                .apns(410, "Unregistered", timestamp: sinceRegistration / 1000),
                "Unregistered"
            ),
            .waits(
                "410 Unregistered before the registration",
                .apns(410, "Unregistered", timestamp: beforeRegistration),
                "Unregistered",
                10
            ),
            .ended("410 ExpiredToken", .apns(410, "ExpiredToken"), "ExpiredToken"),
            .failed("413 PayloadTooLarge", .apns(413, "PayloadTooLarge"), "PayloadTooLarge", sends: 2),
            .waits("429 TooManyRequests", .apns(429, "TooManyRequests"), "TooManyRequests", 10),
            .waits(
                "429 TooManyRequests with a wish",
                .apns(429, "TooManyRequests", headers: wish),
                "TooManyRequests",
                126
            ),
            .waits(
                "429 TooManyProviderTokenUpdates",
                .apns(429, "TooManyProviderTokenUpdates"),
                "TooManyProviderTokenUpdates",
                63,
                sends: 2,
                counts: false
            ),
            .waits("500", .apns(500, "InternalServerError"), "InternalServerError", 10, sends: 2),
            .waits("503 ServiceUnavailable", .apns(503, "ServiceUnavailable"), "ServiceUnavailable", 10, sends: 2),
            .waits(
                "503 ServiceUnavailable with a wish",
                .apns(503, "ServiceUnavailable", headers: wish),
                "ServiceUnavailable",
                126
            ),
            .waits("503 Shutdown", .apns(503, "Shutdown"), "Shutdown", 10, sends: 2),
            .failed("400 unheard of", .apns(400, "BrandNew"), "BrandNew"),
            .paused("403 unheard of", .apns(403, "BrandNew"), "BrandNew"),
            .failed("410 unheard of", .apns(410, "BrandNew"), "BrandNew"),
            .waits("429 unheard of", .apns(429, "BrandNew"), "BrandNew", 10),
            .waits("500 unheard of", .apns(500, "BrandNew"), "BrandNew", 10),
            .waits("410 without a reason", body(410, ""), "HTTP 410", 10),
            .waits("502 of a proxy", body(502, "<html>"), "HTTP 502", 10),
        ]
        + [
            "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic", "DuplicateHeaders",
            "InvalidPushType", "MissingDeviceToken", "PayloadEmpty",
        ].map { .failed("400 " + $0, .apns(400, $0), $0) }
        + ["MissingTopic", "TopicDisallowed"].map { .paused("400 " + $0, .apns(400, $0), $0) }
        + [
            "InvalidProviderToken", "MissingProviderToken", "BadCertificate", "BadCertificateEnvironment",
            "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken", "Forbidden",
        ].map { .paused("403 " + $0, .apns(403, $0), $0) }

    static let fcm: [AnswerRow] = [
        .accepted("200", body(200, "{\"name\":\"projects/p/messages/1\"}")),
        .ended(
            "400 naming the token",
            .fcm(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", fields: ["message.token"]),
            "INVALID_ARGUMENT"
        ),
        .ended(
            "400 naming the installation id",
            .fcm(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", fields: ["message.fid"]),
            "INVALID_ARGUMENT"
        ),
        .failed(
            "400 naming a field that is called like a token",
            .fcm(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", fields: ["message.apns.live_activity_token"]),
            "INVALID_ARGUMENT: message.apns.live_activity_token"
        ),
        .ended("400 naming nothing", .fcm(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT"), "INVALID_ARGUMENT"),
        .failed(
            "400 naming another field",
            .fcm(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", fields: ["message.data"]),
            "INVALID_ARGUMENT: message.data"
        ),
        .failed(
            "400 of the front",
            .fcm(400, "INVALID_ARGUMENT", fields: ["message.android.ttl"]),
            "INVALID_ARGUMENT: message.android.ttl"
        ),
        .failed(
            "400 too big",
            .fcm(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", message: "Android message is too big"),
            "INVALID_ARGUMENT: too large",
            sends: 2
        ),
        .failed("413", body(413, "<html>"), "HTTP 413: too large", sends: 2),
        .paused("401", .fcm(401, "UNAUTHENTICATED"), "UNAUTHENTICATED", sends: 2),
        .waits(
            "401 THIRD_PARTY_AUTH_ERROR",
            .fcm(401, "UNAUTHENTICATED", code: "THIRD_PARTY_AUTH_ERROR"),
            "THIRD_PARTY_AUTH_ERROR",
            10
        ),
        .ended(
            "403 SENDER_ID_MISMATCH",
            .fcm(403, "PERMISSION_DENIED", code: "SENDER_ID_MISMATCH"),
            "SENDER_ID_MISMATCH"
        ),
        .paused(
            "403 PERMISSION_DENIED",
            .fcm(403, "PERMISSION_DENIED"),
            "PERMISSION_DENIED: the FCM API is off, or the account lacks its role"
        ),
        .ended("404 UNREGISTERED", .fcm(404, "NOT_FOUND", code: "UNREGISTERED"), "UNREGISTERED"),
        .paused("404 without a code", .fcm(404, "NOT_FOUND"), "NOT_FOUND: no such Firebase project"),
        .waits("429", quota(), "QUOTA_EXCEEDED", 63, lane: .slowed),
        .waits("429 with a wish", quota(headers: wish), "QUOTA_EXCEEDED", 126, lane: .slowed),
        .waits("429 with a date", quota(headers: wishedDate), "QUOTA_EXCEEDED", 126, lane: .slowed),
        .waits("429 of the project", quota(subject: "project:demo"), "QUOTA_EXCEEDED", 63, lane: .slowed),
        .waits("429 of the device", quota(subject: "device"), "QUOTA_EXCEEDED", 63),
        .waits("429 without a code", .fcm(429, "RESOURCE_EXHAUSTED"), "RESOURCE_EXHAUSTED", 63, lane: .slowed),
        .waits("500 INTERNAL", .fcm(500, "INTERNAL", code: "INTERNAL"), "INTERNAL", 10),
        .waits("500 UNSPECIFIED_ERROR", .fcm(500, "INTERNAL", code: "UNSPECIFIED_ERROR"), "UNSPECIFIED_ERROR", 10),
        .waits("500 unheard of", .fcm(500, "INTERNAL", code: "BRAND_NEW"), "UNSPECIFIED_ERROR", 10),
        .waits("503 UNAVAILABLE", .fcm(503, "UNAVAILABLE", code: "UNAVAILABLE"), "UNAVAILABLE", 10),
        .waits(
            "503 with a wish",
            .fcm(503, "UNAVAILABLE", code: "UNAVAILABLE", headers: wish),
            "UNAVAILABLE",
            126
        ),
        .waits("502 of a proxy", body(502, "<html>"), "HTTP 502", 10),
        .ended("NotRegistered, as it was said once", legacy("NotRegistered"), "UNREGISTERED"),
        .ended("InvalidRegistration, as it was said once", legacy("InvalidRegistration"), "INVALID_ARGUMENT"),
        .ended("MismatchSenderId, as it was said once", legacy("MismatchSenderId"), "SENDER_ID_MISMATCH"),
        .failed("InvalidTtl, as it was said once", legacy("InvalidTtl"), "INVALID_ARGUMENT: message"),
        .failed("MessageTooBig, as it was said once", legacy("MessageTooBig"), "INVALID_ARGUMENT: too large", sends: 2),
        .waits("Unavailable, as it was said once", legacy("Unavailable"), "UNAVAILABLE", 10),
        .waits("InternalServerError, as it was said once", legacy("InternalServerError"), "INTERNAL", 10),
        .waits(
            "DeviceMessageRateExceeded, as it was said once",
            legacy("DeviceMessageRateExceeded"),
            "QUOTA_EXCEEDED",
            63
        ),
        .waits(
            "TopicsMessageRateExceeded, as it was said once",
            legacy("TopicsMessageRateExceeded"),
            "QUOTA_EXCEEDED",
            63,
            lane: .slowed
        ),
        .waits(
            "InvalidApnsCredential, as it was said once",
            legacy("InvalidApnsCredential"),
            "THIRD_PARTY_AUTH_ERROR",
            10
        ),
    ]

    /// To an iPhone through FCM, which passes on what Apple says.
    static let firebase: [AnswerRow] = [
        .accepted("200", body(200, "{\"name\":\"projects/p/messages/1\"}")),
        .ended("404 UNREGISTERED", apple(404, "NOT_FOUND", "UNREGISTERED", 410, "Unregistered"), "UNREGISTERED"),
        .ended("400 BadDeviceToken", argument("BadDeviceToken"), "BadDeviceToken"),
        .ended("400 DeviceTokenNotForTopic", argument("DeviceTokenNotForTopic"), "DeviceTokenNotForTopic"),
        .failed("400 BadCollapseId", argument("BadCollapseId"), "INVALID_ARGUMENT: BadCollapseId"),
        .failed("400 PayloadTooLarge", argument("PayloadTooLarge"), "PayloadTooLarge: too large", sends: 2),
        .failed(
            "400 naming a field of Apple's part",
            .fcm(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", fields: ["message.apns.payload.aps.badge"]),
            "INVALID_ARGUMENT: message.apns.payload.aps.badge"
        ),
        .waits("400 TopicDisallowed", argument("TopicDisallowed"), "THIRD_PARTY_AUTH_ERROR: TopicDisallowed", 10),
        .waits(
            "401 InvalidProviderToken",
            apple(401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR", 403, "InvalidProviderToken"),
            "THIRD_PARTY_AUTH_ERROR: InvalidProviderToken",
            10
        ),
        .waits(
            "401 THIRD_PARTY_AUTH_ERROR",
            .fcm(401, "UNAUTHENTICATED", code: "THIRD_PARTY_AUTH_ERROR"),
            "THIRD_PARTY_AUTH_ERROR",
            10
        ),
    ]

    private static func argument(_ reason: String) -> PushAnswer {
        apple(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", 400, reason)
    }

    private static func apple(
        _ status: Int,
        _ name: String,
        _ code: String,
        _ appleStatus: Int,
        _ reason: String
    ) -> PushAnswer {
        let text = """
            {"error":{"code":\(status),"message":"no","status":"\(name)","details":[
            {"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\(code)"},
            {"@type":"type.googleapis.com/google.firebase.fcm.v1.ApnsError","statusCode":\(appleStatus),
            "reason":"\(reason)"}]}}
            """
        return body(status, text)
    }

    private static func legacy(_ name: String) -> PushAnswer {
        body(200, "{\"multicast_id\":1,\"success\":0,\"failure\":1,\"results\":[{\"error\":\"\(name)\"}]}")
    }

    private static func quota(subject: String? = nil, headers: [PushHeader] = []) -> PushAnswer {
        guard let subject else {
            return .fcm(429, "RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED", headers: headers)
        }
        let text = """
            {"error":{"code":429,"message":"no","status":"RESOURCE_EXHAUSTED","details":[
            {"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"QUOTA_EXCEEDED"},
            {"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":"\(subject)"}]}]}}
            """
        return body(429, text, headers)
    }
}
