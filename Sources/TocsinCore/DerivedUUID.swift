/// UUIDs made from other names: whoever makes one again gets the same.
package enum DerivedUUID {
    /// A lower-case UUID version 8 (RFC 9562 §5.8) made from two texts.
    package static func text(of first: String, _ second: String) -> String {
        let high = mixed(first, second, seed: 0xCBF2_9CE4_8422_2325)
        let low = mixed(second, first, seed: 0x9E37_79B9_7F4A_7C15)
        return spelled(
            (high & 0xFFFF_FFFF_FFFF_0FFF) | 0x8000,
            (low & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
        )
    }

    /// FNV-1a over both texts with their border, then the finish of MurmurHash3,
    /// which spreads every bit.
    private static func mixed(_ first: String, _ second: String, seed: UInt64) -> UInt64 {
        var hash = seed
        for byte in first.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        hash = (hash ^ 0x1FF) &* 0x0000_0100_0000_01B3
        for byte in second.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ hash >> 33
    }

    private static func spelled(_ high: UInt64, _ low: UInt64) -> String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            var position = 0
            for index in 0..<32 {
                if index == 8 || index == 12 || index == 16 || index == 20 {
                    buffer[position] = UInt8(ascii: "-")
                    position += 1
                }
                let nibble = UInt8((index < 16 ? high : low) >> UInt64(60 - 4 * (index % 16)) & 0xF)
                buffer[position] = nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") - 10 + nibble
                position += 1
            }
            return position
        }
    }
}
