package import NIOCore
import Synchronization

/// Looks four times a second, from within an event loop, whether it does in time what is due.
///
/// Others see by it how late the loop is, and whether it stands still.
package final class LoopPulse: Sendable {
    private static let pause = TimeAmount.milliseconds(250)

    private let count = Atomic(0)
    private let largestLag = Atomic<Int64>(0)
    /// When the next look is due, on the clock of `NIODeadline`.
    private let due = Atomic<UInt64>(.max)

    /// Begins to look; ends with its loop.
    package init(_ loop: any EventLoop) { look(again: loop) }

    /// Grows four times a second as long as the loop works.
    package var beats: Int { count.load(ordering: .relaxed) }

    /// The largest lag since the last call, in seconds; that of now counts too.
    func takeLag() -> Double {
        let due = due.load(ordering: .relaxed)
        let now = NIODeadline.now().uptimeNanoseconds
        let present = now > due ? Int64(clamping: now - due) : 0
        return Double(max(present, largestLag.exchange(0, ordering: .relaxed))) / 1e9
    }

    private func look(again loop: any EventLoop) {
        let due = NIODeadline.now() + Self.pause
        self.due.store(due.uptimeNanoseconds, ordering: .relaxed)
        loop.scheduleTask(deadline: due) { [weak self] in
            guard let self else { return }
            count.add(1, ordering: .relaxed)
            _ = largestLag.max((NIODeadline.now() - due).nanoseconds, ordering: .relaxed)
            look(again: loop)
        }
    }
}
