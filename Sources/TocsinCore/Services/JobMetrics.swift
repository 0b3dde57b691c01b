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
    case buttonPresses = "button_presses"
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
        case buttonPresses = "button_presses"
    }

    private let rounds = CounterSet<LabelPair<Job, Outcome>>()
    private let removed = CounterSet<Rows>()
    /// Unix milliseconds; 0: never.
    private let succeeded = GaugeSet<Job>()
    /// Milliseconds; 0: this node does not do it.
    private let intervals = GaugeSet<Job>()

    /// No round has ended yet.
    package init() {}

    /// This node does the job from now on, at these intervals.
    func begin(_ job: Job, everySeconds seconds: Double) { intervals[job].set(Int((seconds * 1000).rounded())) }

    /// A round was done and removed so many rows.
    func done(_ job: Job, removing rows: Int, at now: Timestamp) {
        rounds[LabelPair(job, .ok)].add()
        succeeded[job].set(Int(now.milliseconds))
        if let table = Rows(rawValue: job.rawValue) { removed[table].add(rows) }
    }

    /// Another node does these jobs now: this one tells no time of theirs any more.
    package func forget(_ jobs: [Job]) {
        for job in jobs {
            succeeded[job].set(0)
            intervals[job].set(0)
        }
    }

    /// A round could not be done.
    func failed(_ job: Job) { rounds[LabelPair(job, .failed)].add() }

    /// Rounds, their last successes and intervals, and the rows that they removed.
    package var families: [MetricFamily] {
        [
            .counter("tocsin_jobs_total", "Rounds of work that is done again and again", rounds),
            .gauge(
                "tocsin_job_last_success_timestamp_seconds",
                "When this node last did the job; absent before it has, and on nodes whose turn it was not",
                by: Job.self
            ) { job in
                Self.seconds(succeeded[job])
            },
            .gauge(
                "tocsin_job_interval_seconds",
                "From the end of one round of a job to the next; absent on nodes that do not do it",
                by: Job.self
            ) { job in
                Self.seconds(intervals[job])
            },
            .counter("tocsin_rows_removed_total", "Rows that were removed because their time was over", removed),
        ]
    }

    private static func seconds(_ gauge: Gauge) -> MetricSample.Value? {
        gauge.value > 0 ? .number(Double(gauge.value) / 1000) : nil
    }
}
