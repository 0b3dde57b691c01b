import GraphQLTransport
import HTTPTypes
package import Metrics
import NIOCore

/// What a server counts of its connections and requests.
package final class HTTPMetrics: Sendable {
    /// What a connection is.
    enum ConnectionKind: String, MetricLabel {
        static let labelName = "kind"
        /// `stream`: its request is answered by events.
        case http, websocket, stream
    }

    /// Why a request or a connection was refused before anything of it was run.
    enum Refusal: String, MetricLabel {
        static let labelName = "reason"
        /// `smuggling`: a request that two servers could read in two ways.
        case head, target, body, fields, type, method, timeout, rate, connections, smuggling, tls
    }

    let requests = RequestTimes()
    let active = Gauge()
    let refused = CounterSet<Refusal>()
    let opened = CounterSet<ConnectionKind>()
    /// All connections, whatever they are.
    let connections = Gauge()
    let webSockets = Gauge()
    let streams = Gauge()

    /// Nothing has happened yet.
    package init() {}

    /// Counts an answer; those that never reached a handler also by their reason.
    func record(_ request: IncomingRequest, _ status: HTTPResponse.Status, _ route: RouteLabel) {
        requests.record(request.method, status.code, route, took: .now() - request.startedAt)
        switch status.code {
        case 405: refused[.method].add()
        case 406, 415: refused[.type].add()
        case 429: refused[.rate].add()
        default: break
        }
    }

    /// Counts a request that could not be read, or was not waited for.
    func record(_ refusal: HTTPRefusal) {
        let reason: Refusal
        switch refusal.status {
        case .uriTooLong: reason = .target
        case .contentTooLarge: reason = .body
        case .requestHeaderFieldsTooLarge: reason = .fields
        case .requestTimeout: reason = .timeout
        case .tooManyRequests: reason = .rate
        case .serviceUnavailable where refusal.code == .limit: reason = .rate
        case .serviceUnavailable: reason = refusal.code == .timeout ? .timeout : .connections
        default: reason = refusal.isAmbiguous ? .smuggling : .head
        }
        refused[reason].add()
    }

    func connectionOpened() {
        connections.add()
        opened[.http].add()
    }
}

extension HTTPMetrics: MetricSource {
    /// Requests, connections, and what was refused.
    package var families: [MetricFamily] {
        let (webSockets, streams) = (webSockets.value, streams.value)
        let rest = connections.value - webSockets - streams
        return [
            MetricFamily(
                .histogram,
                "http_server_request_duration_seconds",
                "From a request's head to its whole answer; of sockets and streams, to their beginning",
                requests.samples
            ),
            .gauge("http_server_active_requests", "Requests that are being answered", active.value),
            .counter("tocsin_http_refused_total", "Requests and connections refused before anything was run", refused),
            .gauge("tocsin_http_connections", "Open connections", by: ConnectionKind.self) { kind in
                switch kind {
                case .http: .integer(max(0, rest))
                case .websocket: .integer(webSockets)
                case .stream: .integer(streams)
                }
            },
            .counter("tocsin_http_connections_opened_total", "Connections that were opened or became this", opened),
        ]
    }
}
