import Metrics
import Synchronization
import TocsinPush

/// What a transport's connections have gone through since it was made; for metrics.
package struct HTTP2Counts: Sendable, Hashable {
    /// Connections that became ready.
    package var opened = 0
    /// Connections ready now.
    package var open = 0
    /// Connects that failed.
    package var failed = 0
    /// Why the last connect failed, or the last connection ended too early; empty if none did.
    package var lastFailure = ""
}

/// The counts, shared by the pools of a transport.
final class ConnectionCounter: Sendable {
    /// What connecting came to.
    enum Connect: String, MetricLabel {
        static let labelName = "result"
        case ok, failed
        /// The peer ended a connection that was in use.
        case goaway
    }

    private let state = Mutex(HTTP2Counts())
    private let connects = CounterSet<LabelPair<PushService, Connect>>()
    private let connections = GaugeSet<PushService>()

    var counts: HTTP2Counts { state.withLock { $0 } }

    func opened(of service: PushService?) {
        state.withLock { counts in
            counts.opened += 1
            counts.open += 1
        }
        count(.ok, of: service)
        if let service { connections[service].add() }
    }

    func closed(of service: PushService?) {
        state.withLock { $0.open -= 1 }
        if let service { connections[service].add(-1) }
    }

    func failed(_ reason: String, of service: PushService?) {
        state.withLock { counts in
            counts.failed += 1
            counts.lastFailure = reason
        }
        count(.failed, of: service)
    }

    func count(_ connect: Connect, of service: PushService?) {
        if let service { connects[LabelPair(service, connect)].add() }
    }

    var families: [MetricFamily] {
        [
            .gauge("tocsin_push_connections", "Connections to providers", connections),
            .counter("tocsin_push_connects_total", "Connections made, refused or ended by the provider", connects),
        ]
    }
}
