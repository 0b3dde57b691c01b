import Logging
import TocsinAPI
import TocsinCore

/// What comes at a time of its own: every node looks, and each time is one node's.
struct TimerPart: Sendable {
    private let runner: TimerRunner
    private let jobs: DailyJobs
    private let digests: DigestEffect
    private let time: any TimeSource
    private let logger: Logger

    init(_ process: ProcessPart, store: StorePart, api: APIPart, schema: APISchema) {
        let logger = process.logger
        (time, self.logger) = (process.time, logger)
        jobs = DailyJobs(environment: store.environment, jobs: process.settings.daily.jobs)
        let scheduled = ScheduledMessageEffect(api.services.scheduledMessages) { message in
            logger.warning(
                "a scheduled message was ended",
                metadata: [
                    "id": "\(message.id)", "owner": "\(message.owner.text)",
                    "reason": "\(message.disabledReason ?? "")",
                ]
            )
        }
        let rights = PushRights(topics: schema.topics, messages: schema.messages)
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
        let effects: [any TimerEffect] = [scheduled, jobs, digests, quietEnd]
        runner = TimerRunner(environment: store.environment, effects: effects) { timer, error in
            logger.error(
                "a timer could not be fired; trying again",
                metadata: [
                    "kind": "\(timer.kind.rawValue)", "subject": "\(timer.subject)", "attempt": "\(timer.attempts + 1)",
                    "reason": "\(error)",
                ]
            )
        }
    }

    /// Sets the daily jobs, then fires what is due, until it is cancelled.
    func run() async {
        while !Task.isCancelled {
            do throws(ServiceError) {
                try await jobs.prepare()
                try await digests.prepare()
                break
            } catch {
                logger.debug("the daily jobs cannot be set yet", metadata: ["reason": "\(error)"])
            }
            try? await time.sleep(until: time.now().adding(seconds: 1))
        }
        let task = runner.task
        await task.run(by: time) { logger.error("\(task.failure)", metadata: ["reason": "\($0)"]) }
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
