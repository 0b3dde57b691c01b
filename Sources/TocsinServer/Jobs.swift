import Synchronization

/// The server's long-running tasks, each owned from start to end.
final class Jobs: Sendable {
    private let tasks = Mutex([Task<Void, Never>]())

    /// Runs a job until it returns or is cancelled.
    func add(_ job: @escaping @Sendable () async -> Void) {
        let task = Task { await job() }
        tasks.withLock { $0.append(task) }
    }

    /// Cancels all jobs and returns when they have ended.
    func end() async {
        let all = tasks.withLock { tasks in
            let all = tasks
            tasks = []
            return all
        }
        for task in all { task.cancel() }
        for task in all { await task.value }
    }
}
