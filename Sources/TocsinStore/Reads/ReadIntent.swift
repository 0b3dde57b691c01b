import Synchronization
import TocsinCore

/// Tells a running read that nobody waits for it any more: set once, by any thread.
package final class ReadCancellation: Sendable {
    private let flag = Atomic(false)

    /// A read that is wanted.
    package init() {}

    /// Whether the read is to end.
    package var isSet: Bool { flag.load(ordering: .relaxed) }

    /// Ends the read.
    package func set() { flag.store(true, ordering: .relaxed) }
}

/// A read that waits for a thread, or runs on one.
final class ReadIntent: Sendable {
    let origin: ReadOrigin
    /// nil where nobody measures how long it waits.
    let askedAt: ContinuousClock.Instant?
    let cancellation = ReadCancellation()
    /// Runs the closure; answers what to call once the snapshot is let go.
    let run: @Sendable (SQLReader) -> @Sendable () -> Void
    let fail: @Sendable (StoreError) -> Void

    /// Whose read it is; nil for the server's own.
    var owner: String? {
        if case .owner(let owner) = origin { owner } else { nil }
    }

    init(
        _ origin: ReadOrigin,
        askedAt: ContinuousClock.Instant?,
        run: @escaping @Sendable (SQLReader) -> @Sendable () -> Void,
        fail: @escaping @Sendable (StoreError) -> Void
    ) {
        (self.origin, self.askedAt, self.run, self.fail) = (origin, askedAt, run, fail)
    }
}
