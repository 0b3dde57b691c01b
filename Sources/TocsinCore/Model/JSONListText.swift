/// The text of a stored JSON list, searched without building its values: filters ask only
/// whether a text is a member.
struct JSONListText {
    private let text: String

    /// The text must be valid JSON: the API writes nothing else.
    init(_ text: String) {
        self.text = text
    }

    /// Whether the list has this text as a member of its own, not of an inner list or object.
    func containsText(_ member: String) -> Bool {
        var (list, member) = (text, member)
        return list.withUTF8 { list in
            member.withUTF8 { Self.contains(UnsafeRawBufferPointer($0), in: UnsafeRawBufferPointer(list)) }
        }
    }

    private static func contains(_ member: UnsafeRawBufferPointer, in list: UnsafeRawBufferPointer) -> Bool {
        var (depth, offset) = (0, 0)
        while offset < list.count {
            switch list[offset] {
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: "\""):
                var string = JSONStringBytes(list, from: offset + 1)
                if depth == 1, string.areEqual(to: member) { return true }
                offset = string.end()
            default: break
            }
            offset += 1
        }
        return false
    }

    /// A list of one text.
    static func list(of text: String) -> FieldValue {
        .json(JSONMapText.list([JSONMapText.text(text)]))
    }

    /// The members of both lists, those of the first before those of the second.
    static func joined(_ first: String, _ second: String) -> String {
        let (left, right) = (inside(first), inside(second))
        return "[" + left + (left.isEmpty || right.isEmpty ? "" : ",") + right + "]"
    }

    private static func inside(_ list: String) -> Substring {
        guard list.hasPrefix("["), list.hasSuffix("]") else { return Substring(list) }
        return list.dropFirst().dropLast()
    }
}

/// The unescaped bytes of a JSON string in a valid text, one after the other (RFC 8259 §7).
private struct JSONStringBytes {
    private let text: UnsafeRawBufferPointer
    /// Where the next byte is.
    private var offset: Int
    /// What is left of the bytes of an escape, the first one lowest.
    private var pending: UInt32 = 0

    /// The string whose first byte behind its quote is there.
    init(_ text: UnsafeRawBufferPointer, from offset: Int) {
        (self.text, self.offset) = (text, offset)
    }

    /// Whether these are all bytes of the string; reads on until they differ.
    mutating func areEqual(to bytes: UnsafeRawBufferPointer) -> Bool {
        for byte in bytes {
            guard next() == byte else { return false }
        }
        return pending == 0 && next() == nil
    }

    /// Where the string's closing quote is.
    mutating func end() -> Int {
        while offset < text.count, text[offset] != UInt8(ascii: "\"") {
            offset += text[offset] == UInt8(ascii: "\\") ? 2 : 1
        }
        return offset
    }

    /// The next byte; nil, for ever, at the closing quote.
    private mutating func next() -> UInt8? {
        if pending != 0 {
            defer { pending >>= 8 }
            return UInt8(truncatingIfNeeded: pending)
        }
        guard offset < text.count, text[offset] != UInt8(ascii: "\"") else { return nil }
        let byte = text[offset]
        offset += 1
        guard byte == UInt8(ascii: "\\"), offset < text.count else { return byte }
        let letter = text[offset]
        offset += 1
        switch letter {
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "u"): return firstByteOfEscape()
        default: return letter
        }
    }

    /// The first byte of `\u` and what follows it; the others are kept.
    private mutating func firstByteOfEscape() -> UInt8? {
        var value = codeUnit()
        if (0xD800...0xDBFF).contains(value) {
            // A valid text goes on with `\u` and the low surrogate.
            offset += 2
            value = 0x10000 + (value - 0xD800) << 10 + (codeUnit() & 0x3FF)
        }
        guard let scalar = UnicodeScalar(value), let encoded = UTF8.encode(scalar) else { return next() }
        var first: UInt8?
        for (number, byte) in encoded.enumerated() {
            if number == 0 { first = byte } else { pending |= UInt32(byte) << UInt32(8 * (number - 1)) }
        }
        return first
    }

    /// Four hexadecimal digits.
    private mutating func codeUnit() -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 where offset < text.count {
            let byte = text[offset]
            // The letters' low bits are 1 to 6.
            value = value << 4 | UInt32(byte <= UInt8(ascii: "9") ? byte & 0x0F : (byte & 0x0F) &+ 9)
            offset += 1
        }
        return value
    }
}
