/// Base 64 with the URL-safe alphabet and no padding (RFC 4648 §5, RFC 7515 §2).
///
/// Decoding is strict: one text per value, so that a changed text is never read as the same bytes.
package enum Base64URL {
    /// The text for `bytes`.
    @inlinable
    package static func encoded(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var pending: UInt32 = 0
        var bits = 0
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(alphabet[Int(pending >> UInt32(bits) & 63)])
            }
        }
        if bits > 0 { text.append(alphabet[Int(pending << UInt32(6 - bits) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of `text`, or nil when it has a foreign character, padding, an
    /// impossible length or stray bits.
    @inlinable
    package static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var pending: UInt32 = 0
        var bits = 0
        for character in text {
            guard let value = value(of: character) else { return nil }
            pending = (pending << 6 | value) & 0xFFFF
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
        }
        guard pending & (1 << UInt32(bits) - 1) == 0 else { return nil }
        return bytes
    }

    /// The bytes of `text`; see the other `decoded`.
    @inlinable
    package static func decoded(_ text: some StringProtocol) -> [UInt8]? { decoded(text.utf8) }

    /// The bytes of ordinary base 64 (`+`, `/`, `=`, line breaks allowed), as
    /// people paste it into settings.
    package static func decodedPasted(_ text: String) -> [UInt8]? {
        var plain: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "+"): plain.append(UInt8(ascii: "-"))
            case UInt8(ascii: "/"): plain.append(UInt8(ascii: "_"))
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): continue
            default: plain.append(byte)
            }
        }
        while plain.last == UInt8(ascii: "=") { plain.removeLast() }
        return decoded(plain)
    }

    @usableFromInline static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
    )

    @usableFromInline
    static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
