/// How soon a ring is to be answered.
package enum RingHaste: Int, Sendable, Hashable, Comparable {
    /// Together with others that come within a few milliseconds: it is one of a stream.
    case soon
    case atOnce

    /// Orders `soon` before `atOnce`.
    package static func < (left: RingHaste, right: RingHaste) -> Bool { left.rawValue < right.rawValue }
}

/// When rings are answered: those of a stream together, each that comes alone at once.
///
/// The first ring after silence is answered at once. A rest follows each answer to a stream; rings
/// of the stream that come during the rest are answered at its end. The answering task wakes by
/// itself then, so no ring of a stream has to wake it, and the last one waits for one rest at most.
package struct DoorbellThrottle: Sendable {
    /// Streams are answered no more often.
    package static let rest = Duration.milliseconds(5)

    private var waiting: RingHaste?
    /// Whether one of those that wait is of a stream.
    private var hasStream = false
    /// When whoever answers wakes by itself; nil while it need not.
    package private(set) var restEnd: ContinuousClock.Instant?

    /// Nothing waits, and no rest is under way.
    package init() {}

    /// Takes a ring; answers whether whoever answers must be woken for it.
    package mutating func ring(_ haste: RingHaste) -> Bool {
        if haste == .soon { hasStream = true }
        let needed = restEnd == nil ? .atOnce : haste
        guard let waiting else {
            waiting = needed
            return needed == .atOnce
        }
        guard waiting < needed else { return false }
        self.waiting = needed
        return true
    }

    /// Whether something is to be answered now; a rest that is over ends here.
    package mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
        if let restEnd, now >= restEnd { self.restEnd = nil }
        return switch waiting {
        case .atOnce: true
        case .soon: restEnd == nil
        case nil: false
        }
    }

    /// Notes that all rings so far are being answered.
    package mutating func answer(at now: ContinuousClock.Instant) {
        if hasStream { restEnd = now + Self.rest }
        (waiting, hasStream) = (nil, false)
    }
}
