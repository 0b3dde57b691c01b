/// A write that costs less together with others of its kind: those that follow each other in a
/// write group are performed at once.
package protocol GroupedWrite: Sendable {
    /// What the caller of one write is answered.
    associatedtype Outcome: Sendable

    /// Performs writes in the order in which they were called, as if one by one, and answers what
    /// tells the outcome of each once they are durable.
    ///
    /// Throws when one of them cannot be done: then all are undone and performed anew, in smaller
    /// batches, so that only that one fails. As a write's closure, it does nothing outside but
    /// answer.
    static func perform(_ batch: [Self], _ writer: any StoreWriter) throws(StoreError) -> () -> [Outcome]
}

extension GroupedWrite {
    /// Performs this in a store's current write group, together with what follows it there and is
    /// of its kind.
    ///
    /// Generic over the work alone, so that it is compiled for each kind.
    package func written(to store: any Store) async throws(StoreError) -> Outcome {
        let answer = await WaitingCaller<Outcome>.answer { caller in store.enqueue(BatchedWrite(self, caller)) }
        switch answer {
        case .success(let outcome): return outcome
        case .failure(let error): throw store.told(error)
        }
    }
}

/// Work in a store's queue, performed together with its kind.
private final class BatchedWrite<Work: GroupedWrite>: QueuedWrite {
    private let work: Work
    private let caller: WaitingCaller<Work.Outcome>

    init(_ work: Work, _ caller: WaitingCaller<Work.Outcome>) {
        self.work = work
        self.caller = caller
    }

    var isWanted: Bool { caller.isWaiting }

    func isJoined(by other: any QueuedWrite) -> Bool { type(of: other) == Self.self }

    func perform(
        _ batch: ArraySlice<any QueuedWrite>,
        _ writer: any StoreWriter
    ) throws(StoreError) -> [() -> Void] {
        let members = batch.compactMap { $0 as? Self }
        let outcomes = try Work.perform(members.map { $0.work }, writer)
        let callers = members.map { $0.caller }
        return [{ Self.answer(callers, outcomes()) }]
    }

    private static func answer(_ callers: [WaitingCaller<Work.Outcome>], _ outcomes: [Work.Outcome]) {
        precondition(outcomes.count == callers.count, "each write of a batch has its outcome")
        for (caller, outcome) in zip(callers, outcomes) { caller.resume(.success(outcome)) }
    }

    func fail(_ error: StoreError) { caller.resume(.failure(error)) }
}

/// A write in a store's queue, and the way back to its caller.
package protocol QueuedWrite: AnyObject, Sendable {
    /// Whether its caller still waits for it; a write that is given up before its turn is never
    /// begun.
    var isWanted: Bool { get }
    /// Where the request came from that asked for it; nil where that is not known.
    var origin: RequestOrigin? { get }
    /// Whether the other, which follows this in the group, can be performed in one batch with this.
    func isJoined(by other: any QueuedWrite) -> Bool
    /// Performs a batch of writes that joined this, their first; answers how to tell their callers
    /// once it is durable.
    func perform(
        _ batch: ArraySlice<any QueuedWrite>,
        _ writer: any StoreWriter
    ) throws(StoreError) -> [() -> Void]
    /// Tells its caller that it failed.
    func fail(_ error: StoreError)
}

extension QueuedWrite {
    /// Not known.
    package var origin: RequestOrigin? { nil }
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
