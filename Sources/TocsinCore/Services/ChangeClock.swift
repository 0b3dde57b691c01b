import Synchronization

/// The time of changes: never earlier than it was before, whatever the system's clock does.
///
/// Read inside a write, of which there is one at a time: so the times of changes are in the order of commit, and a time read
/// in a write of its own has every earlier change behind it.
package final class ChangeClock: Sendable {
    private let latest = Mutex(Int64.min)

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
