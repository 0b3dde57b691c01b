import CPostgres
import TocsinCore
import TocsinStore

/// What PostgreSQL's error codes mean to the store.
struct PostgresFailure {
    let error: StoreError
    /// Whether the connection is of no more use.
    let isLoss: Bool
    /// The server's message and code.
    let words: String

    /// Reads a failed result.
    init(_ result: OpaquePointer?, sql: String, isWriting: Bool = false) {
        let state = Self.field(result, Self.stateField) ?? ""
        // The primary message alone: detail and hint may show values of rows.
        var message = Self.field(result, Self.messageField) ?? String(cString: PQresultErrorMessage(result))
        if state.hasPrefix("22"), let quote = message.firstIndex(of: "\"") {
            message = message[..<quote] + "(a value that is not shown)"
        }
        self.init(state: state, message: message, sql: sql, isWriting: isWriting)
    }

    init(state: String, message: String, sql: String, isWriting: Bool = false) {
        words = "\(message), SQLSTATE \(state.isEmpty ? "unknown" : state)"
        isLoss = state.isEmpty || Self.losses.contains(state) || state.hasPrefix("08")
        if let isWhole = Self.overtaken[state] {
            error = .overtaken(isWhole: isWhole, code: Self.number(state), message: words, sql: sql)
        } else if let reason = isWriting ? Self.writingReason(state) ?? Self.reason(state) : Self.reason(state) {
            error = .unavailable(reason: reason, detail: "\(words), in: \(sql)")
        } else if state.hasPrefix("XX001") || state.hasPrefix("XX002") {
            error = .mismatch(reason: "The database is damaged (\(words)). Restore a backup.")
        } else {
            error = .statement(code: Self.number(state), message: words, sql: sql)
        }
    }

    // PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY, which are characters in C.
    private static let stateField = Int32(UInt8(ascii: "C"))
    private static let messageField = Int32(UInt8(ascii: "M"))

    private static func field(_ result: OpaquePointer?, _ code: Int32) -> String? {
        PQresultErrorField(result, code).map { String(cString: $0) }
    }

    /// Failures that another transaction caused: true where the whole transaction is at fault,
    /// false where one statement is.
    private static let overtaken = [
        "40001": true, "40P01": true,
        "23505": false, "23503": false,
    ]

    /// The server goes, or the session was ended; a server that only reads may have
    /// handed its place to another.
    private static let losses: Set<String> = ["57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "25006"]

    /// What is told of a database that takes no writes.
    static let readOnly = "the database is read-only"

    /// For anyone; nil for what waiting does not mend.
    private static func reason(_ state: String) -> String? {
        switch state {
        case "53100": "the disk is full"
        case "53200": "there is no memory left"
        case "53300": "the database has no connection free"
        case "25006": readOnly
        case "57014": "the query took too long and was ended; narrow its filter"
        case "55P03": "something else has locked what this read needs"
        case "57P03": "the database is starting or stopping"
        case "", "57P01", "57P02", "57P05", "25P03", "25P04": "the connection to the database was lost"
        default: state.hasPrefix("08") ? "the connection to the database was lost" : nil
        }
    }

    /// What is told of a write in other words than of a read.
    private static func writingReason(_ state: String) -> String? {
        switch state {
        case "55P03": StoreError.blocked
        case "57014": "the database took too long over this write and ended it"
        default: nil
        }
    }

    /// An SQLSTATE as a number: five digits of base 36, as PostgreSQL itself packs them.
    static func number(_ state: String) -> Int { Int(state, radix: 36) ?? 0 }
}
