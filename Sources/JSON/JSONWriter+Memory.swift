/// Writing JSON's parts straight to memory, for writers that own a buffer and
/// have made sure of its room.
public enum JSONMemory {
    /// The most bytes `int` writes.
    public static let maximumIntLength = 20
    /// The most bytes `escape` writes.
    public static let maximumEscapeLength = 6

    @usableFromInline static let ones: UInt64 = 0x0101_0101_0101_0101
    /// Set in bytes that are no ASCII.
    static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// Copies text up to the first byte that JSON escapes (RFC 8259 §7), and returns
    /// how many bytes that were.
    ///
    /// Looks at sixteen bytes at a time. The target must have room for all `count` bytes; what it
    /// holds after the bytes counted is undefined.
    @inlinable
    public static func copyPlain(
        _ source: UnsafeRawPointer,
        _ count: Int,
        to target: UnsafeMutableRawPointer
    ) -> Int {
        var position = 0
        while position &+ 16 <= count {
            let first = source.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let second = source.loadUnaligned(fromByteOffset: position &+ 8, as: UInt64.self)
            target.storeBytes(of: first, toByteOffset: position, as: UInt64.self)
            target.storeBytes(of: second, toByteOffset: position &+ 8, as: UInt64.self)
            let (inFirst, inSecond) = (escapes(first), escapes(second))
            if inFirst | inSecond != 0 {
                return position &+ (inFirst != 0 ? firstLane(inFirst) : 8 &+ firstLane(inSecond))
            }
            position &+= 16
        }
        // The last words may overlap what is there already.
        while count >= 8, position < count {
            let start = min(position, count &- 8)
            let word = source.loadUnaligned(fromByteOffset: start, as: UInt64.self)
            target.storeBytes(of: word, toByteOffset: start, as: UInt64.self)
            let found = escapes(word)
            if found != 0 { return start &+ firstLane(found) }
            position = start &+ 8
        }
        return position == count ? count : copyPlainBytes(source, position, count, to: target)
    }

    /// Marks the lanes of eight bytes that are a quote, a backslash or below a space.
    ///
    /// The first marked lane is right; lanes behind it may be marked without reason.
    @inlinable
    @inline(__always)
    static func escapes(_ bytes: UInt64) -> UInt64 {
        let word = bytes.littleEndian
        let quote = word ^ (ones &* 0x22)
        let slash = word ^ (ones &* 0x5C)
        // Bytes from 0x80 on are none of these, before and after the exclusive or.
        let found = (quote &- ones) | (slash &- ones) | (word &- ones &* 0x20)
        return found & ~word & (ones &* 0x80)
    }

    @inlinable
    @inline(__always)
    static func firstLane(_ lanes: UInt64) -> Int { lanes.trailingZeroBitCount &>> 3 }

    @usableFromInline
    static func copyPlainBytes(
        _ source: UnsafeRawPointer,
        _ start: Int,
        _ count: Int,
        to target: UnsafeMutableRawPointer
    ) -> Int {
        var position = start
        while position < count {
            let byte = source.load(fromByteOffset: position, as: UInt8.self)
            if byte == 0x22 || byte == 0x5C || byte < 0x20 { return position }
            target.storeBytes(of: byte, toByteOffset: position, as: UInt8.self)
            position &+= 1
        }
        return count
    }

    /// Writes a byte that must be escaped, and returns how many bytes that took.
    public static func escape(_ character: UInt8, to target: UnsafeMutableRawPointer) -> Int {
        target.storeBytes(of: UInt8(ascii: "\\"), as: UInt8.self)
        if character >= 0x20 {
            target.storeBytes(of: character, toByteOffset: 1, as: UInt8.self)
            return 2
        }
        if let short = shortEscape(character) {
            target.storeBytes(of: short, toByteOffset: 1, as: UInt8.self)
            return 2
        }
        // `u00` and two digits.
        target.storeBytes(of: UInt8(ascii: "u"), toByteOffset: 1, as: UInt8.self)
        target.storeBytes(of: UInt8(ascii: "0"), toByteOffset: 2, as: UInt8.self)
        target.storeBytes(of: UInt8(ascii: "0"), toByteOffset: 3, as: UInt8.self)
        target.storeBytes(of: hexadecimal(character >> 4), toByteOffset: 4, as: UInt8.self)
        target.storeBytes(of: hexadecimal(character & 0xF), toByteOffset: 5, as: UInt8.self)
        return 6
    }

    private static func shortEscape(_ character: UInt8) -> UInt8? {
        switch character {
        case 0x08: UInt8(ascii: "b")
        case 0x0C: UInt8(ascii: "f")
        case 0x0A: UInt8(ascii: "n")
        case 0x0D: UInt8(ascii: "r")
        case 0x09: UInt8(ascii: "t")
        default: nil
        }
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }

    /// Writes a whole number, and returns how many bytes that took.
    @inlinable
    public static func int(_ number: Int64, to target: UnsafeMutableRawPointer) -> Int {
        var rest = number.magnitude
        let sign = number < 0 ? 1 : 0
        if sign == 1 { target.storeBytes(of: UInt8(ascii: "-"), as: UInt8.self) }
        let length = sign &+ digits(of: rest)
        var position = length
        repeat {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            position &-= 1
            target.storeBytes(
                of: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit),
                toByteOffset: position,
                as: UInt8.self
            )
            rest = quotient
        } while rest > 0
        return length
    }

    @inlinable
    static func digits(of number: UInt64) -> Int {
        var count = 1
        var limit: UInt64 = 10
        while number >= limit {
            count &+= 1
            if count == 20 { return count }
            limit &*= 10
        }
        return count
    }
}
