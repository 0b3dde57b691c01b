import Synchronization
import TocsinCore

/// The gates of all lanes of this node.
final class LaneGates: Sendable {
    /// Apps name themselves when devices register, so the table is bounded: open gates are forgotten first.
    private static let maximumLanes = 1000
    private let gates = Mutex<[PushLane: LaneGate]>([:])

    func admit(_ lane: PushLane, _ owners: [UserID], now: Timestamp) -> LaneGate.Admission {
        gates.withLock { gates in
            if gates.count >= Self.maximumLanes, gates[lane] == nil { gates = gates.filter { !$0.value.isOpen } }
            return gates[lane, default: LaneGate()].admit(owners, now: now)
        }
    }

    /// Why and until when a lane is paused; nil when it is open.
    func pause(of lane: PushLane, now: Timestamp) -> (reason: String, until: Timestamp)? {
        gates.withLock { gates in
            guard let gate = gates[lane], !gate.isOpen else { return nil }
            return (gate.pauseReason, gate.nextTry(now: now))
        }
    }

    /// Runs a closure over a lane's gate.
    func withGate<Value: Sendable>(of lane: PushLane, _ body: (inout LaneGate) -> Value) -> Value {
        gates.withLock { body(&$0[lane, default: LaneGate()]) }
    }
}
