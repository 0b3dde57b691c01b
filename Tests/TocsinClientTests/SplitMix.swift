import Synchronization

/// Random numbers from a seed (Steele, Lea and Flood, 2014).
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return bits ^ bits >> 31
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

/// The same for several owners.
final class SharedRandom: Sendable {
    private let source: Mutex<SplitMix>

    init(seed: UInt64) { source = Mutex(SplitMix(state: ~seed)) }

    func next() -> Double { source.withLock { Double($0.below(1 << 30)) / Double(1 << 30) } }
}
