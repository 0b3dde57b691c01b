extension Lexer {
    /// GraphQL §2.10.4: StringValue, from the opening quote on.
    ///
    /// The decoded text goes to `text`.
    mutating func readString() throws(SyntaxError) -> Token.Kind {
        if peek(1) == UInt8(ascii: "\""), peek(2) == UInt8(ascii: "\"") {
            position += 3
            try readBlockString()
            return .blockString
        }
        position += 1
        let start = position
        skipPlainCharacters()
        text = source(start..<position)
        while let byte = peek(), byte == UInt8(ascii: "\\") {
            text.unicodeScalars.append(try readEscape())
            let plain = position
            skipPlainCharacters()
            text += source(plain..<position)
        }
        guard peek() == UInt8(ascii: "\"") else { throw error("Unterminated string.") }
        position += 1
        return .string
    }

    /// Stops at a quote, a backslash, a line's end or the end.
    private mutating func skipPlainCharacters() {
        while let byte = peek() {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x0A, 0x0D: return
            default: advance(over: byte)
            }
        }
    }

    /// GraphQL §2.10.4: EscapedCharacter and EscapedUnicode.
    private mutating func readEscape() throws(SyntaxError) -> Unicode.Scalar {
        let scalar: Unicode.Scalar
        switch peek(1) {
        case UInt8(ascii: "\""): scalar = "\""
        case UInt8(ascii: "\\"): scalar = "\\"
        case UInt8(ascii: "/"): scalar = "/"
        case UInt8(ascii: "b"): scalar = "\u{8}"
        case UInt8(ascii: "f"): scalar = "\u{C}"
        case UInt8(ascii: "n"): scalar = "\n"
        case UInt8(ascii: "r"): scalar = "\r"
        case UInt8(ascii: "t"): scalar = "\t"
        case UInt8(ascii: "u"): return try peek(2) == UInt8(ascii: "{") ? readBracedUnicode() : readFixedUnicode()
        default:
            let end = min(position + 2, bytes.count)
            throw error("Invalid character escape sequence: \"\(source(position..<end))\".")
        }
        position += 2
        return scalar
    }

    /// `\u{…}`: up to eight hexadecimal digits of a scalar value.
    private mutating func readBracedUnicode() throws(SyntaxError) -> Unicode.Scalar {
        var value: UInt32 = 0
        var length = 3
        while length < 12, let digit = hexadecimalDigit(at: length) {
            value = value << 4 | digit
            length += 1
        }
        guard length > 3, peek(length) == UInt8(ascii: "}"), let scalar = Unicode.Scalar(value) else {
            throw invalidUnicode(length: length + 1)
        }
        position += length + 1
        return scalar
    }

    /// `\uXXXX`, or two of them that make a surrogate pair.
    private mutating func readFixedUnicode() throws(SyntaxError) -> Unicode.Scalar {
        guard let first = fourDigits(at: 2) else { throw invalidUnicode(length: 6) }
        if let scalar = Unicode.Scalar(first) {
            position += 6
            return scalar
        }
        if first < 0xDC00, peek(6) == UInt8(ascii: "\\"), peek(7) == UInt8(ascii: "u"), let second = fourDigits(at: 8),
            (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        {
            position += 12
            return scalar
        }
        throw invalidUnicode(length: 6)
    }

    private func fourDigits(at distance: Int) -> UInt32? {
        var value: UInt32 = 0
        for offset in distance..<distance + 4 {
            guard let digit = hexadecimalDigit(at: offset) else { return nil }
            value = value << 4 | digit
        }
        return value
    }

    private func hexadecimalDigit(at distance: Int) -> UInt32? {
        peek(distance).flatMap { Character(Unicode.Scalar($0)).hexDigitValue }.map(UInt32.init)
    }

    private func invalidUnicode(length: Int) -> SyntaxError {
        let end = min(position + length, bytes.count)
        return error("Invalid Unicode escape sequence: \"\(source(position..<end))\".")
    }
}
