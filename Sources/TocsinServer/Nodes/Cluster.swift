import JSON
import Logging
import Metrics
import TocsinAPI
import TocsinCore
import TocsinStore

/// This node among others on one database: hears what they commit, lets them hear, and has
/// its turn at common jobs.
final class Cluster: Sendable {
    private let node: NodeIdentity
    private let reader: JournalReader
    private let doorbell: (any Doorbell)?
    private let registry: NodeRegistry
    private let peers = Gauge()

    /// nil where the database is this node's alone.
    init?(_ process: ProcessPart, store: StorePart, feed: LiveFeed, models: [ModelType]) throws(StartError) {
        guard let node = process.node else { return nil }
        let (hub, deliveries, time, logger) = (store.hub, store.listeners, node.time, process.log.logger(.nodes))
        self.node = node
        registry = NodeRegistry(node, serverKey: process.serverKey, store: store, logger: logger)
        let peers = peers
        let doorbell = try process.settings.server.doorbell.connection(process.settings, instance: node.instance)
        self.doorbell = doorbell
        reader = JournalReader(
            process.data.database,
            journal: node.journal,
            models: models,
            now: time.ownNow,
            listeners: JournalListeners(
                wants: feed.wants,
                isAnybodyHere: { feed.isListenedTo || feed.goesByGrants },
                publish: hub.publish,
                lost: {
                    logger.warning(
                        "what other nodes committed may have been missed; subscribers are asked to resume",
                        metadata: ["event": "journal_gap"]
                    )
                    feed.loseTrack()
                },
                measured: time.note,
                failed: { error in
                    if let error {
                        logger.error(
                            "the journal cannot be read; trying again",
                            metadata: ["event": "journal_unread", "reason": "\(error)"]
                        )
                    } else {
                        logger.notice("the journal is read again", metadata: ["event": "journal_read_again"])
                    }
                },
                peers: { others in
                    deliveries.note(elsewhere: others.wantDeliveries)
                    doorbell?.note(othersLive: others.areThere)
                    peers.set(others.count)
                }
            )
        )
        process.metrics.add(self)
        let reader = reader
        feed.whenListenedTo { reader.ring() }
        node.signal.connect { haste in
            reader.ringForListeners(haste)
            doorbell?.ring(haste)
        }
    }

    /// Begins to hear; returns after the first look, or the first failure to look.
    ///
    /// Throws when a node that lives has another server key.
    func start() async throws(StartError) {
        guard reader.start() else { throw StartError("The system has no thread to give for the journal.") }
        await reader.looked()
        try await registry.join()
    }

    /// Returns once everything committed before this call has been told.
    func settle() async { await reader.looked() }

    /// Listens to the doorbell and is heard of, until the task is cancelled.
    func run() async {
        let (doorbell, reader, registry) = (doorbell, reader, registry)
        await withDiscardingTaskGroup { group in
            group.addTask { await registry.run { doorbell?.greet() } }
            if let doorbell { group.addTask { await doorbell.run { reader.ring() } } }
        }
    }

    /// What this node does for all while it has its turn at it.
    func lease(_ duty: Duty, held: Gauge) -> LeaderLease {
        LeaderLease(name: duty.rawValue, node: node.instance, store: registry.store, time: node.time, held: held)
    }

    /// Ends hearing; the registry says that this node has gone.
    func stop() async {
        await reader.stop()
        await registry.leave()
    }

    /// For `/readyz`.
    var report: [(String, JSONValue)] {
        let status = reader.status
        var report: [(String, JSONValue)] = [
            ("name", .string(node.name)), ("instance", .string(node.instance)),
            ("journal", .string(status.trouble ?? "read")), ("lagMilliseconds", .int(status.lagMilliseconds)),
            ("clockMilliseconds", .int(node.time.difference)),
        ]
        if let state = doorbell?.state {
            report.append(("doorbell", .string(state.carrier + ": " + (state.trouble ?? "connected"))))
            report.append(("ringsSent", .int(Int64(state.sent))))
            report.append(("ringsHeard", .int(Int64(state.heard))))
        } else {
            report.append(("doorbell", "off"))
        }
        return report
    }
}

extension Cluster: MetricSource {
    private enum Direction: String, MetricLabel {
        static let labelName = "direction"
        case sent, heard
    }

    /// A lag counts for so long after the look that found it.
    private static let lagSeconds = 15.0

    var families: [MetricFamily] {
        let rings = doorbell?.state
        return [
            .gauge("tocsin_node_peers", "Other nodes that have been heard of lately", peers.value),
            .gauge("tocsin_journal_lag_seconds", "How late this node hears what others commit", lagSeconds),
            MetricFamily(
                .counter,
                "tocsin_doorbell_rings_total",
                "Rings by which nodes wake each other",
                Direction.allCases.map { direction in
                    let count = direction == .sent ? rings?.sent : rings?.heard
                    return MetricSample(labels: direction.labels, .integer(count ?? 0))
                }
            ),
            .gauge(
                "tocsin_clock_offset_seconds",
                "How far the database's clock is ahead of this node's",
                Double(node.time.difference) / 1000
            ),
        ]
    }

    /// Since the last look, or as old as what was found lately.
    private var lagSeconds: Double? {
        let (status, now) = (reader.status, node.time.now())
        guard let lookedAt = status.lookedAt else { return nil }
        let found = status.foundAt.map { $0.adding(seconds: Self.lagSeconds) > now } ?? false
        let lag = max(now.milliseconds - lookedAt.milliseconds, found ? status.lagMilliseconds : 0)
        return Double(max(0, lag)) / 1000
    }
}
