import Testing
import TocsinCore
import TocsinPush

/// One answer and what it must lead to.
struct AnswerCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// The same answer each time.
    var answer: PushAnswer
    var expected: PushResult
    /// How often it must have been sent.
    var sends: Int

    init(_ name: String, _ answer: PushAnswer, _ expected: PushResult, sends: Int = 1) {
        (testDescription, self.answer, self.expected, self.sends) = (name, answer, expected, sends)
    }

    static func retry(
        _ cause: PushRetry.Cause,
        _ reason: String,
        after seconds: Double? = nil,
        counts: Bool = true
    ) -> PushResult {
        .retry(PushRetry(cause, reason: reason, afterSeconds: seconds, countsAttempt: counts))
    }
}

private let retryAfter = [PushHeader("retry-after", "120")]

private let transportCases: [AnswerCase] = [
    AnswerCase(
        "not processed",
        .notProcessed(reason: "REFUSED_STREAM"),
        AnswerCase.retry(.notProcessed, "NOT_PROCESSED: REFUSED_STREAM", after: 1, counts: false),
        sends: 4
    ),
    AnswerCase("unknown", .unknown(reason: "reset"), AnswerCase.retry(.brokenRequest, "NO_ANSWER: reset")),
    AnswerCase("unreachable", .unreachable(reason: "refused"), .pause(reason: "UNREACHABLE: refused")),
]

private let apnsCases: [AnswerCase] = [
    AnswerCase(
        "200",
        .response(PushResponse(status: 200, headers: [PushHeader("apns-id", "x")], body: [])),
        .accepted(providerID: "x")
    ),
    AnswerCase("400 IdleTimeout", .apns(400, "IdleTimeout"), AnswerCase.retry(.serverFault, "IdleTimeout"), sends: 2),
    AnswerCase("403 expired", .apns(403, "ExpiredProviderToken"), .pause(reason: "ExpiredProviderToken"), sends: 2),
    AnswerCase("403 key", .apns(403, "UnrelatedKeyIdInToken"), .pause(reason: "UnrelatedKeyIdInToken"), sends: 2),
    AnswerCase(
        "410 Unregistered",
        .apns(410, "Unregistered", timestamp: 1_784_000_000_000),
        .retire(reason: "Unregistered", deadSince: Timestamp(milliseconds: 1_784_000_000_000))
    ),
    AnswerCase(
        "410 Unregistered in seconds",
        .apns(410, "Unregistered", timestamp: 1_784_000_000),
        .retire(reason: "Unregistered", deadSince: Timestamp(milliseconds: 1_784_000_000_000))
    ),
    AnswerCase("410 ExpiredToken", .apns(410, "ExpiredToken"), .retire(reason: "ExpiredToken", deadSince: nil)),
    AnswerCase("413", .apns(413, "PayloadTooLarge"), .refused(reason: "PayloadTooLarge"), sends: 2),
    AnswerCase(
        "429 device",
        .apns(429, "TooManyRequests", headers: retryAfter),
        AnswerCase.retry(.answer, "TooManyRequests", after: 120)
    ),
    AnswerCase("429 device, no wish", .apns(429, "TooManyRequests"), AnswerCase.retry(.answer, "TooManyRequests")),
    AnswerCase(
        "429 tokens",
        .apns(429, "TooManyProviderTokenUpdates"),
        AnswerCase.retry(.answer, "TooManyProviderTokenUpdates", after: 60, counts: false)
    ),
    AnswerCase("500", .apns(500, "InternalServerError"), AnswerCase.retry(.serverFault, "InternalServerError")),
    AnswerCase("503", .apns(503, "ServiceUnavailable"), AnswerCase.retry(.serverFault, "ServiceUnavailable")),
    AnswerCase("503 Shutdown", .apns(503, "Shutdown"), AnswerCase.retry(.serverFault, "Shutdown"), sends: 2),
    AnswerCase("400 unheard", .apns(400, "BrandNew"), .refused(reason: "BrandNew")),
    AnswerCase("403 unheard", .apns(403, "BrandNew"), .pause(reason: "BrandNew")),
    AnswerCase("503 unheard", .apns(503, "BrandNew"), AnswerCase.retry(.serverFault, "BrandNew")),
    AnswerCase(
        "502 of a proxy",
        .response(PushResponse(status: 502, headers: [], body: Array("<html>".utf8))),
        AnswerCase.retry(.serverFault, "HTTP 502")
    ),
]

private let apnsRetired = ["BadDeviceToken", "DeviceTokenNotForTopic"]
private let apnsRefused = [
    "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic", "DuplicateHeaders",
    "InvalidPushType", "MissingDeviceToken", "PayloadEmpty", "BadPath", "MethodNotAllowed",
]
private let apnsPausing = [
    "MissingTopic", "TopicDisallowed", "BadCertificate", "BadCertificateEnvironment", "InvalidProviderToken",
    "MissingProviderToken", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken", "Forbidden",
]

