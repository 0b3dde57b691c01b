import JSON
import TocsinCore

/// What each answer of a push service leads to (RFC 8030 §5, §7.3, §8; RFC 8292 §4.2).
///
/// Services are named by clients, so nothing of a body is repeated but a word of letters.
struct WebPushAnswers: Sendable {
    let now: Timestamp
    private static let quotaSeconds = 60.0
    private static let maximumProviderIDBytes = 512
    private static let maximumReasonBytes = 40

    func decision(_ answer: PushAnswer) -> AnswerDecision {
        switch answer {
        case .response(let response): decision(response)
        case .notProcessed, .unknown, .unreachable: TransportTrouble.decision(answer)
        }
    }

    private func decision(_ response: PushResponse) -> AnswerDecision {
        let reason = Self.reason(response)
        switch response.status {
        case 200...202, 204: return .settled(.accepted(providerID: Self.providerID(response)))
        case 401, 403:
            let refused = reason.with(detail: "the VAPID key was refused")
            return .again(.newCredential, otherwise: .pause(reason: refused))
        case 404, 410: return .settled(.retire(reason: reason, deadSince: nil))
        case 413: return .again(.smallerPayload, otherwise: .refused(reason: reason.with(detail: "too large")))
        case 429:
            // The limit is of one subscription (RFC 8030 §8.4).
            let seconds = RetryAfter.seconds(in: response, now: now) ?? Self.quotaSeconds
            return .settled(.retry(PushRetry(.deviceQuota, reason: reason, afterSeconds: seconds)))
        case 408, 500...599:
            let seconds = RetryAfter.seconds(in: response, now: now)
            return .settled(.retry(PushRetry(.serverFault, reason: reason, afterSeconds: seconds)))
        // Also redirects: they are not followed, for they could lead anywhere.
        default: return .settled(.refused(reason: reason))
        }
    }

    /// The status, and the service's own word for it where there is one
    /// (`{"reason": "BadJwtToken"}`).
    private static func reason(_ response: PushResponse) -> DeliveryReason {
        let word = (try? JSONParser.parse(response.body))?["reason"]?.stringValue ?? ""
        let isWord = word.utf8.count <= maximumReasonBytes && word.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) }
        let status = DeliveryReason.http(response.status)
        return isWord && !word.isEmpty ? DeliveryReason(rawValue: "\(status) \(word)") : status
    }

    /// The push's own resource at the service.
    private static func providerID(_ response: PushResponse) -> String? {
        guard let location = response.header("location"), location.utf8.count <= maximumProviderIDBytes,
            location.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return location
    }
}
