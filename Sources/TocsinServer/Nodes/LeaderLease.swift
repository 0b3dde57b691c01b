import Metrics
import TocsinCore

/// What one node at a time does for all: it holds a lease in the database while it does it.
struct LeaderLease: Sendable {
    let name: String
    let node: String
    let store: any Store
    let time: any TimeSource
    /// 1 while this node holds it.
    let held: Gauge

    /// How long the others wait for a node that has died.
    var leaseSeconds = 45.0
    /// How often the lease is renewed, and looked for.
    var roundSeconds = 10.0

    /// Does the job while this node holds the lease, and again when it gets the lease back.
    ///
    /// Returns when the task is cancelled.
    func run(_ job: @escaping @Sendable () async -> Void) async {
        while !Task.isCancelled {
            if await take() == true {
                held.set(1)
                await withDiscardingTaskGroup { group in
                    group.addTask { await job() }
                    await hold()
                    group.cancelAll()
                }
                held.set(0)
            }
            await rest()
        }
    }

    /// Returns when the lease is another's, or cannot be known to be this node's any more.
    private func hold() async {
        var goodUntil = time.now().adding(seconds: leaseSeconds)
        while !Task.isCancelled {
            await rest()
            let end = time.now().adding(seconds: leaseSeconds)
            switch await take() {
            case true?: goodUntil = end
            case false?: return
            case nil: if time.now() >= goodUntil { return }
            }
        }
    }

    private func rest() async {
        try? await time.sleep(until: time.now().adding(seconds: roundSeconds))
    }

    /// nil when the database cannot say.
    private func take() async -> Bool? {
        let now = time.now()
        let (name, node, until) = (name, node, now.adding(seconds: leaseSeconds))
        return try? await store.write { writer throws(StoreError) in
            try writer.takeLease(name, node: node, now: now, until: until)
        }
    }
}
