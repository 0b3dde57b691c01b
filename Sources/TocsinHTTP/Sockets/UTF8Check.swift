/// Checks UTF-8 that comes in pieces, at the first byte that cannot be right (RFC 3629 §4).
struct UTF8Check {
    /// Continuation bytes that must still come.
    private var missing = 0
    /// What the next continuation byte may be.
    private var next: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether no character is cut off.
    var isComplete: Bool { missing == 0 }

    /// Takes the next bytes; false when the text cannot become UTF-8 any more.
    mutating func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count {
            if missing == 0, index + 8 <= bytes.count,
                bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            {
                index += 8
                continue
            }
            guard accepts(bytes[index]) else { return false }
            index += 1
        }
        return true
    }

    private mutating func accepts(_ byte: UInt8) -> Bool {
        guard missing == 0 else {
            guard next.contains(byte) else { return false }
            missing -= 1
            next = 0x80...0xBF
            return true
        }
        switch byte {
        case 0x00...0x7F: break
        case 0xC2...0xDF: missing = 1
        // Neither overlong forms nor surrogates.
        case 0xE0: begin(2, 0xA0...0xBF)
        case 0xED: begin(2, 0x80...0x9F)
        case 0xE1...0xEF: missing = 2
        // Nor anything beyond U+10FFFF.
        case 0xF0: begin(3, 0x90...0xBF)
        case 0xF4: begin(3, 0x80...0x8F)
        case 0xF1...0xF3: missing = 3
        default: return false
        }
        return true
    }

    private mutating func begin(_ count: Int, _ range: ClosedRange<UInt8>) {
        missing = count
        next = range
    }
}
