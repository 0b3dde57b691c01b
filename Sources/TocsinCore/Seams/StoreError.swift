/// Why the store could not do its work.
///
/// Expected outcomes (not found, already there) are values, never errors.
package enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The database cannot be reached, is read-only or full; nothing was
    /// written. May succeed later.
    ///
    /// `reason` is for anyone, clients included. `detail` (paths, statements, the library's words)
    /// is for operators: opening a store throws it and diagnostics get it, reads and writes leave
    /// it out.
    case unavailable(reason: String, detail: String = "")
    /// Another transaction was faster or in the way; nothing was written.
    ///
    /// The store runs such writes again and throws this to nobody. `isWhole` says that the
    /// transaction failed, and not only one statement.
    case overtaken(isWhole: Bool, code: Int, message: String, sql: String)
    /// The database went away in the middle of a commit: what was written may be stored or not. To
    /// repeat it under the same id or key is safe.
    case uncertain(reason: String, detail: String = "")
    /// A statement failed: our fault. Carries the database's code and message and the statement.
    case statement(code: Int, message: String, sql: String)
    /// A text that was asked for holds a NUL, which this database can neither store nor look for;
    /// nothing was sent to it.
    case unstorable(sql: String)
    /// The stored data is not what the program expects (migration level, checksum,
    /// column type); says what to do.
    case mismatch(reason: String)
    /// What was to be read has more bytes of text than may be read at once.
    case tooLarge(bytes: Int)
    /// The server is stopping, or the caller's task was cancelled before its
    /// turn; nothing was written.
    case stopped

    /// The whole error for the operator's log, with details that clients must not see.
    package var description: String {
        switch self {
        case .unavailable(let reason, let detail):
            "The database is unavailable: \(reason)" + (detail.isEmpty ? "" : " (\(detail))")
        case .uncertain(let reason, let detail):
            "The outcome is unknown: \(reason)" + (detail.isEmpty ? "" : " (\(detail))")
        case .overtaken(_, let code, let message, let sql), .statement(let code, let message, let sql):
            "Database error \(code): \(message) in: \(sql)"
        case .unstorable(let sql): "A text holds a zero byte, which PostgreSQL cannot store, in: \(sql)"
        case .mismatch(let reason): reason
        case .tooLarge(let bytes): "This is more than \(bytes) bytes at once."
        case .stopped: "The server is stopping."
        }
    }

    /// The same for anyone, without what is for the operator alone.
    package var sentence: String {
        switch self {
        case .unavailable(let reason, _): "The database is unavailable: \(reason)"
        case .uncertain(let reason, _): "The outcome is unknown: \(reason)"
        case .overtaken, .statement, .mismatch: "The database failed; the log says how."
        case .unstorable: "A text holds a NUL, which the database cannot store."
        case .tooLarge, .stopped: description
        }
    }
}
