import Synchronization
import TocsinCore
import TocsinStore

/// What connections to one database have found out: shared by all copies of its value.
final class PostgresState: Sendable {
    private struct Found {
        var version = "PostgreSQL"
        var failures = 0
        var lastError: StoreError?
        var nextAttempt = ContinuousClock.now
        /// Since when no connection could be made, and why.
        var awaySince: ContinuousClock.Instant?
        var reason = ""
        /// When nothing is waited for any more.
        var end: Deadline?
    }

    private let found = Mutex(Found())
    private static let firstPause = 50
    private static let longestPause = 2000

    var version: String { found.withLock { $0.version } }

    func note(version: String) { found.withLock { $0.version = version } }

    /// After failures attempts keep a distance that grows to two seconds, whoever makes them.
    func checkPause() throws(StoreError) {
        let error = found.withLock { found in
            found.nextAttempt > ContinuousClock.now ? found.lastError : nil
        }
        if let error { throw error }
    }

    /// When nothing is waited for any more, since the server stops; nil while it runs.
    var end: Deadline? { found.withLock { $0.end } }

    func end(at deadline: Deadline) { found.withLock { $0.end = deadline } }

    var trouble: ConnectionTrouble? { found.withLock { Self.trouble($0) } }

    private static func trouble(_ found: Found) -> ConnectionTrouble? {
        guard let since = found.awaySince else { return nil }
        return ConnectionTrouble(
            reason: found.reason,
            awayMilliseconds: milliseconds(since.duration(to: .now)),
            attempts: found.failures,
            retryMilliseconds: max(0, milliseconds(ContinuousClock.now.duration(to: found.nextAttempt)))
        )
    }

    private static func milliseconds(_ duration: Duration) -> Int {
        Int(duration.components.seconds) * 1000 + Int(duration.components.attoseconds / 1_000_000_000_000_000)
    }

    /// A connection was lost; others may be well.
    func lost(_ detail: String) {
        found.withLock { found in
            guard found.awaySince == nil else { return }
            found.awaySince = .now
            found.reason = "the connection to the database was lost"
        }
    }

    /// A connection was made; answers what is to be told.
    func succeeded() -> ConnectionNews? {
        found.withLock { found in
            let trouble = Self.trouble(found)
            let failures = found.failures
            (found.failures, found.lastError, found.awaySince) = (0, nil, nil)
            return trouble.map { .back(afterMilliseconds: $0.awayMilliseconds, failedAttempts: failures) }
        }
    }

    /// A connection could not be made; answers what is to be told: the first failure, the second, the fourth and so on.
    func failed(_ error: StoreError) -> ConnectionNews? {
        found.withLock { found in
            let pause = min(Self.longestPause, Self.firstPause << min(found.failures, 6))
            found.failures += 1
            found.lastError = error
            found.nextAttempt = ContinuousClock.now + .milliseconds(pause)
            found.awaySince = found.awaySince ?? .now
            if case .unavailable(let reason, _) = error {
                found.reason = reason
            } else {
                found.reason = "it does not fit"
            }
            guard found.failures & (found.failures - 1) == 0 else { return nil }
            return Self.trouble(found).map { .away(error, $0) }
        }
    }
}
