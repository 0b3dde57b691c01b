/// Ids for messages, made by the client so that a repeated attempt names the same message.
enum MessageIdentifier {
    /// A UUID of version 7 (RFC 9562 §5.7): it begins with the time, which keeps the server's index in order.
    static func make(millisecondsSince1970 time: UInt64, random: (UInt64, UInt64)) -> String {
        let high = (time & 0xFFFF_FFFF_FFFF) << 16 | 0x7000 | random.0 & 0x0FFF
        let low = 0x8000_0000_0000_0000 | random.1 & 0x3FFF_FFFF_FFFF_FFFF
        let digits = hexadecimal(high) + hexadecimal(low)
        var text = ""
        for (position, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(position) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
