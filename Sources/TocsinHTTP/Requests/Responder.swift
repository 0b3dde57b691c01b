import GraphQLTransport
import HTTPTypes
import JSON
import NIOCore

/// Turns one request into one response: routes, negotiation, credentials, the service.
struct Responder<Service: GraphQLService>: Sendable {
    let service: Service
    let health: any HealthReporting
    let routes: [HTTPRoute]
    let settings: HTTPServerSettings
    let registry: ConnectionRegistry

    func respond(to request: IncomingRequest) async -> OutgoingResponse {
        let origins = AllowedOrigins(settings.allowedOrigins)
        if let preflight = origins.preflight(of: request) { return preflight }
        var response = await routed(request)
        response.fields += origins.fields(for: request)
        return response
    }

    private func routed(_ request: IncomingRequest) async -> OutgoingResponse {
        switch request.path {
        case settings.graphQLPath: return await graphQL(request)
        case "/healthz": return await report(request) { health.live() }
        case "/readyz": return await report(request) { await readiness() }
        default: break
        }
        let routes = routes.filter { $0.covers(request.path) }
        guard !routes.isEmpty else {
            let message = "There is nothing at this path. GraphQL is at \(settings.graphQLPath)."
            return OutgoingResponse(HTTPRefusal(.notFound, message, .badRequest))
        }
        let method = request.method == .head ? .get : request.method
        guard let route = routes.first(where: { $0.method == method }) else {
            return methodNotAllowed(request, allow: routes.map(\.method.rawValue))
        }
        return await route.respond(request)
    }

    private func methodNotAllowed(_ request: IncomingRequest, allow: [String]) -> OutgoingResponse {
        let allow = allow.joined(separator: ", ")
        let message = "\(request.method.rawValue) is not served at this path. Send one of: \(allow)."
        return OutgoingResponse(HTTPRefusal(.methodNotAllowed, message, .badRequest, allow: allow))
    }

    private func report(_ request: IncomingRequest, _ ask: () async -> HealthReport) async -> OutgoingResponse {
        guard request.method == .get || request.method == .head else {
            return methodNotAllowed(request, allow: ["GET"])
        }
        let report = await ask()
        return OutgoingResponse(
            status: report.status == .ok ? .ok : .serviceUnavailable,
            contentType: ResponseMediaType.json.contentType,
            fields: [("cache-control", "no-store")],
            body: report.body
        )
    }

    private func readiness() async -> HealthReport {
        guard !registry.isStopping else {
            let body: JSONValue = ["status": "unavailable", "reason": "The server is stopping."]
            return HealthReport(status: .unavailable, body: body.serialized())
        }
        return await health.ready()
    }
}

// GraphQL over HTTP.
extension Responder {
    private func graphQL(_ request: IncomingRequest) async -> OutgoingResponse {
        let exchange = HTTPExchange(
            method: request.method,
            contentType: request.header("content-type"),
            contentEncoding: request.header("content-encoding"),
            accept: request.header("accept")
        )
        switch exchange.negotiated() {
        case .failure(let refusal): return OutgoingResponse(refusal)
        case .success(let agreement): return await graphQL(request, agreement)
        }
    }

    private func graphQL(_ request: IncomingRequest, _ agreement: HTTPExchange.Agreement) async -> OutgoingResponse {
        let mediaType = agreement.mediaType
        let caller: Service.Caller
        switch await service.authenticate(request.credentials) {
        case .caller(let known): caller = known
        case .refused(let message):
            return OutgoingResponse(HTTPRefusal(.unauthorized, message, .unauthenticated, mediaType))
        case .unavailable(let message):
            return OutgoingResponse(HTTPRefusal(.serviceUnavailable, message, .unavailable, mediaType))
        }
        let asked: GraphQLRequest
        do {
            asked = try parsed(request, agreement.source)
        } catch {
            return OutgoingResponse(HTTPRefusal(.badRequest, error.message, .badRequest, mediaType))
        }
        var response = await run(asked, caller, agreement)
        response.operationName = asked.operationName
        return response
    }

    private func parsed(
        _ request: IncomingRequest,
        _ source: HTTPExchange.Source
    ) throws(RequestFault) -> GraphQLRequest {
        switch source {
        case .parameters: try GraphQLRequest.parse(queryString: request.queryString, limits: settings.request)
        case .body: try GraphQLRequest.parse(body: request.body.readableBytesView, limits: settings.request)
        }
    }

    private func run(
        _ asked: GraphQLRequest,
        _ caller: Service.Caller,
        _ agreement: HTTPExchange.Agreement
    ) async -> OutgoingResponse {
        let mediaType = agreement.mediaType
        let kind: OperationKind
        switch service.operationKind(of: asked, caller: caller, style: mediaType.style) {
        case .query: kind = .query
        case .mutation: kind = .mutation
        case .subscription: kind = .subscription
        case .invalid(let reply): return OutgoingResponse(reply, mediaType)
        }
        if let refusal = HTTPRefusal.refusal(of: kind, from: agreement.source, mediaType) {
            return OutgoingResponse(refusal)
        }
        return OutgoingResponse(await service.execute(asked, caller: caller, style: mediaType.style), mediaType)
    }
}

extension OutgoingResponse {
    /// The answer to a request that never reached the service.
    init(_ refusal: HTTPRefusal) {
        var fields = [("cache-control", "no-store")]
        if let allow = refusal.allow { fields.append(("allow", allow)) }
        if refusal.status == .unauthorized { fields.append(("www-authenticate", "Bearer")) }
        if refusal.status == .serviceUnavailable { fields.append(("retry-after", "1")) }
        self.init(
            status: refusal.status,
            contentType: refusal.mediaType.contentType,
            fields: fields,
            body: refusal.body
        )
    }

    /// What the service answered.
    init(_ reply: GraphQLReply, _ mediaType: ResponseMediaType) {
        var fields = [("cache-control", "no-store")]
        switch reply.kind {
        case .tooManyRequests(let seconds): fields.append(("retry-after", "\(seconds)"))
        case .unavailable: fields.append(("retry-after", "1"))
        case .executed, .requestError: break
        }
        let status = reply.status(for: mediaType)
        self.init(status: status, contentType: mediaType.contentType, fields: fields, body: reply.body)
    }
}
