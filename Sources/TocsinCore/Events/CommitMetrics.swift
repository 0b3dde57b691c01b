package import Metrics

/// Counts what this node commits: messages, and what becomes of devices; and what quotas refuse.
///
/// It is told once of each commit of this node, whatever asked for it.
package final class CommitMetrics: MetricSource {
    /// What can become of a device.
    package enum DeviceEvent: String, MetricLabel {
        /// The label's name.
        package static let labelName = "event"
        case registered, moved, ended, revived
    }

    private enum Priority: String, MetricLabel {
        static let labelName = "priority"
        case one = "1"
        case two = "2"
        case three = "3"
        case four = "4"
        case five = "5"
        case other
    }

    private let created = CounterSet<Priority>()
    /// Those of the priorities 1 to 5, in their order.
    private let ofPriority: [Counter]
    private let bytes = Counter()
    /// Topics that are counted for themselves, in the order of the settings.
    private let topics: [(id: String, messages: Counter)]
    private let ofTopic: [String: Counter]
    private let deviceEvents = CounterSet<DeviceEvent>()
    /// What was not stored because its owner has as much as they may.
    package let refused = CounterSet<Quota>()

    /// Counts of 0; messages of these topics are counted for each of them, too.
    package init(topics ids: [String] = []) {
        let set = created
        ofPriority = [.one, .two, .three, .four, .five].map { set[$0] }
        var known: Set<String> = []
        topics = ids.filter { known.insert($0).inserted }.map { ($0, Counter()) }
        ofTopic = Dictionary(topics.map { ($0.id, $0.messages) }) { first, _ in first }
    }

    /// Counts the events of a commit of this node.
    package func note(_ events: [DomainEvent]) {
        for event in events {
            switch event {
            case .created(let record): note(record)
            case .deviceEnded(_, let reason): note(reason == .tokenMoved ? .moved : .ended)
            case .updated, .deleted, .outboxFilled, .webhooksFilled, .deliveryChanged, .pushesUnwanted,
                .incidentAnswered, .accessEnded, .grantsChanged, .rightsChanged:
                continue
            case .readMarksChanged: continue
            }
        }
    }

    /// Counts what became of devices, where no event of a commit tells it.
    package func note(_ event: DeviceEvent, _ count: Int = 1) { deviceEvents[event].add(count) }

    private func note(_ record: Record) {
        let known = record.model.knownPositions
        // Messages alone are numbered; others may have a field of this name.
        guard record.model.numberPosition != nil, let position = known.priority else { return }
        let priority = record.values[position].int.map { Int($0) - 1 } ?? -1
        (ofPriority.indices.contains(priority) ? ofPriority[priority] : created[.other]).add()
        bytes.add(record.textBytes)
        guard !ofTopic.isEmpty, let topic = known.topic.flatMap({ record.values[$0].text }) else { return }
        ofTopic[topic]?.add()
    }

    /// The figures of now.
    package var families: [MetricFamily] {
        [
            .counter("tocsin_messages_created_total", "Messages committed by this node, by priority", created),
            .counter("tocsin_messages_bytes_total", "Bytes of the texts of messages committed by this node", bytes),
            MetricFamily(
                .counter,
                "tocsin_topic_messages_total",
                "Messages committed by this node in each topic of TOCSIN_METRICS_TOPICS",
                topics.map { MetricSample(labels: metricLabel("topic", $0.id), .integer($0.messages.value)) }
            ),
            .counter("tocsin_device_events_total", "What became of devices on this node", deviceEvents),
            .counter("tocsin_quota_refused_total", "What was refused because there was as much as may be", refused),
        ]
    }
}
