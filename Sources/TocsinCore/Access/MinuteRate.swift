import Synchronization

/// How often each of many may do something in a minute: users, or networks, by a text of theirs.
///
/// The counts are this node's, in memory.
package final class MinuteRate: Sendable {
    private struct Window {
        var start: Timestamp
        var count: Int
    }

    private let windows = Mutex<[String: Window]>([:])
    /// How often one may in a minute.
    package let maximumCount: Int
    private static let windowSeconds = 60.0
    private static let maximumKeys = 10_000

    /// A rate of which nobody has used anything.
    package init(_ maximumCount: Int) { self.maximumCount = maximumCount }

    /// Counts a try; false where as many were made in this minute as one may.
    package func take(_ key: String, now: Timestamp) -> Bool {
        windows.withLock { windows in
            if windows.count >= Self.maximumKeys {
                windows = windows.filter { Self.isOpen($0.value, now) }
                // Where all are of this minute, all begin anew.
                if windows.count >= Self.maximumKeys { windows = [:] }
            }
            var window = windows[key] ?? Window(start: now, count: 0)
            if !Self.isOpen(window, now) { window = Window(start: now, count: 0) }
            guard window.count < maximumCount else { return false }
            window.count += 1
            windows[key] = window
            return true
        }
    }

    /// A window from the future is over: the clock was set back.
    private static func isOpen(_ window: Window, _ now: Timestamp) -> Bool {
        window.start <= now && now < window.start.adding(seconds: windowSeconds)
    }
}
