/// An Ethereum address: the last 20 bytes of the hash of a public key.
public struct WalletAddress: Sendable, Hashable, CustomStringConvertible {
    /// 20 bytes.
    public let bytes: [UInt8]

    /// Reads `0x` and 40 hexadecimal digits; nil for anything else.
    ///
    /// A text in upper and lower case must have the case that EIP-55 gives it: otherwise a digit
    /// was mistyped.
    public init?(_ text: String) {
        guard let bytes = Hexadecimal.bytes(text, count: 20) else { return nil }
        self.bytes = bytes
        let digits = text.utf8.dropFirst(2)
        let hasUpper = digits.contains { (0x41...0x46).contains($0) }
        let hasLower = digits.contains { (0x61...0x66).contains($0) }
        if hasUpper, hasLower, text != description { return nil }
    }

    /// The address of a public key: its point's two coordinates, 64 bytes.
    package init(publicKey point: [UInt8]) {
        bytes = Array(Keccak256.digest(point).suffix(20))
    }

    /// The text with the checksum of EIP-55: letters are upper case where the hash of the digits
    /// has a high half byte.
    public var description: String {
        let plain = Array(Hexadecimal.text(bytes).utf8)
        let hash = Keccak256.digest(plain)
        let cased = plain.enumerated().map { place, digit in
            let half = place.isMultiple(of: 2) ? hash[place / 2] >> 4 : hash[place / 2] & 15
            return half >= 8 && digit >= UInt8(ascii: "a") ? digit - 32 : digit
        }
        return "0x" + String(decoding: cased, as: UTF8.self)
    }
}
