import Synchronization
import TocsinCore

/// Whether pushes may pass on a lane, by what became of those before.
///
/// Closed, it lets all pass. A pause result, an outage or suspect configuration opens it: the lane
/// is paused. After 1, 2, 4 … 60 seconds it is half open, and one push probes the provider. The
/// first success closes it; otherwise it opens again.
struct CircuitBreaker: Sendable, Hashable {
    private enum State: Sendable, Hashable {
        case closed
        case open(until: Timestamp)
        case halfOpen(since: Timestamp)
    }

    /// Which of the wanted pushes may go now; the others wait until the given moment.
    struct Admission: Sendable, Hashable {
        /// Positions among those asked for.
        var positions: Range<Int>
        var othersWaitUntil: Timestamp
        /// Set when the project's rate, not the breaker, holds the others back.
        var limiter: RateLimiter?
    }

    /// What a settled push says of the lane.
    enum Sign: Sendable, Hashable {
        /// The provider works.
        case alive
        /// An acceptance: the app, the credentials and the provider are right.
        case accepted
        /// A token that does not fit this app or side.
        case wrongToken
        case serverFault(UserID)
        /// No answer: a failure if it was the probe, else the schedule's business.
        case unanswered
        /// Nothing passes; told of this owner's device.
        case stuck(reason: String, UserID)
        case neutral
    }

    /// What people should know.
    enum Change: Sendable, Hashable {
        case paused(reason: String, PauseCause)
        case resumed
        /// The project's quota is used up: so many pushes a second for a minute.
        case slowed(perSecond: Int)
    }

    private static let maximumBackoffSeconds = 60.0
    /// An unanswered probe gives way to another after this time.
    private static let probeSeconds = 45.0
    private static let trustSeconds = 600.0
    private static let recentSeconds = 5.0
    private static let passSeconds = 1.0
    private static let rememberedOwners = 1000
    private static let suspicious = 3
    private static let outageAnswers = 20
    private static let outageOwners = 3

    private var state = State.closed
    private var backoffSeconds = 0.0
    private var lastAccepted: Timestamp?
    private var wrongTokens = 0
    /// The deliveries whose devices were retired for the wrong tokens counted, should it turn out
    /// not to be their fault.
    private var retired: [Delivery] = []
    /// Owners whose pushes were stuck in this pause.
    private var stuckOwners: Set<UserID> = []
    /// When another owner's push was last let through a pause.
    private var passedAt: Timestamp?
    /// The owners of the last answers, all of which were server faults.
    private var faults: [UserID] = []
    private var reportedAt: Timestamp?
    /// Why it was last paused.
    private(set) var pauseReason = ""

    var isClosed: Bool { state == .closed }

    /// Decides which of these owners' pushes may go.
    ///
    /// Until three owners were stuck, a pause may be about one owner's devices and must not hold up
    /// others. So a push of an owner who was not stuck may go as a probe of its own, one a second.
    mutating func admit(_ owners: [UserID], now: Timestamp) -> Admission {
        if isClosed { return Admission(positions: owners.indices, othersWaitUntil: now) }
        let other = owners.firstIndex { !stuckOwners.contains($0) }
        let mayPass = other != nil && stuckOwners.count < Self.outageOwners
        let soon = now.adding(seconds: Self.passSeconds)
        if isProbeDue(now), !owners.isEmpty {
            state = .halfOpen(since: now)
            return pass(other ?? 0, othersWaitUntil: mayPass ? soon : waitBehindProbe(now), now)
        }
        guard mayPass, let other else { return Admission(positions: 0..<0, othersWaitUntil: nextTry(now: now)) }
        if let passedAt, now < passedAt.adding(seconds: Self.passSeconds) {
            return Admission(positions: 0..<0, othersWaitUntil: soon)
        }
        return pass(other, othersWaitUntil: soon, now)
    }

    private func isProbeDue(_ now: Timestamp) -> Bool {
        switch state {
        case .closed: false
        case .open(let until): now >= until
        case .halfOpen(let since): now >= since.adding(seconds: Self.probeSeconds)
        }
    }

    private mutating func pass(_ position: Int, othersWaitUntil moment: Timestamp, _ now: Timestamp) -> Admission {
        passedAt = now
        return Admission(positions: position..<(position + 1), othersWaitUntil: moment)
    }

