import HTTPTypes
import Metrics
import NIOCore
import Synchronization

/// What a path is to those who watch the server; never the path itself.
package enum RouteLabel: String, CaseIterable, Sendable {
    case graphQL = "/graphql"
    case realtime = "/graphql/realtime"
    case auth = "/auth"
    case healthz = "/healthz"
    case readyz = "/readyz"
    case metrics = "/metrics"
    case receivers = "/in"
    case console, rest, other
}

/// How long requests took: a histogram for each method, status and route, made when it is first
/// needed.
///
/// There are at most `limit` of them, so that no client can make series without end; what comes
/// beyond is counted as `other`. Refusals, which strangers can have of any kind, take at most half.
final class RequestTimes: Sendable {
    private static let limit = 60
    private static let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"]
    /// Those that the server sends by itself; 0 stands for all that routes may send beside them.
    private static let statuses = [
        200, 101, 201, 202, 204, 303, 304, 400, 401, 403, 404, 405, 406, 408, 409, 413, 415, 417, 426, 429, 500, 501,
        503, 0,
    ]
    private static let routes = RouteLabel.allCases

    /// One for each method, status and route.
    private let all = InlineArray<1680, AtomicLazyReference<Histogram>> { _ in AtomicLazyReference() }
    private let count = Atomic(0)
    private let refusals = Atomic(0)
    private let others = Histogram(bounds: Histogram.http)

    init() { _ = all[Self.position(6, 23, .other)].storeIfNil(others) }

    func record(_ method: HTTPRequest.Method, _ status: Int, _ route: RouteLabel, took time: TimeAmount) {
        let statusIndex = Self.statuses.firstIndex(of: status) ?? Self.statuses.count - 1
        let position = Self.position(Self.index(of: method), statusIndex, route)
        let histogram = histogram(at: position, isRefusal: (400..<500).contains(status))
        histogram.record(seconds: Double(time.nanoseconds) / 1e9)
    }

    var samples: [MetricSample] {
        var samples: [MetricSample] = []
        for (methodIndex, method) in Self.methods.enumerated() {
            for (statusIndex, status) in Self.statuses.enumerated() {
                for route in Self.routes {
                    guard let histogram = all[Self.position(methodIndex, statusIndex, route)].load() else { continue }
                    let labels = [
                        metricLabel("http_request_method", method),
                        metricLabel("http_response_status_code", status == 0 ? "other" : "\(status)"),
                        metricLabel("http_route", route.rawValue),
                    ]
                    samples.append(
                        MetricSample(labels: labels.joined(separator: ","), .histogram(histogram.snapshot))
                    )
                }
            }
        }
        return samples
    }

    private func histogram(at position: Int, isRefusal: Bool) -> Histogram {
        if let known = all[position].load() { return known }
        if isRefusal, refusals.add(1, ordering: .relaxed).newValue > Self.limit / 2 {
            refusals.subtract(1, ordering: .relaxed)
            return others
        }
        guard count.add(1, ordering: .relaxed).newValue < Self.limit else {
            count.subtract(1, ordering: .relaxed)
            if isRefusal { refusals.subtract(1, ordering: .relaxed) }
            return others
        }
        let new = Histogram(bounds: Histogram.http)
        let stored = all[position].storeIfNil(new)
        // Another thread was first, and counted it.
        if stored !== new {
            count.subtract(1, ordering: .relaxed)
            if isRefusal { refusals.subtract(1, ordering: .relaxed) }
        }
        return stored
    }

    private static func position(_ method: Int, _ status: Int, _ route: RouteLabel) -> Int {
        (method * statuses.count + status) * routes.count + (routes.firstIndex(of: route) ?? routes.count - 1)
    }

    private static func index(of method: HTTPRequest.Method) -> Int {
        switch method {
        case .get: 0
        case .post: 1
        case .put: 2
        case .patch: 3
        case .delete: 4
        case .options: 5
        default: 6
        }
    }
}
