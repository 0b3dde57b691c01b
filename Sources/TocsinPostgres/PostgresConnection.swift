import CPostgres
import TocsinCore
package import TocsinStore

/// One PostgreSQL connection, used by one thread, with its prepared statements.
///
/// Statements whose outcome nobody waits for are sent with the next one that somebody does: a
/// failure of theirs is thrown there. What begins a transaction is such a statement; `COMMIT`
/// waits, and finds out whether it happened when its answer is lost.
final class PostgresConnection: SQLConnection {
    /// A command that was sent and whose results have not been read.
    private enum Pending {
        case preparation(StatementText, name: String)
        /// `row` takes the rows of a statement that was queued.
        case statement(sql: String, row: ((PostgresRow) -> Void)? = nil)
        case synchronization

        var isCommit: Bool {
            guard case .statement("COMMIT", _) = self else { return false }
            return true
        }
    }

    private let link: PostgresLink
    private let options: PostgresOptions
    private let limits: PostgresOptions.Limits
    private let outcomes: @Sendable (TransactionMark) -> TransactionOutcome
    private let onLoss: @Sendable (_ detail: String) -> Void
    private var isClosed = false
    /// The history of the server that transactions are numbered in.
    var timeline = ""
    /// What tells the session from all others of the server; empty where
    /// transactions are of several.
    var session = ""
    private var prepared = PreparedTexts()
    private var pending: [Pending] = []
    private let parameters = PostgresParameters()
    private var hasBegun = false
    /// What began the last transaction, and the statements in it.
    private var beginning: (sql: String, parts: [String]) = ("", [])
    /// The number of the transaction, which tells later what became of it; nil
    /// until its answer has come.
    private var transactionID: String?
    /// The number of a transaction before.
    private var earlierID = "0"
    private var proof: TransactionProof?

    /// `outcomes` finds out over another connection what became of a transaction; `onLoss` is told
    /// when the connection is closed because it was lost.
    init(
        _ link: PostgresLink,
        options: PostgresOptions,
        use: ConnectionUse,
        outcomes: @escaping @Sendable (TransactionMark) -> TransactionOutcome,
        onLoss: @escaping @Sendable (_ detail: String) -> Void = { _ in }
    ) {
        self.link = link
        self.options = options
        limits = options.limits(for: use)
        self.outcomes = outcomes
        self.onLoss = onLoss
    }

    deinit { close() }

    func close() {
        if !isClosed, let detail = link.lossDetail { onLoss(detail) }
        isClosed = true
        link.close()
        pending.removeAll()
        hasBegun = false
    }

    var isLost: Bool { link.isLost }

    /// PostgreSQL ends no transaction by itself: after a failure it waits for `ROLLBACK`.
    var isInTransaction: Bool { hasBegun && !link.isLost }

    func watch(_ cancellation: ReadCancellation?) {
        link.cancellation = cancellation
        if cancellation == nil { link.awaitCancel() }
    }

    /// The log is the server's own affair.
    func checkpoint() throws(StoreError) {}

    func run(_ sql: String, _ bindings: [SQLValue], _ row: (any SQLRow) -> Void) throws(StoreError) -> Int {
        if sql.hasPrefix("BEGIN") { return try begin(sql) }
        // Behind a statement that failed the server skips all until the next
        // synchronization, and would skip this.
        if sql.hasPrefix("ROLLBACK"), !pending.isEmpty { _ = try? synchronize() }
        switch sql {
        case "COMMIT": return try commit()
        case "ROLLBACK": return try rollBack()
        default:
            if link.cancellation?.isSet == true { throw .stopped }
            parameters.bind(bindings)
            try send(sql)
            return try synchronize(row)
        }
    }

    func queue(_ sql: String, bind: (_ parameters: any SQLParameters) -> Void) throws(StoreError) {
        parameters.clear()
        bind(parameters)
        try send(sql)
    }

    func queue(
        _ sql: String,
        _ bindings: [SQLValue],
        _ row: @escaping (any SQLRow) -> Void
    ) throws(StoreError) {
        parameters.bind(bindings)
        try send(sql, row: row)
    }

    func prove(by sql: String, _ bindings: [SQLValue]) {
        proof = TransactionProof(sql: sql, bindings: bindings)
    }

