import GraphQLTransport
import HTTPTypes
import JSON
import NIOCore

/// How a request is answered.
enum Answer<Caller: Sendable>: Sendable {
    case response(OutgoingResponse)
    case stream(EventStreamOpening<Caller>)
}

/// Turns one request into one response or one stream: routes, negotiation, credentials, the service.
///
/// A class, because every request is given the one there is.
final class Responder<Service: GraphQLService>: Sendable {
    typealias Answer = TocsinHTTP.Answer<Service.Caller>

    let service: Service
    let health: any HealthReporting
    let routes: [HTTPRoute]
    let settings: HTTPServerSettings
    let registry: ConnectionRegistry
    let origins: CrossOrigin

    init(
        _ content: HTTPServer<Service>.Content,
        settings: HTTPServerSettings,
        registry: ConnectionRegistry
    ) {
        service = content.service
        health = content.health
        routes = content.routes
        self.settings = settings
        self.registry = registry
        origins = CrossOrigin(settings.crossOrigin)
    }

    /// Answers a request.
    ///
    /// What does not wait is done in functions that cannot: what they need is not in the memory of the task.
    func respond(to request: IncomingRequest) async -> Answer {
        if let preflight = origins.preflight(of: request) { return .response(preflight) }
        guard request.path == settings.graphQLPath else { return readable(.response(await routed(request)), request) }
        let agreement: HTTPExchange.Agreement
        switch HTTPExchange(request).negotiated() {
        case .success(let found): agreement = found
        case .failure(let refusal): return readable(.response(OutgoingResponse(refusal)), request)
        }
        switch step(after: await service.authenticate(request.credentials), request, agreement) {
        case .answer(let answer): return readable(answer, request)
        case .execute(let asked, let caller, let style):
            let reply = await service.execute(asked, caller: caller, style: style)
            return readable(.response(OutgoingResponse(reply, agreement.mediaType, asked.operationName)), request)
        }
    }

    /// What lets pages of other origins read the answer is added to it; streams have it already.
    private func readable(_ answer: Answer, _ request: IncomingRequest) -> Answer {
        guard case .response(var response) = answer else { return answer }
        let fields = origins.fields(for: request)
        guard !fields.isEmpty else { return answer }
        response.fields += fields
        return .response(response)
    }

    /// Whether one of the further paths is meant, which do not speak GraphQL.
    func isRouted(_ path: String) -> Bool { routes.contains { $0.covers(path) } }

    private func routed(_ request: IncomingRequest) async -> OutgoingResponse {
        switch request.path {
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
        guard let route = routes.first(where: { $0.method == nil || $0.method == method }) else {
            return methodNotAllowed(request, allow: routes.compactMap(\.method?.rawValue))
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
            fields: OutgoingResponse.uncached,
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

// GraphQL over HTTP and over server-sent events.
extension Responder {
    /// What is to be done once it is known who asks.
    private enum Step {
        case answer(Answer)
        case execute(GraphQLRequest, Service.Caller, ResponseStyle)
    }

    private func step(
        after outcome: AuthenticationOutcome<Service.Caller>,
        _ request: IncomingRequest,
        _ agreement: HTTPExchange.Agreement
    ) -> Step {
        let mediaType = agreement.mediaType
        do throws(HTTPRefusal) {
            switch outcome {
            case .caller(let caller):
                let refusal = settings.forgery.refusal(of: HTTPExchange(request), agreement, header: request.header)
                if let refusal { throw refusal }
                return try step(try parsed(request, agreement), caller, agreement, request)
            case .refused(let message): throw HTTPRefusal(.unauthorized, message, .unauthenticated, mediaType)
            case .unavailable(let message): throw HTTPRefusal(.serviceUnavailable, message, .unavailable, mediaType)
            }
        } catch {
            return .answer(.response(OutgoingResponse(error)))
        }
    }

    private func parsed(
        _ request: IncomingRequest,
        _ agreement: HTTPExchange.Agreement
    ) throws(HTTPRefusal) -> GraphQLRequest {
        do throws(RequestFault) {
            switch agreement.source {
            case .parameters:
                return try GraphQLRequest.parse(queryString: request.queryString, limits: settings.request)
            case .body: return try GraphQLRequest.parse(body: request.body.readableBytesView, limits: settings.request)
            }
        } catch {
            throw HTTPRefusal(.badRequest, error.message, .badRequest, agreement.mediaType)
        }
    }

    private func step(
        _ asked: GraphQLRequest,
        _ caller: Service.Caller,
        _ agreement: HTTPExchange.Agreement,
        _ request: IncomingRequest
    ) throws(HTTPRefusal) -> Step {
        let mediaType = agreement.mediaType
        // Events are written as the specification says, whatever else the client takes.
        let style = agreement.eventStream == .always ? .standard : mediaType.style
        let lookup = service.operationKind(of: asked, caller: caller, style: style)
        if let kind = lookup.kind, let refusal = HTTPRefusal.refusal(of: kind, agreement) { throw refusal }
        switch (lookup, agreement.eventStream) {
        case (.invalid(let reply), .always): return .answer(stream(.reply(reply), asked, caller, request))
        case (.invalid(let reply), _):
            return .answer(.response(OutgoingResponse(reply, mediaType, asked.operationName)))
        case (.subscription, _), (_, .always): return .answer(stream(.operation(asked), asked, caller, request))
        case (.query, _), (.mutation, _): return .execute(asked, caller, style)
        }
    }

    private func stream(
        _ content: EventStreamSession.Content,
        _ asked: GraphQLRequest,
        _ caller: Service.Caller,
        _ request: IncomingRequest
    ) -> Answer {
        .stream(
            EventStreamOpening(
                content,
                caller: caller,
                operationName: asked.operationName,
                lastEventID: request.header("last-event-id"),
                fields: origins.fields(for: request)
            )
        )
    }
}

extension OutgoingResponse {
    /// The answer to a request that never reached the service, or the route it was for.
    init(_ refusal: HTTPRefusal, isRouted: Bool = false) {
        var fields = Self.uncached
        if let allow = refusal.allow { fields.append(("allow", allow)) }
        if refusal.status == .unauthorized { fields.append(("www-authenticate", "Bearer")) }
        if refusal.status == .serviceUnavailable { fields.append(("retry-after", "1")) }
        self.init(
            status: refusal.status,
            contentType: refusal.mediaType.contentType,
            fields: fields,
            body: isRouted ? ErrorBody.plain(refusal.message, code: refusal.code.rawValue) : refusal.body
        )
    }

    /// What the service answered.
    init(_ reply: GraphQLReply, _ mediaType: ResponseMediaType, _ operationName: String?) {
        let status = reply.status(for: mediaType)
        self.init(status: status, contentType: mediaType.contentType, fields: Self.uncached, body: reply.body)
        switch reply.kind {
        case .tooManyRequests(let seconds): fields.append(("retry-after", "\(seconds)"))
        case .unavailable: fields.append(("retry-after", "1"))
        case .executed, .requestError: break
        }
        self.operationName = operationName
    }

    /// The fields of what must not be kept, made once.
    static let uncached: [(name: String, value: String)] = [("cache-control", "no-store")]
}

extension HTTPExchange {
    /// What negotiation needs of a request.
    init(_ request: IncomingRequest) {
        self.init(
            method: request.method,
            contentType: request.header(.contentType, "content-type"),
            contentEncoding: request.header(.contentEncoding, "content-encoding"),
            accept: request.header(.accept, "accept")
        )
    }
}
