/// Finds the places of names among each other; by less of a name than a dictionary hashes, as who chose these names is the
/// schema.
struct NameTable: Sendable {
    private let names: [String]
    /// A name's place, at what `mark` says of the name or the next free slot behind; -1 where there is none.
    private var slots: [Int]

    /// Of equal names the first counts.
    init(_ names: [String]) {
        self.names = names
        var size = 8
        while size < names.count * 4 { size *= 2 }
        slots = Array(repeating: -1, count: size)
        for (place, name) in names.enumerated() {
            let slot = slot(of: name)
            if slots[slot] < 0 { slots[slot] = place }
        }
    }

    subscript(_ name: String) -> Int? {
        let place = slots[slot(of: name)]
        return place < 0 ? nil : place
    }

    /// Where the name stands, or would.
    private func slot(of name: String) -> Int {
        var slot = Self.mark(of: name) & (slots.count - 1)
        // There are always free ones.
        while slots[slot] >= 0, names[slots[slot]] != name { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }

    private static func mark(of name: String) -> Int {
        let mark = name.utf8.withContiguousStorageIfAvailable { bytes in
            guard let first = bytes.first, let last = bytes.last else { return 0 }
            return (bytes.count &* 31 &+ Int(first)) &* 31 &+ Int(last) &+ Int(bytes[bytes.count / 2])
        }
        return mark ?? 0
    }
}
