package import Metrics
import TocsinCore

/// What the store counts for those who scrape.
package final class StoreMetrics: Sendable {
    /// How a group of writes ended.
    enum GroupResult: String, MetricLabel {
        static let labelName = "result"
        /// `overtaken`: another write was in the way, and the group is run again.
        case ok, failed, overtaken, uncertain
    }

    /// What waits.
    enum Work: String, MetricLabel {
        static let labelName = "kind"
        case read, write
    }

    let groups = CounterSet<GroupResult>()
    let committed: Counter
    let commitTime = Histogram(bounds: Histogram.fast)
    let groupWrites = Histogram(bounds: Histogram.sizes)
    let waits = HistogramSet<Work>(bounds: Histogram.fast)
    let readWait: Histogram
    let readTime = Histogram(bounds: Histogram.fast)

    /// Nothing has happened yet.
    package init() { (committed, readWait) = (groups[.ok], waits[.read]) }

    func noteFailure(_ error: StoreError) {
        if case .uncertain = error { groups[.uncertain].add() } else { groups[.failed].add() }
    }
}

extension SQLStore: MetricSource {
    /// What the store has counted, and what waits now; none where it counts nothing.
    package var families: [MetricFamily] {
        guard let metrics = settings.metrics else { return [] }
        let statistics = statistics
        let refusedFor = statistics.refusal.map { $0.since.duration(to: .now) / .seconds(1) }
        return [
            .counter("tocsin_store_commits_total", "Groups of writes, by how they ended", metrics.groups),
            .histogram("tocsin_store_commit_duration_seconds", "Time that COMMIT took", metrics.commitTime),
            .histogram("tocsin_store_group_writes", "Writes that were committed together", metrics.groupWrites),
            .gauge("tocsin_store_queue", "Reads and writes that wait for their thread", by: StoreMetrics.Work.self) {
                .integer($0 == .read ? statistics.waitingReads : statistics.waitingWrites)
            },
            .histogram("tocsin_store_wait_seconds", "Time that reads and writes waited to begin", metrics.waits),
            .histogram("tocsin_store_read_duration_seconds", "Time that reads took once begun", metrics.readTime),
            .gauge(
                "tocsin_store_refusing_seconds",
                "How long no write has been taken; 0 while they are",
                refusedFor ?? 0
            ),
        ]
    }
}
