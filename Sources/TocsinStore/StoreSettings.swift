package import TocsinCore

/// Limits and behaviour of a store.
package struct StoreSettings: Sendable {
    /// Writes committed together at most.
    package var groupSize = 256
    /// Writes waiting for a commit at most; beyond, a write is refused as unavailable.
    package var maximumWaitingWrites = 10_000
    /// The server's own reads waiting for their thread at most; beyond, a read
    /// is refused as unavailable.
    package var maximumWaitingReads = 10_000
    /// Reads of one owner waiting for a thread at most; beyond, that owner's reads
    /// are refused as unavailable.
    package var maximumWaitingReadsOfOwner = 1000
    /// Threads, each with a connection, that read for clients.
    ///
    /// One more reads for the server itself. One owner has half of them at most.
    package var readerCount = 3
    /// What opening does about migrations that the database lacks.
    package var migrations = MigrationMode.apply
    /// Makes what the audit says of migrations that were applied; nil: it says nothing.
    package var migrationNote: (@Sendable (_ from: Int, _ to: Int) -> AuditEvent)?
    /// Told how far opening has come, on the writer's thread; it must return at once.
    package var opening: @Sendable (OpeningStep) -> Void = { _ in }
    /// Where groups are noted for other nodes; nil where there are none.
    package var journal: Journal?
    /// Writes count as refused until none has been refused for so long.
    package var refusalEndsAfter = Duration.seconds(5)
    /// Counts what the store does; nil: nothing is counted.
    package var metrics: StoreMetrics?

    /// The documented defaults, without a journal.
    package init() {}
}

/// How far opening a database has come.
package enum OpeningStep: Sendable, Hashable {
    /// The lock that keeps others from migrating is waited for.
    case waitingForLock
    /// A migration is applied: its number among all, and its name; so many hundredths of those that
    /// were pending are done.
    case migrating(number: Int, of: Int, name: String, percent: Int)
}

/// What opening does about migrations that the database lacks.
package enum MigrationMode: Sendable, Hashable {
    /// Applies them in one transaction.
    case apply
    /// Refuses to open.
    case require
    /// Opens all the same, to look at `migrationStatus`.
    case ignore
}

/// Who opens a store.
package enum StoreRole: Sendable, Hashable {
    /// The one server of the database (where the database allows only one).
    case server
    /// A command beside it.
    case tool
}

/// What the store has done since it was opened, and what waits now.
package struct StoreStatistics: Sendable, Hashable {
    /// Transactions committed.
    package var commits = 0
    /// Writes that were committed in them.
    package var committedWrites = 0
    /// Groups that failed as a whole.
    package var failedGroups = 0
    /// Time spent in committing, which is mostly the disk's.
    package var commitTime = Duration.zero
    /// Writes that wait for a group now.
    package var waitingWrites = 0
    /// Reads that wait for a thread now.
    package var waitingReads = 0
    /// Why the last group was refused as a whole, and since when groups are;
    /// nil once a row can be written and none was refused for a while.
    package var refusal: Refusal?

    /// A store that has done nothing yet.
    package init() {}

    /// Why no write is taken.
    package struct Refusal: Sendable, Hashable {
        /// For anyone.
        package var reason: String
        /// When the first of the groups in a row was refused.
        package var since: ContinuousClock.Instant
        /// When the last of them was.
        package var last: ContinuousClock.Instant
    }

    mutating func noteFailure(_ error: StoreError) {
        failedGroups += 1
        guard case .unavailable(let reason, _) = error else { return }
        let now = ContinuousClock.now
        refusal = Refusal(reason: reason, since: refusal?.since ?? now, last: now)
    }
}

/// A quick look at whether the store works.
package struct StoreHealth: Sendable, Hashable {
    /// The library or server: `SQLite 3.40.1`.
    package var databaseVersion: String
    /// The number of the last migration applied.
    package var migration: Int
}
