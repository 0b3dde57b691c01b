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
/// One thread writes: it takes all waiting writes into one transaction, in which each can fail alone, and answers them after
/// the commit. A few threads read, each from snapshots of its own.
package final class SQLStore: Store {
    /// Receives the events of one commit, in order, on the writer's thread; must return at once.
    package typealias CommitObserver = @Sendable ([DomainEvent]) -> Void

    private struct Ending {
        var isEnded = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let database: any SQLDatabase
    private let settings: StoreSettings
    private let writes: WorkQueue<any QueuedWrite>
    private let reads: WorkQueue<ReadIntent>
    private let counters = Mutexed(StoreStatistics())
    private let ending = Mutexed(Ending())
    private let diagnostics: Diagnostics
    private let opening = Opening()

    private init(database: any SQLDatabase, settings: StoreSettings, diagnostics: Diagnostics) {
        self.database = database
        self.settings = settings
        self.diagnostics = diagnostics
        writes = WorkQueue(limit: settings.maximumWaitingWrites)
        reads = WorkQueue(limit: settings.maximumWaitingReads)
    }

    deinit {
        writes.close()
        reads.close()
    }

    /// Opens the database: claims it (servers), checks its settings, and brings it to this program's level.
    ///
    /// `now` is the time to note with migrations applied. `diagnostics` is told of failures of reads and writes with all
    /// that is known, each kind at most once a second, on any thread; it must return at once. Throws `mismatch` when the database does not fit, with advice;
    /// `unavailable` when it cannot be opened, or another server has it. A server's store of a shared database opens even
    /// while that is away: until it comes, reads and writes are refused, and each write tries anew.
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
            readers: Countdown(settings.readerCount),
            statistics: store.counters,
            opening: store.opening
        )
        try await store.start(writer)
        return store
    }

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await reading { reader throws(StoreError) in try body(reader) }
    }

    func reading<Value: Sendable>(
        _ body: @escaping @Sendable (SQLReader) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
            let intent = ReadIntent(
                run: { reader in
                    let result = Result { () throws(StoreError) in try body(reader) }
                    return { continuation.resume(returning: result) }
                },
                fail: { continuation.resume(returning: .failure($0)) }
            )
            Self.admit(reads.push(intent), "reads") { continuation.resume(returning: .failure($0)) }
        }
        return try answer(result)
    }

    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreWriter) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try answer(await WaitingCaller.answer { caller in enqueue(ClosureWrite(body, caller)) })
    }

    package func enqueue(_ write: any QueuedWrite) {
        Self.admit(writes.push(write), "writes", refuse: write.fail)
    }

    package func told(_ failure: StoreError) -> StoreError { diagnostics.report(failure) }

    /// What a caller gets; failures are reported on the way.
    private func answer<Value>(_ result: Result<Value, StoreError>) throws(StoreError) -> Value {
        switch result {
        case .success(let value): return value
        case .failure(let error): throw told(error)
        }
    }

    /// Commits what waits, refuses what comes, brings the main file up to date and closes; returns when all is done.
    package func close() async {
        writes.close()
        reads.close()
        await withCheckedContinuation { continuation in
            let isEnded = ending.withLock { ending in
                if !ending.isEnded { ending.waiters.append(continuation) }
                return ending.isEnded
            }
            if isEnded { continuation.resume() }
        }
    }

    private static func admit<Element>(
        _ admission: WorkQueue<Element>.Admission,
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

// MARK: Looking at it

extension SQLStore {
    /// What the store has done, and what waits.
    package var statistics: StoreStatistics {
        var statistics = counters.withLock { $0 }
        statistics.waitingWrites = writes.count
        statistics.waitingReads = reads.count
        return statistics
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

// MARK: Threads

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
        for number in 0..<settings.readerCount {
            let reader = ReaderThread(
                database: database,
                queue: reads,
                readers: writer.readers,
                opening: opening
            )
            guard startThread("store-reader", { reader.run() }) else {
                for _ in number..<settings.readerCount { writer.readers.arrive() }
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
