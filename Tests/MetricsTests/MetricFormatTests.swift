import Metrics
import Testing

@Suite("Text of metrics")
struct MetricFormatTests {
    private enum Kind: String, MetricLabel {
        static let labelName = "kind"
        case read, write
    }

    private enum Outcome: String, MetricLabel {
        static let labelName = "result"
        case ok, failed
    }

    private static func text(_ format: MetricFormat, _ families: MetricFamily...) -> String {
        String(decoding: format.write(families), as: UTF8.self)
    }

    @Test("a counter is declared with its whole name, and in OpenMetrics without _total")
    func counters() {
        let family = MetricFamily.counter("t_bytes_total", "Bytes sent", 3)
        #expect(
            Self.text(.text, family) == """
                # HELP t_bytes_total Bytes sent
                # TYPE t_bytes_total counter
                t_bytes_total 3

                """
        )
        #expect(
            Self.text(.openMetrics, family) == """
                # HELP t_bytes Bytes sent
                # TYPE t_bytes counter
                # UNIT t_bytes bytes
                t_bytes_total 3
                # EOF

                """
        )
    }

    @Test("every case of a set is there from the start, in its order")
    func sets() {
        let set = CounterSet<LabelPair<Kind, Outcome>>()
        set[LabelPair(.write, .ok)].add(2)
        #expect(
            Self.text(.text, .counter("t_total", "Things", set)) == """
                # HELP t_total Things
                # TYPE t_total counter
                t_total{kind="read",result="ok"} 0
                t_total{kind="read",result="failed"} 0
                t_total{kind="write",result="ok"} 2
                t_total{kind="write",result="failed"} 0

                """
        )
    }

    @Test("a histogram's buckets add up, and its bounds are written alike in both formats")
    func histograms() {
        let set = HistogramSet<Kind>(bounds: [0.5, 1])
        set[.read].record(seconds: 0.25)
        set[.read].record(seconds: 4)
        let lines = """
            t_seconds_bucket{kind="read",le="0.5"} 1
            t_seconds_bucket{kind="read",le="1.0"} 1
            t_seconds_bucket{kind="read",le="+Inf"} 2
            t_seconds_sum{kind="read"} 4.25
            t_seconds_count{kind="read"} 2
            t_seconds_bucket{kind="write",le="0.5"} 0
            """
        for format in MetricFormat.allCases {
            #expect(Self.text(format, .histogram("t_seconds", "Times", set)).contains(lines))
        }
        let alone = Histogram(bounds: [1])
        #expect(
            Self.text(.text, .histogram("t", "Times", alone)).contains(
                "t_bucket{le=\"1.0\"} 0\nt_bucket{le=\"+Inf\"} 0"
            )
        )
    }

    @Test("a family without a value is left out")
    func absentFamilies() {
        #expect(Self.text(.openMetrics, .gauge("t", "Nothing", nil as Int?)) == "# EOF\n")
    }

    @Test("gauges by label have a series for each case with a value")
    func gauges() {
        let family = MetricFamily.gauge("t_seconds", "Waits", by: Kind.self) { $0 == .read ? .number(0.5) : nil }
        #expect(Self.text(.text, family).hasSuffix("gauge\nt_seconds{kind=\"read\"} 0.5\n"))
    }

    @Test("any text is good as a label's value")
    func escapes() {
        #expect(metricLabel("node", "a\\b\"c\nd") == #"node="a\\b\"c\nd""#)
    }

    @Test("numbers that are none have their words")
    func oddNumbers() {
        let values = [Double.nan, .infinity, -.infinity].map { MetricSample(.number($0)) }
        #expect(Self.text(.text, MetricFamily(.gauge, "t", "Odd", values)).hasSuffix("t NaN\nt +Inf\nt -Inf\n"))
    }
}