    /// Whether so many wrong tokens, with this many acceptances beside them, speak
    /// against the configuration.
    func suspects(wrongTokens new: Int, accepted: Int, now: Timestamp) -> Bool {
        guard new > 0, accepted == 0 else { return false }
        if let lastAccepted, now < lastAccepted.adding(seconds: Self.trustSeconds) { return false }
        return wrongTokens + new >= Self.suspicious
    }

    /// Remembers deliveries whose devices are retired for a wrong token: too few so far to speak
    /// against the configuration.
    mutating func noteRetired(_ deliveries: [Delivery]) {
        retired = Array((retired + deliveries).suffix(Self.suspicious))
    }

    /// The deliveries whose devices were retired before the configuration
    /// became suspect; asked once.
    mutating func takeRetired() -> [Delivery] {
        defer { retired = [] }
        return retired
    }

    /// Learns from settled pushes; answers what changed.
    mutating func learn(_ signs: [Sign], now: Timestamp) -> Change? {
        let wasClosed = isClosed
        var stuck: (reason: String, cause: PauseCause)?
        for sign in signs {
            switch sign {
            case .alive: close()
            case .accepted:
                close()
                lastAccepted = now
                wrongTokens = 0
                retired = []
            case .wrongToken: wrongTokens += 1
            case .serverFault(let owner): if let reason = fault(of: owner) { stuck = (reason, .overload) }
            case .unanswered: if case .halfOpen = state { stuck = ("the provider does not answer", .unreachable) }
            case .stuck(let reason, let owner):
                let isUnreachable = reason.hasPrefix(DeliveryReason.unreachable.rawValue)
                stuck = (reason, isUnreachable ? .unreachable : .credentials)
                if stuckOwners.count < Self.rememberedOwners { stuckOwners.insert(owner) }
            case .neutral: break
            }
        }
        if let stuck, !worksForOthers(now) { return open(stuck.reason, stuck.cause, now) }
        if wasClosed || !isClosed { return nil }
        reportedAt = nil
        return .resumed
    }

    /// Trouble that is not everybody's is no reason to make everybody wait.
    private func worksForOthers(_ now: Timestamp) -> Bool {
        lastAccepted.map { isClosed && now < $0.adding(seconds: Self.recentSeconds) } ?? false
    }

    private mutating func close() {
        state = .closed
        backoffSeconds = 0
        faults = []
        stuckOwners = []
    }

    private mutating func fault(of owner: UserID) -> String? {
        faults.append(owner)
        if faults.count > Self.outageAnswers { faults.removeFirst() }
        if case .halfOpen = state { return "the provider is still failing" }
        guard faults.count == Self.outageAnswers, Set(faults).count >= Self.outageOwners else { return nil }
        return "the last \(Self.outageAnswers) answers were failures of the provider"
    }

    /// Late news of a pause that has been made already changes nothing.
    private mutating func open(_ reason: String, _ cause: PauseCause, _ now: Timestamp) -> Change? {
        if case .open(let until) = state, now < until { return nil }
        backoffSeconds = min(Self.maximumBackoffSeconds, max(1, backoffSeconds * 2))
        state = .open(until: now.adding(seconds: backoffSeconds))
        pauseReason = reason
        if let reportedAt, now < reportedAt.adding(seconds: 60) { return nil }
        reportedAt = now
        return .paused(reason: reason, cause)
    }

    /// Others come back a little later than a quick answer takes, and rarer the
    /// longer the trouble lasts.
    private func waitBehindProbe(_ now: Timestamp) -> Timestamp {
        now.adding(seconds: 1 + backoffSeconds / 8)
    }

    /// When a paused lane is tried next.
    func nextTry(now: Timestamp) -> Timestamp {
        switch state {
        case .closed: now.adding(seconds: 1)
        case .open(let until): max(until, now)
        case .halfOpen: waitBehindProbe(now)
        }
    }
}

/// The circuit breakers of this node's lanes, the rate limiters of its projects, and the backoff of
/// single devices.
final class CircuitBreakers: Sendable {
    /// What shares a quota: a project's Android devices and browsers do.
    private struct Project: Hashable {
        var service: PushService
        var appID: String
    }

    private struct State {
        var breakers: [PushLane: CircuitBreaker] = [:]
        var limiters: [Project: RateLimiter] = [:]
        var devices = DeviceBackoff()
        /// When each service's credential trouble was last told of.
        var troubleToldAt: [PushService: Timestamp] = [:]
    }

    /// Apps name themselves when devices register, so the table is bounded: closed breakers are
    /// forgotten first.
    private static let maximumLanes = 1000
    private static let secondsBetweenReports = 60.0
    private let state = Mutex(State())

