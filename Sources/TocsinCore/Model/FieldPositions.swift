/// Positions of fields by name, in one open table at most half full.
///
/// Only the schema's author fills it, so its mixing needs no key.
struct FieldPositions: Sendable {
    private let names: [String]
    /// Positions, where their names' mixes led; below zero where nothing is.
    private let slots: [Int]

    /// Of several fields with one name the first counts.
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
        let mixed = name.withUTF8 { bytes in
            var mixed = UInt64(truncatingIfNeeded: bytes.count)
            var place = 0
            while place < bytes.count {
                var word: UInt64 = 0
                for byte in bytes[place..<min(place + 8, bytes.count)] { word = word << 8 | UInt64(byte) }
                mixed = (mixed ^ word) &* 0x9E37_79B9_7F4A_7C15
                mixed ^= mixed >> 29
                place += 8
            }
            return mixed
        }
        return Int(truncatingIfNeeded: mixed >> 1)
    }
}
