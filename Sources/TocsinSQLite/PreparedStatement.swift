import CSQLite
import TocsinCore
import TocsinStore

/// A prepared statement and which of its parameters stands for each `$n`.
final class PreparedStatement: SQLParameters {
    let pointer: OpaquePointer
    /// SQLite numbers `$n` by first appearance; this is the number of each, by n.
    private let indexes: [Int32]
    /// The code of the last parameter that could not be bound since the last reset.
    private(set) var bindFailure: Int32?

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
        case .text(let text): bindText(text, index)
        }
    }

    func bind(_ text: String, at number: Int) { note(bindText(text, indexes[number - 1])) }
    func bind(_ value: Int64, at number: Int) { note(sqlite3_bind_int64(pointer, indexes[number - 1], value)) }
    func bind(_ value: Double, at number: Int) { note(sqlite3_bind_double(pointer, indexes[number - 1], value)) }
    func bindNull(at number: Int) { note(sqlite3_bind_null(pointer, indexes[number - 1])) }

    private func note(_ code: Int32) {
        if code != SQLITE_OK { bindFailure = code }
    }

    private func bindText(_ text: String, _ index: Int32) -> Int32 {
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
        bindFailure = nil
    }
}
