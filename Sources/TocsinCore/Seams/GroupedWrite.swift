/// A write that costs less together with others of its kind: those that follow each other in a write group are performed
/// at once.
package protocol GroupedWrite: Sendable {
    associatedtype Outcome: Sendable

    /// Performs writes in the order in which they were called, as if one by one, and answers what tells the outcome of each
    /// once they are durable.
    ///
    /// Throws when one of them cannot be done: then all are undone and performed anew, in smaller batches, so that only that
    /// one fails. As a write's closure, it does nothing outside but answer.
    static func perform(_ batch: [Self], _ writer: any StoreWriter) throws(StoreError) -> () -> [Outcome]
}

extension GroupedWrite {
    /// Performs this in a store's current write group, together with what follows it there and is of its kind.
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
        for place in callers.indices { callers[place].resume(.success(outcomes[place])) }
    }

    func fail(_ error: StoreError) { caller.resume(.failure(error)) }
}
