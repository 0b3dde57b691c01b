/// A write in a store's queue, and the way back to its caller.
package protocol QueuedWrite: AnyObject, Sendable {
    /// Whether its caller still waits for it; a write that is given up before its turn is never begun.
    var isWanted: Bool { get }
    /// Whether the other, which follows this in the group, can be performed in one batch with this.
    func isJoined(by other: any QueuedWrite) -> Bool
    /// Performs a batch of writes that joined this, their first; answers how to tell their callers once it is durable.
    func perform(
        _ batch: ArraySlice<any QueuedWrite>,
        _ writer: any StoreWriter
    ) throws(StoreError) -> [() -> Void]
    func fail(_ error: StoreError)
}

/// The task that waits for a write's answer, and its continuation.
///
/// It must be answered exactly once, and never asked anything afterwards. A checked continuation
/// with a cancellation handler would do the same with several allocations for every write.
package struct WaitingCaller<Value: Sendable>: Sendable {
    /// What a write answers its caller: a value, or why the store could not do it.
    package typealias Answer = Result<Value, StoreError>

    /// The task's address, not retained: the task exists while it waits, and the task of an
    /// `async let` is freed once it goes on, whatever retains it.
    private let task: UInt?
    private let continuation: UnsafeContinuation<Answer, Never>

    /// Makes a write for the task that calls, hands it over, and waits for its answer.
    package static func answer(_ handOver: (WaitingCaller) -> Void) async -> Answer {
        await withUnsafeContinuation { continuation in
            withUnsafeCurrentTask { handOver(WaitingCaller($0, continuation)) }
        }
    }

    private init(_ task: UnsafeCurrentTask?, _ continuation: UnsafeContinuation<Answer, Never>) {
        // Its one member is the reference to the task.
        self.task = task.map { unsafeBitCast($0, to: UInt.self) }
        self.continuation = continuation
    }

    /// Whether the task, which waits, has not been cancelled.
    package var isWaiting: Bool {
        guard let task else { return true }
        // `isCancelled` may be asked from any thread.
        return !unsafeBitCast(task, to: UnsafeCurrentTask.self).isCancelled
    }

    /// Lets the task go on.
    package func resume(_ answer: Answer) { continuation.resume(returning: answer) }
}
