import CSQLite
import Foundation

/// Rows of a message's size written through the C API alone: WAL,
/// `synchronous=FULL`, a transaction a group.
struct SQLiteFloor {
    let group: Int
    let body: String

    func run(seconds: Double) throws -> Figures {
        let path = FileManager.default.temporaryDirectory.appending(path: "tocsin-floor-\(UUID().uuidString).db").path()
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        var database: OpaquePointer?
        guard sqlite3_open(path, &database) == SQLITE_OK else {
            throw BenchFailure("the floor's database cannot be opened")
        }
        defer { sqlite3_close(database) }
        try execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=1000;", database)
        try execute(
            "CREATE TABLE m (id TEXT PRIMARY KEY, topic TEXT, number INTEGER, title TEXT, body TEXT, at TEXT, UNIQUE (topic, number)) STRICT",
            database
        )
        var statement: OpaquePointer?
        sqlite3_prepare_v2(
            database,
            "INSERT INTO m VALUES (?1, 't', ?2, 'Disk full', ?3, '2026-07-01T12:00:00.000Z')",
            -1,
            &statement,
            nil
        )
        defer { sqlite3_finalize(statement) }
        let (start, cpu) = (Date(), ProcessUsage.ownCPU())
        var count = 0
        while Date().timeIntervalSince(start) < seconds {
            try execute("BEGIN IMMEDIATE", database)
            for _ in 0..<group {
                count += 1
                try insert(count, statement)
            }
            try execute("COMMIT", database)
        }
        return Figures(
            name: "floor: raw SQLite inserts, \(group) a commit",
            operations: count,
            seconds: Date().timeIntervalSince(start),
            cpuSeconds: ProcessUsage.ownCPU() - cpu
        )
    }

    private func insert(_ number: Int, _ statement: OpaquePointer?) throws {
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_text(statement, 1, String(format: "0197-%012d-7abc-8def-0123456789ab", number), -1, transient)
        sqlite3_bind_int64(statement, 2, Int64(number))
        sqlite3_bind_text(statement, 3, body, -1, transient)
        guard sqlite3_step(statement) == SQLITE_DONE else { throw BenchFailure("the floor's insert failed") }
        sqlite3_reset(statement)
    }

    private func execute(_ sql: String, _ database: OpaquePointer?) throws {
        guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else {
            throw BenchFailure("the floor failed: \(sql)")
        }
    }
}
