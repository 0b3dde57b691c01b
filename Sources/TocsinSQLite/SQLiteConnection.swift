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
    /// Statements kept prepared at most; filters make new ones without end.
    private static let maximumStatements = 256

    /// Opens for reading only, each statement with a limit of time, or for writing too, without.
    init(path: String, readLimitMilliseconds: Int64?, folder: AnyObject?) throws(StoreError) {
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
        let statement = try prepared(sql)
        defer { statement.reset() }
        try statement.bind(bindings, sql)
        timeLimit?.restart()
        let current = SQLiteRow(statement: statement.pointer)
        let before = sqlite3_total_changes64(handle)
        while true {
            let code = sqlite3_step(statement.pointer)
            switch code {
            case SQLITE_ROW: row(current)
            case SQLITE_DONE: return Int(sqlite3_total_changes64(handle) - before)
            default: throw failure(code, sql)
            }
        }
    }

    func execute(script: String) throws(StoreError) {
        let code = sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code, script) }
    }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

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

/// A statement's text as a key: texts are long and differ in length or towards their end, so little of them is hashed.
private struct StatementText: Hashable {
    let text: String
    private static let hashedBytes = 24

    func hash(into hasher: inout Hasher) {
        hasher.combine(text.utf8.suffix(Self.hashedBytes).reduce(text.utf8.count) { $0 &* 31 &+ Int($1) })
    }
}

/// A prepared statement and which of its parameters stands for each `$n`.
private final class PreparedStatement {
    let pointer: OpaquePointer
    /// SQLite numbers `$n` by first appearance; this is the number of each, by n.
    private let indexes: [Int32]

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        let count = sqlite3_bind_parameter_count(pointer)
        indexes = count == 0 ? [] : (1...count).map { sqlite3_bind_parameter_index(pointer, "$\($0)") }
    }

    deinit { sqlite3_finalize(pointer) }

    func bind(_ values: [SQLValue], _ sql: String) throws(StoreError) {
        guard values.count == indexes.count else {
            throw .statement(code: 25, message: "\(values.count) values for \(indexes.count) parameters", sql: sql)
        }
        for (index, value) in zip(indexes, values) {
            let code = bind(value, at: index)
            guard code == SQLITE_OK else {
                throw SQLiteFailure.storeError(code: code, message: String(cString: sqlite3_errstr(code)), sql: sql)
            }
        }
    }

    private func bind(_ value: SQLValue, at index: Int32) -> Int32 {
        switch value {
        case .null: sqlite3_bind_null(pointer, index)
        case .int(let number): sqlite3_bind_int64(pointer, index, number)
        case .double(let number): sqlite3_bind_double(pointer, index, number)
        case .text(let text): bind(text, at: index)
        }
    }

    private func bind(_ text: String, at index: Int32) -> Int32 {
        // SQLITE_TRANSIENT (-1): SQLite copies the bytes before the call returns.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        var text = text
        return text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                guard let start = characters.baseAddress else {
                    return sqlite3_bind_text(pointer, index, "", 0, transient)
                }
                return sqlite3_bind_text64(
                    pointer,
                    index,
                    start,
                    UInt64(characters.count),
                    transient,
                    UInt8(SQLITE_UTF8)
                )
            }
        }
    }

    func reset() {
        sqlite3_reset(pointer)
        sqlite3_clear_bindings(pointer)
    }
}

/// The row on which a statement stands.
private struct SQLiteRow: SQLRow {
    let statement: OpaquePointer

    func isNull(_ column: Int) -> Bool { sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL }
    func int(_ column: Int) -> Int64 { sqlite3_column_int64(statement, Int32(column)) }
    func double(_ column: Int) -> Double { sqlite3_column_double(statement, Int32(column)) }

    func text(_ column: Int) -> String {
        guard let start = sqlite3_column_text(statement, Int32(column)) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }
}
