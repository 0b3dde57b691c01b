import Glibc

/// A moment by the clock that only goes forward, until which something is waited for.
struct Deadline {
    private let nanoseconds: UInt64

    init(afterMilliseconds milliseconds: Int) {
        nanoseconds = Self.now() + UInt64(max(0, milliseconds)) * 1_000_000
    }

    /// This, or the other if that comes before.
    func earlier(_ other: Deadline?) -> Deadline {
        guard let other, other.nanoseconds < nanoseconds else { return self }
        return other
    }

    var isOver: Bool { Self.now() >= nanoseconds }

    /// What is left, rounded up, as `poll` takes it.
    var remainingMilliseconds: Int32 {
        let now = Self.now()
        guard now < nanoseconds else { return 0 }
        return Int32(clamping: (nanoseconds - now + 999_999) / 1_000_000)
    }

    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
