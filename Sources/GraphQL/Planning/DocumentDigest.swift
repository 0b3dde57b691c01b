/// The SHA-256 of a document's text in UTF-8, by which clients name it.
///
/// The engine has no hash function of its own: whoever needs one hands it in as `DocumentHash`.
public struct DocumentDigest: Sendable, Hashable, CustomStringConvertible {
    private let words: SIMD4<UInt64>

    /// From the 32 bytes of the hash; `nil` when there are more or fewer.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        var words = SIMD4<UInt64>()
        for (index, byte) in bytes.enumerated() { words[index / 8] = words[index / 8] << 8 | UInt64(byte) }
        self.words = words
    }

    /// From 64 hexadecimal digits of either case; `nil` for any other text.
    public init?(hex: some StringProtocol) {
        guard hex.utf8.count == 64 else { return nil }
        var words = SIMD4<UInt64>()
        for (index, digit) in hex.utf8.enumerated() {
            guard let value = Self.value(of: digit) else { return nil }
            words[index / 16] = words[index / 16] << 4 | UInt64(value)
        }
        self.words = words
    }

    /// 64 hexadecimal digits in lower case.
    public var description: String {
        (0..<4).map { index in
            let digits = String(words[index], radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// Computes SHA-256: bytes in, 32 bytes out.
public typealias DocumentHash = @Sendable ([UInt8]) -> [UInt8]
