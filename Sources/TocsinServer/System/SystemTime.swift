package import TocsinCore
import Glibc
import Synchronization

/// The machine's wall clock, which never goes back within this process, and real sleeping.
package struct SystemTime: TimeSource {
    private final class Latest: Sendable {
        let milliseconds = Atomic<Int64>(0)
    }

    private let latest = Latest()

    package init() {}

    package func now() -> Timestamp {
        var moment = timespec()
        clock_gettime(CLOCK_REALTIME, &moment)
        let read = Int64(moment.tv_sec) * 1000 + Int64(moment.tv_nsec) / 1_000_000
        return Timestamp(milliseconds: latest.milliseconds.max(read, ordering: .relaxed).newValue)
    }

    package func sleep(until moment: Timestamp) async throws {
        let milliseconds = moment.milliseconds - now().milliseconds
        guard milliseconds > 0 else { return try Task.checkCancellation() }
        try await Task.sleep(for: .milliseconds(milliseconds))
    }
}
