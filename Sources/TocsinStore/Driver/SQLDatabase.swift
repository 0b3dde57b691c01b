package import Metrics
package import TocsinCore

/// A database that connections can be opened to: what a driver hands to the store.
package protocol SQLDatabase: Sendable {
    var dialect: Dialect { get }
    /// Name and version of the database's library or server, for people: `SQLite 3.40.1`.
    var version: String { get }
    /// Opens a connection with its settings applied and read back; called on the
    /// thread that will use it.
    func connect(_ use: ConnectionUse) throws(StoreError) -> any SQLConnection
    /// Claims the database for the one server that may run on it, until the answer is
    /// let go; nil where many may.
    func claimServer() throws(StoreError) -> (any ServerClaim)?
    /// Whether the database is a server of its own, which other nodes use too and which
    /// may be away for a while.
    var isShared: Bool { get }
    /// Why no connection can be made, since one was lost or could not be
    /// made; nil while all is well.
    var trouble: ConnectionTrouble? { get }
    /// Has connections end this long from now, whatever they do; for a server that stops.
    func giveUp(afterSeconds seconds: Int)
    /// What the driver counts for those who scrape; nil where it counts nothing.
    var metrics: (any MetricSource)? { get }
    /// What wakes other nodes by way of the database; nil where it can wake nobody.
    func doorbell(instance: String) -> (any Doorbell)?
}

extension SQLDatabase {
    /// A database in this machine's file has no connections to lose.
    package var trouble: ConnectionTrouble? { nil }

    /// A driver counts nothing unless it says what.
    package var metrics: (any MetricSource)? { nil }

    /// A database belongs to one server unless its driver says otherwise.
    package var isShared: Bool { false }

    /// Does nothing: a database in a file keeps nobody waiting.
    package func giveUp(afterSeconds seconds: Int) {}

    /// A database that belongs to one server has nobody to wake.
    package func doorbell(instance: String) -> (any Doorbell)? { nil }
}

/// A server's claim on a database; ends with `release`, or with the process.
package protocol ServerClaim: Sendable {
    func release()
}

/// What a connection is for.
package enum ConnectionUse: Sendable, Hashable {
    /// The server's one connection that writes, and that alone checkpoints.
    case writer
    /// Reads only.
    case reader
    /// Writes now and then beside a running server: never checkpoints.
    case tool
}

/// One connection, used by one thread.
package protocol SQLConnection: AnyObject {
    /// Runs one statement, prepared once for its text, and hands over each row; answers
    /// how many rows it changed.
    ///
    /// Parameters are `$1`, `$2`… in `bindings`' order. `row` must not use the connection.
    func run(
        _ sql: String,
        _ bindings: [SQLValue],
        _ row: (any SQLRow) -> Void
    ) throws(StoreError) -> Int
    /// Runs a query and hands over its rows until `row` wants no more; a driver that
    /// can reads none behind that.
    func read(
        _ sql: String,
        _ bindings: [SQLValue],
        whileWanted row: (any SQLRow) -> Bool
    ) throws(StoreError)
    /// Runs a statement that answers no rows once for each of so many rows of parameters; answers
    /// how many rows it changed.
    func runEach(
        _ sql: String,
        rows: Int,
        bind: (_ row: Int, _ parameters: any SQLParameters) -> Void
    ) throws(StoreError) -> Int
    /// Runs a statement whose outcome nobody waits for: a failure of it may be thrown by a later
    /// statement, `COMMIT` at the latest.
    func queue(_ sql: String, bind: (_ parameters: any SQLParameters) -> Void) throws(StoreError)
    /// The same of one that answers rows, which are handed over when a later
    /// statement is waited for.
    func queue(
        _ sql: String,
        _ bindings: [SQLValue],
        _ row: @escaping (any SQLRow) -> Void
    ) throws(StoreError)
    /// Names a query that answers a row if the open transaction has happened, and none if not: by
    /// what nobody else writes.
    ///
    /// Two last parameters are added, the least and the greatest number that the transaction may
    /// have. It is asked over another connection when the answer to `COMMIT` was lost.
    func prove(by sql: String, _ bindings: [SQLValue])
    /// Runs statements one after the other without waiting for one's answer before the next is
    /// sent, and waits for all that was queued; `row` is told which of them a row belongs to.
    func runTogether(
        _ statements: [(sql: String, bindings: [SQLValue])],
        _ row: (_ statement: Int, _ row: any SQLRow) -> Void
    ) throws(StoreError)
    /// Runs statements without parameters, one after the other, and without a limit of time.
    func execute(script: String) throws(StoreError)
    /// Whether a transaction is open: some failures end it by themselves.
    var isInTransaction: Bool { get }
    /// Whether the connection is of no more use, so that another must be made.
    var isLost: Bool { get }
    /// Ends statements, the running one within 100 ms, once this is set; nil: no more.
    func watch(_ cancellation: ReadCancellation?)
    /// Brings the main file up to date where the database keeps a log beside it.
    func checkpoint() throws(StoreError)
    func close()
}

