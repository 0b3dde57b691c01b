import Synchronization
import TocsinCore

/// A write that waits for its group.
struct WriteIntent: Sendable {
    let turn: Turn
    let work: any QueuedWork
}

/// Whether a write still waits for its turn: a caller who has gone gives it up, and then it is never begun.
final class Turn: Sendable {
    private let isGivenUp = Atomic(false)

    func giveUp() { isGivenUp.store(true, ordering: .relaxed) }

    var isWanted: Bool { !isGivenUp.load(ordering: .relaxed) }
}

/// What a write does, and the way back to its caller.
protocol QueuedWork: AnyObject, Sendable {
    /// Whether the other, which follows this in the group, can be performed in one batch with this.
    func isJoined(by other: any QueuedWork) -> Bool
    /// Performs a batch of writes that joined this, their first; answers how to tell their callers once it is durable.
    func perform(
        _ batch: ArraySlice<WriteIntent>,
        _ writer: SQLWriter
    ) throws(StoreError) -> [@Sendable () -> Void]
    func fail(_ error: StoreError)
}

/// A closure, which is performed alone.
final class ClosureWork<Value: Sendable>: QueuedWork {
    typealias Body = @Sendable (any StoreWriter) throws(StoreError) -> Value

    private let body: Body
    private let caller: CheckedContinuation<Result<Value, StoreError>, Never>

    init(_ body: @escaping Body, _ caller: CheckedContinuation<Result<Value, StoreError>, Never>) {
        self.body = body
        self.caller = caller
    }

    func isJoined(by other: any QueuedWork) -> Bool { false }

    func perform(
        _ batch: ArraySlice<WriteIntent>,
        _ writer: SQLWriter
    ) throws(StoreError) -> [@Sendable () -> Void] {
        let value = try body(writer)
        let caller = caller
        return [{ caller.resume(returning: .success(value)) }]
    }

    func fail(_ error: StoreError) { caller.resume(returning: .failure(error)) }
}

/// Work that is performed together with its kind.
final class BatchedWork<Work: GroupedWrite>: QueuedWork {
    private let work: Work
    private let caller: CheckedContinuation<Result<Work.Outcome, StoreError>, Never>

    init(_ work: Work, _ caller: CheckedContinuation<Result<Work.Outcome, StoreError>, Never>) {
        self.work = work
        self.caller = caller
    }

    func isJoined(by other: any QueuedWork) -> Bool { ObjectIdentifier(type(of: other)) == ObjectIdentifier(Self.self) }

    func perform(
        _ batch: ArraySlice<WriteIntent>,
        _ writer: SQLWriter
    ) throws(StoreError) -> [@Sendable () -> Void] {
        // Loops over places: what is made of each element of a kind that only the caller knows is looked for each time.
        var (works, members): ([Work], [BatchedWork]) = ([], [])
        for intent in batch {
            guard let member = intent.work as? BatchedWork else { continue }
            works.append(member.work)
            members.append(member)
        }
        let outcomes = try Work.perform(works, writer)
        guard outcomes.count == batch.count, members.count == batch.count else {
            throw .mismatch(reason: "\(batch.count) writes of one kind had \(outcomes.count) outcomes.")
        }
        return [
            { [members] in
                for place in 0..<members.count { members[place].caller.resume(returning: .success(outcomes[place])) }
            }
        ]
    }

    func fail(_ error: StoreError) { caller.resume(returning: .failure(error)) }
}
