import Logging
import TocsinCore

/// Removes what is over, again and again: the work of one node for all.
struct Upkeep: Sendable {
    let tasks: [PeriodicTask]
    let time: any TimeSource
    /// Held by the node whose turn it is; nil where there is only one node.
    let lease: LeaderLease?
    let logger: Logger

    /// Works until it is cancelled.
    func run() async {
        guard let lease else { return await runTasks() }
        await lease.run { await runTasks() }
    }

    private func runTasks() async {
        await withDiscardingTaskGroup { group in
            for task in tasks {
                group.addTask {
                    await task.run(by: time) { logger.error("\(task.failure)", metadata: ["reason": "\($0)"]) }
                }
            }
        }
    }
}
