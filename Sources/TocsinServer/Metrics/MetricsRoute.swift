import GraphQLTransport
import HTTPTypes
import JSON
import TocsinAPI
import TocsinCore
import TocsinHTTP

/// `/metrics` on the port that everybody reaches: for tokens of scope `metrics` alone.
struct MetricsRoute: Sendable {
    let metrics: MetricsPart
    let service: TocsinGraphQL

    var route: HTTPRoute {
        HTTPRoute(.get, "/metrics", admit: { _ in .refused(Self.bodyless.response) }) { await respond(to: $0) }
            .labelled(.metrics)
    }

    private func respond(to request: IncomingRequest) async -> OutgoingResponse {
        do throws(RouteFault) {
            try await check(request)
        } catch {
            return error.response
        }
        var response = metrics.response(to: request)
        response.isLetIn = true
        return response
    }

    private func check(_ request: IncomingRequest) async throws(RouteFault) {
        switch await service.authenticate(request.credentials) {
        case .caller(let caller):
            guard !service.hasLostAccess(caller) else { throw .unauthenticated(AuthenticationRefusal.revoked.rawValue) }
            guard caller.scope.maySeeMetrics else { throw .withoutMetrics }
        case .refused(let message): throw .unauthenticated(message)
        case .unavailable(let message): throw .unavailable(message)
        }
    }

    private static let bodyless = RouteFault.badRequest(.badRequest, "Requests to this path have no body.")
}

/// `GET /metrics` of the admin listener, for processes of this machine.
struct AdminMetricsRoute: AdminRoute {
    let method = HTTPRequest.Method.get
    let path = "/metrics"
    let access = AdminAccess.readers
    let metrics: MetricsPart

    func answer(_ request: IncomingRequest) async -> OutgoingResponse { metrics.response(to: request) }
}

extension MetricsPart {
    /// All figures, in the form and coding that the request takes.
    func response(to request: IncomingRequest) -> OutgoingResponse {
        let answer = exposition(
            accept: request.header("accept"),
            acceptEncoding: request.header("accept-encoding")
        )
        var fields = [(name: "cache-control", value: "no-store"), ("vary", "accept, accept-encoding")]
        if let encoding = answer.encoding { fields.append(("content-encoding", encoding)) }
        return OutgoingResponse(status: .ok, contentType: answer.contentType, fields: fields, body: answer.body)
    }
}

extension RouteFault {
    fileprivate static let withoutMetrics = RouteFault(
        [
            "message": "This token may not read metrics. Make one with tocsin token create --scope metrics.",
            "extensions": ["code": .string(ErrorCode.unauthorized.rawValue)],
        ]
    )
}
