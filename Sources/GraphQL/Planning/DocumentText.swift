/// A document's text as the key of caches: hashed once, compared byte by byte.
///
/// Unlike a string it tells two spellings of the same character apart, because what clients see of constants does. The
/// hash is keyed anew in each process, as Swift's own.
public struct DocumentText: Sendable, Hashable {
    /// The text.
    public let text: String
    private let fingerprint: Int

    /// What the process mixes into its hashes.
    private static let key = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max) | 1)

    /// Takes a text and hashes it.
    public init(_ text: String) {
        var text = text
        fingerprint = text.withUTF8 { Self.hash(UnsafeRawBufferPointer($0)) }
        self.text = text
    }

    /// Multiplies and folds eight bytes at a time, the last ones padded.
    ///
    /// Whoever finds equal hashes all the same wins little: caches are bounded, and compare.
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
        let (first, second) = key
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
        return Int(truncatingIfNeeded: mixed)
    }

    /// How long the text is, in bytes.
    public var byteCount: Int { text.utf8.count }

    /// Whether both have the same bytes.
    public static func == (left: DocumentText, right: DocumentText) -> Bool {
        guard left.fingerprint == right.fingerprint else { return false }
        let isSame = left.text.utf8.withContiguousStorageIfAvailable { left in
            right.text.utf8.withContiguousStorageIfAvailable { right in
                areEqual(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
            }
        }
        return (isSame ?? nil) ?? left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Hashes the hash made at the beginning.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(fingerprint)
    }

    /// Eight bytes at a time.
    private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count else { return false }
        guard left.baseAddress != right.baseAddress else { return true }
        var offset = 0
        while offset + 8 <= left.count {
            let words = (
                left.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
                right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            )
            guard words.0 == words.1 else { return false }
            offset += 8
        }
        while offset < left.count {
            guard left[offset] == right[offset] else { return false }
            offset += 1
        }
        return true
    }
}
