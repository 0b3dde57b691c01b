/// A state in which a fake provider treats all pushes alike, until it is ended.
package enum Outage: String, Sendable, CaseIterable {
    /// 503, with `Retry-After: 1` from FCM and the token endpoint.
    case unavailable
    /// 500.
    case broken
    /// 429.
    case throttled
    /// The sender's credentials are refused, as after a key was revoked.
    case credentials
    /// No answer.
    case silent
    /// Each connection closes instead of an answer.
    case closed
    /// Right answers, but late.
    case slow
    /// Nobody listens: connecting is refused, and what was connected is cut.
    case refused
    /// Connecting works, the TLS handshake fails, and what was connected is cut.
    case tls

    func effect(_ provider: SimulatedProvider) -> ScriptEffect {
        if provider == .webpush, let refusal = WebPushRefusal.outage(self) { return .webPush(refusal) }
        return switch self {
        case .unavailable: provider == .apns ? .apns(.serviceUnavailable) : .fcm(.unavailable(.seconds(1)))
        case .broken: provider == .apns ? .apns(.internalServerError) : .fcm(.internalError)
        case .throttled: provider == .apns ? .apns(.tooManyRequests) : .fcm(.quotaExceeded(.project, .seconds(1)))
        case .credentials: provider == .apns ? .apns(.invalidProviderToken) : .fcm(.permissionDenied)
        case .silent: .wire(.silence)
        case .closed, .refused, .tls: .wire(.hangUp)
        case .slow: .wire(.slow(seconds: nil))
        }
    }

    /// What the token endpoint does meanwhile.
    func tokenReply(_ answer: WireAnswer, slowSeconds: Double) -> WireReply {
        switch self {
        case .unavailable: .answer(WireAnswer(status: 503, headers: [("retry-after", "1")]))
        case .broken: .answer(WireAnswer(status: 500))
        case .throttled: .answer(WireAnswer(status: 429))
        case .credentials:
            .answer(
                WireAnswer(
                    status: 400,
                    headers: [("content-type", "application/json; charset=utf-8")],
                    body: Array(#"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#.utf8)
                )
            )
        case .silent: .silence
        case .closed, .refused, .tls: .hangUp
        case .slow: .late(answer, afterSeconds: slowSeconds)
        }
    }
}
