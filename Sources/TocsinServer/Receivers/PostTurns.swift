import Synchronization

/// Lets the long posts of one owner be worked on one after another, in the order they came.
///
/// Each takes a core while it is read, and the database while it is written: many at once would
/// leave nothing to others.
package final class PostTurns: Sendable {
    /// The posts that wait, by owner; an owner of whom none is worked on is not in it.
    private let waiting = Mutex<[String: [CheckedContinuation<Bool, Never>]]>([:])
    /// So many posts of an owner wait.
    package static let maximumWaiting = 16

    /// Nobody is at work.
    package init() {}

    /// Runs the body when those before it have ended; nil, at once: too many wait.
    package func take<Value>(of owner: String, _ body: () async -> Value) async -> Value? {
        let hasTurn = await withCheckedContinuation { turn in
            let isDecided: Bool? = waiting.withLock { waiting in
                guard let before = waiting[owner] else {
                    waiting[owner] = []
                    return true
                }
                guard before.count < Self.maximumWaiting else { return false }
                waiting[owner]?.append(turn)
                return nil
            }
            if let isDecided { turn.resume(returning: isDecided) }
        }
        guard hasTurn else { return nil }
        defer { end(of: owner) }
        return await body()
    }

    private func end(of owner: String) {
        let next = waiting.withLock { waiting -> CheckedContinuation<Bool, Never>? in
            guard let first = waiting[owner]?.first else {
                waiting[owner] = nil
                return nil
            }
            waiting[owner]?.removeFirst()
            return first
        }
        next?.resume(returning: true)
    }
}
