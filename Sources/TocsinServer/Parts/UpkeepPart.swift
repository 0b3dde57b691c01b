import Logging
import Metrics
import TocsinAPI
import TocsinCore
import TocsinPush

/// Removes what is over, again and again: the work of one node for all.
struct UpkeepPart: Sendable {
    private let tasks: [PeriodicTask]
    private let deliverySeconds: Reloadable<Double>
    private let auditSeconds: Reloadable<Double>
    private let incidentSeconds: Reloadable<Double?>
    private let retention: Reloadable<MessageRetention>
    private let time: any TimeSource
    /// Held by the node whose turn it is; nil where there is only one node.
    private let lease: LeaderLease?
    private let jobs: JobMetrics
    private let held: Gauge
    /// What only the database knows, for those who scrape.
    private let refresh: MetricsRefresh?
    private let logger: Logger

    init(_ process: ProcessPart, store: StorePart, schema: APISchema, cluster: Cluster?) {
        let (settings, time, logger) = (process.settings, process.time, process.log.logger(.jobs))
        (self.time, self.logger) = (time, logger)
        (jobs, refresh) = (process.metrics.jobs, process.metrics.refresh)
        let deliverySeconds = Reloadable(settings.push.keptSeconds)
        let auditSeconds = Reloadable(settings.auditKept)
        let incidentSeconds = Reloadable(settings.incidentsKeptSeconds)
        let retention = Reloadable(settings.retention)
        (self.deliverySeconds, self.auditSeconds, self.retention) = (deliverySeconds, auditSeconds, retention)
        self.incidentSeconds = incidentSeconds
        var tasks = [
            TombstoneReaper(environment: store.environment, models: schema.models).task,
            GrantReaper(
                environment: store.environment,
                rights: PushRights(
                    topics: schema.topics,
                    messages: schema.messages,
                    claimedGroups: store.environment.claimedGroups
                )
            ).task,
            DeliveryReaper(store: store.store, time: time, keptSeconds: deliverySeconds).task,
            ProofNonceReaper(store: store.store, time: time).task,
            SessionReaper(store: store.store, time: time).task,
            AuditReaper(store: store.store, time: time, keptSeconds: auditSeconds).task,
            ReceivedRequestReaper(store: store.store, time: time).task,
            ButtonPressReaper(store: store.store, time: time).task,
            IncidentReaper(store: store.store, time: time, keptSeconds: incidentSeconds).task,
            MessageReaper(store: store.store, time: time, retention: retention).task {
                logger.info(
                    "old messages were removed",
                    metadata: ["event": "messages_removed", "count": .stringConvertible($0)]
                )
            },
        ]
        if !store.webhooks.value.isEmpty { tasks.append(WebhookEventReaper(store: store.store, time: time).task) }
        if cluster != nil { tasks.append(JournalReaper(store: store.store, time: time).task) }
        self.tasks = tasks
        held = process.metrics.duties[.upkeep]
        lease = cluster?.lease(.upkeep, held: held)
    }

    /// How long messages, deliveries and the audit are kept, from the next round on.
    func reload(_ settings: Settings) {
        deliverySeconds.replace(with: settings.push.keptSeconds)
        auditSeconds.replace(with: settings.auditKept)
        incidentSeconds.replace(with: settings.incidentsKeptSeconds)
        retention.replace(with: settings.retention)
    }

    /// Works until it is cancelled.
    func run() async {
        guard let lease else {
            held.set(1)
            return await runTasks()
        }
        await lease.run {
            await runTasks()
            // It is another node's turn, whose times count from now on.
            jobs.forget(tasks.map(\.job))
        }
    }

    private func runTasks() async {
        await withDiscardingTaskGroup { group in
            if let refresh { group.addTask { await refresh.run() } }
            for task in tasks {
                group.addTask {
                    await task.run(by: time, counting: jobs) {
                        logger.error("\(task.failure)", metadata: ["event": "upkeep_failed", "reason": "\($0)"])
                    }
                }
            }
        }
    }
}

extension Settings.Push {
    fileprivate var keptSeconds: Double { Double(keptDays) * 86_400 }
}
