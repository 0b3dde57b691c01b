import NIOCore

/// When the next connect may be tried: doubling pauses after failures.
///
/// A connection that opened and ended without an answer is a weaker sign than one that could not be
/// opened. The next one is tried at once, then with pauses. Only when it happens again and again
/// does the peer count as out of reach.
struct ConnectBackoff {
    private let first: Double
    private let maximum: Double
    private var pause: Double?
    private(set) var notBefore = NIODeadline.uninitialized
    /// Why the last connect failed, or the last connection ended before it was of use.
    private(set) var reason = ""
    /// Whether those who wait should be told that the peer is out of reach, instead of
    /// waiting for the next connect.
    private(set) var isOutOfReach = false
    /// Connections that ended unanswered, one after the other.
    private var unanswered = 0

    private static let tolerated = 3

    init(firstSeconds: Double, maximumSeconds: Double) {
        first = firstSeconds
        maximum = maximumSeconds
    }

    func isDue(_ now: NIODeadline) -> Bool { now >= notBefore }

    /// No connection came about.
    mutating func fail(_ reason: String, at now: NIODeadline) {
        isOutOfReach = true
        wait(reason, at: now)
    }

    /// A connection ended that had taken requests and answered none.
    mutating func endedUnanswered(_ reason: String, at now: NIODeadline) {
        unanswered += 1
        if unanswered > Self.tolerated { isOutOfReach = true }
        self.reason = reason
        if unanswered > 1 { wait(reason, at: now) }
    }

    mutating func succeed() {
        pause = nil
        notBefore = .uninitialized
        isOutOfReach = false
        unanswered = 0
    }

    private mutating func wait(_ reason: String, at now: NIODeadline) {
        let next = min(pause.map { $0 * 2 } ?? first, maximum)
        pause = next
        notBefore = now + .nanoseconds(Int64(next * 1e9))
        self.reason = reason
    }
}

extension NIODeadline {
    /// A time that has always passed.
    fileprivate static var uninitialized: NIODeadline { .uptimeNanoseconds(0) }
}
