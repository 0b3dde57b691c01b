import CPostgres
import TocsinStore

/// One row of a result, in PostgreSQL's text format.
///
/// A value of type `jsonb` is read as the scalar that it holds, and JSON's null as null.
struct PostgresRow: SQLRow {
    let result: OpaquePointer
    let row: Int32

    private static let booleanType: UInt32 = 16
    private static let jsonType: UInt32 = 3802

    private func bytes(_ column: Int) -> UnsafeBufferPointer<UInt8> {
        guard let start = PQgetvalue(result, row, Int32(column)) else {
            return UnsafeBufferPointer(start: nil, count: 0)
        }
        let count = Int(PQgetlength(result, row, Int32(column)))
        return UnsafeRawBufferPointer(start: start, count: count).assumingMemoryBound(to: UInt8.self)
    }

    private func type(_ column: Int) -> UInt32 { PQftype(result, Int32(column)) }

    var columnCount: Int { Int(PQnfields(result)) }

    func isNull(_ column: Int) -> Bool {
        if PQgetisnull(result, row, Int32(column)) == 1 { return true }
        return type(column) == Self.jsonType && bytes(column).elementsEqual("null".utf8)
    }

    func isText(_ column: Int) -> Bool {
        switch type(column) {
        case Self.jsonType: bytes(column).first == UInt8(ascii: "\"")
        // bool, int8, int2, int4, float4, float8, numeric
        case Self.booleanType, 20, 21, 23, 700, 701, 1700: false
        default: true
        }
    }

    func int(_ column: Int) -> Int64 {
        let bytes = bytes(column)
        switch bytes.first {
        case UInt8(ascii: "t"): return 1
        case UInt8(ascii: "f"), nil: return 0
        default: return Self.int(bytes) ?? Int64(exactly: double(column).rounded(.towardZero)) ?? 0
        }
    }

    func double(_ column: Int) -> Double { Double(String(decoding: bytes(column), as: UTF8.self)) ?? 0 }

    func byteCount(_ column: Int) -> Int { Int(PQgetlength(result, row, Int32(column))) }

    func text(_ column: Int) -> String {
        let bytes = bytes(column)
        guard type(column) == Self.jsonType, bytes.first == UInt8(ascii: "\"") else {
            return String(decoding: bytes, as: UTF8.self)
        }
        return JSONText.unquoted(bytes.dropFirst().dropLast())
    }

    private static func int(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        var value: Int64 = 0
        let isNegative = bytes.first == UInt8(ascii: "-")
        for byte in isNegative ? bytes.dropFirst() : bytes[...] {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            let digit = Int64(byte - 0x30)
            let (sum, overflowsToo) = product.addingReportingOverflow(isNegative ? -digit : digit)
            guard !overflows, !overflowsToo else { return nil }
            value = sum
        }
        return value
    }
}

/// Strings of JSON as PostgreSQL writes them.
enum JSONText {
    /// The text of a string without its quotes.
    static func unquoted(_ bytes: some Collection<UInt8>) -> String {
        guard bytes.contains(UInt8(ascii: "\\")) else { return String(decoding: bytes, as: UTF8.self) }
        var result: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                result.append(byte)
                continue
            }
            switch escape {
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0C)
            case UInt8(ascii: "u"):
                // jsonb keeps characters as they are: only control characters are written so.
                let digits = String(decoding: rest.prefix(4), as: UTF8.self)
                rest = rest.dropFirst(4)
                if let value = UInt32(digits, radix: 16), let scalar = UnicodeScalar(value) {
                    result.append(contentsOf: String(Character(scalar)).utf8)
                }
            default: result.append(escape)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
