import NIOCore
import Synchronization

/// Runs tasks on an event loop, so that a request's code and its connection share one thread.
///
/// All connections of a loop share one. What becomes ready between two turns of the loop, as all
/// requests of a write group do at once, is then one piece of work and not one each.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop
    /// What is ready to be run, in its order.
    private let ready = Mutex<[UnownedJob]>([])

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = ready.withLock { ready in
            ready.append(job)
            return ready.count == 1
        }
        if isFirst { loop.execute { self.runReady() } }
    }

    /// Runs what is ready now; what that makes ready waits for another turn, so
    /// that sockets have theirs.
    private func runReady() {
        let jobs = ready.withLock { ready in
            defer { ready = [] }
            return ready
        }
        let executor = asUnownedTaskExecutor()
        for job in jobs { job.runSynchronously(on: executor) }
    }
}
