/// A document's text as the key of caches: hashed once, compared byte by byte.
///
/// Unlike a string it tells two spellings of the same character apart, because what clients see of constants does. The
/// hash is keyed anew in each process, as Swift's own.
public struct DocumentText: Sendable, Hashable {
    /// The text.
    public let text: String
    private let fingerprint: Int

    /// Takes a text and hashes it.
    public init(_ text: String) {
        var text = text
        var hasher = Hasher()
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        self.text = text
        fingerprint = hasher.finalize()
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
        return left[offset...].elementsEqual(right[offset...])
    }
}
