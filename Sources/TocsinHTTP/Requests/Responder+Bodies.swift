import GraphQLTransport
import HTTPTypes

// Who may send a body.
extension Responder {
    /// Judges by its head alone a request whose body is still to come, so that
    /// strangers' bodies are not read.
    func admission(of request: IncomingRequest) async -> BodyAdmission {
        if let preflight = origins.preflight(of: request) { return .refused(preflight) }
        guard request.path == settings.graphQLPath else { return await routeAdmission(of: request) }
        let agreement: HTTPExchange.Agreement
        switch request.head.negotiation {
        case .success(let success): agreement = success
        case .failure(let refusal): return .refused(readable(OutgoingResponse(refusal), by: request))
        }
        switch await caller(of: request, agreement) {
        case .success(let caller): return .admitted(owner: service.socketGroup(of: caller))
        case .failure(let refusal): return .refused(readable(OutgoingResponse(refusal), by: request))
        }
    }

    private func caller(
        of request: IncomingRequest,
        _ agreement: HTTPExchange.Agreement
    ) async -> Result<Service.Caller, HTTPRefusal> {
        if let lack = request.head.sessionRefusal { return .failure(refusal(ofSession: lack, request, agreement)) }
        let fingerprint = request.head.fingerprint { service.fingerprint(of: $0) }
        if let caller = service.recognize(fingerprint, from: request.credentials.remoteAddress) {
            return .success(caller)
        }
        return await authenticate(request, agreement)
    }

    private func routeAdmission(of request: IncomingRequest) async -> BodyAdmission {
        switch route(for: request) {
        case .health:
            let refusal = HTTPRefusal(.badRequest, "Requests to this path have no body.", .badRequest)
            return .refused(readable(OutgoingResponse(refusal), by: request))
        case .route(let route):
            switch await route.admit?(request) {
            case .refused(let response): return .refused(readable(response, by: request))
            case .admitted(let owner): return .admitted(owner: owner)
            case nil: return .admitted(owner: nil)
            }
        case .refused(let response): return .refused(readable(response, by: request))
        }
    }
}
