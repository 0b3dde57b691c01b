extension JSONWriter {
    /// Writes text in quotes, escaping only what RFC 8259 §7 asks for.
    public mutating func string(_ text: String) {
        var text = text
        byte(UInt8(ascii: "\""))
        text.withUTF8 { escape($0) }
        byte(UInt8(ascii: "\""))
    }

    private mutating func escape(_ text: UnsafeBufferPointer<UInt8>) {
        var start = 0
        while true {
            let end = Self.firstToEscape(in: text, from: start)
            if end > start { raw(bytes: UnsafeBufferPointer(rebasing: text[start..<end])) }
            guard end < text.count else { return }
            escape(text[end])
            start = end + 1
        }
    }

    private mutating func escape(_ character: UInt8) {
        switch character {
        case UInt8(ascii: "\""): raw("\\\"")
        case UInt8(ascii: "\\"): raw("\\\\")
        case 0x08: raw("\\b")
        case 0x0C: raw("\\f")
        case 0x0A: raw("\\n")
        case 0x0D: raw("\\r")
        case 0x09: raw("\\t")
        default:
            raw("\\u00")
            for digit in [character >> 4, character & 0xF] {
                byte(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
    }

    /// Looks at eight bytes at a time: the high bit of a lane is set where the lane is a quote, a backslash or below
    /// a space.
    private static func firstToEscape(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        var position = start
        let raw = UnsafeRawBufferPointer(text)
        while position + 8 <= text.count {
            let word = raw.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let quote = word ^ (ones &* 0x22)
            let slash = word ^ (ones &* 0x5C)
            let found = (quote &- ones) & ~quote | (slash &- ones) & ~slash | (word &- ones &* 0x20) & ~word
            if found & highs != 0 { break }
            position += 8
        }
        while position < text.count {
            let byte = text[position]
            if byte == 0x22 || byte == 0x5C || byte < 0x20 { return position }
            position += 1
        }
        return position
    }
}
