extension JSONReader {
    /// RFC 8259 §7, from the opening quote on.
    mutating func readString() throws(JSONError) -> String {
        position += 1
        let start = position
        let isASCII = skipPlainCharacters()
        guard peek() == UInt8(ascii: "\"") else { return try readEscapedString(from: start, isASCII) }
        let text = try text(from: start, isASCII)
        position += 1
        return text
    }

    private mutating func readEscapedString(from start: Int, _ isASCII: Bool) throws(JSONError) -> String {
        var result = try text(from: start, isASCII)
        while true {
            guard let byte = peek() else { throw unexpected("'\"' at the end of the string") }
            if byte == UInt8(ascii: "\"") { break }
            guard byte == UInt8(ascii: "\\") else {
                throw error("Control characters in a string must be escaped; found the byte \(byte)")
            }
            result.unicodeScalars.append(try readEscape())
            let plain = position
            let isASCII = skipPlainCharacters()
            result += try text(from: plain, isASCII)
        }
        position += 1
        return result
    }

    /// Stops at a quote, a backslash, a control character or the end; answers whether
    /// all before that is ASCII.
    private mutating func skipPlainCharacters() -> Bool {
        guard let base = bytes.baseAddress else { return true }
        let (memory, end) = (UnsafeRawPointer(base), bytes.count)
        var index = position
        defer { position = index }
        var seen: UInt64 = 0
        while index &+ 8 <= end {
            let word = memory.loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian
            let found = JSONMemory.escapes(word)
            if found != 0 {
                let lane = JSONMemory.firstLane(found)
                index &+= lane
                return (seen | word & (1 << UInt64(lane &* 8) &- 1)) & JSONMemory.highBits == 0
            }
            seen |= word
            index &+= 8
        }
        while index < end {
            let byte = base[index]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
            seen |= UInt64(byte)
            index &+= 1
        }
        return seen & JSONMemory.highBits == 0
    }

    private mutating func text(from start: Int, _ isASCII: Bool) throws(JSONError) -> String {
        let read = bytes.extracting(start..<position).span
        // ASCII is valid UTF-8, so that nobody need look at it again.
        if isASCII { return String(copying: unsafe UTF8Span(unchecked: read, isKnownASCII: true)) }
        do {
            // Not `String(validating:as:)`, which looks up its generic types anew for every string.
            return String(copying: try UTF8Span(validating: read))
        } catch {
            position = start
            throw self.error("The string is not valid UTF-8")
        }
    }

    private mutating func readEscape() throws(JSONError) -> Unicode.Scalar {
        position += 1
        guard let letter = peek() else { throw unexpected("an escape sequence") }
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try readUnicodeEscape()
        default:
            position -= 1
            throw unexpected("one of \" \\ / b f n r t u after the backslash")
        }
    }

    /// After `\u`: four hexadecimal digits, or a surrogate pair of two escapes.
    private mutating func readUnicodeEscape() throws(JSONError) -> Unicode.Scalar {
        let start = position - 2
        let first = try readFourDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        if first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) {
            let second = try readFourDigits()
            if (0xDC00...0xDFFF).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
            {
                return scalar
            }
        }
        position = start
        throw error("A surrogate must be followed by its partner")
    }

    private mutating func readFourDigits() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw unexpected("four hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
