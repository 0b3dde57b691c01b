/// Numbers by scope and name, the names as bytes, in one open table at most half full.
///
/// Only the schema's author fills it, so its mixing needs no key.
struct NameTable: Sendable {
    private struct Slot: Sendable {
        /// 0 where nothing is.
        var mix: UInt64 = 0
        var start: Int32 = 0
        var length: Int32 = 0
        var scope: Int32 = 0
        var value: Int32 = 0
    }

    private var slots = [Slot](repeating: Slot(), count: 64)
    private var names: [UInt8] = []
    private var count = 0

    /// The number of a name in a scope.
    func find(_ name: NameSlice, in scope: Int) -> Int? {
        let mix = Self.mix(name, scope)
        return slots.withUnsafeBufferPointer { slots in
            var position = Int(truncatingIfNeeded: mix) & (slots.count - 1)
            while slots[position].mix != 0 {
                if slots[position].mix == mix, isName(name, of: slots[position], in: scope) {
                    return Int(slots[position].value)
                }
                position = (position + 1) & (slots.count - 1)
            }
            return nil
        }
    }

    /// Adds a name unless the scope has it.
    mutating func insert(_ name: String, in scope: Int, _ value: Int) {
        if count * 2 >= slots.count { grow() }
        let bytes = Array(name.utf8)
        bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            let slice = NameSlice(start: start, length: bytes.count)
            guard find(slice, in: scope) == nil else { return }
            store(
                Slot(
                    mix: Self.mix(slice, scope),
                    start: Int32(truncatingIfNeeded: names.count),
                    length: Int32(truncatingIfNeeded: bytes.count),
                    scope: Int32(truncatingIfNeeded: scope),
                    value: Int32(truncatingIfNeeded: value)
                )
            )
            names += bytes
            count += 1
        }
    }

    private static func mix(_ name: NameSlice, _ scope: Int) -> UInt64 {
        name.mixed(seed: UInt64(truncatingIfNeeded: scope) &* 0xD6E8_FEB8_6659_FD93) | 1 << 63
    }

    private func isName(_ name: NameSlice, of slot: Slot, in scope: Int) -> Bool {
        guard Int(slot.length) == name.length, Int(slot.scope) == scope else { return false }
        return names.withUnsafeBufferPointer { names in
            names.baseAddress.map { areEqual($0 + Int(slot.start), name.start, name.length) } ?? false
        }
    }

    private mutating func store(_ slot: Slot) {
        var position = Int(truncatingIfNeeded: slot.mix) & (slots.count - 1)
        while slots[position].mix != 0 { position = (position + 1) & (slots.count - 1) }
        slots[position] = slot
    }

    private mutating func grow() {
        let old = slots
        slots = [Slot](repeating: Slot(), count: old.count * 2)
        for slot in old where slot.mix != 0 { store(slot) }
    }
}
