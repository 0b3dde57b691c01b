import Glibc
import TocsinCore

/// A list in the words of PostgreSQL's arrays: `{"a",NULL,"b"}`.
struct ParameterList {
    private var bytes = [UInt8(ascii: "{")]

    /// The list so far.
    var text: [UInt8] { bytes + [UInt8(ascii: "}")] }

    mutating func add(_ value: SQLValue) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        switch value {
        case .null: bytes.append(contentsOf: "NULL".utf8)
        case .int(let number): bytes.append(contentsOf: String(number).utf8)
        case .double(let number): bytes.append(contentsOf: "\(number)".utf8)
        case .text(let text): addQuoted(text)
        }
    }

    private mutating func addQuoted(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            if utf8.contains(where: Self.isSpecial) {
                for byte in utf8 {
                    if Self.isSpecial(byte) { bytes.append(UInt8(ascii: "\\")) }
                    bytes.append(byte)
                }
            } else {
                bytes.append(contentsOf: utf8)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func isSpecial(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") }
}

/// Parameters of many rows as lists, one a parameter.
final class ParameterLists: SQLParameters {
    private var lists: [ParameterList]

    init(count: Int) {
        lists = Array(repeating: ParameterList(), count: count)
    }

    /// The lists so far.
    var bindings: [SQLValue] { lists.map { .text(String(decoding: $0.text, as: UTF8.self)) } }

    func bind(_ text: String, at number: Int) { lists[number - 1].add(.text(text)) }
    func bind(_ value: Int64, at number: Int) { lists[number - 1].add(.int(value)) }
    func bind(_ value: Double, at number: Int) { lists[number - 1].add(.double(value)) }
    func bindNull(at number: Int) { lists[number - 1].add(.null) }
}

/// Parameters of many rows by column: as a list, or as the one value that all of them have.
///
/// The first column is always a list, so that it tells how many rows there are.
final class ParameterColumns: SQLParameters {
    private enum Column {
        case value(SQLValue)
        case list(ParameterList)
    }

    private var columns: [Column] = []
    private var row = 0

    /// All rows, which `bind` binds.
    init(count: Int, rows: Int, _ bind: (_ row: Int, _ parameters: any SQLParameters) -> Void) {
        columns = Array(repeating: .value(.null), count: count)
        if count > 0 { columns[0] = .list(ParameterList()) }
        while row < rows {
            bind(row, self)
            row += 1
        }
    }

    /// Binds a list for each column, null where it is one value; then each column's value but the first's.
    func bind(to parameters: any SQLParameters) {
        for (index, column) in columns.enumerated() {
            let single = columns.count + index
            switch column {
            case .list(let list):
                parameters.bind(utf8: list.text, at: index + 1)
                if index > 0 { parameters.bindNull(at: single) }
            case .value(let value):
                parameters.bindNull(at: index + 1)
                parameters.bind(value, at: single)
            }
        }
    }

    func bind(_ text: String, at number: Int) { add(.text(text), at: number - 1) }
    func bind(_ value: Int64, at number: Int) { add(.int(value), at: number - 1) }
    func bind(_ value: Double, at number: Int) { add(.double(value), at: number - 1) }
    func bindNull(at number: Int) { add(.null, at: number - 1) }

    /// Whether two values are stored as the same: texts by bytes, where `==` takes two spellings of a letter for one.
    private static func isSame(_ one: SQLValue, _ other: SQLValue) -> Bool {
        switch (one, other) {
        case (.text(var left), .text(var right)):
            left.withUTF8 { left in
                right.withUTF8 { right in
                    guard left.count == right.count, let start = left.baseAddress, let other = right.baseAddress else {
                        return left.count == right.count
                    }
                    return memcmp(start, other, left.count) == 0
                }
            }
        case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
        default: one == other
        }
    }

    private func add(_ value: SQLValue, at index: Int) {
        switch columns[index] {
        case .list(var list):
            columns[index] = .value(.null)
            list.add(value)
            columns[index] = .list(list)
        case .value(let common):
            if row == 0 { return columns[index] = .value(value) }
            if Self.isSame(common, value) { return }
            var list = ParameterList()
            for _ in 0..<row { list.add(common) }
            list.add(value)
            columns[index] = .list(list)
        }
    }
}
