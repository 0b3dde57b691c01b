import CSQLite
import Glibc
import TocsinStore

/// Ends statements that run too long or that nobody waits for any more, looking every few thousand
/// steps of SQLite's machine.
final class TimeLimit {
    private let milliseconds: Int64
    /// When the running statement is to end, in nanoseconds.
    private var deadline = UInt64.max
    /// Ends the running statement when it is set.
    var cancellation: ReadCancellation?

    init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Watches a connection, which must be closed before this object goes.
    func watch(_ handle: OpaquePointer?) {
        let isOver: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { raw in
            guard let raw else { return 0 }
            return Unmanaged<TimeLimit>.fromOpaque(raw).takeUnretainedValue().isOver ? 1 : 0
        }
        sqlite3_progress_handler(handle, 10_000, isOver, Unmanaged.passUnretained(self).toOpaque())
    }

    func restart() { deadline = Self.nanoseconds() + UInt64(milliseconds) * 1_000_000 }

    private var isOver: Bool { cancellation?.isSet == true || Self.nanoseconds() > deadline }

    private static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
