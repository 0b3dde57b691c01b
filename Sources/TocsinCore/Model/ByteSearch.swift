/// Finds bytes within bytes, at about the speed of memory whatever the two are.
///
/// Eight offsets are looked at together: a part can begin only where its first byte and one other
/// byte of it stand. Parts and texts made to pass this check everywhere are found out, and searched
/// by the method of Knuth, Morris and Pratt, which reads each byte once.
enum ByteSearch {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highBits: UInt64 = 0x8080_8080_8080_8080
    /// Bytes compared in vain, beside as many as were passed, before the text is taken for one
    /// made to slow the search.
    private static let patience = 1024

    /// Whether the part stands somewhere in the text; the empty one does.
    static func contains(_ part: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer) -> Bool {
        guard part.count <= text.count else { return false }
        guard let first = part.first, let start = text.baseAddress else { return true }
        // Two bytes that differ are found together less often.
        let far = part.lastIndex { $0 != first } ?? part.count - 1
        let (firstBytes, farBytes) = (UInt64(first) &* ones, UInt64(part[far]) &* ones)
        let end = text.count - part.count + 1
        var (offset, effort) = (0, 0)
        while offset &+ 8 <= end {
            let difference =
                (start.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ firstBytes)
                | (start.loadUnaligned(fromByteOffset: offset &+ far, as: UInt64.self) ^ farBytes)
            if (difference &- ones) & ~difference & highBits != 0 {
                for candidate in offset..<(offset &+ 8) where text[candidate] == first {
                    let common = commonBytes(part, start + candidate)
                    if common == part.count { return true }
                    effort &+= common
                }
                if effort > offset &+ patience {
                    return containsSteadily(part, in: UnsafeRawBufferPointer(rebasing: text[(offset &+ 8)...]))
                }
            }
            offset &+= 8
        }
        while offset < end {
            if commonBytes(part, start + offset) == part.count { return true }
            offset &+= 1
        }
        return false
    }

    /// How many bytes of the part, from its first on, stand at an address; there must be as many.
    @inline(__always)
    private static func commonBytes(_ part: UnsafeRawBufferPointer, _ start: UnsafeRawPointer) -> Int {
        var count = 0
        while count &+ 8 <= part.count {
            let difference =
                start.loadUnaligned(fromByteOffset: count, as: UInt64.self)
                ^ part.loadUnaligned(fromByteOffset: count, as: UInt64.self)
            if difference != 0 { return count &+ UInt64(littleEndian: difference).trailingZeroBitCount / 8 }
            count &+= 8
        }
        while count < part.count, start.load(fromByteOffset: count, as: UInt8.self) == part[count] { count &+= 1 }
        return count
    }

    /// The same answer in a time that depends on the two counts alone.
    private static func containsSteadily(_ part: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer) -> Bool {
        // At each index of the part: how many of its first bytes are also
        // the last ones up to there.
        var borders = Array(repeating: 0, count: part.count)
        var matched = 0
        for index in 1..<max(1, part.count) {
            while matched > 0, part[index] != part[matched] { matched = borders[matched - 1] }
            if part[index] == part[matched] { matched += 1 }
            borders[index] = matched
        }
        matched = 0
        return borders.withUnsafeBufferPointer { borders in
            for byte in text {
                while matched > 0, byte != part[matched] { matched = borders[matched &- 1] }
                if byte == part[matched] { matched &+= 1 }
                if matched == part.count { return true }
            }
            return false
        }
    }
}
