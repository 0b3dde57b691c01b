import Synchronization
import TocsinCore

/// Remembers which sign-ins have come back, for as long as they could come again.
///
/// At most 16,384 are kept, in two halves: when the newer half is full or old it becomes the older
/// one, whose entries go.
final class UsedStates: Sendable {
    private static let halfCapacity = 8192

    private struct Memory {
        var newer: Set<[UInt8]> = []
        var older: Set<[UInt8]> = []
        var turnedAt: Timestamp?
    }

    private let lifetimeSeconds: Double
    private let memory = Mutex(Memory())

    init(lifetimeSeconds: Double) {
        self.lifetimeSeconds = lifetimeSeconds
    }

    /// Uses one by its digest; false if it was used before.
    func use(_ digest: [UInt8], now: Timestamp) -> Bool {
        memory.withLock { memory in
            let isOld = memory.turnedAt.map { now >= $0.adding(seconds: lifetimeSeconds) } ?? true
            if isOld || memory.newer.count >= Self.halfCapacity {
                (memory.older, memory.newer, memory.turnedAt) = (memory.newer, [], now)
            }
            guard !memory.older.contains(digest) else { return false }
            return memory.newer.insert(digest).inserted
        }
    }
}
