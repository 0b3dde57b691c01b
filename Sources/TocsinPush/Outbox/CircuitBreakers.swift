import Synchronization
import TocsinCore

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
