import CSQLite
import TocsinCore
import TocsinStore

/// One SQLite connection, used by one thread, with its prepared statements.
final class SQLiteConnection: SQLConnection {
    private var handle: OpaquePointer?
    private var statements: [StatementText: PreparedStatement] = [:]
    private let timeLimit: TimeLimit?
    /// Kept as long as the connection: the folder of a temporary database.
    private let folder: AnyObject?
    /// Lives as long as the log's hook.
    var checkpointing: Checkpointing?
    /// Statements kept prepared at most; filters make new ones without end.
    private static let maximumStatements = 256

    /// Once, before SQLite is first used.
    ///
    /// It counts its memory under one lock of the process, for which all connections' threads
    /// wait at each allocation; nobody reads the count. SQLite's own page on options advises it.
    private static let leaveMemoryUncounted: Void = { _ = sqlite3_config_memory_status_off() }()

    /// Opens for reading only, each statement with a limit of time, or for writing too, without.
    init(path: String, readLimitMilliseconds: Int64?, folder: AnyObject?) throws(StoreError) {
        Self.leaveMemoryUncounted
        self.folder = folder
        timeLimit = readLimitMilliseconds.map(TimeLimit.init)
        let isReadOnly = readLimitMilliseconds != nil
        let mode = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let code = sqlite3_open_v2(path, &handle, mode | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK else {
            let reason = String(cString: sqlite3_errstr(code))
            close()
            throw .unavailable(
                reason: "the database cannot be opened",
                detail: "\(path): \(reason). Does its folder exist, and may this user write there?"
            )
        }
        sqlite3_extended_result_codes(handle, 1)
        timeLimit?.watch(handle)
        if !isReadOnly, sqlite3_db_readonly(handle, "main") != 0 {
            close()
            throw .unavailable(reason: "the database is read-only", detail: "make \(path) writable for this user")
        }
    }

    deinit { close() }

    func run(
        _ sql: String,
        _ bindings: [SQLValue],
        _ row: (any SQLRow) -> Void
    ) throws(StoreError) -> Int {
        let before = sqlite3_total_changes64(handle)
        try read(
            sql,
            bindings,
            whileWanted: { current in
                row(current)
                return true
            }
        )
        return Int(sqlite3_total_changes64(handle) - before)
    }

    func read(
        _ sql: String,
        _ bindings: [SQLValue],
        whileWanted row: (any SQLRow) -> Bool
    ) throws(StoreError) {
        if timeLimit?.cancellation?.isSet == true { throw .stopped }
        let statement = try prepared(sql)
        defer { statement.reset() }
        try statement.bind(bindings, sql)
        timeLimit?.restart()
        let current = SQLiteRow(statement: statement.pointer)
        while true {
            let code = sqlite3_step(statement.pointer)
            switch code {
            case SQLITE_ROW: if !row(current) { return }
            case SQLITE_DONE: return
            default: throw failure(code, sql)
            }
        }
    }

    func runEach(
        _ sql: String,
        rows: Int,
        bind: (_ row: Int, _ parameters: any SQLParameters) -> Void
    ) throws(StoreError) -> Int {
        let statement = try prepared(sql)
        defer { statement.reset() }
        let before = sqlite3_total_changes64(handle)
        for row in 0..<rows {
            bind(row, statement)
            if let code = statement.bindFailure { throw failure(code, sql) }
            let code = sqlite3_step(statement.pointer)
            guard code == SQLITE_DONE else { throw failure(code, sql) }
            sqlite3_reset(statement.pointer)
        }
        return Int(sqlite3_total_changes64(handle) - before)
    }

    func execute(script: String) throws(StoreError) {
        let code = sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code, script) }
    }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Has this called after each commit, with the log's pages, in place of SQLite's checkpoint.
    func setLogHook(
        _ hook:
            @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32,
        _ context: UnsafeMutableRawPointer
    ) {
        sqlite3_wal_hook(handle, hook, context)
    }

    func watch(_ cancellation: ReadCancellation?) { timeLimit?.cancellation = cancellation }

    func checkpoint() throws(StoreError) {
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard code == SQLITE_OK else { throw failure(code, "checkpoint") }
    }

    func close() {
        statements.removeAll()
        sqlite3_close_v2(handle)
        handle = nil
    }

    private func prepared(_ sql: String) throws(StoreError) -> PreparedStatement {
        let key = StatementText(text: sql)
        if let statement = statements[key] { return statement }
        var pointer: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
        guard code == SQLITE_OK, let pointer else { throw failure(code, sql) }
        let statement = PreparedStatement(pointer)
        if statements.count >= Self.maximumStatements { statements.removeAll() }
        statements[key] = statement
        return statement
    }

    private func failure(_ code: Int32, _ sql: String) -> StoreError {
        let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "the connection is closed"
        return SQLiteFailure.storeError(code: code, message: message, sql: sql)
    }
}

/// The row on which a statement stands.
private struct SQLiteRow: SQLRow {
    let statement: OpaquePointer

    func isNull(_ column: Int) -> Bool { sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL }
    func isText(_ column: Int) -> Bool { sqlite3_column_type(statement, Int32(column)) == SQLITE_TEXT }
    func int(_ column: Int) -> Int64 { sqlite3_column_int64(statement, Int32(column)) }
    func double(_ column: Int) -> Double { sqlite3_column_double(statement, Int32(column)) }

    func byteCount(_ column: Int) -> Int { Int(sqlite3_column_bytes(statement, Int32(column))) }

    func text(_ column: Int) -> String {
        guard let start = sqlite3_column_text(statement, Int32(column)) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }
}
