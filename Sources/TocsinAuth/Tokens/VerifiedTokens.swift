import Synchronization
import TocsinCore

/// Remembers verified tokens for a short while, by their SHA-256; never their text.
///
/// At most 4096 are kept, in two halves: when the newer half is full it becomes the
/// older one, whose entries go.
final class VerifiedTokens: Sendable {
    private static let halfCapacity = 2048

    private struct Entry {
        let identity: Identity
        let goodUntil: Timestamp
    }

    /// A digest, hashed as one piece of bytes instead of byte by byte.
    private struct Key: Hashable {
        let digest: [UInt8]

        func hash(into hasher: inout Hasher) {
            digest.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }

    private struct Memory {
        var newer: [Key: Entry] = [:]
        var older: [Key: Entry] = [:]
        /// Grows with each withdrawal, so that what was verified before one is
        /// not remembered after it.
        var generation = 0
    }

    private let memory = Mutex(Memory())

    var generation: Int { memory.withLock { $0.generation } }

    func identity(for digest: [UInt8], now: Timestamp) -> Identity? {
        memory.withLock { memory in
            let key = Key(digest: digest)
            guard let entry = memory.newer[key] ?? memory.older[key], now < entry.goodUntil else { return nil }
            return entry.identity
        }
    }

    /// Remembers an identity, unless access was withdrawn since `generation` was read.
    func remember(_ identity: Identity, for digest: [UInt8], until moment: Timestamp, generation: Int) {
        memory.withLock { memory in
            guard memory.generation == generation else { return }
            if memory.newer.count >= Self.halfCapacity {
                memory.older = memory.newer
                memory.newer = [:]
            }
            memory.newer[Key(digest: digest)] = Entry(identity: identity, goodUntil: moment)
        }
    }

    /// Forgets a local token, or all tokens of a user.
    func forget(_ user: UserID, _ token: TokenID?) {
        forget { $0.userID == user && (token == nil || token == $0.tokenID) }
    }

    /// Forgets what was verified of a user before the rights changed.
    func forget(_ user: UserID, before moment: Timestamp) {
        forget { $0.userID == user && $0.hasRights(before: moment) }
    }

    /// Forgets everything.
    func forgetAll() {
        forget { _ in true }
    }

    private func forget(_ goes: (Identity) -> Bool) {
        memory.withLock { memory in
            memory.generation += 1
            memory.newer = memory.newer.filter { !goes($0.value.identity) }
            memory.older = memory.older.filter { !goes($0.value.identity) }
        }
    }
}
