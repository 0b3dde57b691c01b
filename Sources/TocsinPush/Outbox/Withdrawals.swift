import Synchronization
import TocsinCore

/// Devices that were signed out a short while ago: what was claimed for them before must not be sent.
///
/// A device's id is never used again, so an entry may only be forgotten once nothing claimed before it is under way.
final class Withdrawals: Sendable {
    private struct State {
        var recent: [DeviceID: DeliveryReason] = [:]
        var older: [DeviceID: DeliveryReason] = [:]
        var turnsAt: Timestamp?
    }

    /// An entry is kept this long at least; pushes are held by nobody for so long.
    private static let keptSeconds = 600.0
    /// Beyond it the older half is forgotten early.
    private static let maximumCount = 50_000
    private let state = Mutex(State())
    /// Spares the lock where nobody signs out.
    private let isUsed = Atomic(false)

    func add(_ device: DeviceID, _ reason: DeliveryReason, now: Timestamp) {
        state.withLock { state in
            if state.turnsAt.map({ now >= $0 }) ?? true || state.recent.count >= Self.maximumCount {
                (state.older, state.recent) = (state.recent, [:])
                state.turnsAt = now.adding(seconds: Self.keptSeconds)
            }
            state.recent[device] = reason
        }
        isUsed.store(true, ordering: .releasing)
    }

    /// Why nothing is to be sent to a device any more; nil for all others.
    subscript(_ device: DeviceID) -> DeliveryReason? {
        guard isUsed.load(ordering: .acquiring) else { return nil }
        return state.withLock { $0.recent[device] ?? $0.older[device] }
    }
}
