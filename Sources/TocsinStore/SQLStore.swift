import Metrics
import Synchronization
package import TocsinCore

/// A `Mutex` that can be shared.
final class Mutexed<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) {
        mutex = Mutex(value)
    }

    func withLock<Result: Sendable>(_ body: (inout sending Value) -> sending Result) -> Result {
        mutex.withLock(body)
    }
}

/// The store in SQL, once for all databases.
///
/// One thread writes: it takes all waiting writes into one transaction, in which each can fail
/// alone, and answers them after the commit. A few threads read, each from snapshots of its own.
package final class SQLStore: Store {
    /// Receives the events of one commit, in order, on the writer's thread; must return at once.
    package typealias CommitObserver = @Sendable ([DomainEvent]) -> Void

    private struct Ending {
        var isEnded = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let database: any SQLDatabase
    let settings: StoreSettings
    private let writes: WorkQueue<any QueuedWrite>
    /// Reads of clients, which take turns by owner.
    private let reads: ReadQueue
    /// The server's own reads, which have a reader that clients never get.
    private let ownReads: WorkQueue<ReadIntent>
    private let counters = Mutexed(StoreStatistics())
    private let ending = Mutexed(Ending())
    private let diagnostics: Diagnostics
    private let opening = Opening()
    private let turns = WriterTurns()

    private init(database: any SQLDatabase, settings: StoreSettings, diagnostics: Diagnostics) {
        self.database = database
        self.settings = settings
        self.diagnostics = diagnostics
        writes = WorkQueue(limit: settings.maximumWaitingWrites, waits: settings.metrics?.waits[.write])
        reads = ReadQueue(
            readersPerOwner: max(1, settings.readerCount / 2),
            waitingPerOwner: settings.maximumWaitingReadsOfOwner
        )
        ownReads = WorkQueue(limit: settings.maximumWaitingReads)
    }

    deinit {
        writes.close()
        closeReads()
    }

    /// Opens the database: claims it (servers), checks its settings, and brings it
    /// to this program's level.
    ///
    /// `now` is the time to note with migrations applied. `diagnostics` is told of failed reads and
    /// writes in full, each kind at most once a second, on any thread; it must return at once.
    ///
    /// Throws `mismatch`, with advice, when the database does not fit, and `unavailable` when it
    /// cannot be opened or another server has it. A server's store of a shared database opens even
    /// while the database is away. Until it is back, reads and writes are refused, and each write
    /// tries anew.
    package static func open(
        _ database: any SQLDatabase,
        role: StoreRole = .server,
        at now: Timestamp,
        settings: StoreSettings = StoreSettings(),
        commitObserver: @escaping CommitObserver = { _ in },
        diagnostics: @escaping @Sendable (StoreError) -> Void = { _ in }
    ) async throws(StoreError) -> SQLStore {
        let store = SQLStore(database: database, settings: settings, diagnostics: Diagnostics(diagnostics))
        let writer = WriterThread(
            database: database,
            role: role,
            settings: settings,
            openedAt: now,
            observer: commitObserver,
            queue: store.writes,
            readers: Countdown(settings.readerCount + 1),
            statistics: store.counters,
            opening: store.opening,
            turns: store.turns
        )
        try await store.start(writer)
        return store
    }

    /// Reads one snapshot in the queue of whoever asks; see `Store.read`.
    package func read<Value: Sendable>(
        for origin: ReadOrigin,
        _ body: @escaping @Sendable (any StoreReader) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await reading(for: origin) { reader throws(StoreError) in try body(reader) }
    }

    /// A read whose task is cancelled leaves its queue at once, or is interrupted, and
    /// throws `StoreError.stopped`.
    func reading<Value: Sendable>(
        for origin: ReadOrigin = .server,
        _ body: @escaping @Sendable (SQLReader) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let pending = Mutexed<ReadIntent?>(nil)
        let isMeasured = settings.metrics != nil
        let result: Result<Value, StoreError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let intent = ReadIntent(
                    origin,
                    askedAt: isMeasured ? .now : nil,
                    run: { reader in
                        let result = Result { () throws(StoreError) in try body(reader) }
                        return { continuation.resume(returning: result) }
                    },
                    fail: { continuation.resume(returning: .failure($0)) }
                )
                pending.withLock { $0 = intent }
                enqueue(intent)
                if Task.isCancelled { cancel(intent) }
            }
        } onCancel: {
            if let intent = pending.withLock({ $0 }) { cancel(intent) }
        }
        // A failure of a read that was ended is no failure of the database.
        if case .failure = result, pending.withLock({ $0?.cancellation.isSet ?? false }) { throw .stopped }
        return try answer(result)
    }

    private func enqueue(_ intent: ReadIntent) {
        switch intent.origin {
        case .server: Self.admit(ownReads.push(intent), "reads", refuse: intent.fail)
        case .owner(let owner): Self.admit(reads.push(intent, owner: owner), "of your reads", refuse: intent.fail)
        }
    }

    /// Ends a read that nobody waits for any more.
    private func cancel(_ intent: ReadIntent) {
        intent.cancellation.set()
        if case .owner(let owner) = intent.origin, reads.cancel(intent, owner: owner) { intent.fail(.stopped) }
    }

    private func closeReads() {
        reads.close()
        ownReads.close()
    }

    /// Writes in the next group; see `Store.write`.
    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreWriter) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try answer(await WaitingCaller.answer { caller in enqueue(ClosureWrite(body, caller)) })
    }

    /// Puts a write into the queue, or refuses it when too many wait.
    package func enqueue(_ write: any QueuedWrite) {
        Self.admit(writes.push(write), "writes", refuse: write.fail)
    }

    /// Reports a failure to the operator and answers it without what only operators may see.
    package func told(_ failure: StoreError) -> StoreError { diagnostics.report(failure) }

    /// What a caller gets; failures are reported on the way.
    private func answer<Value>(_ result: Result<Value, StoreError>) throws(StoreError) -> Value {
        switch result {
        case .success(let value): return value
        case .failure(let error): throw told(error)
        }
    }

    /// Commits what waits, refuses what comes, brings the main file up to date and closes;
    /// returns when all is done.
    package func close() async {
        writes.close()
        closeReads()
        await withCheckedContinuation { continuation in
            let isEnded = ending.withLock { ending in
                if !ending.isEnded { ending.waiters.append(continuation) }
                return ending.isEnded
            }
            if isEnded { continuation.resume() }
        }
    }

    private static func admit(
        _ admission: Admission,
        _ kind: String,
        refuse: (StoreError) -> Void
    ) {
        switch admission {
        case .accepted: break
        case .full: refuse(.unavailable(reason: "too many \(kind) are waiting; try again in a moment"))
        case .closed: refuse(.stopped)
        }
    }
}

