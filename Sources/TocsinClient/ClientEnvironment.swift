import Glibc

/// Where a client gets time and chance from; tests put their own in its place.
package struct ClientEnvironment: Sendable {
    /// The time since some moment; it never goes back and never jumps.
    package var uptime: @Sendable () -> Duration
    /// The time since the beginning of 1970, as this machine believes.
    package var wallClock: @Sendable () -> Duration
    /// Waits so long; throws only when its task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// From 0 up to 1.
    package var random: @Sendable () -> Double

    /// An environment of these parts.
    package init(
        uptime: @escaping @Sendable () -> Duration,
        wallClock: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        random: @escaping @Sendable () -> Double
    ) {
        self.uptime = uptime
        self.wallClock = wallClock
        self.sleep = sleep
        self.random = random
    }

    /// The system's clocks and random numbers.
    package static var system: ClientEnvironment {
        let start = ContinuousClock.now
        return ClientEnvironment(
            uptime: { start.duration(to: .now) },
            wallClock: {
                var now = timespec()
                clock_gettime(CLOCK_REALTIME, &now)
                return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
            },
            sleep: { try await Task.sleep(for: $0) },
            random: { Double.random(in: 0..<1) }
        )
    }
}

extension Duration {
    /// In whole milliseconds.
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
