/// A name where it stands in a source, compared byte by byte.
struct NameSlice: Hashable {
    // Unsafe, because names are compared more often than anything else: valid as long as the source it is a slice of.
    let bytes: UnsafeBufferPointer<UInt8>

    /// Some bytes of a source that has them.
    init(_ source: UnsafeBufferPointer<UInt8>, start: Int, length: Int) {
        bytes = UnsafeBufferPointer(start: source.baseAddress.map { $0 + start }, count: length)
    }

    var isEmpty: Bool { bytes.isEmpty }

    /// The name as a string of its own.
    var string: String { String(decoding: bytes, as: UTF8.self) }

    func hasPrefix(_ prefix: StaticString) -> Bool {
        bytes.count >= prefix.utf8CodeUnitCount
            && NameSlice.areEqual(bytes.baseAddress, prefix.utf8Start, prefix.utf8CodeUnitCount)
    }

    static func == (left: NameSlice, right: NameSlice) -> Bool {
        left.bytes.count == right.bytes.count
            && areEqual(left.bytes.baseAddress, right.bytes.baseAddress, left.bytes.count)
    }

    static func == (left: NameSlice, right: StaticString) -> Bool {
        left.bytes.count == right.utf8CodeUnitCount
            && areEqual(left.bytes.baseAddress, right.utf8Start, left.bytes.count)
    }

    private static func areEqual(_ left: UnsafePointer<UInt8>?, _ right: UnsafePointer<UInt8>?, _ count: Int) -> Bool {
        guard count > 0, let left, let right else { return count == 0 }
        var position = 0
        while position < count {
            if left[position] != right[position] { return false }
            position += 1
        }
        return true
    }

    /// Keyed, because clients choose names: a table of them must not be made to collide.
    func hash(into hasher: inout Hasher) {
        hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
    }
}
