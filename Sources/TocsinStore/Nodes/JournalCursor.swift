import TocsinCore

/// How far the reader's thread has come, and its connection.
struct JournalCursor {
    private var open: SQLSession?
    /// What was visible at the last look.
    var snapshot: String?
    var timeline = ""
    /// Whether the connection's server was found to be the one of the last look.
    var isChecked = false
    /// The highest id of a row that was read.
    var lastID: Int64 = 0
    /// Whether a look has failed; matters until the first one that went well.
    var hasFailed = false
    var lookedAt: Timestamp?
    var peersAskedAt: Timestamp?
    /// Rows since `snapshot` that were told before a look failed.
    var published: Set<Int64> = []
    var pauseMilliseconds = 0

    mutating func session(_ database: any SQLDatabase) throws(StoreError) -> SQLSession {
        if let open, !open.connection.isLost { return open }
        drop()
        let new = SQLSession(connection: try database.connect(.reader), dialect: database.dialect)
        open = new
        return new
    }

    /// Gives up the connection after a failure, or at the end.
    mutating func close() {
        drop()
        hasFailed = true
    }

    private mutating func drop() {
        open?.connection.close()
        open = nil
        isChecked = false
    }
}
