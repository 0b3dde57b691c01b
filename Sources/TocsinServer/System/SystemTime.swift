import Glibc
import Synchronization
package import TocsinCore

/// The machine's wall clock, which never goes back within this process, and real sleeping.
///
/// When the wall clock is set back, time goes on from where it was, at the pace of the boot clock.
/// So what is due later still becomes due. When the wall clock is ahead, it is followed.
package struct SystemTime: TimeSource {
    private final class Latest: Sendable {
        let clock = Mutex(SteadyClock())
    }

    private let latest = Latest()

    /// The clock, of which copies share the latest time told.
    package init() {}

    /// The time now, never earlier than it was told before.
    package func now() -> Timestamp {
        let (wall, boot) = (Self.read(CLOCK_REALTIME), Self.read(CLOCK_BOOTTIME))
        return Timestamp(milliseconds: latest.clock.withLock { $0.read(wall: wall, boot: boot) })
    }

    /// Sleeps until `now()` has reached the moment; throws when the task is cancelled.
    package func sleep(until moment: Timestamp) async throws {
        let milliseconds = moment.milliseconds - now().milliseconds
        guard milliseconds > 0 else { return try Task.checkCancellation() }
        try await Task.sleep(for: .milliseconds(milliseconds))
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var moment = timespec()
        clock_gettime(clock, &moment)
        return Int64(moment.tv_sec) * 1000 + Int64(moment.tv_nsec) / 1_000_000
    }
}

/// Makes a clock that may be set back one that never goes back and never stands still;
/// milliseconds throughout.
package struct SteadyClock: Sendable {
    private var last: (time: Int64, boot: Int64)?

    /// A clock that has told no time yet.
    package init() {}

    /// The time, given what the wall clock and the boot clock read.
    package mutating func read(wall: Int64, boot: Int64) -> Int64 {
        guard let last else {
            self.last = (wall, boot)
            return wall
        }
        let time = max(wall, last.time + max(0, boot - last.boot))
        self.last = (time, max(boot, last.boot))
        return time
    }
}
