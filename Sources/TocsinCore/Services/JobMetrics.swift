package import Metrics

/// Work that is done again and again, as operators know it.
package enum Job: String, MetricLabel {
    /// The label's name.
    package static let labelName = "task"

    case timers, heartbeat
    case tokenUses = "token_uses"
    case refusedTokens = "refused_tokens"
    case integrationNotes = "integration_notes"
    case monitorWatch = "monitor_watch"
    // Those that remove rows, by what they remove.
    case messages, deliveries, sessions, grants, tombstones, nonces, audit, journal, incidents
    case webhookEvents = "webhook_events"
    case receivedRequests = "received_requests"
}

/// What became of jobs' rounds.
package final class JobMetrics: MetricSource {
    private enum Outcome: String, MetricLabel {
        static let labelName = "result"
        case ok, failed
    }

    /// What jobs remove.
    private enum Rows: String, MetricLabel {
        static let labelName = "table"
        case messages, deliveries, sessions, grants, tombstones, nonces, audit, journal, incidents
        case webhookEvents = "webhook_events"
        case receivedRequests = "received_requests"
    }

    private let rounds = CounterSet<LabelPair<Job, Outcome>>()
    private let removed = CounterSet<Rows>()
    /// Unix milliseconds; 0: never.
    private let succeeded = GaugeSet<Job>()

    /// No round has ended yet.
    package init() {}

    /// A round was done and removed so many rows.
    func done(_ job: Job, removing rows: Int, at now: Timestamp) {
        rounds[LabelPair(job, .ok)].add()
        succeeded[job].set(Int(now.milliseconds))
        if let table = Rows(rawValue: job.rawValue) { removed[table].add(rows) }
    }

    /// Another node does these jobs now: this one tells no time of theirs any more.
    package func forget(_ jobs: [Job]) {
        for job in jobs { succeeded[job].set(0) }
    }

    /// A round could not be done.
    func failed(_ job: Job) { rounds[LabelPair(job, .failed)].add() }

    /// Rounds, their last successes, and the rows that they removed.
    package var families: [MetricFamily] {
        [
            .counter("tocsin_jobs_total", "Rounds of work that is done again and again", rounds),
            .gauge(
                "tocsin_job_last_success_timestamp_seconds",
                "When this node last did the job; absent before it has, and on nodes whose turn it was not",
                by: Job.self
            ) { job in
                let milliseconds = succeeded[job].value
                return milliseconds > 0 ? .number(Double(milliseconds) / 1000) : nil
            },
            .counter("tocsin_rows_removed_total", "Rows that were removed because their time was over", removed),
        ]
    }
}
