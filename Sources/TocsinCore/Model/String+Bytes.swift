extension String {
    /// Whether both are the same bytes of UTF-8, as databases compare texts: `==` takes two
    /// spellings of a letter for one.
    package func hasBytes(of other: String) -> Bool {
        let areEqual = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                left.count == right.count
                    && (left.baseAddress == right.baseAddress
                        || Self.areEqual(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right)))
            }
        }
        return (areEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Whether the bytes of the other stand in this text, as databases search texts.
    package func containsBytes(of part: String) -> Bool {
        var (text, part) = (self, part)
        return text.withUTF8 { text in
            part.withUTF8 { ByteSearch.contains(UnsafeRawBufferPointer($0), in: UnsafeRawBufferPointer(text)) }
        }
    }

    /// How many Unicode scalars it has.
    package var scalarCount: Int {
        var text = self
        return text.withUTF8 { bytes in
            // All bytes but those that go on with a scalar.
            bytes.reduce(0) { $0 &+ ($1 & 0xC0 == 0x80 ? 0 : 1) }
        }
    }

    /// Compares as many bytes, most of them eight at a time.
    private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
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