extension SQLStore {
    /// What the store has done, and what waits.
    package var statistics: StoreStatistics {
        var statistics = counters.withLock { $0 }
        statistics.waitingWrites = writes.count
        statistics.waitingReads = reads.count + ownReads.count
        return statistics
    }

    /// The number of the group of writes under way, which changes as long as the writer's thread
    /// goes on; nil while there is none.
    package var writerTurn: Int? { turns.present }

    /// Brings the main file up to date with the log beside it; waits for writes before it.
    ///
    /// The one connection that writes does it, so that nobody else ever checkpoints. A database
    /// that keeps its log itself is left alone.
    package func checkpoint() async throws(StoreError) {
        let result: Result<Void, StoreError> = await withCheckedContinuation { continuation in
            enqueue(CheckpointWrite { continuation.resume(returning: $0) })
        }
        if case .failure(let error) = result { throw told(error) }
    }

    /// Whether other servers may use the database, which may be away for a while.
    package var isShared: Bool { database.isShared }

    /// Why the database cannot be reached; nil while it can.
    package var trouble: ConnectionTrouble? { database.trouble }

    /// A quick read, with what it was read from.
    package func health() async throws(StoreError) -> StoreHealth {
        let applied = try await migrationStatus().filter { $0.appliedAt != nil }
        return StoreHealth(databaseVersion: database.version, migration: applied.last?.number ?? 0)
    }

    /// All migrations this program or the database knows, by number.
    package func migrationStatus() async throws(StoreError) -> [MigrationStatus] {
        try await reading { reader throws(StoreError) in
            let session = reader.session
            return try Migrator(
                connection: session.connection,
                dialect: session.dialect,
                migrations: try Migration.embedded(for: session.dialect)
            ).status()
        }
    }
}

extension SQLStore {
    private func start(_ writer: WriterThread) async throws(StoreError) {
        let ending = ending
        let opened: Result<Void, StoreError> = await withCheckedContinuation { continuation in
            let isStarted = startThread("store-writer") {
                writer.run(opened: { continuation.resume(returning: $0) }, ended: { Self.end(ending) })
            }
            if !isStarted { continuation.resume(returning: .failure(Self.noThread)) }
        }
        try opened.get()
        let (reads, ownReads) = (reads, ownReads)
        let ofClients: @Sendable (ReadIntent?) -> ReadIntent? = { ended in reads.take(after: ended?.owner) }
        let ofServer: @Sendable (ReadIntent?) -> ReadIntent? = { _ in ownReads.take(upTo: 1).first }
        for number in 0...settings.readerCount {
            let reader = ReaderThread(
                database: database,
                next: number == 0 ? ofServer : ofClients,
                readers: writer.readers,
                opening: opening,
                metrics: settings.metrics
            )
            guard startThread("store-reader", { reader.run() }) else {
                for _ in number...settings.readerCount { writer.readers.arrive() }
                await close()
                throw Self.noThread
            }
        }
    }

    private static let noThread = StoreError.unavailable(reason: "the system has no thread to give")

    private static func end(_ ending: Mutexed<Ending>) {
        let waiters = ending.withLock { ending in
            ending.isEnded = true
            return ending.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
