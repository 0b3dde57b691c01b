package import Metrics

/// Counts sockets and event streams, and what goes over them.
package final class SocketMetrics: MetricSource {
    /// What a connection speaks.
    enum Carrier: String, MetricLabel {
        static let labelName = "protocol"
        case webSocket = "ws"
        case appSync = "appsync"
        case events = "sse"
    }

    /// Why a peer that does not read was cut.
    enum Slowness: String, MetricLabel {
        static let labelName = "reason"
        /// Too many bytes wait for it.
        case bytes
        /// Too many messages wait for it.
        case events
        /// It took nothing of a write for too long.
        case write
    }

    /// How a WebSocket ended.
    enum End: String, MetricLabel {
        static let labelName = "code"
        case normal = "1000"
        case goingAway = "1001"
        case protocolError = "1002"
        case unsupportedData = "1003"
        case invalidPayload = "1007"
        case messageTooBig = "1009"
        case internalError = "1011"
        case tryAgainLater = "1013"
        case badRequest = "4400"
        case unauthorized = "4401"
        case forbidden = "4403"
        case subprotocolNotAcceptable = "4406"
        case initialisationTimeout = "4408"
        case subscriberExists = "4409"
        case tooManyRequests = "4429"
        case internalServerError = "4500"
        /// With a code that only the peer knows.
        case other
        /// Without a goodbye of either side.
        case dropped

        /// The end by a close frame; one without a code says no more than that all is done.
        init(closedWith code: UInt16?) {
            guard let code else {
                self = .normal
                return
            }
            self = End(rawValue: "\(code)") ?? .other
        }
    }

    private let webSocket: CarrierMetrics
    private let appSync: CarrierMetrics
    private let events: CarrierMetrics
    private let queueBytes = Gauge()
    private let cut = CounterSet<Slowness>()
    /// How WebSockets ended.
    let ends = CounterSet<End>()

    /// Counts of 0.
    package init() {
        (webSocket, appSync) = (CarrierMetrics(queueBytes, cut), CarrierMetrics(queueBytes, cut))
        events = CarrierMetrics(queueBytes, cut)
    }

    /// What connections that speak this count by.
    subscript(carrier: Carrier) -> CarrierMetrics {
        switch carrier {
        case .webSocket: webSocket
        case .appSync: appSync
        case .events: events
        }
    }

    /// The figures of now.
    package var families: [MetricFamily] {
        [
            byCarrier(.counter, "tocsin_live_events_total", "Events handed to subscribers") { $0.events.value },
            byCarrier(.counter, "tocsin_live_frames_total", "Messages written to sockets and streams") {
                $0.frames.value
            },
            byCarrier(.counter, "tocsin_live_bytes_total", "Bytes written to sockets and streams") { $0.bytes.value },
            byCarrier(.gauge, "tocsin_sockets", "Open WebSockets and event streams") { $0.sockets.value },
            byCarrier(.gauge, "tocsin_subscriptions", "Running subscriptions") { $0.subscriptions.value },
            .counter("tocsin_socket_closed_total", "WebSockets that ended, by the close code", ends),
            .counter("tocsin_slow_readers_cut_total", "Connections cut because their peer did not read", cut),
            .gauge("tocsin_socket_queue_bytes", "Bytes that wait for peers to read", queueBytes.value),
        ]
    }

    private func byCarrier(
        _ kind: MetricFamily.Kind,
        _ name: String,
        _ help: String,
        _ value: (CarrierMetrics) -> Int
    ) -> MetricFamily {
        MetricFamily(
            kind,
            name,
            help,
            Carrier.allCases.map { MetricSample(labels: $0.labels, .integer(value(self[$0]))) }
        )
    }
}

/// What the connections of one carrier count by; each holds it.
final class CarrierMetrics: Sendable {
    let events = Counter()
    let frames = Counter()
    let bytes = Counter()
    let sockets = Gauge()
    let subscriptions = Gauge()
    /// Of all carriers together.
    let queueBytes: Gauge
    /// Of all carriers together.
    let cut: CounterSet<SocketMetrics.Slowness>

    init(_ queueBytes: Gauge, _ cut: CounterSet<SocketMetrics.Slowness>) {
        (self.queueBytes, self.cut) = (queueBytes, cut)
    }
}
