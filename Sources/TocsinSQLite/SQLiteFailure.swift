import CSQLite
import TocsinCore

/// What SQLite's result codes mean to the store.
enum SQLiteFailure {
    static func storeError(code: Int32, message: String, sql: String) -> StoreError {
        switch code & 0xFF {
        case SQLITE_FULL: .unavailable(reason: "the disk is full (\(message)); free some space")
        case SQLITE_READONLY: .unavailable(reason: "the database is read-only (\(message)); make it writable")
        case SQLITE_BUSY, SQLITE_LOCKED: .unavailable(reason: "another process is writing to the database (\(message))")
        case SQLITE_IOERR: .unavailable(reason: "the disk failed (\(message), code \(code)); look at the system's log")
        case SQLITE_CANTOPEN:
            .unavailable(reason: "the database cannot be opened (\(message)); look at its folder's rights")
        case SQLITE_NOMEM: .unavailable(reason: "there is no memory left (\(message))")
        case SQLITE_INTERRUPT: .unavailable(reason: "the query took too long and was ended; narrow its filter")
        case SQLITE_PROTOCOL: .unavailable(reason: message)
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            .mismatch(
                reason: "The database file is damaged or is not a SQLite database (\(message)). Restore a backup."
            )
        default: .statement(code: Int(code), message: message, sql: sql)
        }
    }
}
