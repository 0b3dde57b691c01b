/// Daily events of the server itself, for webhooks that listen to `schedule.due`: an app then
/// computes who is to be reminded, and answers with messages.
package struct DailyJobs: TimerEffect {
    /// A job by its name, which is its id too, and when it comes, in UTC.
    package struct Job: Sendable, Hashable {
        let name: String
        let cron: String

        /// A job that comes by a cron line.
        package init(name: String, cron: String) { (self.name, self.cron) = (name, cron) }
    }

    private let environment: ServiceEnvironment
    private let jobs: [Job]

    /// These jobs, over one store.
    package init(environment: ServiceEnvironment, jobs: [Job]) {
        (self.environment, self.jobs) = (environment, jobs)
    }

    /// One kind, whatever the job.
    package let kinds: Set<TimerEntry.Kind> = [.daily]

    /// Sets the timers of the jobs where somebody listens; those that stand as they should are
    /// left alone, so that what is late still comes.
    package func prepare() async throws(ServiceError) {
        let isHeard = environment.webhooks?.listeners(to: .scheduleDue).isEmpty == false
        let (jobs, time) = (jobs, environment.time)
        try await environment.store.writing { writer throws(StoreError) in
            for job in jobs {
                let stored = try writer.timer(.daily, of: job.name)
                guard isHeard else {
                    if stored != nil { try writer.removeTimer(.daily, of: job.name) }
                    continue
                }
                guard stored?.payload != job.cron else { continue }
                let generation = (stored?.generation ?? 0) + 1
                guard let timer = Self.timer(job.name, job.cron, after: time.now(), generation) else { continue }
                try writer.set(timer)
            }
            return .success(())
        }
    }

    /// Tells all webhooks that listen, and sets the next day's timer.
    package func fire(_ timer: TimerEntry, now: Timestamp) async throws(ServiceError) {
        let environment = environment
        // A failure moves the timer, not the time that has come.
        let missed = (try? CronLine(timer.payload))?.missed(since: timer.dueAt, until: now, in: .utc) ?? 0
        let next = Self.timer(timer.subject, timer.payload, after: now, timer.generation + 1)
        try await environment.store.writing { writer throws(StoreError) in
            guard try writer.claim(timer) else { return .success(()) }
            let due = WebhookOccurrence.ScheduleDue(
                id: timer.subject,
                name: timer.subject,
                owner: nil,
                dueAt: timer.dueAt,
                missed: missed,
                webhook: nil
            )
            try environment.raise(.scheduleDue(due), writer)
            if let next { try writer.set(next) }
            return .success(())
        }
    }

    private static func timer(_ name: String, _ cron: String, after now: Timestamp, _ generation: Int64) -> TimerEntry?
    {
        guard let dueAt = (try? CronLine(cron))?.next(after: now, in: .utc) else { return nil }
        return TimerEntry(kind: .daily, subject: name, dueAt: dueAt, generation: generation, payload: cron)
    }
}