    func runTogether(
        _ statements: [(sql: String, bindings: [SQLValue])],
        _ row: (_ statement: Int, _ row: any SQLRow) -> Void
    ) throws(StoreError) {
        var indexes: [Int] = []
        for statement in statements {
            parameters.bind(statement.bindings)
            try send(statement.sql)
            indexes.append(pending.count - 1)
        }
        try receive { index, _, result in
            guard let statement = indexes.firstIndex(of: index) else { return }
            Self.handOver(result) { row(statement, $0) }
        }
    }

    func runEach(
        _ sql: String,
        rows: Int,
        bind: (_ row: Int, _ parameters: any SQLParameters) -> Void
    ) throws(StoreError) -> Int {
        var changed = 0
        for row in 0..<rows {
            parameters.clear()
            bind(row, parameters)
            try send(sql)
            if row % Self.rowsAtOnce == Self.rowsAtOnce - 1 { changed += try synchronize(of: sql) }
        }
        return try changed + synchronize(of: sql)
    }

    /// Rows of `runEach` that are under way together at most, so that neither side's
    /// memory grows without bound.
    private static let rowsAtOnce = 1000

    func execute(script: String) throws(StoreError) {
        try synchronize()
        try link.send { PQexitPipelineMode($0) }
        var failure: StoreError?
        let unlimited = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; "
        try link.send { PQsendQuery($0, unlimited + script) }
        while let result = try link.nextResult(until: Deadline(afterMilliseconds: Self.scriptMilliseconds)) {
            defer { PQclear(result) }
            let status = PQresultStatus(result)
            if status != PGRES_COMMAND_OK, status != PGRES_TUPLES_OK, failure == nil { failure = read(result, script) }
        }
        try link.send { PQenterPipelineMode($0) }
        if let failure { throw failure }
    }

    /// A script may make an index of a large table: a day is as good as no limit, and the
    /// network's own limits hold.
    private static let scriptMilliseconds = 86_400_000
}

extension PostgresConnection {
    private func begin(_ sql: String) throws(StoreError) -> Int {
        hasBegun = true
        if let transactionID { earlierID = transactionID }
        (transactionID, proof) = (nil, nil)
        // "BEGIN …; SELECT …": what is to be done first in the transaction, within its limits.
        if beginning.sql != sql {
            var parts = sql.split(separator: ";").map { String($0.drop(while: \.isWhitespace)) }
            if limits.isWriting { Self.askOwnID(with: &parts) }
            beginning = (sql, parts)
        }
        for (index, part) in beginning.parts.enumerated() {
            parameters.clear()
            let asksOwnID = limits.isWriting && index == beginning.parts.count - 1
            try send(part, row: asksOwnID ? { self.transactionID = $0.text($0.columnCount - 1) } : nil)
            guard index == 0, !options.preparesStatements else { continue }
            parameters.bind(limits.settings.flatMap { [.text($0.name), .text($0.value)] })
            try send(limits.localStatement)
        }
        return 0
    }

    /// Lets the last of the statements answer the transaction's number as its last column.
    ///
    /// That statement begins the transaction or ends in a selection (`Dialect.beginWriting`).
    private static func askOwnID(with statements: inout [String]) {
        let number = "pg_current_xact_id()::text"
        if let last = statements.last, last.hasPrefix("SELECT ") {
            statements[statements.count - 1] = last + ", " + number
        } else {
            statements.append("SELECT " + number)
        }
    }

    /// Nobody waits for it: the next statement does.
    private func rollBack() throws(StoreError) -> Int {
        parameters.clear()
        try send("ROLLBACK")
        hasBegun = false
        try link.send { PQpipelineSync($0) }
        pending.append(.synchronization)
        link.flush()
        return 0
    }

    private func commit() throws(StoreError) -> Int {
        // What became of it can be found out by its number, or by what it writes
        // once its session is over.
        if limits.isWriting, transactionID == nil, session.isEmpty || proof == nil { try synchronize() }
        parameters.clear()
        try send("COMMIT")
        var tag = ""
        let warnings = link.warningCount
        do throws(StoreError) {
            _ = try synchronize({ _ in }, tag: &tag)
        } catch {
            guard link.isLost else { throw error }
            guard case .unavailable = error else {
                // A statement failed, so that nothing was committed.
                hasBegun = false
                throw link.loss()
            }
            try settle(error)
            return 0
        }
        if link.warningCount > warnings, tag == "COMMIT" {
            // Somebody has ended the wait for a synchronous standby: it is committed
            // here, and perhaps here alone.
            try settle(.unavailable(reason: "the database warned", detail: "while it committed"))
            return 0
        }
        hasBegun = false
        guard tag == "COMMIT" else {
            throw .unavailable(
                reason: "the database failed",
                detail: "it answered \(tag) to COMMIT; a statement before had failed"
            )
        }
        return 0
    }

