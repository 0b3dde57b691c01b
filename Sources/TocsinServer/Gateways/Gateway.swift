import GraphQLTransport
import HTTPTypes
import JSON
import TocsinAPI
import TocsinCore
import TocsinHTTP

/// Serves routes: each request becomes a GraphQL request of the same caller,
/// and its data the answer.
struct Gateway<Service: GraphQLService>: Sendable where Service.Caller == Identity {
    let service: Service
    let routes: [Route]
    /// Limits of the bodies' JSON.
    let limits: JSONLimits

    /// The paths, each with and without a slash at its end.
    var httpRoutes: [HTTPRoute] {
        Dictionary(grouping: routes) { Route.stem(of: $0.path) }.flatMap { stem, routes in
            [stem, stem + "/"].map { path in
                HTTPRoute(nil, path) { request in
                    await admission(of: request, routes)
                } respond: { request in
                    await respond(to: request, routes)
                }
            }
        }
    }

    /// All methods that routes have.
    var methods: [String] { Set(routes.map(\.method)).sorted() }

    /// Who is known may send a body.
    private func admission(of request: IncomingRequest, _ routes: [Route]) async -> BodyAdmission {
        do throws(RouteFault) {
            _ = try Self.route(for: request, routes)
            return .admitted(owner: service.socketGroup(of: try await caller(of: request)))
        } catch {
            return .refused(error.response)
        }
    }

    private func respond(to request: IncomingRequest, _ routes: [Route]) async -> OutgoingResponse {
        do throws(RouteFault) {
            let route = try Self.route(for: request, routes)
            let caller = try await caller(of: request)
            let input = try RouteInput(request, limits: limits)
            var subjects: [String: String] = [:]
            let answer = try await route.answer(to: input, caller: caller) { document, variables throws(RouteFault) in
                let (data, found) = try await data(of: document, variables, caller, from: request.source)
                subjects.merge(found) { first, _ in first }
                return data
            }
            var response = OutgoingResponse(
                status: route.status,
                contentType: "application/json",
                fields: [("cache-control", "no-store")],
                body: answer.serialized()
            )
            response.isLetIn = true
            response.owner = service.socketGroup(of: caller)
            response.subjects = subjects
            return response
        } catch {
            return error.response
        }
    }

    private static func route(for request: IncomingRequest, _ routes: [Route]) throws(RouteFault) -> Route {
        let method = request.method == .head ? "GET" : request.method.rawValue
        guard let route = routes.first(where: { $0.method == method }) else { throw methodNotAllowed(request, routes) }
        return route
    }

    private static func methodNotAllowed(_ request: IncomingRequest, _ routes: [Route]) -> RouteFault {
        let allow = routes.map(\.method).sorted().joined(separator: ", ")
        let message = "\(request.method.rawValue) is not served at this path. Send one of: \(allow)."
        var fault = RouteFault.badRequest(.methodNotAllowed, message)
        fault.fields = [("allow", allow)]
        return fault
    }

    private func caller(of request: IncomingRequest) async throws(RouteFault) -> Identity {
        var credentials = request.credentials
        // The older apps' frameworks write the scheme so.
        if let text = credentials.authorization, text.prefix(6).lowercased() == "token " {
            credentials.authorization = String(text.dropFirst(6).drop { $0 == " " })
        }
        switch await service.authenticate(credentials) {
        case .caller(let caller): return caller
        case .refused(let message): throw .unauthenticated(message)
        case .unavailable(let message): throw .unavailable(message)
        }
    }

    private func data(
        of document: String,
        _ variables: JSONObject,
        _ caller: Identity,
        from source: RequestSource
    ) async throws(RouteFault) -> (data: JSONValue, subjects: [String: String]) {
        let request = GraphQLRequest(query: document, variables: variables)
        let reply = await RequestOrigin.$current.withValue(RequestOrigin(source)) {
            await service.execute(request, caller: caller, style: .standard)
        }
        // What we wrote ourselves is not limited by what others may send.
        let ours = JSONLimits(maximumBytes: .max, maximumDepth: 256, maximumValues: .max)
        guard let response = try? JSONParser.parse(reply.body, limits: ours) else {
            throw .unavailable("The request could not be served.")
        }
        if let error = response["errors"]?[0] {
            guard case .tooManyRequests(let seconds) = reply.kind else { throw RouteFault(error) }
            throw .tooMany(error, retryAfterSeconds: seconds)
        }
        guard let data = response["data"], let members = data.objectValue else {
            throw .unavailable("The request could not be served.")
        }
        if members.contains(where: { $0.value.isNull }) { throw RouteFault.notFound }
        return (data, reply.subjects)
    }
}
