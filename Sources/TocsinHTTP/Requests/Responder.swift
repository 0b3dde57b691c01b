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
    /// It waits to be run; its name is for the log, its owner for the memory budget.
    case operation(OperationLookup.Run, name: String?, owner: String?)
}

/// Turns one request into one response or one stream: routes, negotiation,
/// credentials, the service.
///
/// A class, because every request is given the one there is.
final class Responder<Service: GraphQLService>: Sendable {
    typealias Answer = TocsinHTTP.Answer<Service.Caller>

    let service: Service
    let health: (any HealthReporting)?
    let settings: HTTPServerSettings
    let registry: ConnectionRegistry
    /// Origins, proxies and routes, which a reload may change.
    let rules: CurrentRules
    var origins: CrossOrigin { rules.value.origins }
    private let realtimePath: String

    init(
        _ content: HTTPServer<Service>.Content,
        settings: HTTPServerSettings,
        registry: ConnectionRegistry
    ) {
        service = content.service
        health = content.health
        self.settings = settings
        self.registry = registry
        rules = CurrentRules(FrontRules(settings, routes: content.routes))
        realtimePath = settings.graphQLPath + "/realtime"
    }

    /// Hands the answer over, once.
    ///
    /// Work before the first `await` is synchronous, so its locals live on the stack and not in the
    /// async frame.
    func respond(to request: IncomingRequest, _ answer: (Answer) -> Void) async {
        guard request.path == settings.graphQLPath else { return await respondRouted(request, answer) }
        guard let agreement = agreement(on: request, answer) else { return }
        var progress = begun(request, agreement, answer)
        if case .callerUnknown = progress { progress = await authenticated(request, agreement, answer) }
        guard case .operation(let run, let name, let owner) = progress else { return }
        let reply = await run()
        finish(OutgoingResponse(reply, agreement.mediaType, name, owner: owner), request, answer)
    }

    private func respondRouted(_ request: IncomingRequest, _ answer: (Answer) -> Void) async {
        if let preflight = origins.preflight(of: request) { return answer(.response(preflight)) }
        finish(await routed(request), request, answer)
    }

    /// Hands over a response that pages of other origins may read.
    private func finish(_ response: OutgoingResponse, _ request: IncomingRequest, _ answer: (Answer) -> Void) {
        answer(.response(readable(response, by: request)))
    }

    /// The response with what lets the page read it that asked.
    func readable(_ response: OutgoingResponse, by request: IncomingRequest) -> OutgoingResponse {
        let fields = origins.fields(for: request)
        guard !fields.isEmpty else { return response }
        var response = response
        response.fields += fields
        return response
    }

    /// Whether one of the further paths is meant, which do not speak GraphQL.
    func isRouted(_ path: String) -> Bool { rules.value.routes.contains { $0.covers(path) } }

    /// What answers at a path beside GraphQL's.
    enum Target {
        case health(any HealthReporting)
        case route(HTTPRoute)
        case refused(OutgoingResponse)
    }

    func route(for request: IncomingRequest) -> Target {
        let method = request.method == .head ? .get : request.method
        if let health, Self.isHealthPath(request.path) {
            return method == .get ? .health(health) : .refused(methodNotAllowed(request, allow: ["GET"]))
        }
        let routes = rules.value.routes(for: request)
        guard !routes.isEmpty else {
            let hint =
                settings.graphQLPath.isEmpty ? "" : " GraphQL is at \(settings.publicPath(settings.graphQLPath))."
            let message = "There is nothing at this path." + hint
            return .refused(OutgoingResponse(HTTPRefusal(.notFound, message, .badRequest)))
        }
        guard let route = routes.first(where: { $0.method == nil || $0.method == method }) else {
            return .refused(methodNotAllowed(request, allow: routes.compactMap(\.method?.rawValue)))
        }
        return .route(route)
    }

    private func routed(_ request: IncomingRequest) async -> OutgoingResponse {
        var response: OutgoingResponse
        switch route(for: request) {
        case .health(let health):
            response = OutgoingResponse(request.path == "/readyz" ? await readiness(health) : health.live())
            response.route = label(of: request.path)
        case .route(let route):
            response = await route.respond(request)
            response.route = route.label
        case .refused(let refusal):
            response = refusal
            response.route = label(of: request.path)
        }
        return response
    }

    /// What a path is to those who watch the server.
    func label(of path: String) -> RouteLabel {
        switch path {
        case settings.graphQLPath: .graphQL
        case realtimePath: .realtime
        case "/healthz", "/livez": .healthz
        case "/readyz": .readyz
        default: rules.value.routes.first { $0.covers(path) }?.label ?? .other
        }
    }

    private func methodNotAllowed(_ request: IncomingRequest, allow: [String]) -> OutgoingResponse {
        let allow = allow.joined(separator: ", ")
        let message = "\(request.method.rawValue) is not served at this path. Send one of: \(allow)."
        return OutgoingResponse(HTTPRefusal(.methodNotAllowed, message, .badRequest, allow: allow))
    }

