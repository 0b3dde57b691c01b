import TocsinCore

/// An `INSERT` of rows whose values are parameters, `$1`, `$2`…, the same number for each row.
///
/// How many rows are cheapest is the database's to say: SQLite runs one prepared statement once for each. Where each run is
/// a message to a server, the rows go as one list a column, whatever their number, so that one statement is prepared: it
/// costs two thirds of as many runs, pipelined, in the server and in the client. A column whose value is the same in all of
/// them, as most of a message's are in a group, goes as that value alone: a second parameter for each column but the first.
struct RowInsertion {
    /// What a parameter is.
    enum Kind: String {
        case text
        case integer = "bigint"
        case double = "double precision"
    }

    /// Inserts one row.
    let single: String
    /// Inserts the rows of lists, with the parameters of `ParameterColumns`; nil where a run for each row is the shorter way.
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
        let expressions = values { number in
            guard number > 1 else { return "row.p1" }
            return "coalesce(row.p\(number), $\(parameters.count + number - 1)::\(parameters[number - 1].rawValue))"
        }.joined(separator: ", ")
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
        var columns = ColumnParameters(count: insertion.parameterCount, rows: rows, bind).columns
        return try runEach(listed, rows: 1) { _, parameters in columns.bind(to: parameters) }
    }

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
        guard rows > 0 else { return }
        // A list of one costs more than its value.
        guard rows > 1 else { return try queue(insertion.single) { bind(0, $0) } }
        var columns = ColumnParameters(count: insertion.parameterCount, rows: rows, bind).columns
        try queue(listed) { columns.bind(to: $0) }
    }
}
