import Dispatch
import Testing
import TocsinCore
import TocsinSQLite
import TocsinStore

@Suite("Reads take turns")
struct FairReadTests {
    /// A read that holds its reader until it is let go.
    private struct Held {
        let task: Task<Result<Int, StoreError>, Never>
        let gate: DispatchSemaphore

        /// Returns once the read has begun.
        static func begin(in store: SQLStore, for origin: ReadOrigin) async -> Held {
            let gate = DispatchSemaphore(value: 0)
            let (begun, signal) = AsyncStream<Void>.makeStream()
            let task = Task {
                await Self.outcome {
                    () throws(StoreError) in
                    try await store.read(for: origin) { _ throws(StoreError) in
                        signal.finish()
                        _ = gate.wait(timeout: .now() + 300)
                        return 0
                    }
                }
            }
            for await _ in begun {}
            return Held(task: task, gate: gate)
        }

        static func outcome(_ body: () async throws(StoreError) -> Int) async -> Result<Int, StoreError> {
            do throws(StoreError) { return .success(try await body()) } catch { return .failure(error) }
        }

        func end() async {
            gate.signal()
            _ = await task.value
        }
    }

    /// Starts a read; it is in the queue when this returns.
    private func start(in store: SQLStore, _ origin: ReadOrigin) -> Task<Result<Int, StoreError>, Never> {
        Task.immediate {
            await Held.outcome { () throws(StoreError) in
                try await store.read(for: origin) { _ throws(StoreError) in 1 }
            }
        }
    }

    @Test(
        "one owner's reads, however many, leave readers for others and for the server",
        arguments: TestDatabase.available
    )
    func shares(database: TestDatabase) async throws {
        try await database.withStore { store in
            let held = await Held.begin(in: store, for: .owner("mallory"))
            let waiting = (0..<50).map { _ in start(in: store, .owner("mallory")) }
            for origin in [ReadOrigin.owner("ann"), .owner("bob"), .server] {
                #expect(await start(in: store, origin).value == .success(1))
            }
            #expect(store.statistics.waitingReads == 50)
            await held.end()
            for task in waiting { #expect(await task.value == .success(1)) }
        }
    }

    @Test("the server's own reads have a reader that clients never get", arguments: TestDatabase.available)
    func reserved(database: TestDatabase) async throws {
        try await database.withStore { store in
            var held: [Held] = []
            for number in 1...3 { held.append(await Held.begin(in: store, for: .owner("owner \(number)"))) }
            let waiting = start(in: store, .owner("ann"))
            #expect(await start(in: store, .server).value == .success(1))
            #expect(store.statistics.waitingReads == 1)
            for held in held { await held.end() }
            #expect(await waiting.value == .success(1))
        }
    }

    @Test("who asks too much at once is refused, and nobody else", arguments: TestDatabase.available)
    func bounds(database: TestDatabase) async throws {
        var settings = StoreSettings()
        settings.maximumWaitingReadsOfOwner = 10
        try await database.withStore(settings: settings) { store in
            let held = await Held.begin(in: store, for: .owner("mallory"))
            let waiting = (0..<10).map { _ in start(in: store, .owner("mallory")) }
            guard case .failure(.unavailable) = await start(in: store, .owner("mallory")).value else {
                Issue.record("The eleventh read was let in.")
                return
            }
            #expect(await start(in: store, .owner("ann")).value == .success(1))
            await held.end()
            for task in waiting { #expect(await task.value == .success(1)) }
        }
    }

    @Test("a read whose caller has gone leaves the queue at once", arguments: TestDatabase.available)
    func cancellation(database: TestDatabase) async throws {
        try await database.withStore { store in
            let held = await Held.begin(in: store, for: .owner("mallory"))
            let waiting = (0..<12).map { _ in start(in: store, .owner("mallory")) }
            for task in waiting { task.cancel() }
            for task in waiting { #expect(await task.value == .failure(.stopped)) }
            #expect(store.statistics.waitingReads == 0)
            await held.end()
        }
    }

    @Test("a statement of SQLite that nobody waits for is interrupted", .timeLimit(.minutes(5)))
    func interruption() async throws {
        var database = try SQLiteDatabase.temporary()
        database.readLimitMilliseconds = 3_600_000
        try database.connect(.tool).close()
        let patient = database
        try await withThread("test-reader") { () throws(StoreError) in
            let connection = try patient.connect(.reader)
            defer { connection.close() }
            let cancellation = ReadCancellation()
            connection.watch(cancellation)
            let endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c"
            var failure: StoreError?
            do throws(StoreError) {
                _ = try connection.run(endless, []) { row in if row.int(0) == 3 { cancellation.set() } }
            } catch {
                failure = error
            }
            #expect(failure != nil)
            connection.watch(nil)
            #expect(try connection.first("SELECT 7") { $0.int(0) } == 7)
        }
    }

    @Test("a statement of PostgreSQL that nobody waits for is interrupted", arguments: TestDatabase.postgres)
    func interruptionOfServer(database: TestDatabase) async throws {
        let server = try database.make()
        try await withThread("test-reader") { () throws(StoreError) in
            let connection = try server.connect(.reader)
            defer { connection.close() }
            let cancellation = ReadCancellation()
            connection.watch(cancellation)
            // Sets the cancellation once the statement is seen to run.
            let isStarted = startThread("test-watcher") {
                let running = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT pg_sleep%'"
                guard let watcher = try? server.connect(.tool) else { return }
                defer { watcher.close() }
                while (try? watcher.first(running) { _ in true } ?? false) == false {}
                cancellation.set()
            }
            #expect(isStarted)
            var failure: StoreError?
            do throws(StoreError) {
                try connection.run("SELECT pg_sleep(300)")
            } catch {
                failure = error
            }
            // It would have ended by its limit of time too, in other words.
            #expect(failure?.description.contains("user request") == true, "\(String(describing: failure))")
            connection.watch(nil)
            #expect(try connection.first("SELECT 7") { $0.int(0) } == 7)
        }
    }
}
