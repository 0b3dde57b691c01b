/// When a delivery is tried again: a pure function of what failed and how often.
package struct RetryPolicy: Sendable, Hashable {
    /// Pauses in seconds before each retry, after the last of which a delivery has failed;
    /// empty: the built-in schedule.
    package var replacement: [Double] = []
    /// Counted attempts after which a delivery has failed.
    package var maximumAttempts = 50
    /// A delivery is given up this long after its message.
    package var lifetimeSeconds = 21_600.0

    /// The built-in schedule.
    package init() {}

    private static let afterAnswer = [10.0, 10, 20, 40, 80, 160, 320, 600]
    private static let afterBrokenRequest = [1.0, 5]
    private static let jitter = 0.1

    /// Seconds until the next try; nil when there is none.
    ///
    /// - Parameters:
    ///   - retry: What failed. A wish of the provider is never shortened.
    ///   - attempts: Counted attempts so far, this one included.
    ///   - unit: A random number in 0..<1.
    package func pauseSeconds(_ retry: PushRetry, attempts: Int, unit: Double) -> Double? {
        let wish = retry.afterSeconds ?? 0
        guard retry.countsAttempt else { return max(1, wish) * (1 + Self.jitter * unit) }
        guard attempts < maximumAttempts, let scheduled = scheduled(retry.cause, attempt: attempts) else { return nil }
        let jittered = scheduled * (1 - Self.jitter + 2 * Self.jitter * unit)
        return max(jittered, wish * (1 + Self.jitter * unit))
    }

    /// The pause before the n-th retry, without jitter.
    private func scheduled(_ cause: PushRetry.Cause, attempt: Int) -> Double? {
        let index = max(0, attempt - 1)
        guard replacement.isEmpty else { return index < replacement.count ? replacement[index] : nil }
        guard cause == .brokenRequest else { return Self.afterAnswer[min(index, Self.afterAnswer.count - 1)] }
        if index < Self.afterBrokenRequest.count { return Self.afterBrokenRequest[index] }
        return Self.afterAnswer[min(index - Self.afterBrokenRequest.count, Self.afterAnswer.count - 1)]
    }
}
