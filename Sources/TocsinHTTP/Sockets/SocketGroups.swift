import Synchronization

/// Counts what each owner has open: sockets, or subscriptions.
final class SocketGroups: Sendable {
    private let counts = Mutex<[String: Int]>([:])
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// How many are open in all.
    var total: Int { counts.withLock { $0.values.reduce(0, +) } }

    /// Counts one more; false when there are enough.
    func enter(_ group: String) -> Bool {
        counts.withLock { counts in
            let count = counts[group, default: 0]
            guard count < limit else { return false }
            counts[group] = count + 1
            return true
        }
    }

    /// Counts one less.
    func leave(_ group: String) {
        counts.withLock { counts in
            guard let count = counts[group] else { return }
            counts[group] = count > 1 ? count - 1 : nil
        }
    }
}
