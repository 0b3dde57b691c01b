/// Why the store could not do its work.
///
/// Expected outcomes (not found, already there) are values, never errors.
package enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The database cannot be reached, is read-only or full; nothing was written. May succeed later.
    ///
    /// `reason` is for anyone, clients too. `detail` (paths, statements, the library's words) is for the operator: what
    /// opening a store throws and what its diagnostics are told carries it, what reads and writes throw does not.
    case unavailable(reason: String, detail: String = "")
    /// A statement failed: our fault. Carries the database's code and message and the statement.
    case statement(code: Int, message: String, sql: String)
    /// The stored data is not what the program expects (migration level, checksum, column type); says what to do.
    case mismatch(reason: String)
    /// The server is stopping, or the caller's task was cancelled before its turn; nothing was written.
    case stopped

    package var description: String {
        switch self {
        case .unavailable(let reason, let detail):
            "The database is unavailable: \(reason)" + (detail.isEmpty ? "" : " (\(detail))")
        case .statement(let code, let message, let sql): "Database error \(code): \(message) in: \(sql)"
        case .mismatch(let reason): reason
        case .stopped: "The server is stopping."
        }
    }
}
