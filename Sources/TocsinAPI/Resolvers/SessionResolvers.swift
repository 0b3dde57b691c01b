import GraphQL
import JSON
import TocsinCore

/// Resolvers of sign-ins and sessions.
enum SessionResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Mutation.signIn") { invocation throws(ServiceError) in
            guard let signIn = invocation.context.services.signIn else { throw notServed }
            let arguments = invocation.arguments
            let session = try await signIn.signIn(
                username: arguments["username"]?.stringValue ?? "",
                password: arguments["password"]?.stringValue ?? "",
                kind: .app,
                agent: arguments["device"]?.stringValue
            )
            return .object(.signedIn(session))
        }
        map.service("Mutation.refreshSession") { invocation throws(ServiceError) in
            .object(.signedIn(try await sessions(invocation).refresh(invocation.context.caller)))
        }
        map.service("Mutation.signOut") { invocation throws(ServiceError) in
            _ = try await sessions(invocation).signOut(invocation.context.caller)
            return .leaf(.bool(true))
        }
        map.service("Mutation.endSession") { invocation throws(ServiceError) in
            let (caller, id) = (invocation.context.caller, invocation.arguments["id"]?.stringValue ?? "")
            let session = try await sessions(invocation).end(TokenID(id), by: caller)
            return .object(.session(session, isCurrent: caller.tokenID == session.id))
        }
        map.service("Query.sessions") { invocation throws(ServiceError) in
            let caller = invocation.context.caller
            let found = try await sessions(invocation).sessions(of: caller)
            return .objects(found.map { .session($0, isCurrent: caller.tokenID == $0.id) })
        }
        map.signedIn("token") { $1.string($0.secret) }
        map.signedIn("sessionId") { $1.string($0.session.id.text) }
        map.signedIn("expiresAt") { $1.string($0.session.end.iso8601) }
        map.signedIn("userId") { $1.string($0.session.userID.text) }
        map.signedIn("username") { $1.string($0.session.username) }
        map.session("id") { $1.string($0.id.text) }
        map.session("kind") { $1.string($0.kind.rawValue) }
        map.session("provider") { $1.string($0.provider) }
        map.session("createdAt") { $1.string($0.createdAt.iso8601) }
        map.session("seenAt") { $1.string($0.seenAt.iso8601) }
        map.session("expiresAt") { $1.string($0.end.iso8601) }
        map.session("network") { $1.string($0.network) }
        map.session("agent") { $1.string($0.agent) }
        map.leaf("SignInSession.isCurrent") { object, out in
            guard case .session(_, let isCurrent) = object else { return out.null() }
            out.bool(isCurrent)
        }
    }

    private static func sessions(_ invocation: FieldInvocation<RequestContext>) throws(ServiceError) -> SessionService {
        guard let sessions = invocation.context.services.sessions else { throw notServed }
        return sessions
    }

    private static let notServed = ServiceError.badInput("Nobody signs in to this server.")
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func signedIn(
        _ field: String,
        _ write: @escaping @Sendable (NewSession, inout LeafWriter) -> Void
    ) {
        leaf("SignedIn.\(field)") { object, out in
            guard case .signedIn(let session) = object else { return out.null() }
            write(session, &out)
        }
    }

    fileprivate mutating func session(
        _ field: String,
        _ write: @escaping @Sendable (Session, inout LeafWriter) -> Void
    ) {
        leaf("SignInSession.\(field)") { object, out in
            guard case .session(let session, _) = object else { return out.null() }
            write(session, &out)
        }
    }
}
