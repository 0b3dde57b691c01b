package import NIOCore
import Synchronization

/// Counts seconds in which an event loop took its turn, so that somebody else sees whether it
/// stands still.
package final class LoopPulse: Sendable {
    private let count = Atomic(0)

    /// Begins to count.
    package init(_ loop: any EventLoop) {
        // Ends with its loop.
        loop.scheduleRepeatedTask(initialDelay: .zero, delay: .seconds(1)) { [weak self] task in
            guard let self else { return task.cancel() }
            count.add(1, ordering: .relaxed)
        }
    }

    /// Grows each second as long as the loop works.
    package var beats: Int { count.load(ordering: .relaxed) }
}
