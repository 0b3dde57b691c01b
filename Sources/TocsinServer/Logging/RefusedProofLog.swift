import Logging
import Synchronization
import TocsinCore

/// Tells the log why proofs of registrations were refused, which clients are not told.
///
/// Whoever has signed in can cause a refusal. So there is one line a second at most, with the count
/// of all since the start.
final class RefusedProofLog: Sendable {
    private let logger: Logger
    private let time: any TimeSource
    private let state = Mutex((count: 0, toldAt: Int64.min))

    init(logger: Logger, time: any TimeSource) {
        (self.logger, self.time) = (logger, time)
    }

    /// Counts a refusal.
    func note(_ user: UserID, _ reason: String) {
        let now = time.now().milliseconds
        let count = state.withLock { state -> Int? in
            state.count += 1
            // Also told when the clock was set back.
            guard state.toldAt == .min || !(state.toldAt..<state.toldAt + 1000).contains(now) else { return nil }
            state.toldAt = now
            return state.count
        }
        guard let count else { return }
        logger.notice(
            "a registration's proof was refused",
            metadata: [
                "event": "registration_proof_refused", "user": "\(user)", "reason": "\(reason)",
                "refused_in_all": .stringConvertible(count),
            ]
        )
    }
}
