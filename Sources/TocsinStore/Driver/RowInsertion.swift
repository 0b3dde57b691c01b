import Synchronization
import TocsinCore

/// An `INSERT` of rows whose values are parameters, `$1`, `$2`…, the same number for each row.
///
/// How many rows are cheapest is the database's to say: SQLite runs one prepared statement once for each. Where each run is
/// a message to a server, the rows go as one list a column, whatever their number, so that one statement is prepared: it
/// costs two thirds of as many runs, pipelined, in the server and in the client. A column whose value is the same in all of
/// them, as most of a message's are in a group, goes as that value alone (`ListedInsertion`).
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
    let listed: ListedInsertion?
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
        listed = ListedInsertion(head, values: values, parameters, ending)
    }
}

/// The words of an insertion of many rows, by which of its columns are lists.
///
/// The server makes something to read each list from, and reads all of them for each row: with as few lists as the rows need,
/// 31 messages of which three columns differ take it a tenth less time than with a list, if only a null, for each column.
final class ListedInsertion: Sendable {
    /// Inserts the rows of these lists.
    struct Text {
        let sql: String
        let lists: ColumnSet
    }

    private let head: String
    /// The expressions of the values, cut where the number of a parameter stands: each second piece is one.
    private let pieces: [Substring]
    private let kinds: [RowInsertion.Kind]
    private let ending: String
    private let texts = Mutex<[ColumnSet: Text]>([:])
    /// Beyond so many, rows that would need another text go as lists in all columns: each is prepared and kept.
    private static let maximumTexts = 16

    fileprivate init(
        _ head: String,
        values: (_ parameter: (Int) -> String) -> [String],
        _ kinds: [RowInsertion.Kind],
        _ ending: String
    ) {
        (self.head, self.kinds, self.ending) = (head, kinds, ending)
        pieces = values { "\0\($0)\0" }.joined(separator: ", ").split(separator: "\0", omittingEmptySubsequences: false)
    }

    /// Inserts rows that differ in no other columns than these.
    func text(for lists: ColumnSet) -> Text {
        texts.withLock { texts in
            if let text = texts[lists] { return text }
            let lists = texts.count < Self.maximumTexts ? lists : ColumnSet(all: kinds.count)
            let text = texts[lists] ?? makeText(lists)
            texts[lists] = text
            return text
        }
    }

    private func makeText(_ lists: ColumnSet) -> Text {
        let values = pieces.enumerated().map { place, piece -> String in
            guard place % 2 == 1, let number = Int(piece) else { return String(piece) }
            return lists.contains(number - 1) ? "row.p\(number)" : "$\(number)::\(kinds[number - 1].rawValue)"
        }.joined()
        let listed = kinds.indices.filter { lists.contains($0) }
        let parameters = listed.map { "$\($0 + 1)::\(kinds[$0].rawValue)[]" }.joined(separator: ", ")
        let names = listed.map { "p\($0 + 1)" }.joined(separator: ", ")
        return Text(
            sql: "\(head) SELECT \(values) FROM unnest(\(parameters)) AS row (\(names)) \(ending)",
            lists: lists
        )
    }
}

/// Some columns of a row, by their places.
struct ColumnSet: Hashable {
    private var words: [UInt64]

    init(of count: Int) { words = Array(repeating: 0, count: (count + 63) / 64) }

    init(all count: Int) {
        self.init(of: count)
        for place in 0..<count { insert(place) }
    }

    mutating func insert(_ place: Int) { words[place / 64] |= 1 << UInt64(place % 64) }

    func contains(_ place: Int) -> Bool { words[place / 64] & 1 << UInt64(place % 64) != 0 }
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
        let text = listed.text(for: columns.lists)
        return try runEach(text.sql, rows: 1) { _, parameters in columns.bind(to: parameters, lists: text.lists) }
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
        try queue(ColumnParameters(count: insertion.parameterCount, rows: rows, bind).columns, to: listed)
    }

    /// Inserts the rows of columns, and leaves none there.
    func queue(_ columns: consuming ParameterColumns, to insertion: ListedInsertion) throws(StoreError) {
        let text = insertion.text(for: columns.lists)
        try queue(text.sql) { columns.bind(to: $0, lists: text.lists) }
    }
}
