import Synchronization
import TestDatabases
import Testing
import TocsinCore
import TocsinSQLite
import TocsinStore

/// A kind of database that the suites run on; another kind is one more line in `available`.
struct TestDatabase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Makes one that is empty.
    let make: @Sendable () throws -> any SQLDatabase
    /// Makes one that has its tables.
    let makeCurrent: @Sendable () throws -> any SQLDatabase

    static let sqlite = [
        TestDatabase(testDescription: "SQLite in memory") {
            try SQLiteDatabase.temporary()
        } makeCurrent: {
            try AnyDatabase.makeSQLite()
        },
        TestDatabase(testDescription: "SQLite on disk") {
            try SQLiteDatabase.temporary(in: "/tmp")
        } makeCurrent: {
            try AnyDatabase.makeSQLite(in: "/tmp")
        },
    ]
    /// Empty where no server was named.
    static let postgres =
        PostgresServer.named.map { server in
            [
                TestDatabase(testDescription: "PostgreSQL") {
                    try server.makeDatabase()
                } makeCurrent: {
                    try server.makeCurrentDatabase()
                }
            ]
        } ?? []
    static let available = sqlite + postgres

    /// Opens an empty store, runs the body and closes it.
    func withStore(
        settings: StoreSettings = StoreSettings(),
        observer: @escaping SQLStore.CommitObserver = { _ in },
        _ body: (SQLStore) async throws -> Void
    ) async throws {
        let store = try await SQLStore.open(
            try makeCurrent(),
            at: Timestamp(milliseconds: 0),
            settings: settings,
            commitObserver: observer
        )
        do {
            try await body(store)
        } catch {
            await store.close()
            throw error
        }
        await store.close()
    }
}

/// A time that stands still.
struct StillClock: TimeSource {
    var moment: Timestamp

    func now() -> Timestamp { moment }
    func sleep(until moment: Timestamp) async throws { throw CancellationError() }
}

/// Collects from any thread.
final class Collected<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    func append(_ more: [Element]) { elements.withLock { $0 += more } }

    var all: [Element] { elements.withLock { $0 } }
}

/// Splitmix64: the same numbers for the same seed, which a failing test prints.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

func moment(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }
