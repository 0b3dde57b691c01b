import CSQLite
import TocsinCore

/// What SQLite's result codes mean to the store.
enum SQLiteFailure {
    static func storeError(code: Int32, message: String, sql: String) -> StoreError {
        if let reason = reason(code) {
            return .unavailable(reason: reason, detail: "\(message), SQLite code \(code), \(advice(code)), in: \(sql)")
        }
        switch code & 0xFF {
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            return .mismatch(
                reason: "The database file is damaged or is not a SQLite database (\(message)). Restore a backup."
            )
        default: return .statement(code: Int(code), message: message, sql: sql)
        }
    }

    /// For anyone; nil for what waiting does not mend.
    private static func reason(_ code: Int32) -> String? {
        switch code & 0xFF {
        case SQLITE_FULL: "the disk is full"
        case SQLITE_READONLY: "the database is read-only"
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: "another process is writing to the database"
        case SQLITE_IOERR: "the disk failed"
        case SQLITE_CANTOPEN: "the database cannot be opened"
        case SQLITE_NOMEM: "there is no memory left"
        case SQLITE_INTERRUPT: "the query took too long and was ended; narrow its filter"
        default: nil
        }
    }

    /// For the operator.
    private static func advice(_ code: Int32) -> String {
        switch code & 0xFF {
        case SQLITE_FULL: "free some space"
        case SQLITE_READONLY: "make the file and its folder writable"
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: "look for a tool that holds the file"
        case SQLITE_IOERR: "look at the system's log"
        case SQLITE_CANTOPEN: "look at the rights of the file's folder"
        default: "try again"
        }
    }
}
