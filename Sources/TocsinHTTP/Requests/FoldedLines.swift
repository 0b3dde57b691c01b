import NIOCore
import Synchronization

/// Lines that anybody can cause, folded: of each kind and address one a second, which
/// says how many it stands for.
///
/// The first line is written at once. Those that follow within a second are counted, and the next
/// line after it tells how many there were, or `takeDue` where none comes.
final class FoldedLines: Sendable {
    /// What is folded together.
    struct Key: Hashable, Sendable {
        /// What the line is about.
        var subject: AccessLog.Subject
        /// A status of HTTP or a close code of a socket.
        var code: Int
        /// The client's.
        var address: String
    }

    /// How many lines were not written, and when the next one may be.
    private struct Entry {
        var count = 0
        var due: NIODeadline
    }

    /// Beyond so many at a time, addresses are folded into one.
    private static let maximumKeys = 256
    /// What stands for the addresses that find no room.
    static let otherAddresses = "others"
    private static let pause = TimeAmount.seconds(1)

    private let entries = Mutex<[Key: Entry]>([:])

    /// Counts a line; the key and count to write it with, or nil where it is to wait.
    func take(_ key: Key, now: NIODeadline) -> (key: Key, count: Int)? {
        entries.withLock { entries in
            var key = key
            if entries[key] == nil, entries.count >= Self.maximumKeys { key.address = Self.otherAddresses }
            var entry = entries[key] ?? Entry(due: now)
            entry.count += 1
            guard entry.due <= now else {
                entries[key] = entry
                return nil
            }
            entries[key] = Entry(due: now + Self.pause)
            return (key, entry.count)
        }
    }

    /// What was counted and is due, or all of it; what is not heard of any more is forgotten.
    func takeDue(now: NIODeadline, all: Bool = false) -> [(key: Key, count: Int)] {
        entries.withLock { entries in
            var due: [(key: Key, count: Int)] = []
            for (key, entry) in entries where all || entry.due <= now {
                entries[key] = entry.count > 0 ? Entry(due: now + Self.pause) : nil
                if entry.count > 0 { due.append((key, entry.count)) }
            }
            return due
        }
    }
}
