import CSQLite
import Glibc

/// Ends statements that run too long, looking at the clock every few thousand steps of SQLite's machine.
final class TimeLimit {
    private let milliseconds: Int64
    /// When the running statement is to end, in nanoseconds; SQLite's callback reads it.
    private let deadline = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)

    init(milliseconds: Int64) {
        self.milliseconds = milliseconds
        deadline.initialize(to: .max)
    }

    deinit { deadline.deallocate() }

    /// The connection must be closed before this goes.
    func watch(_ handle: OpaquePointer?) {
        let isOver: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { raw in
            guard let deadline = raw?.assumingMemoryBound(to: UInt64.self) else { return 0 }
            return TimeLimit.nanoseconds() > deadline.pointee ? 1 : 0
        }
        sqlite3_progress_handler(handle, 10_000, isOver, deadline)
    }

    func restart() { deadline.pointee = Self.nanoseconds() + UInt64(milliseconds) * 1_000_000 }

    private static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
