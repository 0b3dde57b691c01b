import Synchronization

/// Counts the refused proofs of each user, for they cost the server more than the caller.
final class RefusedProofs: Sendable {
    /// Refusals of one user within a minute.
    static let maximumCount = 10
    private static let minute: Int64 = 60_000
    /// Users that are remembered.
    private static let maximumUsers = 10_000

    private let users = Mutex([UserID: (since: Int64, count: Int)]())

    /// Whether another proof of this user is looked at.
    func mayTry(_ user: UserID, now: Timestamp) -> Bool {
        users.withLock { users in
            guard let seen = users[user], Self.isCurrent(seen.since, now) else { return true }
            return seen.count < Self.maximumCount
        }
    }

    /// Counts a refusal.
    func note(_ user: UserID, now: Timestamp) {
        users.withLock { users in
            if let seen = users[user], Self.isCurrent(seen.since, now) {
                users[user] = (seen.since, seen.count + 1)
                return
            }
            if users.count >= Self.maximumUsers {
                users = users.filter { Self.isCurrent($0.value.since, now) }
                if users.count >= Self.maximumUsers { users.removeAll() }
            }
            users[user] = (now.milliseconds, 1)
        }
    }

    /// A minute that began in the future is over: the clock was set back.
    private static func isCurrent(_ since: Int64, _ now: Timestamp) -> Bool {
        since <= now.milliseconds && now.milliseconds - since < minute
    }
}
