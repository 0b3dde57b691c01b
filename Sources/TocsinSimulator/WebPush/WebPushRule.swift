/// Why the fake push service refuses, with what a developer needs to mend it.
struct WebPushRefusal: Error, Sendable {
    var status: Int
    var reason: String
    var detail: String
    var retryAfterSeconds: Int?

    init(_ status: Int, _ reason: String, _ detail: String, retryAfterSeconds: Int? = nil) {
        self.status = status
        self.reason = reason
        self.detail = detail
        self.retryAfterSeconds = retryAfterSeconds
    }
}

/// One scripted fault of the fake push service: subscriptions made with `/_subscribe?script=NAME` meet it.
///
/// `NAME-2` meets a counted one twice.
package struct WebPushRule: Sendable {
    enum Effect: Sendable {
        case refusal(WebPushRefusal)
        /// Answers that lead elsewhere.
        case redirect
        case wire(ScriptEffect)
    }

    /// What `/_subscribe` is given.
    package let name: String
    /// What happens, in words.
    package let summary: String
    let effect: Effect

    private init(_ name: String, _ summary: String, _ effect: Effect) {
        self.name = name
        self.summary = summary
        self.effect = effect
    }

    private static func status(_ name: String, _ status: Int, _ reason: String, retryAfter: Int? = nil) -> WebPushRule {
        let summary = "\(status) \(reason)" + (retryAfter.map { ", Retry-After: \($0)" } ?? "")
        let refusal = WebPushRefusal(status, reason, "scripted", retryAfterSeconds: retryAfter)
        return WebPushRule(name, summary, .refusal(refusal))
    }

    /// How often a subscription meets the rule before it is served as usual; `nil` is always.
    func times(for id: String) -> Int? {
        let rest = id.dropFirst(name.count + 1)
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        return rest.dropFirst(digits.count).first == "-" ? Int(digits) : nil
    }

    /// All of them; the first whose name fits is met.
    package static let all: [WebPushRule] = [
        status("gone", 410, "Unsubscribed"),
        status("missing", 404, "NotFound"),
        status("badrequest", 400, "BadRequest"),
        status("unauthorized", 401, "BadJwtToken"),
        status("forbidden", 403, "VapidPkHashMismatch"),
        status("toolarge", 413, "PayloadTooLarge"),
        status("throttled", 429, "TooManyRequests", retryAfter: 1),
        status("broken", 500, "InternalServerError"),
        status("unavailable", 503, "ServiceUnavailable", retryAfter: 1),
        WebPushRule("redirect", "307 to another host", .redirect),
        WebPushRule("slow", "201, but late", .wire(.slow)),
        WebPushRule("silent", "no answer", .wire(.silence)),
        WebPushRule("reset", "RST_STREAM INTERNAL_ERROR", .wire(.reset(errorCode: 2))),
        WebPushRule("refused", "RST_STREAM REFUSED_STREAM: not processed", .wire(.reset(errorCode: 7))),
        WebPushRule("lost", "accepted, but RST_STREAM instead of the answer", .wire(.acceptedThenReset)),
        WebPushRule("close", "the connection closes without an answer", .wire(.hangUp)),
    ]

    /// What an outage of the service does to each push.
    static func effect(of outage: Outage) -> Effect {
        switch outage {
        case .unavailable: .refusal(WebPushRefusal(503, "ServiceUnavailable", "outage", retryAfterSeconds: 1))
        case .broken: .refusal(WebPushRefusal(500, "InternalServerError", "outage"))
        case .throttled: .refusal(WebPushRefusal(429, "TooManyRequests", "outage", retryAfterSeconds: 1))
        case .credentials: .refusal(WebPushRefusal(403, "BadJwtToken", "outage"))
        case .silent: .wire(.silence)
        case .closed: .wire(.hangUp)
        case .slow: .wire(.slow)
        }
    }
}
