import Synchronization
import TocsinCore

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
    private let perMinute: Int
    private let rampSeconds: Double
    /// By the lane's app, which names the project.
    private let quotas = Mutex<[String: ProjectQuota]>([:])

    /// No quota when `perMinute` is 0.
    init(perMinute: Int, rampSeconds: Double) {
        self.perMinute = perMinute
        self.rampSeconds = rampSeconds
    }

    /// Whether pushes on the lane are counted.
    func limits(_ lane: PushLane) -> Bool { lane.service == .fcm && perMinute > 0 }

    /// When so many pushes may go; they are counted unless that is after `latest`.
    func book(_ count: Int, on lane: PushLane, now: Timestamp, latest: Timestamp) -> Timestamp {
        guard limits(lane) else { return now }
        return quotas.withLock { quotas in
            quotas[lane.appID, default: ProjectQuota(perMinute: perMinute, rampSeconds: rampSeconds)]
                .book(count, now: now, latest: latest)
        }
    }
}
