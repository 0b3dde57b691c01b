/// A name where it stands in a source, compared byte by byte.
struct NameSlice: Hashable {
    // Unsafe, because names are compared more often than anything else: valid as long as the
    // source it is a slice of.
    let start: UnsafePointer<UInt8>
    let length: Int

    init(start: UnsafePointer<UInt8>, length: Int) {
        self.start = start
        self.length = length
    }

    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: length) }

    var isEmpty: Bool { length == 0 }

    /// The name as a string of its own.
    var string: String { String(decoding: bytes, as: UTF8.self) }

    func hasPrefix(_ prefix: StaticString) -> Bool {
        length >= prefix.utf8CodeUnitCount && areEqual(start, prefix.utf8Start, prefix.utf8CodeUnitCount)
    }

    static func == (left: NameSlice, right: NameSlice) -> Bool {
        left.length == right.length && areEqual(left.start, right.start, left.length)
    }

    static func == (left: NameSlice, right: StaticString) -> Bool {
        left.length == right.utf8CodeUnitCount && areEqual(left.start, right.utf8Start, left.length)
    }

    /// Keyed, because clients choose names: a table of them must not be made to collide.
    func hash(into hasher: inout Hasher) {
        hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
    }

    /// A number of 64 bits made of the name and a seed, for tables whose names
    /// the schema's author chose.
    func mixed(seed: UInt64) -> UInt64 {
        var mix = seed &+ UInt64(truncatingIfNeeded: length)
        var position = 0
        while position + 8 <= length {
            mix = Self.fold(mix ^ UnsafeRawPointer(start).loadUnaligned(fromByteOffset: position, as: UInt64.self))
            position += 8
        }
        var rest: UInt64 = 0
        while position < length {
            rest = rest << 8 | UInt64(start[position])
            position += 1
        }
        return Self.fold(mix ^ rest)
    }

    private static func fold(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }
}

/// Whether two names of one length are the same.
func areEqual(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    var position = 0
    while position < count {
        if left[position] != right[position] { return false }
        position += 1
    }
    return true
}
