import JSON

/// A document's text as the key of caches, compared byte by byte.
///
/// Unlike a string it tells two spellings of the same character apart, because what clients see
/// of constants does. It is hashed where a table asks for it, by a key made anew in each
/// process, as Swift's own.
public struct DocumentText: Sendable, Hashable {
    /// The text.
    public let text: String

    /// What the process mixes into its hashes.
    private static let key = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max) | 1)

    /// Takes a text.
    public init(_ text: String) {
        var text = text
        // In one piece from now on.
        text.makeContiguousUTF8()
        self.text = text
    }

    /// How long the text is, in bytes.
    public var byteCount: Int { text.utf8.count }

    /// Whether both have the same bytes.
    public static func == (left: DocumentText, right: DocumentText) -> Bool {
        guard left.byteCount == right.byteCount else { return false }
        var (left, right) = (left.text, right.text)
        return left.withUTF8 { left in
            right.withUTF8 { UnsafeRawBufferPointer(left).hasBytes(of: UnsafeRawBufferPointer($0)) }
        }
    }

    /// Multiplies and folds eight bytes at a time, the last ones padded.
    ///
    /// Whoever finds equal hashes all the same wins little: caches are bounded, and compare.
    public func hash(into hasher: inout Hasher) {
        let (first, second) = Self.key
        var text = text
        let hash = text.withUTF8 { text in
            let bytes = UnsafeRawBufferPointer(text)
            var mixed = first ^ UInt64(truncatingIfNeeded: bytes.count)
            var offset = 0
            while offset < bytes.count {
                var word: UInt64 = 0
                if offset + 8 <= bytes.count {
                    word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                } else {
                    for byte in bytes[offset...] { word = word << 8 | UInt64(byte) }
                }
                let product = (mixed ^ word).multipliedFullWidth(by: second)
                mixed = product.high ^ product.low
                offset += 8
            }
            return mixed
        }
        hasher.combine(hash)
    }
}
