/// RFC 4648, both alphabets, padding or not: clients disagree.
enum Base64 {
    /// The bytes of a text; `nil` when it is none.
    static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        var bits: UInt32 = 0
        var count = 0
        var padding = 0
        for digit in text {
            if digit == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let value = value(of: digit) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 1
            if count % 4 == 0 { append(bits, 3, to: &bytes) }
        }
        switch (count % 4, padding) {
        case (0, 0): break
        case (2, 0), (2, 2): append(bits << 12, 1, to: &bytes)
        case (3, 0), (3, 1): append(bits << 6, 2, to: &bytes)
        default: return nil
        }
        return bytes
    }

    private static func append(_ bits: UInt32, _ count: Int, to bytes: inout [UInt8]) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: bits >> (16 - 8 * index))) }
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
