import Glibc
import Synchronization
package import TocsinCore

/// Identifiers from the system's random numbers: UUID version 7, which grow
/// with time (RFC 9562 §5.7).
package struct SystemIdentifiers: IdentifierSource {
    private struct Latest {
        var milliseconds: Int64 = 0
        var counter: UInt64 = 0
        /// Random words from the system that no id has used yet: a call for each id costs
        /// more than all else of it.
        private var words: [UInt64] = []
        /// 256 bytes: what the system gives in one piece (getentropy(3)).
        private static let wordsAtOnce = 32

        mutating func takeWord() -> UInt64 {
            if let word = words.popLast() { return word }
            words = Array(repeating: 0, count: Self.wordsAtOnce)
            let isGiven = words.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { getentropy($0, bytes.count) == 0 } ?? false
            }
            if !isGiven { words = [] }
            return words.popLast() ?? UInt64.random(in: 0...UInt64.max)
        }
    }

    private final class State: Sendable {
        let latest = Mutex(Latest())
    }

    private let state = State()
    private let time: any TimeSource

    /// A source whose ids begin with the time of this clock.
    package init(time: any TimeSource) {
        self.time = time
    }

    /// A UUID of version 7, in lower case; later ones of this process are greater.
    package func makeID() -> String {
        let now = time.now().milliseconds
        // Method 1 of RFC 9562 §6.2: a 12-bit counter in rand_a keeps ids of
        // one millisecond in order.
        let (milliseconds, counter, random) = state.latest.withLock { latest in
            if now > latest.milliseconds {
                latest.milliseconds = now
                latest.counter = latest.takeWord() & 0x3FF
            } else if latest.counter == 0xFFF {
                latest.milliseconds += 1
                latest.counter = 0
            } else {
                latest.counter += 1
            }
            return (latest.milliseconds, latest.counter, latest.takeWord())
        }
        let high = UInt64(milliseconds) << 16 | 0x7000 | counter
        let low = random & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return Self.text(high, low)
    }

    /// A random number in 0..<1.
    package func randomUnit() -> Double { Double.random(in: 0..<1) }

    private static func text(_ high: UInt64, _ low: UInt64) -> String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            let memory = UnsafeMutableRawBufferPointer(buffer)
            // Eight digits at a time; what the next ones and the hyphens
            // overwrite is written twice.
            memory.storeBytes(of: digits(high >> 32), toByteOffset: 0, as: UInt64.self)
            memory.storeBytes(of: digits(high & 0xFFFF_FFFF), toByteOffset: 9, as: UInt64.self)
            memory.storeBytes(of: digits(high << 16 & 0xFFFF_FFFF), toByteOffset: 14, as: UInt64.self)
            memory.storeBytes(of: digits(low >> 32), toByteOffset: 19, as: UInt64.self)
            memory.storeBytes(of: digits(low >> 16 & 0xFFFF_FFFF), toByteOffset: 24, as: UInt64.self)
            memory.storeBytes(of: digits(low & 0xFFFF_FFFF), toByteOffset: 28, as: UInt64.self)
            let hyphen = UInt8(ascii: "-")
            (memory[8], memory[13], memory[18], memory[23]) = (hyphen, hyphen, hyphen, hyphen)
            return 36
        }
    }

    /// The eight hexadecimal digits of 32 bits, in the order in which they stand in memory.
    private static func digits(_ number: UInt64) -> UInt64 {
        var nibbles = (number << 16 | number) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles << 8 | nibbles) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles << 4 | nibbles) & 0x0F0F_0F0F_0F0F_0F0F
        // One in each byte that is a letter.
        let letters = (nibbles &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (nibbles &+ 0x3030_3030_3030_3030 &+ letters &* 0x27).bigEndian
    }
}
