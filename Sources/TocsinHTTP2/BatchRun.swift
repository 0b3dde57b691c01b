import NIOCore
import Synchronization
import TocsinPush

/// A batch on its way: hands out its requests in order and passes each answer on, once.
///
/// Confined to its pool's event loop.
final class BatchRun {
    let batch: PushBatch
    let block: HeaderBlock
    let handle: BatchHandle
    /// Ends the requests that take too long.
    var deadline: Scheduled<Void>?
    /// The first request no connection has taken yet.
    private(set) var next = 0
    private var unanswered: Int
    private let completed: @Sendable (Int, PushAnswer) -> Void
    private let finished: @Sendable () -> Void

    init(
        _ batch: PushBatch,
        origin: Origin,
        handle: BatchHandle,
        completed: @escaping @Sendable (Int, PushAnswer) -> Void,
        finished: @escaping @Sendable () -> Void
    ) {
        self.batch = batch
        self.handle = handle
        self.completed = completed
        self.finished = finished
        block = HeaderBlock(origin, batch.sharedHeaders)
        unanswered = batch.requests.count
    }

    /// Requests no connection has taken yet.
    var waiting: Int { batch.requests.count - next }

    func takeNext() { next += 1 }

    func answer(_ index: Int, _ answer: PushAnswer) {
        completed(index, answer)
        unanswered -= 1
        if unanswered == 0 {
            deadline?.cancel()
            deadline = nil
            finished()
        }
    }

    /// Answers all requests that no connection has taken.
    func answerWaiting(_ answer: PushAnswer) {
        let indices = next..<batch.requests.count
        next = batch.requests.count
        for index in indices { self.answer(index, answer) }
    }
}

/// Names a run from outside its loop, and carries its cancellation there.
final class BatchHandle: Sendable {
    let isCancelled = Mutex(false)
}