    /// Finds out what became of a commit whose answer was lost: returns when it
    /// happened, and is as safe as any.
    private func settle(_ loss: StoreError) throws(StoreError) {
        hasBegun = false
        guard transactionID != nil || !session.isEmpty && proof != nil else { throw loss }
        let mark = TransactionMark(
            id: transactionID,
            session: session,
            floor: earlierID,
            timeline: timeline,
            proof: proof
        )
        switch outcomes(mark) {
        case .committed: return
        case .aborted: throw loss
        case .unknown:
            throw .uncertain(
                reason:
                    "the database went away while this was committed: it may be stored or not. Repeating it with the "
                    + "same id or key is safe",
                detail: loss.description
            )
        }
    }
}

/// A transaction, so that another connection can ask for it.
package struct TransactionMark: Sendable, Hashable {
    /// Its number; nil where the answer that told it was lost as well, so that only its
    /// session and its proof tell.
    package let id: String?
    /// What tells the session from all others of the server; empty behind a pooler.
    package let session: String
    /// The number of a transaction that was there before.
    package let floor: String
    /// A promoted standby numbers anew: there the same id may be another transaction.
    package let timeline: String
    /// So does a server that crashed, for transactions that were lost with it: what this
    /// one wrote tells them apart.
    package var proof: TransactionProof?

    /// What is known of a transaction whose `COMMIT` got no answer.
    package init(
        id: String?,
        session: String = "",
        floor: String = "0",
        timeline: String,
        proof: TransactionProof? = nil
    ) {
        (self.id, self.session, self.floor, self.timeline, self.proof) = (id, session, floor, timeline, proof)
    }

    /// The least and the greatest number that it may have.
    var range: (least: String, greatest: String) { id.map { ($0, $0) } ?? (floor, "\(UInt64.max)") }
}

/// A query that answers a row if a transaction has happened.
///
/// Two last parameters are added: the least and the greatest number that the transaction may have.
package struct TransactionProof: Sendable, Hashable {
    let sql: String
    let bindings: [SQLValue]

    /// A query and its parameters but the last two.
    package init(sql: String, bindings: [SQLValue]) {
        (self.sql, self.bindings) = (sql, bindings)
    }
}

/// What became of a transaction.
package enum TransactionOutcome: Sendable, Hashable {
    case committed, aborted, unknown
}

extension PostgresConnection {
    /// Sends the statement with the bound parameters.
    private func send(_ sql: String, row: ((PostgresRow) -> Void)? = nil) throws(StoreError) {
        guard !parameters.hasZero else { throw .unstorable(sql: sql) }
        if options.preparesStatements {
            try sendPrepared(sql)
        } else {
            let types = parameters.kinds.map(\.typeID)
            try link.send { handle in
                parameters.withValues { PQsendQueryParams(handle, sql, $0, types, $1, nil, nil, 0) }
            }
        }
        pending.append(.statement(sql: sql, row: row))
    }

    private func sendPrepared(_ sql: String) throws(StoreError) {
        let text = StatementText(text: sql)
        let name: String
        if let variant = prepared.variant(of: text, for: parameters.kinds) {
            name = variant.name
        } else {
            if prepared.isFull { try forgetPrepared() }
            name = prepared.add(text, parameters.kinds).name
            let types = parameters.kinds.map(\.typeID)
            try link.send { PQsendPrepare($0, name, sql, Int32(types.count), types) }
            pending.append(.preparation(text, name: name))
        }
        try link.send { handle in
            parameters.withValues { PQsendQueryPrepared(handle, name, $0, $1, nil, nil, 0) }
        }
    }

    private func forgetPrepared() throws(StoreError) {
        prepared.removeAll()
        let sql = "DEALLOCATE ALL"
        try link.send { PQsendQueryParams($0, sql, 0, nil, nil, nil, nil, 0) }
        pending.append(.statement(sql: sql))
    }
}

