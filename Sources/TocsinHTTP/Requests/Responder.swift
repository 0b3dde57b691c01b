import GraphQLTransport
import HTTPTypes
import JSON
import NIOCore

/// How a request is answered.
enum Answer<Caller: Sendable>: Sendable {
    case response(OutgoingResponse)
    case stream(EventStreamOpening<Caller>)
}

/// How far a GraphQL request came without waiting.
private enum Progress {
    /// Its caller must be authenticated.
    case callerUnknown
    /// It has been answered.
    case answered
    /// It waits to be run; its name is for the log.
    case operation(OperationLookup.Run, name: String?)
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

    /// Hands the answer over, once.
    ///
    /// What does not wait is done in functions that cannot: what they need is not in the memory of the task.
    func respond(to request: IncomingRequest, _ answer: (Answer) -> Void) async {
        guard request.path == settings.graphQLPath else { return await respondRouted(request, answer) }
        guard let agreement = agreement(on: request, answer) else { return }
        var progress = begun(request, agreement, answer)
        if case .callerUnknown = progress { progress = await authenticated(request, agreement, answer) }
        guard case .operation(let run, let name) = progress else { return }
        let reply = await run()
        finish(OutgoingResponse(reply, agreement.mediaType, name), request, answer)
    }

    private func respondRouted(_ request: IncomingRequest, _ answer: (Answer) -> Void) async {
        if let preflight = origins.preflight(of: request) { return answer(.response(preflight)) }
        finish(await routed(request), request, answer)
    }

    /// Hands over a response that pages of other origins may read.
    private func finish(_ response: OutgoingResponse, _ request: IncomingRequest, _ answer: (Answer) -> Void) {
        let fields = origins.fields(for: request)
        guard !fields.isEmpty else { return answer(.response(response)) }
        var response = response
        response.fields += fields
        answer(.response(response))
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
    /// How a request is read and answered; `nil` when it has been answered.
    private func agreement(on request: IncomingRequest, _ answer: (Answer) -> Void) -> HTTPExchange.Agreement? {
        if let preflight = origins.preflight(of: request) {
            answer(.response(preflight))
            return nil
        }
        switch request.head.negotiation {
        case .success(let agreement): return agreement
        case .failure(let refusal):
            finish(OutgoingResponse(refusal), request, answer)
            return nil
        }
    }

    /// Goes on where the caller is known already.
    private func begun(
        _ request: IncomingRequest,
        _ agreement: HTTPExchange.Agreement,
        _ answer: (Answer) -> Void
    ) -> Progress {
        let fingerprint = request.head.fingerprint { service.fingerprint(of: $0) }
        guard let caller = service.recognize(fingerprint) else { return .callerUnknown }
        return operation(of: caller, request, agreement, answer)
    }

    /// Goes on after asking who the caller is.
    private func authenticated(
        _ request: IncomingRequest,
        _ agreement: HTTPExchange.Agreement,
        _ answer: (Answer) -> Void
    ) async -> Progress {
        let refusal: HTTPRefusal
        let mediaType = agreement.mediaType
        switch await service.authenticate(request.credentials) {
        case .caller(let caller): return operation(of: caller, request, agreement, answer)
        case .refused(let message): refusal = HTTPRefusal(.unauthorized, message, .unauthenticated, mediaType)
        case .unavailable(let message): refusal = HTTPRefusal(.serviceUnavailable, message, .unavailable, mediaType)
        }
        finish(OutgoingResponse(refusal), request, answer)
        return .answered
    }

    /// What is to be run for this caller.
    private func operation(
        of caller: Service.Caller,
        _ request: IncomingRequest,
        _ agreement: HTTPExchange.Agreement,
        _ answer: (Answer) -> Void
    ) -> Progress {
        do throws(HTTPRefusal) {
            if !request.head.isBeyondForms {
                let refusal = settings.forgery.refusal(of: request.head.exchange, agreement, header: request.header)
                if let refusal { throw refusal }
            }
            return try operation(try parsed(request, agreement), caller, agreement, request, answer)
        } catch {
            finish(OutgoingResponse(error), request, answer)
            return .answered
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
            case .body:
                let parsed = request.body.withUnsafeReadableBytes { bytes in
                    Result { () throws(RequestFault) in
                        try GraphQLRequest.parse(body: bytes.bindMemory(to: UInt8.self), limits: settings.request)
                    }
                }
                return try parsed.get()
            }
        } catch {
            throw HTTPRefusal(.badRequest, error.message, .badRequest, agreement.mediaType)
        }
    }

    private func operation(
        _ asked: GraphQLRequest,
        _ caller: Service.Caller,
        _ agreement: HTTPExchange.Agreement,
        _ request: IncomingRequest,
        _ answer: (Answer) -> Void
    ) throws(HTTPRefusal) -> Progress {
        let mediaType = agreement.mediaType
        // Events are written as the specification says, whatever else the client takes.
        let style = agreement.eventStream == .always ? .standard : mediaType.style
        let lookup = service.operation(of: asked, caller: caller, style: style)
        if let kind = lookup.kind, let refusal = HTTPRefusal.refusal(of: kind, agreement) { throw refusal }
        switch (lookup, agreement.eventStream) {
        case (.invalid(let reply), .always): answer(stream(.reply(reply), asked, caller, request))
        case (.invalid(let reply), _):
            finish(OutgoingResponse(reply, mediaType, asked.operationName), request, answer)
        case (.subscription, _), (_, .always): answer(stream(.operation(asked), asked, caller, request))
        case (.query(let run), _), (.mutation(let run), _): return .operation(run, name: asked.operationName)
        }
        return .answered
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
        status = reply.status(for: mediaType)
        contentType = mediaType.contentType
        fields =
            switch reply.kind {
            case .tooManyRequests(let seconds): Self.uncached + [("retry-after", "\(seconds)")]
            case .unavailable: Self.uncached + [("retry-after", "1")]
            case .executed, .requestError: Self.uncached
            }
        body = reply.body
        self.operationName = operationName
    }

    /// The fields of what must not be kept, made once.
    static let uncached: [(name: String, value: String)] = [("cache-control", "no-store")]
}
