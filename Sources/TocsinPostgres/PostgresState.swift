import Synchronization
import TocsinCore
import TocsinStore

/// What connections to one database have found out: shared by all copies of its value.
final class PostgresState: Sendable {
    private struct Found {
        var version = "PostgreSQL"
        var connecting = Attempts()
        /// Attempts of writers, at a server that only reads.
        var writing = Attempts()
        /// Since when no connection could be made, and why.
        var awaySince: ContinuousClock.Instant?
        var reason = ""
        /// Servers of the URL that did not answer the last time, by their indices, and when that
        /// was.
        var silent: [Int: ContinuousClock.Instant] = [:]
        /// When nothing is waited for any more.
        var end: Deadline?
    }

    let metrics = PostgresMetrics()
    private let found = Mutex(Found())
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.now = now
    }

    var version: String { found.withLock { $0.version } }

    func note(version: String) { found.withLock { $0.version = version } }

    /// After failures attempts keep a distance that grows to two seconds, whoever makes them; a
    /// database that only reads holds up writers alone.
    func checkPause(_ use: ConnectionUse) throws(StoreError) {
        let now = now()
        let error = found.withLock { found in
            let pauses = use == .reader ? [found.connecting] : [found.connecting, found.writing]
            return pauses.first { $0.isPausing(at: now) }?.lastError
        }
        if let error { throw error }
    }

    /// For so long a silent server is tried after the others: the URL's order may be all
    /// that leads to the primary.
    private static let silence = Duration.seconds(10)

    /// The attempts in the order in which they are made: servers that were
    /// silent just now come last.
    func ordered(_ attempts: [PostgresHosts.Attempt]) -> [PostgresHosts.Attempt] {
        let now = now()
        let silent = found.withLock { $0.silent.filter { $0.value + Self.silence > now } }
        return attempts.filter { silent[$0.server] == nil } + attempts.filter { silent[$0.server] != nil }
    }

    /// How many servers did not answer the last time.
    var silentCount: Int { found.withLock { $0.silent.count } }

    func note(server number: Int, isSilent: Bool) {
        let now = now()
        found.withLock { found in
            found.silent[number] = isSilent ? now : nil
        }
    }

    /// Notes what keeps a connection from being made, while others are tried.
    func note(trouble reason: String) {
        let now = now()
        found.withLock { found in
            found.awaySince = found.awaySince ?? now
            found.reason = reason
        }
    }

    /// When nothing is waited for any more, since the server stops; nil while it runs.
    var end: Deadline? { found.withLock { $0.end } }

    func end(at deadline: Deadline) { found.withLock { $0.end = deadline } }

    var trouble: ConnectionTrouble? {
        let now = now()
        return found.withLock { Self.trouble($0, at: now) }
    }

    private static func trouble(_ found: Found, at now: ContinuousClock.Instant) -> ConnectionTrouble? {
        guard let since = found.awaySince else { return nil }
        return ConnectionTrouble(
            reason: found.reason,
            awayMilliseconds: milliseconds(since.duration(to: now)),
            attempts: found.connecting.failures,
            retryMilliseconds: max(0, found.connecting.nextAttempt.map { milliseconds(now.duration(to: $0)) } ?? 0)
        )
    }

    private static func milliseconds(_ duration: Duration) -> Int {
        Int(duration.components.seconds) * 1000 + Int(duration.components.attoseconds / 1_000_000_000_000_000)
    }

    /// A connection was lost; others may be well.
    func lost(_ detail: String) {
        let now = now()
        found.withLock { found in
            guard found.awaySince == nil else { return }
            found.awaySince = now
            found.reason = "the connection to the database was lost"
        }
    }

    /// A connection was made; answers what is to be told.
    func succeeded(_ use: ConnectionUse) -> [ConnectionNews] {
        let now = now()
        return found.withLock { found in
            var news = Self.reached(&found, at: now)
            if use != .reader {
                if found.writing.failures > 0 { news.append(.writable(failedAttempts: found.writing.failures)) }
                found.writing = Attempts()
            }
            return news
        }
    }

    private static func reached(_ found: inout Found, at now: ContinuousClock.Instant) -> [ConnectionNews] {
        let trouble = trouble(found, at: now)
        (found.connecting, found.awaySince) = (Attempts(), nil)
        return trouble.map { [.back(afterMilliseconds: $0.awayMilliseconds, failedAttempts: $0.attempts)] } ?? []
    }

    /// A connection could not be made; answers what is to be told: the first failure, the
    /// second, the fourth and so on.
    func failed(_ error: StoreError) -> [ConnectionNews] {
        let now = now()
        return found.withLock { found in
            if case .unavailable(PostgresFailure.readOnly, _) = error {
                let isTold = found.writing.add(error, at: now)
                let refused = ConnectionNews.readOnly(error, failedAttempts: found.writing.failures)
                return Self.reached(&found, at: now) + (isTold ? [refused] : [])
            }
            let isTold = found.connecting.add(error, at: now)
            found.awaySince = found.awaySince ?? now
            if case .unavailable(let reason, _) = error {
                found.reason = reason
            } else {
                found.reason = "it does not fit"
            }
            guard isTold else { return [] }
            return Self.trouble(found, at: now).map { [.away(error, $0)] } ?? []
        }
    }
}

/// Attempts that failed one after the other.
private struct Attempts {
    private(set) var failures = 0
    private(set) var lastError: StoreError?
    private(set) var nextAttempt: ContinuousClock.Instant?
    private static let firstPause = 50
    private static let longestPause = 2000

    func isPausing(at now: ContinuousClock.Instant) -> Bool { nextAttempt.map { $0 > now } ?? false }

    /// Counts one more; answers whether it is told.
    mutating func add(_ error: StoreError, at now: ContinuousClock.Instant) -> Bool {
        let pause = min(Self.longestPause, Self.firstPause << min(failures, 6))
        failures += 1
        lastError = error
        nextAttempt = now + .milliseconds(pause)
        return failures & (failures - 1) == 0
    }
}
