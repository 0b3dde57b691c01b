extension Lexer {
    /// GraphQL §2.10.4: StringValue, from the opening quote on; only checked,
    /// decoded when someone asks.
    mutating func readString() throws(SyntaxError) -> Token {
        if peek(start + 1) == UInt8(ascii: "\""), peek(start + 2) == UInt8(ascii: "\"") {
            try readBlockString()
            return .blockString
        }
        hasEscapes = false
        var position = start + 1
        while position < bytes.count {
            switch bytes[unchecked: position] {
            case UInt8(ascii: "\""):
                end = position + 1
                return .string
            case UInt8(ascii: "\\"):
                hasEscapes = true
                guard let escape = StringEscape(bytes, at: position) else { throw invalidEscape(at: position) }
                position += escape.length
            case 0x0A, 0x0D: throw error("Unterminated string.", at: position)
            default: position += 1
            }
        }
        throw error("Unterminated string.", at: position)
    }

    /// GraphQL §2.10.4: BlockString.
    private mutating func readBlockString() throws(SyntaxError) {
        var position = start + 3
        while position < bytes.count {
            switch bytes[unchecked: position] {
            case UInt8(ascii: "\"") where isTripleQuote(at: position):
                end = position + 3
                return
            case UInt8(ascii: "\\") where isTripleQuote(at: position + 1): position += 4
            default: position += 1
            }
        }
        throw error("Unterminated string.", at: position)
    }

    private func isTripleQuote(at position: Int) -> Bool {
        peek(position) == UInt8(ascii: "\"") && peek(position + 1) == UInt8(ascii: "\"")
            && peek(position + 2) == UInt8(ascii: "\"")
    }

    /// What is wrong with the escape at an offset, shown as far as it was read.
    private func invalidEscape(at position: Int) -> SyntaxError {
        guard peek(position + 1) == UInt8(ascii: "u") else {
            return error("Invalid character escape sequence: \"\(piece(position, length: 2))\".", at: position)
        }
        var length = 6
        if peek(position + 2) == UInt8(ascii: "{") {
            length = 3
            while length < 11, let byte = peek(position + length), StringEscape.hexadecimal(byte) != nil { length += 1 }
            length += 1
        }
        return error("Invalid Unicode escape sequence: \"\(piece(position, length: length))\".", at: position)
    }

    /// Some bytes and what is missing of the last character.
    private func piece(_ position: Int, length: Int) -> String {
        var end = min(position + length, bytes.count)
        while let byte = peek(end), byte & 0xC0 == 0x80 { end += 1 }
        return text(position..<end)
    }
}

/// GraphQL §2.10.4: EscapedCharacter and EscapedUnicode, from the backslash on.
struct StringEscape {
    let scalar: Unicode.Scalar
    /// How many bytes it was written in.
    let length: Int

    /// The escape at an offset, or `nil` when there is no such escape.
    init?(_ bytes: UnsafeBufferPointer<UInt8>, at position: Int) {
        guard position + 1 < bytes.count else { return nil }
        let letter = bytes[position + 1]
        if letter == UInt8(ascii: "u") {
            let isBraced = position + 2 < bytes.count && bytes[position + 2] == UInt8(ascii: "{")
            guard let escape = isBraced ? Self.braced(bytes, position) : Self.fixed(bytes, position) else { return nil }
            self = escape
            return
        }
        guard let scalar = Self.character(letter) else { return nil }
        self.init(scalar: scalar, length: 2)
    }

    /// What a letter after a backslash stands for.
    private static func character(_ letter: UInt8) -> Unicode.Scalar? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): Unicode.Scalar(letter)
        case UInt8(ascii: "b"): "\u{8}"
        case UInt8(ascii: "f"): "\u{C}"
        case UInt8(ascii: "n"): "\n"
        case UInt8(ascii: "r"): "\r"
        case UInt8(ascii: "t"): "\t"
        default: nil
        }
    }

    private init(scalar: Unicode.Scalar, length: Int) {
        self.scalar = scalar
        self.length = length
    }

    /// `\u{…}`: up to eight hexadecimal digits of a scalar value.
    private static func braced(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> StringEscape? {
        var value: UInt32 = 0
        var position = start + 3
        while position < min(start + 11, bytes.count), let digit = hexadecimal(bytes[position]) {
            value = value << 4 | digit
            position += 1
        }
        guard position > start + 3, position < bytes.count, bytes[position] == UInt8(ascii: "}") else { return nil }
        return Unicode.Scalar(value).map { StringEscape(scalar: $0, length: position + 1 - start) }
    }

    /// `\uXXXX`, or two of them that make a surrogate pair.
    private static func fixed(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> StringEscape? {
        guard let first = fourDigits(bytes, at: start + 2) else { return nil }
        if let scalar = Unicode.Scalar(first) { return StringEscape(scalar: scalar, length: 6) }
        guard first < 0xDC00, start + 8 <= bytes.count, bytes[start + 6] == UInt8(ascii: "\\"),
            bytes[start + 7] == UInt8(ascii: "u"), let second = fourDigits(bytes, at: start + 8),
            (0xDC00...0xDFFF).contains(second)
        else { return nil }
        let value = 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)
        return Unicode.Scalar(value).map { StringEscape(scalar: $0, length: 12) }
    }

    private static func fourDigits(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> UInt32? {
        guard start + 4 <= bytes.count else { return nil }
        var value: UInt32 = 0
        for position in start..<start + 4 {
            guard let digit = hexadecimal(bytes[position]) else { return nil }
            value = value << 4 | digit
        }
        return value
    }

    static func hexadecimal(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte &- UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte &- UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte &- UInt8(ascii: "A")) + 10
        default: nil
        }
    }
}
