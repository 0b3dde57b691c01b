/// A cache with a limit of entries and one of bytes; what was used least recently goes first.
///
/// Looking up, adding and dropping an entry each take a constant number of
/// steps, however full it is.
struct LeastRecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What is held under a key; a class, so that looking at it copies one reference.
    final class Entry: Sendable {
        let key: Key
        let value: Value
        let bytes: Int

        init(key: Key, value: Value, bytes: Int) {
            self.key = key
            self.value = value
            self.bytes = bytes
        }
    }

    /// An entry between its neighbours in the order of use.
    private struct Slot {
        var entry: Entry?
        var newer: Int
        var older: Int
    }

    private static var none: Int { -1 }

    private let maximumEntries: Int
    private let maximumBytes: Int
    private var indices: [Key: Int] = [:]
    private var slots: [Slot] = []
    private var free: [Int] = []
    private var newest = none
    private var oldest = none
    /// How many bytes the entries take together.
    private(set) var bytes = 0

    /// An empty cache, with room for at least one entry.
    init(maximumEntries: Int, maximumBytes: Int) {
        self.maximumEntries = max(1, maximumEntries)
        self.maximumBytes = maximumBytes
    }

    var count: Int { indices.count }
    var isEmpty: Bool { indices.isEmpty }
    /// The entry that goes next.
    var leastRecent: Entry? { oldest == Self.none ? nil : slots[oldest].entry }

    /// The value, which counts as used now.
    mutating func use(_ key: Key) -> Value? {
        // The entry used last is often asked for again; this finds it without hashing.
        if newest != Self.none, let entry = slots[newest].entry, entry.key == key { return entry.value }
        guard let index = indices[key] else { return nil }
        unlink(index)
        link(index)
        return slots[index].entry?.value
    }

    /// Adds an entry or replaces the one with its key; answers the entries that had to go for it.
    ///
    /// An entry that is larger than the limit of bytes is not added.
    mutating func insert(_ value: Value, for key: Key, bytes size: Int) -> [Entry] {
        var gone: [Entry] = []
        if let replaced = remove(key) { gone.append(replaced) }
        guard size <= maximumBytes else { return gone }
        while let entry = leastRecent, count >= maximumEntries || bytes > maximumBytes - size {
            if let dropped = remove(entry.key) { gone.append(dropped) }
        }
        let entry = Entry(key: key, value: value, bytes: size)
        let index = free.popLast() ?? slots.count
        let slot = Slot(entry: entry, newer: Self.none, older: Self.none)
        if index == slots.count { slots.append(slot) } else { slots[index] = slot }
        indices[key] = index
        bytes += size
        link(index)
        return gone
    }

    /// Drops the entry of a key.
    @discardableResult
    mutating func remove(_ key: Key) -> Entry? {
        guard let index = indices.removeValue(forKey: key), let entry = slots[index].entry else { return nil }
        unlink(index)
        slots[index].entry = nil
        free.append(index)
        bytes -= entry.bytes
        return entry
    }

    private mutating func link(_ index: Int) {
        slots[index].newer = Self.none
        slots[index].older = newest
        if newest == Self.none { oldest = index } else { slots[newest].newer = index }
        newest = index
    }

    private mutating func unlink(_ index: Int) {
        let (newer, older) = (slots[index].newer, slots[index].older)
        if newer == Self.none { newest = older } else { slots[newer].older = older }
        if older == Self.none { oldest = newer } else { slots[older].newer = newer }
    }
}
