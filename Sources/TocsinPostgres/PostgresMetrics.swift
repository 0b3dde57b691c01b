import Metrics

/// What is counted of connections to one database, shared by all copies of its value.
final class PostgresMetrics: Sendable {
    enum ConnectResult: String, MetricLabel {
        static let labelName = "result"
        case ok, failed
    }

    enum ConnectionState: String, MetricLabel {
        static let labelName = "state"
        case idle, busy, away
    }

    let connects = CounterSet<ConnectResult>()
    /// Connections that are open.
    let open = Gauge()
    /// Those that wait for an answer.
    let busy = Gauge()
    /// From what was sent last to the end of its answers.
    let roundTrips = Histogram(bounds: Histogram.fast)
}

extension PostgresState: MetricSource {
    var families: [MetricFamily] {
        let (open, busy) = (metrics.open.value, metrics.busy.value)
        let away = trouble == nil ? 0 : 1
        return [
            .gauge(
                "tocsin_postgres_connections",
                "Connections to PostgreSQL; away is 1 while none can be made",
                by: PostgresMetrics.ConnectionState.self
            ) { state in
                switch state {
                case .idle: .integer(max(0, open - busy))
                case .busy: .integer(busy)
                case .away: .integer(away)
                }
            },
            .counter("tocsin_postgres_connects_total", "Attempts to connect to a server", metrics.connects),
            .histogram(
                "tocsin_postgres_round_trip_seconds",
                "Time from a question, or several sent together, to the end of the answer",
                metrics.roundTrips
            ),
        ]
    }
}
