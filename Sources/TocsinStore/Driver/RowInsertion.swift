import TocsinCore

/// An `INSERT` of rows whose values are parameters, `$1`, `$2`…, the same number for each row.
///
/// SQLite runs one prepared statement once for each row. On PostgreSQL each run is a message to a
/// server, so the rows go as one list a column. Then one statement serves any number of rows, at
/// two thirds of what as many pipelined runs cost in the server and in the client.
///
/// Most columns of a group's messages have one value in all rows. Such a column goes as that value
/// alone: in a second parameter, which each column but the first has, or in the place of the list
/// (`ListTexts`).
struct RowInsertion {
    /// What a parameter is.
    enum Kind: String {
        case text
        case integer = "bigint"
        case double = "double precision"
    }

    /// Inserts one row.
    let single: String
    /// Inserts the rows of lists, with the parameters of `ParameterColumns`; nil where a run for
    /// each row is the shorter way.
    let listed: String?
    let parameterCount: Int
    private let head: String
    /// The expressions of the values, cut where the number of a parameter stands:
    /// each second piece is one.
    private let pieces: [Substring]
    private let kinds: [Kind]
    private let ending: String

    /// An insertion into columns of a table, each of the value of an expression.
    ///
    /// `values` makes the expressions, given how a parameter is written;
    /// `ending` is what follows them.
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
        (self.head, self.ending, kinds) = (head, ending, parameters)
        pieces = values { "\0\($0)\0" }.joined(separator: ", ").split(separator: "\0", omittingEmptySubsequences: false)
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

    /// Inserts rows of which only these columns are lists, the first among them, with as
    /// many parameters as columns.
    ///
    /// The server reads all lists for each row, also those that are null. So this takes it some 6 %
    /// less time than `listed`, for 31 messages of which three columns differ.
    func text(withLists lists: ColumnSet) -> String {
        let values = pieces.enumerated().map { index, piece -> String in
            guard index % 2 == 1, let number = Int(piece) else { return String(piece) }
            return lists.contains(number - 1) ? "row.p\(number)" : "$\(number)::\(kinds[number - 1].rawValue)"
        }.joined()
        let listed = kinds.indices.filter { lists.contains($0) }
        let parameters = listed.map { "$\($0 + 1)::\(kinds[$0].rawValue)[]" }.joined(separator: ", ")
        let names = listed.map { "p\($0 + 1)" }.joined(separator: ", ")
        return "\(head) SELECT \(values) FROM unnest(\(parameters)) AS row (\(names)) \(ending)"
    }
}

/// Some columns of a row, by their indexes.
struct ColumnSet: Hashable {
    private var words: [UInt64]

    init(of count: Int) { words = Array(repeating: 0, count: (count + 63) / 64) }

    mutating func insert(_ index: Int) { words[index / 64] |= 1 << UInt64(index % 64) }

    func contains(_ index: Int) -> Bool { words[index / 64] & 1 << UInt64(index % 64) != 0 }
}

/// The texts of an insertion for rows that differ in few columns.
///
/// Each text is prepared and kept, so there are texts only for the sets of columns that came first.
/// Rows that differ in others go by `RowInsertion.listed`, which serves all.
struct ListTexts {
    private var texts: [ColumnSet: String] = [:]
    private static let maximumCount = 16

    /// The text for rows that differ in these columns; nil where there is none.
    mutating func text(of insertion: RowInsertion, _ lists: ColumnSet) -> String? {
        if let text = texts[lists] { return text }
        guard texts.count < Self.maximumCount else { return nil }
        let text = insertion.text(withLists: lists)
        texts[lists] = text
        return text
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
    /// Inserts rows, whose parameters `bind` gives, all of them for each row; answers
    /// how many rows it changed.
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

    /// The same, where nobody asks how many: a failure may be thrown by a later
    /// statement, `COMMIT` at the latest.
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
