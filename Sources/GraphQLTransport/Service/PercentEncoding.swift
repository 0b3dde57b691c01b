/// Reads bytes that are written as `%` and two hexadecimal digits (RFC 3986 §2.1).
package enum PercentEncoding {
    /// A name or value of a form (`application/x-www-form-urlencoded`), in which a plus is a space.
    ///
    /// `nil` when it is not percent-encoded UTF-8.
    package static func formText(_ text: some Collection<UInt8>) -> String? {
        decoded(text, plus: UInt8(ascii: " ")).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The bytes of a text; `nil` when a `%` is not followed by two digits.
    ///
    /// `plus` is the byte that a plus stands for: a space in forms.
    static func decoded(_ text: some Collection<UInt8>, plus: UInt8 = UInt8(ascii: "+")) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(plus)
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(hexValue), let low = rest.next().flatMap(hexValue) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return bytes
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
