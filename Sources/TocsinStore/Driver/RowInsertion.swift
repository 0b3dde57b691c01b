import TocsinCore

/// An `INSERT` of rows whose values are parameters, `$1`, `$2`…, the same number for each row.
///
/// How many rows are cheapest is the database's to say: SQLite runs one prepared statement once for each. Where each run is
/// a message to a server, the rows go as one list a column, whatever their number, so that one statement is prepared: it
/// costs two thirds of as many runs, pipelined, in the server and in the client.
struct RowInsertion {
    /// What a parameter is.
    enum Kind: String {
        case text
        case integer = "bigint"
        case double = "double precision"
    }

    /// Inserts one row.
    let single: String
    /// Inserts the rows of lists, one list a parameter; nil where a run for each row is the shorter way.
    let listed: String?
    let parameterCount: Int

    /// An insertion into columns of a table, each of the value of an expression.
    ///
    /// `values` makes the expressions, given how a parameter is written; `ending` is what follows them.
    init(
        into table: String,
        _ columns: [String],
        parameters: [Kind],
        ending: String = "",
        _ dialect: Dialect,
        values: ((_ parameter: (Int) -> String) -> [String])? = nil
    ) {
        parameterCount = parameters.count
        let values = values ?? { parameter in parameters.indices.map { parameter($0 + 1) } }
        let head = "INSERT INTO \(table) (\(columns.joined(separator: ", ")))"
        single = "\(head) VALUES (\(values { "$\($0)" }.joined(separator: ", "))) \(ending)"
        guard dialect.hasManyWriters else {
            listed = nil
            return
        }
        let lists = parameters.enumerated().map { "$\($0 + 1)::\($1.rawValue)[]" }.joined(separator: ", ")
        let names = parameters.indices.map { "p\($0 + 1)" }.joined(separator: ", ")
        let expressions = values { "row.p\($0)" }.joined(separator: ", ")
        listed = "\(head) SELECT \(expressions) FROM unnest(\(lists)) AS row (\(names)) \(ending)"
    }
}

/// One insertion in the words of each database.
struct RowInsertions {
    private let sqlite: RowInsertion
    private let postgres: RowInsertion

    /// An insertion of parameters into columns of a table, in the order of the columns.
    init(into table: String, _ columns: [(name: String, kind: RowInsertion.Kind)], ending: String = "") {
        func insertion(_ dialect: Dialect) -> RowInsertion {
            RowInsertion(into: table, columns.map(\.name), parameters: columns.map(\.kind), ending: ending, dialect)
        }
        sqlite = insertion(.sqlite)
        postgres = insertion(.postgres)
    }

    subscript(dialect: Dialect) -> RowInsertion {
        switch dialect {
        case .sqlite: sqlite
        case .postgres: postgres
        }
    }
}

extension SQLConnection {
    /// Inserts rows, whose parameters `bind` gives, all of them for each row; answers how many rows it changed.
    func insert(
        _ insertion: RowInsertion,
        rows: Int,
        bind: (_ row: Int, _ parameters: any SQLParameters) -> Void
    ) throws(StoreError) -> Int {
        guard let listed = insertion.listed, rows > 1 else {
            return try runEach(insertion.single, rows: rows, bind: bind)
        }
        let lists = ParameterLists(count: insertion.parameterCount)
        for row in 0..<rows { bind(row, lists) }
        return try run(listed, lists.bindings)
    }
}

extension SQLConnection {
    /// The same, where nobody asks how many: a failure may be thrown by a later statement, `COMMIT` at the latest.
    func queueInsert(
        _ insertion: RowInsertion,
        rows: Int,
        bind: (_ row: Int, _ parameters: any SQLParameters) -> Void
    ) throws(StoreError) {
        guard let listed = insertion.listed else {
            _ = try runEach(insertion.single, rows: rows, bind: bind)
            return
        }
        let lists = ParameterLists(count: insertion.parameterCount)
        for row in 0..<rows { bind(row, lists) }
        try queue(listed, lists.bindings)
    }
}

/// Parameters of many rows as lists, one a parameter, in the words of PostgreSQL's arrays: `{"a",NULL,"b"}`.
final class ParameterLists: SQLParameters {
    private var lists: [[UInt8]]

    init(count: Int) {
        lists = Array(repeating: [UInt8(ascii: "{")], count: count)
    }

    /// The lists so far.
    var bindings: [SQLValue] {
        lists.map { .text(String(decoding: $0, as: UTF8.self) + "}") }
    }

    func bind(_ text: String, at number: Int) {
        add(at: number) { list in
            list.append(UInt8(ascii: "\""))
            for byte in text.utf8 {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { list.append(UInt8(ascii: "\\")) }
                list.append(byte)
            }
            list.append(UInt8(ascii: "\""))
        }
    }

    func bind(_ value: Int64, at number: Int) { add(at: number) { $0.append(contentsOf: String(value).utf8) } }

    func bind(_ value: Double, at number: Int) { add(at: number) { $0.append(contentsOf: "\(value)".utf8) } }

    func bindNull(at number: Int) { add(at: number) { $0.append(contentsOf: "NULL".utf8) } }

    private func add(at number: Int, _ element: (inout [UInt8]) -> Void) {
        if lists[number - 1].count > 1 { lists[number - 1].append(UInt8(ascii: ",")) }
        element(&lists[number - 1])
    }
}
