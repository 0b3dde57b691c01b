/// Questions about all bytes of a text, eight at a time where it lies in one piece.
enum TextScan {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    static func hasNUL(_ text: String) -> Bool {
        anyWord(of: text, filler: ones) { ($0 &- ones) & ~$0 & highBits != 0 }
    }

    static func isASCII(_ text: String) -> Bool {
        !anyWord(of: text, filler: 0) { $0 & highBits != 0 }
    }

    /// Whether a word of eight bytes is as asked; the last one is filled up.
    @inline(__always)
    private static func anyWord(of text: String, filler: UInt64, _ isMeant: (UInt64) -> Bool) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            guard let start = bytes.baseAddress else { return false }
            let memory = UnsafeRawPointer(start)
            var offset = 0
            while offset &+ 8 <= bytes.count {
                if isMeant(memory.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) { return true }
                offset &+= 8
            }
            var rest = filler
            while offset < bytes.count {
                rest = rest << 8 | UInt64(start[offset])
                offset &+= 1
            }
            return isMeant(rest)
        }
    }
}
