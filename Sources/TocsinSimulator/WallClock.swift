import Glibc

/// The system's clock; rules take their time from `SimulatorSettings.nowMilliseconds`.
package enum WallClock {
    /// Milliseconds since 1970.
    @Sendable
    package static func milliseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
