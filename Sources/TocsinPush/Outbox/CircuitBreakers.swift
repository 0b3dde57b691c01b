import Synchronization
import TocsinCore

/// The gates of all lanes of this node, the brakes of its projects, and those of single devices.
final class CircuitBreakers: Sendable {
    /// What shares a quota: a project's Android devices and browsers do.
    private struct Project: Hashable {
        var service: PushService
        var appID: String
    }

    private struct State {
        var gates: [PushLane: CircuitBreaker] = [:]
        var brakes: [Project: RateLimiter] = [:]
        var devices = DeviceBackoff()
        /// When each service's credential trouble was last told of.
        var troubleToldAt: [PushService: Timestamp] = [:]
    }

    /// Apps name themselves when devices register, so the table is bounded: open gates are forgotten first.
    private static let maximumLanes = 1000
    private static let secondsBetweenReports = 60.0
    private let state = Mutex(State())

    func admit(_ lane: PushLane, _ owners: [UserID], now: Timestamp) -> CircuitBreaker.Admission {
        state.withLock { state in
            if state.gates.count >= Self.maximumLanes, state.gates[lane] == nil {
                state.gates = state.gates.filter { !$0.value.isOpen }
                state.brakes = state.brakes.filter { $0.value.isSlow(now) }
            }
            var admission = state.gates[lane, default: CircuitBreaker()].admit(owners, now: now)
            let isOpen = state.gates[lane]?.isOpen ?? true
            guard lane.service != .apns, isOpen, !admission.places.isEmpty else { return admission }
            admission.slow(by: &state.brakes[Self.project(lane), default: RateLimiter()], now: now)
            return admission
        }
    }

    /// Why and until when a lane is paused; nil when it is open.
    func pause(of lane: PushLane, now: Timestamp) -> (reason: String, until: Timestamp)? {
        state.withLock { state in
            guard let gate = state.gates[lane], !gate.isOpen else { return nil }
            return (gate.pauseReason, gate.nextTry(now: now))
        }
    }

    /// Runs a closure over a lane's gate.
    func withGate<Value: Sendable>(of lane: PushLane, _ body: (inout CircuitBreaker) -> Value) -> Value {
        state.withLock { body(&$0.gates[lane, default: CircuitBreaker()]) }
    }

    /// A lane's project has used up its quota; answers its new rate a second, if it changed.
    func slow(_ lane: PushLane, now: Timestamp) -> Double? {
        state.withLock { $0.brakes[Self.project(lane), default: RateLimiter()].slow(now) }
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
    func brakes(on devices: some Sequence<DeviceID>) -> [DeviceID: DeviceBackoff.Hold] {
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
    fileprivate mutating func slow(by brake: inout RateLimiter, now: Timestamp) {
        let admitted = brake.admit(places.count, now: now)
        guard admitted < places.count else { return }
        places = places.lowerBound..<(places.lowerBound + admitted)
        self.brake = brake
    }

    /// When a push that may not go now tries again.
    func turn(of position: Int, now: Timestamp) -> Timestamp {
        guard let brake, position >= places.upperBound else { return othersWaitUntil }
        return max(othersWaitUntil, brake.turn(of: position - places.upperBound, now: now))
    }
}
