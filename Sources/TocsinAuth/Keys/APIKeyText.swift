import TocsinCore

/// The texts of API keys: what is shown once, and what is stored of it.
package enum APIKeyText {
    /// Lower-case letters and digits that are not taken for one another.
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
    /// 26 letters of five bits each.
    private static let letters = 26

    /// A key nobody can guess: `da2-` and 26 letters and digits.
    package static func make() -> String {
        let bytes = RandomBytes.make(letters).map { alphabet[Int($0 & 31)] }
        return APIKey.prefix + String(decoding: bytes, as: UTF8.self)
    }

    /// What is stored of a key: its SHA-256 in hexadecimal.
    ///
    /// Keys have 130 random bits, so that no slow hash is needed.
    package static func digest(of text: String) -> String { hexadecimal(Digest.sha256(Array(text.utf8))) }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
