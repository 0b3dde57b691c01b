/// Positions of fields by name, in one open table at most half full.
///
/// Only the schema's author fills it, so its mixing needs no key.
struct FieldPositions: Sendable {
    private let names: [String]
    /// Positions, where their names' mixes led; below zero where nothing is.
    private let slots: [Int]

    /// The positions of these names; the first of several equal names counts.
    init(_ names: [String]) {
        self.names = names
        var size = 8
        while size < names.count * 2 { size *= 2 }
        var slots = [Int](repeating: -1, count: size)
        for (position, name) in names.enumerated() {
            var slot = Self.mix(name) & (size - 1)
            while slots[slot] >= 0, names[slots[slot]] != name { slot = (slot + 1) & (size - 1) }
            if slots[slot] < 0 { slots[slot] = position }
        }
        self.slots = slots
    }

    subscript(name: String) -> Int? {
        var slot = Self.mix(name) & (slots.count - 1)
        while slots[slot] >= 0 {
            if names[slots[slot]] == name { return slots[slot] }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// Eight bytes at a time, the last ones padded.
    private static func mix(_ name: String) -> Int {
        var name = name
        return name.withUTF8 { bytes in
            var mixed = UInt64(truncatingIfNeeded: bytes.count)
            guard let start = bytes.baseAddress else { return 0 }
            var offset = 0
            while offset &+ 8 <= bytes.count {
                let word = UnsafeRawPointer(start).loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                mixed = fold(mixed ^ word)
                offset &+= 8
            }
            var rest: UInt64 = 0
            while offset < bytes.count {
                rest = rest << 8 | UInt64(start[offset])
                offset &+= 1
            }
            return Int(truncatingIfNeeded: fold(mixed ^ rest) >> 1)
        }
    }

    @inline(__always)
    private static func fold(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }
}
