import Synchronization

/// The time of changes: never earlier than it was before, whatever the system's clock does.
///
/// It is read inside a write, and a node runs one write at a time. So the times of changes are in
/// the order of commits, and every change before a time that a write has read is committed.
package final class ChangeClock: Sendable {
    private let latest = Mutex(Int64.min)

    /// A clock that has told no time yet.
    package init() {}

    /// The time now, or the latest one told when that is later.
    package func now(_ time: any TimeSource) -> Timestamp {
        let now = time.now().milliseconds
        return latest.withLock { latest in
            latest = max(latest, now)
            return Timestamp(milliseconds: latest)
        }
    }
}
