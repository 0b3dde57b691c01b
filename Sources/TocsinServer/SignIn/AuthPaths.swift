import GraphQLTransport
import HTTPTypes
import JSON
import NIOCore
import TocsinAPI
import TocsinAuth
import TocsinCore
import TocsinHTTP

/// The paths under `/auth/`, where browsers sign in and out.
struct AuthPaths: Sendable {
    let signIn: SignInPart
    let authenticator: TokenAuthenticator
    let report: @Sendable (String) -> String
    let time: any TimeSource

    private static let maximumBodyBytes = 16 * 1024

    /// The routes; what is under `/auth/` and none of these is answered without being kept either.
    var routes: [HTTPRoute] {
        [
            route(.get, "methods") { _ in await methods() },
            route(.post, "password") { await password($0) },
            route(.get, "session") { await session($0) },
            route(.post, "logout") { await logout($0) },
            route(.post, "elevate") { await elevate($0) },
            route(.post, "link") { await beginLink($0) },
            route(.get, "login") { await login($0) },
            route(.get, "callback") { await callback($0) },
            route(.get, "setup") { await setupForm($0) },
            route(.post, "setup") { await setup($0) },
            HTTPRoute(nil, "/auth/*", admit: Self.admission) { Self.nothingHere($0) },
        ]
    }

    func route(
        _ method: HTTPRequest.Method,
        _ name: String,
        respond: @escaping @Sendable (IncomingRequest) async -> OutgoingResponse
    ) -> HTTPRoute {
        HTTPRoute(method, "/auth/" + name, admit: Self.admission) { request in
            guard request.body.readableBytes <= Self.maximumBodyBytes else { return Self.tooLong }
            return await RequestOrigin.$current.withValue(RequestOrigin(request.source)) { await respond(request) }
        }
    }

    /// Bodies here are short, whoever sends them.
    private static let admission: @Sendable (IncomingRequest) async -> BodyAdmission = { request in
        let length = request.header("content-length").flatMap { Int($0) } ?? .max
        return length <= maximumBodyBytes ? .admitted(owner: nil) : .refused(tooLong)
    }

    private static let tooLong = AuthAnswer.error(
        .contentTooLarge,
        .badRequest,
        "The body of this path has at most 16 KiB, and says its length."
    )

    private static let methodsOfPaths = [
        "methods": "GET", "password": "POST", "session": "GET", "logout": "POST", "elevate": "POST", "link": "POST",
        "login": "GET", "callback": "GET", "setup": "GET, POST",
    ]

    private static func nothingHere(_ request: IncomingRequest) -> OutgoingResponse {
        guard let allow = methodsOfPaths[String(request.path.dropFirst("/auth/".count))] else {
            return AuthAnswer.error(.notFound, .badRequest, "There is nothing at this path.")
        }
        let text = "\(request.method.rawValue) is not served at this path. Send one of: \(allow)."
        return AuthAnswer.error(.methodNotAllowed, .badRequest, text, [("allow", allow)])
    }

    /// A request that our own pages send, with its JSON; throws the answer to others.
    func ownMembers(_ request: IncomingRequest) throws(AuthFault) -> JSONObject {
        if let lack = request.lackOfOwnPage { throw pageRefused(lack) }
        return try members(request)
    }

    /// The answer to what no page of ours sends, of which log and audit are told.
    func pageRefused(_ lack: String) -> AuthFault {
        signIn.notePageRefused(lack)
        return AuthFault(.error(.forbidden, .unauthorized, lack))
    }

    private func members(_ request: IncomingRequest) throws(AuthFault) -> JSONObject {
        guard request.body.readableBytes > 0 else { return [:] }
        let limits = JSONLimits(maximumBytes: Self.maximumBodyBytes, maximumDepth: 4, maximumValues: 32)
        guard let value = try? JSONParser.parse(Array(request.body.readableBytesView), limits: limits),
            let members = value.objectValue
        else { throw AuthFault(.error(.badRequest, .badRequest, "The body must be a JSON object.")) }
        return members
    }

    /// The caller of a browser's session, with all that must come with its cookie.
    func caller(_ request: IncomingRequest, isRead: Bool = false) async throws(AuthFault) -> Identity {
        let result: AuthenticationResult
        if let token = request.credentials.authorization ?? request.credentials.apiKey {
            result = await authenticator.authenticate(token: token)
        } else {
            switch request.sessionEvidence(isRead: isRead) {
            case .absent: throw AuthFault(.error(.unauthorized, .unauthenticated, "There is no session. Sign in."))
            case .refused(let lack): throw pageRefused(lack)
            case .shown(let secret): result = await authenticator.authenticate(cookie: secret)
            }
        }
        switch result {
        case .identity(let identity): return identity
        case .refused: throw AuthFault(.error(.unauthorized, .unauthenticated, "The session is over. Sign in."))
        case .unavailable(let reason):
            _ = report(reason)
            let text = "Sign-in cannot be checked just now; try again."
            throw AuthFault(.error(.serviceUnavailable, .unavailable, text, [("retry-after", "1")]))
        }
    }

    /// What `body` answers, or the answer that it throws.
    func answering(_ body: () async throws(AuthFault) -> OutgoingResponse) async -> OutgoingResponse {
        do throws(AuthFault) {
            return try await body()
        } catch {
            return error.response
        }
    }

    /// A call of a service, whose refusal becomes the answer.
    func calling<Value>(_ body: () async throws(ServiceError) -> Value) async throws(AuthFault) -> Value {
        do throws(ServiceError) {
            return try await body()
        } catch {
            throw AuthFault(AuthAnswer.error(error, report: report))
        }
    }
}

/// Why a path under `/auth/` answers otherwise than asked.
struct AuthFault: Error {
    let response: OutgoingResponse

    init(_ response: OutgoingResponse) { self.response = response }
}

extension OutgoingResponse {
    fileprivate static func error(
        _ status: HTTPResponse.Status,
        _ code: ErrorCode,
        _ message: String,
        _ fields: [(name: String, value: String)] = []
    ) -> OutgoingResponse {
        AuthAnswer.error(status, code, message, fields)
    }
}