private let fcmCases: [AnswerCase] = [
    AnswerCase("200", .ok, .accepted(providerID: "projects/p/messages/1")),
    AnswerCase(
        "400 token",
        .fcm(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", fields: ["message.token"]),
        .retire(reason: "INVALID_ARGUMENT", deadSince: nil)
    ),
    AnswerCase(
        "400 no field named",
        .fcm(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT"),
        .retire(reason: "INVALID_ARGUMENT", deadSince: nil)
    ),
    AnswerCase(
        "400 another field",
        .fcm(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", fields: ["message.data"]),
        .refused(reason: "INVALID_ARGUMENT: message.data")
    ),
    AnswerCase(
        "400 of the front",
        .fcm(400, "INVALID_ARGUMENT", fields: ["message.android.ttl"]),
        .refused(reason: "INVALID_ARGUMENT: message.android.ttl")
    ),
    AnswerCase(
        "400 too big",
        .fcm(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", message: "Android message is too big"),
        .refused(reason: "INVALID_ARGUMENT: too large"),
        sends: 2
    ),
    AnswerCase("401", .fcm(401, "UNAUTHENTICATED"), .pause(reason: "UNAUTHENTICATED"), sends: 2),
    AnswerCase(
        "401 third party",
        .fcm(401, "UNAUTHENTICATED", code: "THIRD_PARTY_AUTH_ERROR"),
        AnswerCase.retry(.answer, "THIRD_PARTY_AUTH_ERROR")
    ),
    AnswerCase(
        "403 other project's token",
        .fcm(403, "PERMISSION_DENIED", code: "SENDER_ID_MISMATCH"),
        .retire(reason: "SENDER_ID_MISMATCH", deadSince: nil)
    ),
    AnswerCase(
        "403 role",
        .fcm(403, "PERMISSION_DENIED"),
        .pause(reason: "PERMISSION_DENIED: the FCM API is off, or the account lacks its role")
    ),
    AnswerCase(
        "404 unregistered",
        .fcm(404, "NOT_FOUND", code: "UNREGISTERED"),
        .retire(reason: "UNREGISTERED", deadSince: nil)
    ),
    AnswerCase("404 project", .fcm(404, "NOT_FOUND"), .pause(reason: "NOT_FOUND: no such Firebase project")),
    AnswerCase(
        "429 with a wish",
        .fcm(429, "RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED", headers: retryAfter),
        AnswerCase.retry(.answer, "QUOTA_EXCEEDED", after: 120)
    ),
    AnswerCase(
        "429 with a date",
        .fcm(
            429,
            "RESOURCE_EXHAUSTED",
            code: "QUOTA_EXCEEDED",
            headers: [PushHeader("retry-after", "Sat, 25 Jul 2026 17:21:00 GMT")]
        ),
        AnswerCase.retry(.answer, "QUOTA_EXCEEDED", after: 60)
    ),
    AnswerCase(
        "429",
        .fcm(429, "RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED"),
        AnswerCase.retry(.answer, "QUOTA_EXCEEDED", after: 60)
    ),
    AnswerCase("500", .fcm(500, "INTERNAL", code: "INTERNAL"), AnswerCase.retry(.serverFault, "INTERNAL")),
    AnswerCase(
        "500 unspecified",
        .fcm(500, "INTERNAL", code: "UNSPECIFIED_ERROR"),
        AnswerCase.retry(.serverFault, "UNSPECIFIED_ERROR")
    ),
    AnswerCase(
        "503 with a wish of a day",
        .fcm(503, "UNAVAILABLE", code: "UNAVAILABLE", headers: [PushHeader("retry-after", "86400")]),
        AnswerCase.retry(.serverFault, "UNAVAILABLE", after: 3600)
    ),
    AnswerCase(
        "502 of a proxy",
        .response(PushResponse(status: 502, headers: [], body: Array("<html>".utf8))),
        AnswerCase.retry(.serverFault, "HTTP 502")
    ),
]

@Suite("Answer tables")
struct AnswerTableTests {
    private let payload = PushPayload(message: TestModels().message("m1"), topic: nil)

    private func check(_ test: AnswerCase, _ service: PushService) async {
        let providers = TestProviders()
        providers.transport.answer { _, _ in test.answer }
        let token = service == .apns ? "abcd" : "a:b"
        #expect(await providers.provider(service).results(payload, to: [token]) == [test.expected])
        #expect(providers.transport.sent.count == test.sends)
    }

    @Test("APNs: each answer leads where the table says", arguments: apnsCases + transportCases)
    func apns(_ test: AnswerCase) async { await check(test, .apns) }

    @Test("APNs: tokens that fit no app retire the device", arguments: apnsRetired)
    func apnsRetires(_ reason: String) async {
        await check(AnswerCase(reason, .apns(400, reason), .retire(reason: reason, deadSince: nil)), .apns)
    }

    @Test("APNs: our own mistakes fail the push and keep the device", arguments: apnsRefused)
    func apnsRefuses(_ reason: String) async {
        await check(AnswerCase(reason, .apns(400, reason), .refused(reason: reason)), .apns)
    }

    @Test("APNs: trouble with the configuration pauses", arguments: apnsPausing)
    func apnsPauses(_ reason: String) async {
        await check(AnswerCase(reason, .apns(403, reason), .pause(reason: reason)), .apns)
    }

    @Test("FCM: each answer leads where the table says", arguments: fcmCases + transportCases)
    func fcm(_ test: AnswerCase) async { await check(test, .fcm) }

    @Test("a clock that is off by more than five minutes is named")
    func skew() async {
        let providers = TestProviders()
        providers.transport.answer { _, _ in
            .apns(403, "InvalidProviderToken", headers: [PushHeader("date", "Sat, 25 Jul 2026 15:20:00 GMT")])
        }
        let expected = PushResult.pause(
            reason: "InvalidProviderToken (this machine's clock is 7200 s ahead of Apple's)"
        )
        #expect(await providers.apns.results(payload, to: ["abcd"]) == [expected])
    }
}
