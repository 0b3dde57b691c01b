import Metrics
import Testing
import TocsinCore

@Suite("What is committed is counted")
struct CommitMetricsTests {
    @Test("a topic that nobody listed makes no series, and one listed twice makes one")
    func topics() {
        let metrics = CommitMetrics(topics: ["a", "b\"c", "a"])
        let text = String(decoding: MetricFormat.text.write(metrics.families), as: UTF8.self)
        let series = text.split(separator: "\n").filter { $0.hasPrefix("tocsin_topic_messages_total{") }
        #expect(
            series == [#"tocsin_topic_messages_total{topic="a"} 0"#, #"tocsin_topic_messages_total{topic="b\"c"} 0"#]
        )
    }

    @Test("a device whose token moved counts as moved, others that end as ended")
    func devices() {
        let metrics = CommitMetrics()
        metrics.note([
            .deviceEnded(DeviceID("1"), reason: .tokenMoved), .deviceEnded(DeviceID("2"), reason: .unregistered),
            .deviceEnded(DeviceID("3"), reason: "ANYTHING"), .outboxFilled,
        ])
        let text = String(decoding: MetricFormat.text.write(metrics.families), as: UTF8.self)
        #expect(text.contains("tocsin_device_events_total{event=\"moved\"} 1\n"))
        #expect(text.contains("tocsin_device_events_total{event=\"ended\"} 2\n"))
        #expect(text.contains("tocsin_device_events_total{event=\"registered\"} 0\n"))
    }
}
