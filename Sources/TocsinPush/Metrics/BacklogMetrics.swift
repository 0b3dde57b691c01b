package import Metrics
import Synchronization
package import TocsinCore

/// What waits for the outbox of all nodes, and how many devices there are.
package final class BacklogMetrics: Sendable {
    private enum Urgency: String, MetricLabel {
        static let labelName = "urgent"
        case usual = "0"
        case urgent = "1"
    }

    private enum Platform: String, MetricLabel {
        static let labelName = "platform"
        case ios, android, web
    }

    private struct Devices {
        var counts: [PushPlatform: Int] = [:]
        var looks = 0
    }

    /// Rows that one look goes through at most; more waits unseen.
    private static let limit = 10_000
    /// Counting devices reads all of them, so it is done in one of so many looks.
    private static let looksForDevices = 20
    private let devices = Mutex(Devices())

    /// Nothing was looked at yet.
    package init() {}

    /// Looks at what waits now.
    package func families(_ reader: any StoreReader, at now: Timestamp) throws(StoreError) -> [MetricFamily] {
        let backlog = try reader.pushBacklog(at: now, limit: Self.limit)
        let looks = devices.withLock { devices in
            devices.looks += 1
            return devices.looks
        }
        if looks % Self.looksForDevices == 1 {
            let counts = try reader.deviceCounts()
            devices.withLock { $0.counts = counts }
        }
        return families(of: backlog, devices.withLock(\.counts), at: now)
    }

    private func families(
        of backlog: PushBacklog,
        _ devices: [PushPlatform: Int],
        at now: Timestamp
    ) -> [MetricFamily] {
        var due: [PushService: PushBacklog.Waiting] = [:]
        for (kind, waiting) in backlog.due {
            let other = due[PushService(reaching: kind)]
            due[PushService(reaching: kind)] = PushBacklog.Waiting(
                count: waiting.count + (other?.count ?? 0),
                oldest: min(waiting.oldest, other?.oldest ?? waiting.oldest)
            )
        }
        let age = { (waiting: PushBacklog.Waiting?) in
            MetricSample.Value.number(
                waiting.map { Double(max(0, now.milliseconds - $0.oldest.milliseconds)) / 1000 } ?? 0
            )
        }
        return [
            .gauge(
                "tocsin_push_oldest_due_seconds",
                "How long the oldest delivery has been due; 0 where none is",
                by: PushService.self
            ) { age(due[$0]) },
            .gauge("tocsin_push_due", "Deliveries that are due, up to 10,000", by: PushService.self) {
                .integer(due[$0]?.count ?? 0)
            },
            .gauge(
                "tocsin_fanouts_waiting",
                "Fan-outs that no node holds, up to 10,000",
                backlog.fanouts.values.reduce(0) { $0 + $1.count }
            ),
            .gauge(
                "tocsin_fanout_oldest_seconds",
                "Age of the oldest fan-out that no node holds; 0 where there is none",
                by: Urgency.self
            ) { age(backlog.fanouts[$0 == .urgent]) },
            .gauge("tocsin_devices", "Active devices, counted every five minutes", by: Platform.self) { platform in
                .integer(PushPlatform(rawValue: platform.rawValue).flatMap { devices[$0] } ?? 0)
            },
        ]
    }
}

extension PushService {
    /// The service that reaches devices of a kind, as `init(reaching:)` says it of one device.
    fileprivate init(reaching kind: PushBacklog.Kind) {
        switch kind.platform {
        case .ios: self = kind.isNamedByFirebase ? .fcm : .apns
        case .android: self = .fcm
        case .web: self = kind.isSubscription ? .webPush : .fcm
        }
    }
}
