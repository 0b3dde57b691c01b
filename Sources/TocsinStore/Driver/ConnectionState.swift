package import TocsinCore

/// How connections to a database that other machines run are getting on,
/// while it cannot be reached.
package struct ConnectionTrouble: Sendable, Hashable {
    /// What failed last, without addresses.
    package var reason: String
    /// For how long.
    package var awayMilliseconds: Int
    /// Attempts to connect that have failed since.
    package var attempts: Int
    /// Until the next attempt may be made.
    package var retryMilliseconds: Int

    /// What is known of a database that is away.
    package init(reason: String, awayMilliseconds: Int, attempts: Int, retryMilliseconds: Int) {
        self.reason = reason
        self.awayMilliseconds = awayMilliseconds
        self.attempts = attempts
        self.retryMilliseconds = retryMilliseconds
    }
}

/// What an operator is told about connections to a database.
package enum ConnectionNews: Sendable, Hashable {
    /// A connection was lost, and another is being made.
    case lost(detail: String)
    /// No connection could be made; not each attempt is told.
    case away(StoreError, ConnectionTrouble)
    /// A connection could be made again.
    case back(afterMilliseconds: Int, failedAttempts: Int)
    /// A server of several, counted from 1, did not answer in time, and another is tried.
    case passed(server: Int, of: Int)
    /// The database is reached and takes no writes; not each attempt is told.
    case readOnly(StoreError, failedAttempts: Int)
    /// The database takes writes again.
    case writable(failedAttempts: Int)
}
