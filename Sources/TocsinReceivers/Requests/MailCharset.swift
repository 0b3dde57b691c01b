/// The character sets that mails still come in.
enum MailCharset {
    /// The text of bytes in a charset; an unknown one is read as UTF-8.
    static func text(_ bytes: [UInt8], charset: String) -> String {
        switch charset.lowercased() {
        case "iso-8859-1", "latin1", "windows-1252", "cp1252": latin(bytes)
        case "iso-8859-15", "latin9": latin(bytes, euro: 0xA4)
        default: String(decoding: bytes, as: UTF8.self)
        }
    }

    private static func latin(_ bytes: [UInt8], euro: UInt8 = 0x80) -> String {
        var scalars = String.UnicodeScalarView()
        for byte in bytes {
            if byte == euro {
                scalars.append("€")
            } else if (0x80..<0xA0).contains(byte) {
                scalars.append(windows[Int(byte - 0x80)])
            } else {
                scalars.append(Unicode.Scalar(byte))
            }
        }
        return String(scalars)
    }

    /// What Windows has at 0x80 to 0x9F, where ISO 8859 has control characters.
    private static let windows: [Unicode.Scalar] = Array(
        "€\u{FFFD}‚ƒ„…†‡ˆ‰Š‹Œ\u{FFFD}Ž\u{FFFD}\u{FFFD}‘’“”•–—˜™š›œ\u{FFFD}žŸ".unicodeScalars
    )
}