extension PostgresConnection {
    /// Waits for all that was sent; hands over the last statement's rows, and
    /// answers how many it changed.
    @discardableResult
    private func synchronize(_ row: (any SQLRow) -> Void = { _ in }) throws(StoreError) -> Int {
        var tag = ""
        return try synchronize(row, tag: &tag)
    }

    private func synchronize(_ row: (any SQLRow) -> Void, tag: inout String) throws(StoreError) -> Int {
        let last = pending.count - 1
        var changed = 0
        var lastTag = ""
        try receive { index, _, result in
            guard index == last else { return }
            lastTag = String(cString: PQcmdStatus(result))
            Self.handOver(result, to: row)
            changed = Self.changes(of: result)
        }
        tag = lastTag
        return changed
    }

    /// Waits for all that was sent; answers how many rows all runs of one statement changed.
    private func synchronize(of sql: String) throws(StoreError) -> Int {
        var changed = 0
        try receive { _, statement, result in
            if statement == sql { changed += Self.changes(of: result) }
        }
        return changed
    }

    private static func handOver(_ result: OpaquePointer, to row: (PostgresRow) -> Void) {
        guard PQresultStatus(result) == PGRES_TUPLES_OK else { return }
        for number in 0..<PQntuples(result) { row(PostgresRow(result: result, row: number)) }
    }

    private static func changes(of result: OpaquePointer) -> Int {
        // The server counts what was selected too.
        String(cString: PQcmdStatus(result)).hasPrefix("SELECT") ? 0 : Int(String(cString: PQcmdTuples(result))) ?? 0
    }

    /// Reads the results of all that is pending and hands over those of statements that succeeded;
    /// throws the first failure.
    private func receive(
        _ body: (_ index: Int, _ sql: String, _ result: OpaquePointer) -> Void
    ) throws(StoreError) {
        guard !pending.isEmpty else { return }
        try link.roundTrip { () throws(StoreError) in try receivePending(body) }
    }

    private func receivePending(
        _ body: (_ index: Int, _ sql: String, _ result: OpaquePointer) -> Void
    ) throws(StoreError) {
        let commands = pending + [.synchronization]
        pending.removeAll(keepingCapacity: true)
        try link.send { PQpipelineSync($0) }
        let deadline = Deadline(afterMilliseconds: limits.answerMilliseconds)
        // A commit that waits for a synchronous standby would be done without it.
        let mayCancel = !commands.contains(where: \.isCommit)
        var failure: StoreError?
        for (index, command) in commands.enumerated() {
            if case .synchronization = command {
                try receiveSynchronization(until: deadline, &failure)
                continue
            }
            while let result = try link.nextResult(until: deadline, mayCancel: mayCancel) {
                defer { PQclear(result) }
                switch PQresultStatus(result) {
                case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
                    guard case .statement(let sql, let row) = command else { break }
                    body(index, sql, result)
                    if let row { Self.handOver(result, to: row) }
                case PGRES_PIPELINE_ABORTED: forget(command)
                default:
                    forget(command)
                    let error = read(result, Self.text(of: command))
                    failure = failure ?? error
                }
            }
            if link.isBroken || link.isLost { throw failure ?? link.loss() }
        }
        if let failure { throw failure }
    }

    private func receiveSynchronization(until deadline: Deadline, _ failure: inout StoreError?) throws(StoreError) {
        let result = try link.nextResult(until: deadline)
        defer { PQclear(result) }
        guard let result, PQresultStatus(result) == PGRES_PIPELINE_SYNC else {
            if let result { failure = failure ?? read(result, "synchronization") }
            let loss = link.loss()
            throw failure ?? loss
        }
    }

    /// A failed result as an error; notes when the connection is of no more use.
    private func read(_ result: OpaquePointer, _ sql: String) -> StoreError {
        let failure = PostgresFailure(result, sql: sql, isWriting: limits.isWriting)
        if failure.isLoss { link.giveUp(failure.words) }
        return failure.error
    }

    private func forget(_ command: Pending) {
        if case .preparation(let text, let name) = command { prepared.remove(name, of: text) }
    }

    private static func text(of command: Pending) -> String {
        switch command {
        case .preparation(let text, _): text.text
        case .statement(let sql, _): sql
        case .synchronization: "synchronization"
        }
    }
}
