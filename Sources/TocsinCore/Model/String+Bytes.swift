extension String {
    /// Whether both are the same bytes of UTF-8, as databases compare texts: `==` takes two spellings of a letter for one.
    package func hasBytes(of other: String) -> Bool {
        var (left, right) = (self, other)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                guard left.count == right.count else { return false }
                if left.baseAddress == right.baseAddress { return true }
                return Self.areEqual(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
            }
        }
    }

    /// Compares as many bytes, most of them eight at a time.
    private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        var place = 0
        while place + 8 <= left.count {
            let words = (
                left.loadUnaligned(fromByteOffset: place, as: UInt64.self),
                right.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            )
            guard words.0 == words.1 else { return false }
            place += 8
        }
        while place < left.count {
            guard left[place] == right[place] else { return false }
            place += 1
        }
        return true
    }
}
