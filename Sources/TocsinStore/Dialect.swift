import TocsinCore

/// What databases say differently; all else is one text for all.
package enum Dialect: String, Sendable, Hashable {
    case sqlite
    case postgres
}

extension Dialect {
    /// Locks of a database that no row stands for, by number.
    private enum Lock: Int {
        /// Taken shared by each write, alone by one that needs to know that no other is under way.
        case changes = 7_401_001
        /// Taken while tables and indexes are made.
        case tables = 7_401_002
        /// Taken by the one node that removes old messages.
        case pruning = 7_401_003
        /// Taken by the one node that makes and drops parts of tables.
        case partitions = 7_401_004
    }

    /// Whether several connections write at the same time.
    var hasManyWriters: Bool {
        switch self {
        case .sqlite: false
        case .postgres: true
        }
    }

    /// Starts a transaction that will write: it waits for its turn here and
    /// not at its first statement.
    ///
    /// It does not insist on writing: an operator may have made the database read-only.
    ///
    /// A fenced transaction starts when all others that began before have ended, and holds up later
    /// ones. No statement in the middle of a transaction can do that, for two transactions that
    /// hold the lock shared would wait for each other. A hurried one waits for no lock for long.
    ///
    /// The text may be several statements. The last one begins the transaction or ends in a
    /// selection, and a driver may select more there.
    func beginWriting(isFenced: Bool = false, isHurried: Bool = false) -> String {
        switch self {
        case .sqlite: return "BEGIN IMMEDIATE"
        case .postgres:
            let hurry = isHurried ? "SET LOCAL lock_timeout = 20; " : ""
            let lock = isFenced ? "pg_advisory_xact_lock" : "pg_advisory_xact_lock_shared"
            return "BEGIN ISOLATION LEVEL READ COMMITTED; \(hurry)SELECT \(lock)(\(Lock.changes.rawValue))"
        }
    }

    /// Waits, inside a writing transaction and with some patience, for others that make tables and
    /// indexes; empty where one process at a time does.
    var tableLock: [String] {
        switch self {
        case .sqlite: []
        case .postgres:
            [
                "SELECT set_config('lock_timeout', '5000', true)",
                "SELECT pg_advisory_xact_lock(\(Lock.tables.rawValue))",
            ]
        }
    }

    /// Waits, inside a writing transaction, for others that do the same by a name, `$1`; nil where
    /// there is only one at a time.
    var nameLock: String? {
        switch self {
        case .sqlite: nil
        case .postgres: "SELECT pg_advisory_xact_lock(hashtextextended($1, 7401))"
        }
    }

    /// Selects 1 for the one that may remove old messages until its transaction ends, 0 for others;
    /// nil where there is only one anyway.
    var pruningTurn: String? {
        switch self {
        case .sqlite: nil
        case .postgres:
            "SELECT CASE WHEN pg_try_advisory_xact_lock(\(Lock.pruning.rawValue)) THEN 1 ELSE 0 END"
        }
    }

    /// Selects 1 for the one transaction that may make and drop parts of tables now, and 0 for
    /// others; nil where tables have no parts.
    var partitionTurn: String? {
        switch self {
        case .sqlite: nil
        case .postgres:
            "SELECT CASE WHEN pg_try_advisory_xact_lock(\(Lock.partitions.rawValue)) THEN 1 ELSE 0 END"
        }
    }

    /// Starts a transaction that reads one snapshot.
    var beginReading: String {
        switch self {
        case .sqlite: "BEGIN"
        case .postgres: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        }
    }

    /// Ends a selection of rows that a write rests on, from the table with this name or alias.
    ///
    /// Nobody else changes those rows until the write has ended.
    func rowLock(_ table: String) -> String {
        switch self {
        case .sqlite: ""
        // Not the key: rows that refer to these may be made meanwhile.
        case .postgres: " FOR NO KEY UPDATE OF \(table)"
        }
    }

    /// Ends a selection of rows to be claimed: those that another claims just now are left out.
    func claimLock(_ table: String) -> String {
        switch self {
        case .sqlite: ""
        case .postgres: " FOR NO KEY UPDATE OF \(table) SKIP LOCKED"
        }
    }
}

extension Dialect {
    /// Selects the names of all indexes.
    var indexNames: String {
        switch self {
        case .sqlite: "SELECT name FROM sqlite_schema WHERE type = 'index'"
        case .postgres: "SELECT indexname::text FROM pg_indexes WHERE schemaname = current_schema()"
        }
    }

    /// Selects a row when there is a table `migrations`.
    var migrationsTable: String {
        switch self {
        case .sqlite: "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'"
        case .postgres: "SELECT 1 WHERE to_regclass('migrations') IS NOT NULL"
        }
    }

    /// Selects a row when the table `messages` stands in parts; nil where no table does.
    var partedMessages: String? {
        switch self {
        case .sqlite: nil
        case .postgres: "SELECT 1 FROM pg_class WHERE oid = to_regclass('messages') AND relkind = 'p'"
        }
    }

    /// An expression as a column of an index that lists are ordered by.
    func indexTerm(_ expression: String) -> String {
        switch self {
        case .sqlite: expression
        case .postgres: "(\(expression)) NULLS FIRST"
        }
    }

    /// Whether selects joined by `UNION ALL` that are each in order are merged without
    /// reading them to their ends.
    var mergesBranches: Bool {
        switch self {
        case .sqlite: true
        case .postgres: false
        }
    }

    /// Whether a driver gets one row after the other, and not all of an answer at once.
    var readsRowByRow: Bool {
        switch self {
        case .sqlite: true
        case .postgres: false
        }
    }

    /// Where nulls stand in an ascending order: before everything, on every database.
    func orderTerm(_ expression: String, ascending: Bool) -> String {
        switch self {
        case .sqlite: expression + (ascending ? " ASC" : " DESC")
        case .postgres: expression + (ascending ? " ASC NULLS FIRST" : " DESC NULLS LAST")
        }
    }

    /// Whether a text contains another, byte by byte.
    func containment(of part: String, in text: String) -> String {
        switch self {
        case .sqlite: "instr(\(text), \(part)) > 0"
        case .postgres: "strpos(\(text), \(part)) > 0"
        }
    }
}