    /// `/livez` is what newer programs call `/healthz`.
    private static func isHealthPath(_ path: String) -> Bool {
        path == "/readyz" || path == "/healthz" || path == "/livez"
    }

    private func readiness(_ health: any HealthReporting) async -> HealthReport {
        guard !registry.isEnding else {
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
        if let lack = request.head.sessionRefusal {
            finish(OutgoingResponse(refusal(ofSession: lack, request, agreement)), request, answer)
            return .answered
        }
        let fingerprint = request.head.fingerprint { service.fingerprint(of: $0) }
        guard let caller = service.recognize(fingerprint, from: request.credentials.remoteAddress) else {
            return .callerUnknown
        }
        return operation(of: caller, request, agreement, answer)
    }

    /// Goes on after asking who the caller is.
    private func authenticated(
        _ request: IncomingRequest,
        _ agreement: HTTPExchange.Agreement,
        _ answer: (Answer) -> Void
    ) async -> Progress {
        switch await authenticate(request, agreement) {
        case .success(let caller): return operation(of: caller, request, agreement, answer)
        case .failure(let refusal):
            finish(OutgoingResponse(refusal), request, answer)
            return .answered
        }
    }

    /// Who sent the request, or why nobody whom we know.
    func authenticate(
        _ request: IncomingRequest,
        _ agreement: HTTPExchange.Agreement
    ) async -> Result<Service.Caller, HTTPRefusal> {
        let (mediaType, credentials) = (agreement.mediaType, request.head.ownCredentials)
        switch await service.authenticate(credentials) {
        case .caller(let caller): return .success(caller)
        case .refused(let message):
            if credentials.isEmpty, let stranger = stranger(of: request, agreement) { return .success(stranger) }
            return .failure(HTTPRefusal(.unauthorized, message, .unauthenticated, mediaType))
        case .unavailable(let message):
            return .failure(HTTPRefusal(.serviceUnavailable, message, .unavailable, mediaType))
        }
    }

    /// Who sent a request without credentials, where it may be one that is for everybody.
    private func stranger(of request: IncomingRequest, _ agreement: HTTPExchange.Agreement) -> Service.Caller? {
        guard request.method == .post, agreement.eventStream != .always, request.head.isBeyondForms,
            !request.head.hasChunks, request.body.readableBytes <= settings.maximumBodyBytesOfStrangers,
            let length = request.fields.single(.contentLength).flatMap({ Int($0) }),
            length <= settings.maximumBodyBytesOfStrangers
        else { return nil }
        return service.stranger
    }

    /// The answer to a request whose session does not count, of which is told.
    func refusal(
        ofSession lack: String,
        _ request: IncomingRequest,
        _ agreement: HTTPExchange.Agreement
    ) -> HTTPRefusal {
        settings.sessionRefused?(lack, request.source)
        return HTTPRefusal(.forbidden, lack, .unauthorized, agreement.mediaType)
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
            var response = OutgoingResponse(error)
            response.isLetIn = error.status != .unauthorized
            finish(response, request, answer)
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
        let lookup = service.operation(of: asked, caller: caller, style: style, from: request.source)
        if let kind = lookup.kind, let refusal = HTTPRefusal.refusal(of: kind, agreement) { throw refusal }
        switch (lookup, agreement.eventStream) {
        case (.refused(let message), _): throw HTTPRefusal(.unauthorized, message, .unauthenticated, mediaType)
        case (.invalid(let reply), .always): answer(stream(.reply(reply), asked, caller, request))
        case (.invalid(let reply), _):
            let owner = service.socketGroup(of: caller)
            finish(OutgoingResponse(reply, mediaType, asked.operationName, owner: owner), request, answer)
        case (.subscription, _), (_, .always): answer(stream(.operation(asked), asked, caller, request))
        case (.query(let run), _), (.mutation(let run), _):
            return .operation(run, name: asked.operationName, owner: service.socketGroup(of: caller))
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
        if refusal.status == .serviceUnavailable || refusal.status == .tooManyRequests {
            fields.append(("retry-after", "1"))
        }
        self.init(
            status: refusal.status,
            contentType: refusal.mediaType.contentType,
            fields: fields,
            body: isRouted ? ErrorBody.plain(refusal.message, code: refusal.code.rawValue) : refusal.body
        )
    }

    /// What the service answered.
    init(_ reply: GraphQLReply, _ mediaType: ResponseMediaType, _ operationName: String?, owner: String?) {
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
        subjects = reply.subjects
        isLetIn = true
        self.owner = owner
    }

    /// How the server is.
    init(_ report: HealthReport) {
        self.init(
            status: report.status == .ok ? .ok : .serviceUnavailable,
            contentType: ResponseMediaType.json.contentType,
            fields: Self.uncached,
            body: report.body
        )
    }

    /// The fields of what must not be kept, made once.
    static let uncached: [(name: String, value: String)] = [("cache-control", "no-store")]
}