    func admit(_ lane: PushLane, _ owners: [UserID], now: Timestamp) -> CircuitBreaker.Admission {
        state.withLock { state in
            if state.breakers.count >= Self.maximumLanes, state.breakers[lane] == nil {
                state.breakers = state.breakers.filter { !$0.value.isClosed }
                state.limiters = state.limiters.filter { $0.value.isSlow(now) }
            }
            var admission = state.breakers[lane, default: CircuitBreaker()].admit(owners, now: now)
            let isClosed = state.breakers[lane]?.isClosed ?? true
            guard lane.service != .apns, isClosed, !admission.positions.isEmpty else { return admission }
            admission.slow(by: &state.limiters[Self.project(lane), default: RateLimiter()], now: now)
            return admission
        }
    }

    /// Why and until when a lane is paused; nil when it is not.
    func pause(of lane: PushLane, now: Timestamp) -> (reason: String, until: Timestamp)? {
        state.withLock { state in
            guard let breaker = state.breakers[lane], !breaker.isClosed else { return nil }
            return (breaker.pauseReason, breaker.nextTry(now: now))
        }
    }

    /// The lanes that are paused, in no order.
    func paused(now: Timestamp) -> [PausedLane] {
        state.withLock { state in
            state.breakers.filter { !$0.value.isClosed }.map { lane, breaker in
                PausedLane(lane: lane, reason: breaker.pauseReason, until: breaker.nextTry(now: now))
            }
        }
    }

    /// How many lanes there are of each service, and how many of them are paused.
    var lanes: [PushService: (all: Int, paused: Int)] {
        state.withLock { state in
            state.breakers.reduce(into: [:]) { lanes, entry in
                lanes[entry.key.service, default: (0, 0)].all += 1
                if !entry.value.isClosed { lanes[entry.key.service, default: (0, 0)].paused += 1 }
            }
        }
    }

    /// Runs a closure over a lane's circuit breaker.
    func withBreaker<Value: Sendable>(of lane: PushLane, _ body: (inout CircuitBreaker) -> Value) -> Value {
        state.withLock { body(&$0.breakers[lane, default: CircuitBreaker()]) }
    }

    /// A lane's project has used up its quota; answers its new rate a second, if it changed.
    func slow(_ lane: PushLane, now: Timestamp) -> Double? {
        state.withLock { $0.limiters[Self.project(lane), default: RateLimiter()].slow(now) }
    }

    /// A device is to be left alone until then.
    func hold(_ device: DeviceID, _ hold: DeviceBackoff.Hold, now: Timestamp) {
        state.withLock { $0.devices.hold(device, hold, now: now) }
    }

    /// These devices are taken to again.
    func release(_ devices: some Sequence<DeviceID>) {
        state.withLock { state in
            guard !state.devices.isEmpty else { return }
            for device in devices { state.devices.release(device) }
        }
    }

    /// Those of the devices that are, or lately were, to be left alone.
    func backoff(of devices: some Sequence<DeviceID>) -> [DeviceID: DeviceBackoff.Hold] {
        state.withLock { state in
            guard !state.devices.isEmpty else { return [:] }
            var found: [DeviceID: DeviceBackoff.Hold] = [:]
            for device in devices { found[device] = state.devices[device] }
            return found
        }
    }

    /// Whether people should hear of credential trouble now; once a minute for each service.
    func mayTellOfTrouble(_ service: PushService, now: Timestamp) -> Bool {
        state.withLock { state in
            if let last = state.troubleToldAt[service], now < last.adding(seconds: Self.secondsBetweenReports) {
                return false
            }
            state.troubleToldAt[service] = now
            return true
        }
    }

    private static func project(_ lane: PushLane) -> Project {
        Project(service: lane.service, appID: lane.appID)
    }
}

extension CircuitBreaker.Admission {
    /// Takes back what the project's rate does not allow; each of those has its own turn.
    fileprivate mutating func slow(by limiter: inout RateLimiter, now: Timestamp) {
        let admitted = limiter.admit(positions.count, now: now)
        guard admitted < positions.count else { return }
        positions = positions.lowerBound..<(positions.lowerBound + admitted)
        self.limiter = limiter
    }

    /// When a push that may not go now tries again.
    func turn(of position: Int, now: Timestamp) -> Timestamp {
        guard let limiter, position >= positions.upperBound else { return othersWaitUntil }
        return max(othersWaitUntil, limiter.turn(of: position - positions.upperBound, now: now))
    }
}
