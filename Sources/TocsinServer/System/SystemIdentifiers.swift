import Glibc
import Synchronization
package import TocsinCore

/// Identifiers from the system's random numbers: UUID version 7, which grow with time (RFC 9562 §5.7).
package struct SystemIdentifiers: IdentifierSource {
    private struct Latest {
        var milliseconds: Int64 = 0
        var counter: UInt64 = 0
        /// Random words from the system that no id has used yet: a call for each id costs more than all else of it.
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

    package init(time: any TimeSource) {
        self.time = time
    }

    package func makeID() -> String {
        let now = time.now().milliseconds
        // Method 1 of RFC 9562 §6.2: a 12-bit counter in rand_a keeps ids of one millisecond in order.
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

    package func randomBytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    package func randomUnit() -> Double { Double.random(in: 0..<1) }

    private static func text(_ high: UInt64, _ low: UInt64) -> String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            var position = 0
            for index in 0..<32 {
                if index == 8 || index == 12 || index == 16 || index == 20 {
                    buffer[position] = UInt8(ascii: "-")
                    position += 1
                }
                let word = index < 16 ? high : low
                let nibble = UInt8(word >> UInt64(60 - 4 * (index % 16)) & 0xF)
                buffer[position] = nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
                position += 1
            }
            return position
        }
    }
}
