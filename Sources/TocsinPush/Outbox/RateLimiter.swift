import Synchronization
import TocsinCore

/// Halves the pushes of one project for a minute whenever its provider says
/// that a quota is used up.
struct RateLimiter: Sendable, Hashable {
    private static let slowSeconds = 60.0
    /// Refusals of pushes that left before the rate was lowered say nothing new.
    private static let deafSeconds = 5.0
    private static let windowSeconds = 10.0
    private static let leastPerSecond = 1.0

    private var windowStart: Timestamp?
    private var inWindow = 0
    private var inLastWindow = 0
    /// Pushes a second while slowed.
    private(set) var perSecond = 0.0
    private var slowedAt: Timestamp?
    private var tokens = 0.0
    private var filledAt: Timestamp?

    /// Whether it holds anything back.
    func isSlow(_ now: Timestamp) -> Bool {
        slowedAt.map { now < $0.adding(seconds: Self.slowSeconds) } ?? false
    }

    /// How many of so many pushes may go now.
    mutating func admit(_ wanted: Int, now: Timestamp) -> Int {
        guard isSlow(now) else {
            count(wanted, now)
            return wanted
        }
        let elapsed = filledAt.map { Double(now.milliseconds - $0.milliseconds) / 1000 } ?? 1
        tokens = min(max(1, perSecond), tokens + max(0, elapsed) * perSecond)
        filledAt = now
        let admitted = min(wanted, Int(tokens))
        tokens -= Double(admitted)
        count(admitted, now)
        return admitted
    }

    /// When the push that is `position` pushes behind the last one admitted may try again.
    func turn(of position: Int, now: Timestamp) -> Timestamp {
        let seconds = Double(position + 1) / max(Self.leastPerSecond, perSecond)
        return now.adding(seconds: min(max(0.2, seconds), Self.slowSeconds))
    }

    /// The quota is used up; answers the new rate if there is one.
    mutating func slow(_ now: Timestamp) -> Double? {
        if let slowedAt, now < slowedAt.adding(seconds: Self.deafSeconds) { return nil }
        let rate = isSlow(now) ? perSecond : measured(now)
        perSecond = max(Self.leastPerSecond, rate / 2)
        slowedAt = now
        (tokens, filledAt) = (0, now)
        return perSecond
    }

    private mutating func count(_ pushes: Int, _ now: Timestamp) {
        let age = windowStart.map { Double(now.milliseconds - $0.milliseconds) / 1000 } ?? .infinity
        if age >= Self.windowSeconds {
            inLastWindow = age < 2 * Self.windowSeconds ? inWindow : 0
            inWindow = 0
            windowStart = now
        }
        inWindow += pushes
    }

    /// Pushes a second, lately.
    private func measured(_ now: Timestamp) -> Double {
        Double(max(inWindow, inLastWindow)) / Self.windowSeconds
    }
}

/// How fast a project may be sent to: evenly within its quota, and slower while a burst begins
/// (Firebase: Throttling and quotas).
///
/// A burst begins at a tenth of the quota and has all of it after the ramp; a quiet time as long as
/// the ramp ends it.
struct ProjectQuota: Sendable, Hashable {
    private static let firstShare = 0.1
    /// Unused time that may be made up for at once.
    private static let burstSeconds = 1.0
    private let perSecond: Double
    private let rampSeconds: Double
    /// When the next push may go, were there no unused time to make up for.
    private var next: Timestamp?
    private var began: Timestamp?

    init(perMinute: Int, rampSeconds: Double) {
        // With what a burst makes up for, any minute stays within the quota.
        perSecond = max(1, Double(perMinute)) / (60 + Self.burstSeconds)
        self.rampSeconds = rampSeconds
    }

    /// Says when so many pushes may go; they are counted unless that is after `latest`.
    mutating func book(_ count: Int, now: Timestamp, latest: Timestamp) -> Timestamp {
        if next.map({ $0.adding(seconds: rampSeconds) < now }) ?? true { (began, next) = (now, nil) }
        let earliest = now.adding(seconds: -Self.burstSeconds)
        let start = max(next ?? earliest, earliest)
        let moment = max(start, now)
        if moment <= latest { next = start.adding(seconds: Double(count) / rate(at: moment)) }
        return moment
    }

    private func rate(at moment: Timestamp) -> Double {
        guard let began, rampSeconds > 0 else { return perSecond }
        let age = Double(moment.milliseconds - began.milliseconds) / 1000
        return perSecond * min(1, Self.firstShare + (1 - Self.firstShare) * age / rampSeconds)
    }
}

/// The quotas of all projects of this node: Google's alone has one.
final class ProjectQuotas: Sendable {
    private let perMinute: Atomic<Int>
    private let rampSeconds: Double
    /// By the lane's app, which names the project.
    private let quotas = Mutex<[String: ProjectQuota]>([:])

    /// No quota when `perMinute` is 0.
    init(perMinute: Int, rampSeconds: Double) {
        self.perMinute = Atomic(perMinute)
        self.rampSeconds = rampSeconds
    }

    /// Sets the quota of all projects from now on; a changed one begins anew.
    func set(perMinute: Int) {
        guard self.perMinute.exchange(perMinute, ordering: .relaxed) != perMinute else { return }
        quotas.withLock { $0 = [:] }
    }

    /// Whether pushes on the lane are counted.
    func limits(_ lane: PushLane) -> Bool { lane.service == .fcm && perMinute.load(ordering: .relaxed) > 0 }

    /// When so many pushes may go; they are counted unless that is after `latest`.
    func book(_ count: Int, on lane: PushLane, now: Timestamp, latest: Timestamp) -> Timestamp {
        let perMinute = perMinute.load(ordering: .relaxed)
        guard limits(lane), perMinute > 0 else { return now }
        return quotas.withLock { quotas in
            quotas[lane.appID, default: ProjectQuota(perMinute: perMinute, rampSeconds: rampSeconds)]
                .book(count, now: now, latest: latest)
        }
    }
}
