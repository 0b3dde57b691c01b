/// What connections need of the world besides a server.
package struct PostgresDependencies: Sendable {
    /// A clock that only goes forward, for pauses between attempts and for how long a silent server is remembered.
    package var now: @Sendable () -> ContinuousClock.Instant
    /// A number in 0..<1, for the order of servers that a URL wants to be random.
    package var randomUnit: @Sendable () -> Double

    /// The clock and random numbers that a test sets.
    package init(
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        randomUnit: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.randomUnit = randomUnit
    }

    /// Those of this machine: what blocks on a network has no other.
    package static let system = PostgresDependencies(now: { .now }, randomUnit: { .random(in: 0..<1) })
}
