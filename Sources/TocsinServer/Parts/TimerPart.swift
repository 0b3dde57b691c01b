import Logging
import Metrics
import TocsinAPI
import TocsinCore

/// What comes at a time of its own: the work of one node for all.
struct TimerPart: Sendable {
    private let runner: TimerRunner
    private let jobs: DailyJobs
    private let digests: DigestEffect
    /// Nil: there are no monitors.
    private let monitors: MonitorEffect?
    private let time: any TimeSource
    /// Held by the node whose turn it is; nil where there is only one node.
    private let lease: LeaderLease?
    private let jobMetrics: JobMetrics
    private let held: Gauge
    private let logger: Logger
    /// How long times wait for a node that has died, at most, but for a round and a look.
    private static let leaseSeconds = 2.0
    private static let roundSeconds = 0.5

    init(_ process: ProcessPart, store: StorePart, api: APIPart, schema: APISchema, cluster: Cluster?) {
        let logger = process.log.logger(.jobs)
        let held = process.metrics.duties[.timers]
        self.held = held
        lease = cluster.map {
            var lease = $0.lease(.timers, held: held)
            (lease.leaseSeconds, lease.roundSeconds) = (Self.leaseSeconds, Self.roundSeconds)
            return lease
        }
        (time, jobMetrics, self.logger) = (process.time, process.metrics.jobs, logger)
        jobs = DailyJobs(environment: store.environment, jobs: process.settings.daily.jobs)
        let scheduled = ScheduledMessageEffect(api.services.scheduledMessages) { message in
            logger.warning(
                "a scheduled message was ended",
                metadata: [
                    "event": "scheduled_message_ended", "schedule_id": "\(message.id)",
                    "user": "\(message.owner.text)", "reason": "\(message.disabledReason ?? "")",
                ]
            )
        }
        let rights = PushRights(
            topics: schema.topics,
            messages: schema.messages,
            claimedGroups: store.environment.claimedGroups
        )
        digests = DigestEffect(
            environment: store.environment,
            messages: api.services.messages,
            rights: rights,
            cron: "0 \(process.settings.daily.digestHour) * * *"
        )
        let quietEnd = QuietEndEffect(
            environment: store.environment,
            rights: rights,
            pushes: api.services.directPushes
        )
        let ownDigests = OwnDigestEffect(
            environment: store.environment,
            messages: api.services.messages,
            rights: rights
        )
        monitors = api.services.monitors.map { MonitorEffect($0) }
        var effects: [any TimerEffect] = [
            scheduled, jobs, digests, ownDigests, quietEnd, IncidentEffect(api.services.incidents),
        ]
        if let monitors { effects.append(monitors) }
        runner = TimerRunner(environment: store.environment, effects: effects) { timer, error in
            logger.error(
                "a timer could not be fired; trying again",
                metadata: [
                    "event": "timer_failed", "kind": "\(timer.kind.rawValue)", "subject": "\(timer.subject)",
                    "attempts": .stringConvertible(timer.attempts + 1),
                    "reason": "\(error)",
                ]
            )
        }
    }

    /// Sets the daily jobs and fires what is due, until it is cancelled.
    ///
    /// The lease spares nodes each other's locks. What makes each time one node's is the row.
    func run() async {
        guard let lease else {
            held.set(1)
            return await work()
        }
        await lease.run {
            await work()
            // It is another node's turn, whose times count from now on.
            jobMetrics.forget([runner.task.job] + (monitors.map { [$0.watch.job] } ?? []))
        }
    }

    private func work() async {
        await withDiscardingTaskGroup { group in
            let (jobs, digests, task) = (jobs, digests, runner.task)
            group.addTask {
                await prepare("the daily jobs") { () async throws(ServiceError) in try await jobs.prepare() }
            }
            group.addTask {
                await prepare("the digests") { () async throws(ServiceError) in try await digests.prepare() }
            }
            if let watch = monitors?.watch {
                group.addTask {
                    await watch.run(by: time, counting: jobMetrics) {
                        let facts: Logger.Metadata = ["event": "monitor_watch_failed", "reason": "\($0)"]
                        logger.error("\(watch.failure)", metadata: facts)
                    }
                }
            }
            await task.run(by: time, counting: jobMetrics) {
                logger.error("\(task.failure)", metadata: ["event": "timers_failed", "reason": "\($0)"])
            }
        }
    }

    /// Tries until it is done, after 1, 2, 4 … 60 seconds.
    private func prepare(_ what: String, _ body: () async throws(ServiceError) -> Void) async {
        var pauseSeconds = 1.0
        while !Task.isCancelled {
            do throws(ServiceError) {
                return try await body()
            } catch .unavailable {
                // The store has said so.
                pauseSeconds = 1
            } catch {
                logger.error(
                    "\(what) cannot be set; trying again",
                    metadata: ["event": "timers_unset", "reason": "\(error)"]
                )
            }
            try? await time.sleep(until: time.now().adding(seconds: pauseSeconds))
            pauseSeconds = min(60, pauseSeconds * 2)
        }
    }
}

extension Settings.Daily {
    /// The jobs by name, each with its cron line in UTC.
    var jobs: [DailyJobs.Job] {
        [
            DailyJobs.Job(name: "task-reminder", cron: "\(taskReminderMinute) \(taskReminderHour) * * *"),
            DailyJobs.Job(name: "overdue-reminder", cron: "0 \(overdueReminderHour) * * *"),
            DailyJobs.Job(name: "daily-digest", cron: "0 \(digestHour) * * *"),
        ]
    }
}
