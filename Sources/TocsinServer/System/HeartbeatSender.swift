import Logging
import Metrics
import Synchronization
import TocsinCore
import TocsinPush
import TocsinStore

/// Fetches an address elsewhere while this server does its work, so that a monitor there hears when
/// it does not: who watches Tocsin.
final class HeartbeatSender: MetricSource {
    /// What became of a round.
    enum Outcome: String, MetricLabel {
        static let labelName = "result"
        case sent, failed, withheld
    }

    private static let periodSeconds = 60.0
    private let url: String?
    private let store: SQLStore
    private let outbox: OutboxWorker
    private let http: any OutgoingHTTP
    private let time: any TimeSource
    private let logger: Logger
    private let rounds = CounterSet<Outcome>()
    private let last = Mutex<Outcome?>(nil)

    init(_ process: ProcessPart, store: StorePart, push: PushPart) {
        url = process.settings.server.heartbeatURL?.contents
        (self.store, outbox, http) = (store.store, push.outbox, process.http)
        (time, logger) = (process.time, process.log.logger(.jobs))
    }

    /// Fetches it each minute until it is cancelled; without an address, nothing.
    func run(counting jobs: JobMetrics) async {
        guard let url else { return }
        let task = PeriodicTask(
            .heartbeat,
            everySeconds: Self.periodSeconds,
            failure: "the heartbeat could not be sent"
        ) { () async throws(ServiceError) in await self.round(url) == .sent ? 0 : nil }
        await task.run(by: time, counting: jobs) { _ in }
    }

    private func round(_ url: String) async -> Outcome {
        let (outcome, reason) = await sent(url)
        rounds[outcome].add()
        let isNew = last.withLock { last in
            defer { last = outcome }
            return last != outcome
        }
        // Once for each time that it begins: the address is a secret and stands in no line.
        guard isNew else { return outcome }
        switch outcome {
        case .sent: break
        case .failed:
            let facts: Logger.Metadata = ["event": "heartbeat_failed", "reason": "\(reason)"]
            logger.warning("the heartbeat's address did not answer as it should", metadata: facts)
        case .withheld:
            let facts: Logger.Metadata = ["event": "heartbeat_withheld", "reason": "\(reason)"]
            logger.warning("the heartbeat is not sent while work stands still", metadata: facts)
        }
        return outcome
    }

    private func sent(_ url: String) async -> (Outcome, reason: String) {
        if let obstacle = await work().obstacle(at: time.now()) { return (.withheld, obstacle) }
        switch await http.send(OutgoingRequest(url: url, maximumBodyBytes: 64 << 10)) {
        case .response(200..<300, _, _): return (.sent, "")
        case .response(let status, _, _): return (.failed, "status \(status)")
        case .failed(let reason): return (.failed, reason)
        }
    }

    private func work() async -> HeartbeatWork {
        var work = HeartbeatWork()
        work.refusal = store.statistics.refusal?.reason
        do throws(StoreError) {
            // Goes through the writer's queue and back.
            try await store.write { writer throws(StoreError) in _ = try writer.timers(failedOnly: false, limit: 1) }
            work.firstTimer = try await store.read { reader throws(StoreError) in
                try reader.timers(failedOnly: false, limit: 1).first?.dueAt
            }
        } catch {
            work.refusal = work.refusal ?? error.description
        }
        work.pausedLanes = Array(Set(outbox.pausedLanes.map { "\($0.lane.service.rawValue) of \($0.lane.appID)" }))
        return work
    }

    var families: [MetricFamily] {
        [
            .counter(
                "tocsin_heartbeat_rounds_total",
                "Rounds of the heartbeat that watchers elsewhere wait for (TOCSIN_HEARTBEAT_URL)",
                rounds
            )
        ]
    }
}
