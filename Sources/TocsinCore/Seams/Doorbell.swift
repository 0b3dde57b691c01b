/// Wakes the other nodes of a database when one of them has committed something.
///
/// A ring is a hint without content. What was committed stands in the database's journal, and every
/// node looks there a few times a second by itself. So a lost ring delays events by that time and
/// never loses one, and an unneeded ring costs one look.
package protocol Doorbell: Sendable {
    /// Wakes the others; returns at once.
    ///
    /// Rings that come while one is under way become one, and those of a stream may wait for each
    /// other (`DoorbellThrottle`).
    func ring(_ haste: RingHaste)
    /// Lets the others know that this node is there, and wakes them; about every five seconds.
    func greet()
    /// Takes, every second at most, whether the registry of nodes shows another node that lives.
    func note(othersLive: Bool)
    /// Calls `onRing` for the rings of others, and once after each time that the line was away,
    /// until the task is cancelled.
    func run(onRing: @escaping @Sendable () -> Void) async
    /// How the line is, for operators.
    var state: DoorbellState { get }
}

extension Doorbell {
    /// Wakes the others at once.
    package func ring() { ring(.atOnce) }
}

/// How a doorbell's line is.
package struct DoorbellState: Sendable, Hashable {
    /// What carries it: `postgres`, `nats`.
    package var carrier: String
    /// Why the line is away; nil while it is there.
    package var trouble: String?
    /// Rings sent, each for all commits since the one before.
    package var sent = 0
    /// Rings of others heard.
    package var heard = 0

    /// A line that has carried nothing so far.
    package init(carrier: String, trouble: String? = nil) {
        self.carrier = carrier
        self.trouble = trouble
    }
}
