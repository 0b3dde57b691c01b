/// Why the fake push service refuses, with what a developer needs to mend it.
struct WebPushRefusal: Error, Sendable {
    var status: Int
    /// A word of letters, as Apple's service gives.
    var reason: String
    var detail: String
    var retryAfterSeconds: Int?
    /// Where an answer leads that redirects.
    var location: String?

    init(_ status: Int, _ reason: String, _ detail: String, retryAfterSeconds: Int? = nil, location: String? = nil) {
        self.status = status
        self.reason = reason
        self.detail = detail
        self.retryAfterSeconds = retryAfterSeconds
        self.location = location
    }

    /// The refusals that scripts know; each is met by subscriptions made with its prefix as script.
    static let scripted: [(prefix: String, refusal: WebPushRefusal)] = [
        ("gone", scripted(410, "Unsubscribed")), ("missing", scripted(404, "NotFound")),
        ("badrequest", scripted(400, "BadRequest")), ("unauthorized", scripted(401, "BadJwtToken")),
        ("forbidden", scripted(403, "VapidPkHashMismatch")), ("toolarge", scripted(413, "PayloadTooLarge")),
        ("throttled", scripted(429, "TooManyRequests", retryAfter: 1)),
        ("broken", scripted(500, "InternalServerError")),
        ("unavailable", scripted(503, "ServiceUnavailable", retryAfter: 1)),
        ("redirect", scripted(307, "TemporaryRedirect", location: "https://elsewhere.invalid/push/1")),
    ]

    /// In words.
    var summary: String {
        "\(status) \(reason)" + (retryAfterSeconds.map { ", Retry-After: \($0)" } ?? "")
    }

    /// What an outage of the service does to each push; `nil` for those of the connection.
    static func outage(_ outage: Outage) -> WebPushRefusal? {
        switch outage {
        case .unavailable: scripted(503, "ServiceUnavailable", retryAfter: 1)
        case .broken: scripted(500, "InternalServerError")
        case .throttled: scripted(429, "TooManyRequests", retryAfter: 1)
        case .credentials: scripted(403, "BadJwtToken")
        case .silent, .closed, .slow, .refused, .tls: nil
        }
    }

    private static func scripted(
        _ status: Int,
        _ reason: String,
        retryAfter: Int? = nil,
        location: String? = nil
    ) -> WebPushRefusal {
        WebPushRefusal(status, reason, "scripted", retryAfterSeconds: retryAfter, location: location)
    }
}

extension ScriptRule {
    /// The scripts of browsers' subscriptions: their ids begin as
    /// `POST /_subscribe?script=` was told.
    static let webPush: [ScriptRule] =
        WebPushRefusal.scripted.map { prefix, refusal in
            ScriptRule(
                provider: .webpush,
                prefix: prefix + "-",
                summary: refusal.summary,
                isCounted: true,
                effect: .webPush(refusal)
            )
        } + [
            wire("slow-", "201, but late", .slow(seconds: nil)), wire("silent-", "no answer", .silence),
            wire("reset-", "RST_STREAM INTERNAL_ERROR", .reset(errorCode: 2)),
            wire("refused-", "RST_STREAM REFUSED_STREAM: not processed", .reset(errorCode: 7)),
            wire("lost-", "accepted, but RST_STREAM instead of the answer", .acceptedThenReset),
            wire("close-", "the connection closes without an answer", .hangUp),
        ]

    private static func wire(_ prefix: String, _ summary: String, _ fault: WireFault) -> ScriptRule {
        ScriptRule(provider: .webpush, prefix: prefix, summary: summary, isCounted: true, effect: .wire(fault))
    }
}
