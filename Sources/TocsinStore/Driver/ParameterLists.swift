import Glibc
import TocsinCore

/// A list in the words of PostgreSQL's arrays: `{"a",NULL,"b"}`.
struct ParameterList {
    private var bytes = [UInt8(ascii: "{")]

    /// The list, to which nothing is added any more.
    consuming func ended() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    mutating func add(_ value: SQLValue) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        switch value {
        case .null: bytes.append(contentsOf: "NULL".utf8)
        case .int(let number): bytes.append(contentsOf: String(number).utf8)
        case .double(let number): bytes.append(contentsOf: "\(number)".utf8)
        case .text(var text): text.withUTF8 { addQuoted($0) }
        }
    }

    private mutating func addQuoted(_ text: UnsafeBufferPointer<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        if text.holds(UInt8(ascii: "\"")) || text.holds(UInt8(ascii: "\\")) {
            for byte in text {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
                bytes.append(byte)
            }
        } else {
            bytes.append(contentsOf: text)
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether one of the bytes is this.
    func holds(_ byte: UInt8) -> Bool {
        baseAddress.map { memchr($0, Int32(byte), count) != nil } ?? false
    }
}

/// Parameters of many rows as lists, one a parameter.
final class ParameterLists: SQLParameters {
    private var lists: [ParameterList]

    init(count: Int) {
        lists = Array(repeating: ParameterList(), count: count)
    }

    /// The lists so far.
    var bindings: [SQLValue] { lists.map { .text(String(decoding: $0.ended(), as: UTF8.self)) } }

    func bind(_ text: String, at number: Int) { lists[number - 1].add(.text(text)) }
    func bind(_ value: Int64, at number: Int) { lists[number - 1].add(.int(value)) }
    func bind(_ value: Double, at number: Int) { lists[number - 1].add(.double(value)) }
    func bindNull(at number: Int) { lists[number - 1].add(.null) }
}

/// What rows have in one column: a list of values, or the one value that all of them have.
///
/// The first column is always a list, so that it tells how many rows there are.
struct ParameterColumn {
    private var common = SQLValue.null
    private var list: ParameterList?
    private var count = 0

    init(isFirst: Bool) {
        if isFirst { list = ParameterList() }
    }

    /// Adds the next row's value.
    mutating func add(_ value: SQLValue) {
        defer { count += 1 }
        if list != nil {
            list?.add(value)
            return
        }
        if count == 0 { return common = value }
        if Self.isSame(common, value) { return }
        var begun = ParameterList()
        for _ in 0..<count { begun.add(common) }
        begun.add(value)
        list = begun
    }

    /// Binds the list, or null where it is one value, and that value behind the lists of all
    /// `count` columns; the first has none.
    mutating func bind(to parameters: any SQLParameters, at number: Int, of count: Int) {
        let single = count + number - 1
        // Taken out, so that its end is added in place.
        if let list = list.take() {
            parameters.bind(utf8: list.ended(), at: number)
            if number > 1 { parameters.bindNull(at: single) }
        } else {
            parameters.bindNull(at: number)
            parameters.bind(common, at: single)
        }
    }

    /// Binds the list or the one value, whichever there is.
    mutating func bind(to parameters: any SQLParameters, at number: Int) {
        // Taken out, so that its end is added in place.
        if let list = list.take() {
            parameters.bind(utf8: list.ended(), at: number)
        } else {
            parameters.bind(common, at: number)
        }
    }

    var isList: Bool { list != nil }

    /// Whether two values are stored as the same: texts by bytes, where `==` takes two
    /// spellings of a letter for one.
    private static func isSame(_ one: SQLValue, _ other: SQLValue) -> Bool {
        switch (one, other) {
        case (.text(let left), .text(let right)): left.hasBytes(of: right)
        case (.int(let left), .int(let right)): left == right
        case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
        case (.null, .null): true
        case (.text, _), (.int, _), (.double, _), (.null, _): false
        }
    }
}

/// Parameters of many rows by column, for `RowInsertion.listed`.
struct ParameterColumns {
    private var columns: [ParameterColumn]

    init(count: Int) {
        columns = (0..<count).map { ParameterColumn(isFirst: $0 == 0) }
    }

    /// Adds the next row's value of a parameter, or the one value of all rows; the first
    /// parameter has one of each row.
    mutating func add(_ value: SQLValue, at number: Int) { columns[number - 1].add(value) }

    /// The columns in which rows differ.
    var lists: ColumnSet {
        var lists = ColumnSet(of: columns.count)
        for index in columns.indices where columns[index].isList { lists.insert(index) }
        return lists
    }

    /// Binds all columns for `RowInsertion.text(withLists:)`, and leaves no list.
    mutating func bindShortly(to parameters: any SQLParameters) {
        for index in columns.indices { columns[index].bind(to: parameters, at: index + 1) }
    }

    /// Binds all columns for `RowInsertion.listed`, and leaves no list.
    mutating func bind(to parameters: any SQLParameters) {
        for index in columns.indices { columns[index].bind(to: parameters, at: index + 1, of: columns.count) }
    }
}

/// Takes parameters row by row, and keeps them by column.
final class ColumnParameters: SQLParameters {
    var columns: ParameterColumns

    /// All rows, which `bind` binds.
    init(count: Int, rows: Int, _ bind: (_ row: Int, _ parameters: any SQLParameters) -> Void) {
        columns = ParameterColumns(count: count)
        for row in 0..<rows { bind(row, self) }
    }

    func bind(_ text: String, at number: Int) { columns.add(.text(text), at: number) }
    func bind(_ value: Int64, at number: Int) { columns.add(.int(value), at: number) }
    func bind(_ value: Double, at number: Int) { columns.add(.double(value), at: number) }
    func bindNull(at number: Int) { columns.add(.null, at: number) }
}
