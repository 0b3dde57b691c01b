import TocsinCore

/// Devices that named no side and are unknown on the one assumed: what the other
/// side's answer means for them.
enum EnvironmentFallback {
    static let wrongSide = PushResult.retire(reason: .badDeviceToken, deadSince: nil)

    static func result(of result: PushResult, on side: PushEnvironment) -> PushResult {
        switch result {
        case .accepted(let providerID, _): .accepted(providerID: providerID, environment: side)
        case .retire(let reason, _) where DeliveryReason.wrongTokens.contains(reason): wrongSide
        case .retire, .refused, .skipped: result
        // Nobody can be on a side that the key does not serve.
        case .pause(let reason) where DeliveryReason.oneSidedKeys.contains(reason): wrongSide
        // Trouble of the other side says nothing of the lane, which is this side's.
        case .pause(let reason): .retry(PushRetry(.answer, reason: reason))
        case .retry(let retry):
            .retry(
                PushRetry(
                    .answer,
                    reason: retry.reason,
                    afterSeconds: retry.afterSeconds,
                    countsAttempt: retry.countsAttempt
                )
            )
        }
    }
}
