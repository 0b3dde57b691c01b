import Synchronization

/// How often callers may look up people by name, so that nobody finds out who there is by trying.
final class LookUpRate: Sendable {
    private struct Window {
        var start: Timestamp
        var count: Int
    }

    private let windows = Mutex<[UserID: Window]>([:])
    /// Look-ups of one caller in a window.
    static let maximumCount = 30
    private static let windowSeconds = 60.0
    private static let maximumCallers = 10_000

    /// Counts a look-up; refused where the caller has made as many as one may in a minute.
    func take(_ caller: UserID, now: Timestamp) throws(ServiceError) {
        let isAllowed = windows.withLock { windows in
            if windows.count >= Self.maximumCallers {
                windows = windows.filter { $0.value.start.adding(seconds: Self.windowSeconds) > now }
            }
            var window = windows[caller] ?? Window(start: now, count: 0)
            if window.start.adding(seconds: Self.windowSeconds) <= now { window = Window(start: now, count: 0) }
            guard window.count < Self.maximumCount else { return false }
            window.count += 1
            windows[caller] = window
            return true
        }
        guard !isAllowed else { return }
        throw .limit("You may name \(Self.maximumCount) users a minute; wait a minute, or share with a group.")
    }
}