extension SQLConnection {
    /// Runs the query to its end; rows behind the last wanted one are read and dropped.
    package func read(
        _ sql: String,
        _ bindings: [SQLValue],
        whileWanted row: (any SQLRow) -> Bool
    ) throws(StoreError) {
        var isWanted = true
        _ = try run(sql, bindings) { if isWanted { isWanted = row($0) } }
    }

    /// Does nothing: a driver whose `COMMIT` always answers needs no proof.
    package func prove(by sql: String, _ bindings: [SQLValue]) {}

    /// Does nothing: a driver without long reads cannot end them.
    package func watch(_ cancellation: ReadCancellation?) {}

    /// Runs the statement at once; a failure is thrown here.
    package func queue(_ sql: String, bind: (_ parameters: any SQLParameters) -> Void) throws(StoreError) {
        _ = try runEach(sql, rows: 1) { _, parameters in bind(parameters) }
    }

    /// `queue` with the parameters as a list, and what to do with each row.
    package func queue(
        _ sql: String,
        _ bindings: [SQLValue],
        _ row: @escaping (any SQLRow) -> Void
    ) throws(StoreError) {
        _ = try run(sql, bindings, row)
    }

    /// `queue` with the parameters as a list.
    package func queue(_ sql: String, _ bindings: [SQLValue]) throws(StoreError) {
        try queue(sql) { parameters in
            for (index, value) in bindings.enumerated() { parameters.bind(value, at: index + 1) }
        }
    }

    /// Runs the statements one after the other, each with its own round trip.
    package func runTogether(
        _ statements: [(sql: String, bindings: [SQLValue])],
        _ row: (_ statement: Int, _ row: any SQLRow) -> Void
    ) throws(StoreError) {
        for (index, statement) in statements.enumerated() {
            _ = try run(statement.sql, statement.bindings) { row(index, $0) }
        }
    }

    /// A connection that cannot break is never lost.
    package var isLost: Bool { false }
}

/// The current row of a running statement; columns count from 0.
///
/// Reading a null gives 0 or the empty text.
package protocol SQLRow {
    func isNull(_ column: Int) -> Bool
    /// Whether the value is a text, whatever it was expected to be.
    func isText(_ column: Int) -> Bool
    func int(_ column: Int) -> Int64
    func double(_ column: Int) -> Double
    func text(_ column: Int) -> String
    /// The bytes of a text; 0 of a null.
    func byteCount(_ column: Int) -> Int
}

/// A value bound to a parameter.
package enum SQLValue: Sendable, Hashable {
    case null
    case int(Int64)
    case double(Double)
    case text(String)

    /// The text, or null.
    package init(_ text: String?) {
        self = text.map(SQLValue.text) ?? .null
    }

    /// The moment in milliseconds, or null.
    package init(_ moment: Timestamp?) {
        self = moment.map { .int($0.milliseconds) } ?? .null
    }

    /// 1 for true and 0 for false, as both databases store it.
    package init(_ flag: Bool) {
        self = .int(flag ? 1 : 0)
    }
}

/// A statement's text as a key: texts are long and differ in length or towards their end, so
/// little of them is hashed.
package struct StatementText: Hashable {
    /// The statement's whole text, which equality compares.
    package let text: String
    /// Words of eight bytes.
    private static let hashedWords = 3

    /// A key for this text.
    package init(text: String) {
        self.text = text
    }

    /// Hashes the text's length and its last words.
    package func hash(into hasher: inout Hasher) {
        let count = text.utf8.count
        let mixed = text.utf8.withContiguousStorageIfAvailable { bytes in
            let words = UnsafeRawBufferPointer(bytes)
            return (1...Self.hashedWords).reduce(UInt64(count)) { mixed, word in
                guard word * 8 <= count else { return mixed }
                return mixed &* 31 &+ words.loadUnaligned(fromByteOffset: count - word * 8, as: UInt64.self)
            }
        }
        hasher.combine(mixed ?? UInt64(count))
    }
}
