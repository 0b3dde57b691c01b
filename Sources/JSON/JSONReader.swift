/// The parser's state: a position in the bytes and what is left of the limits.
///
/// `mutating` means "consumes bytes".
struct JSONReader {
    let bytes: UnsafeBufferPointer<UInt8>
    let limits: JSONLimits
    var position = 0
    private var depth = 0
    private var valuesLeft: Int

    init(bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
        valuesLeft = limits.maximumValues
    }

    /// RFC 8259 §2: `JSON-text = ws value ws`.
    mutating func readText() throws(JSONError) -> JSONValue {
        skipSpace()
        let value = try readValue()
        skipSpace()
        guard position == bytes.count else { throw unexpected("the end of the text after the value") }
        return value
    }

    /// RFC 8259 §3, with no space before the value.
    private mutating func readValue() throws(JSONError) -> JSONValue {
        guard valuesLeft > 0 else { throw error("More than \(limits.maximumValues) values in one JSON text") }
        valuesLeft -= 1
        switch peek() {
        case UInt8(ascii: "\""): return .string(try readString())
        case UInt8(ascii: "{"): return try nested { (reader) throws(JSONError) in try reader.readObject() }
        case UInt8(ascii: "["): return try nested { (reader) throws(JSONError) in try reader.readArray() }
        case UInt8(ascii: "t"): return try readWord("true", as: .bool(true))
        case UInt8(ascii: "f"): return try readWord("false", as: .bool(false))
        case UInt8(ascii: "n"): return try readWord("null", as: .null)
        case let byte? where byte == UInt8(ascii: "-") || (byte &- UInt8(ascii: "0")) < 10: return try readNumber()
        default: throw unexpected("a value")
        }
    }

    private mutating func nested(
        _ read: (inout JSONReader) throws(JSONError) -> JSONValue
    ) throws(JSONError) -> JSONValue {
        guard depth < limits.maximumDepth else {
            throw error("Arrays and objects are nested more than \(limits.maximumDepth) deep")
        }
        depth += 1
        position += 1
        let value = try read(&self)
        depth -= 1
        return value
    }

    /// RFC 8259 §4, after the opening brace.
    private mutating func readObject() throws(JSONError) -> JSONValue {
        var object = JSONObject()
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object(object) }
        while true {
            guard peek() == UInt8(ascii: "\"") else { throw unexpected("a member's name in double quotes") }
            let key = try readString()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw unexpected("':' after the member's name") }
            skipSpace()
            object.set(key, try readValue())
            skipSpace()
            if take(UInt8(ascii: "}")) { return .object(object) }
            guard take(UInt8(ascii: ",")) else { throw unexpected("',' or '}' in the object") }
            skipSpace()
        }
    }

    /// RFC 8259 §5, after the opening bracket.
    private mutating func readArray() throws(JSONError) -> JSONValue {
        var values: [JSONValue] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array(values) }
        while true {
            values.append(try readValue())
            skipSpace()
            if take(UInt8(ascii: "]")) { return .array(values) }
            guard take(UInt8(ascii: ",")) else { throw unexpected("',' or ']' in the array") }
            skipSpace()
        }
    }

    private mutating func readWord(_ word: StaticString, as value: JSONValue) throws(JSONError) -> JSONValue {
        let length = word.utf8CodeUnitCount
        let expected = UnsafeBufferPointer(start: word.utf8Start, count: length)
        guard bytes.count - position >= length, bytes[position..<position + length].elementsEqual(expected) else {
            throw unexpected("a value")
        }
        position += length
        return value
    }
}

// What the productions rest on.
extension JSONReader {
    /// The next byte, or `nil` at the end.
    func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Consumes the next byte if it is this one.
    mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    func error(_ message: String) -> JSONError { JSONError(message, at: position, in: bytes) }

    func unexpected(_ expected: String) -> JSONError {
        guard let byte = peek() else { return error("Expected \(expected), found the end of the text") }
        if position == 0, byte == 0xEF { return error("Expected \(expected), found a byte order mark; remove it") }
        let isPrintable = (0x21...0x7E).contains(byte)
        let found = isPrintable ? "'\(Character(Unicode.Scalar(byte)))'" : "the byte \(byte)"
        return error("Expected \(expected), found \(found)")
    }
}
