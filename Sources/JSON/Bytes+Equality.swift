extension UnsafeRawBufferPointer {
    /// Whether both hold the same bytes, most of them compared eight at a time.
    @inlinable
    public func hasBytes(of other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard baseAddress != other.baseAddress else { return true }
        var offset = 0
        while offset &+ 8 <= count {
            let words = (
                loadUnaligned(fromByteOffset: offset, as: UInt64.self),
                other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            )
            guard words.0 == words.1 else { return false }
            offset &+= 8
        }
        while offset < count {
            guard self[offset] == other[offset] else { return false }
            offset &+= 1
        }
        return true
    }
}
