/// A statement's text as a key: texts are long and differ in length or towards their end, so little of them is hashed.
package struct StatementText: Hashable {
    /// The statement's whole text, which equality compares.
    package let text: String
    /// Words of eight bytes.
    private static let hashedWords = 3

    /// A key for this text.
    package init(text: String) {
        self.text = text
    }

    /// Hashes the text's length and its last words.
    package func hash(into hasher: inout Hasher) {
        let count = text.utf8.count
        let mixed = text.utf8.withContiguousStorageIfAvailable { bytes in
            let words = UnsafeRawBufferPointer(bytes)
            return (1...Self.hashedWords).reduce(UInt64(count)) { mixed, word in
                guard word * 8 <= count else { return mixed }
                return mixed &* 31 &+ words.loadUnaligned(fromByteOffset: count - word * 8, as: UInt64.self)
            }
        }
        hasher.combine(mixed ?? UInt64(count))
    }
}
