import GraphQL
import JSON
import TocsinCore

/// Resolvers of identities that are linked to the caller.
enum IdentityResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Query.identities") { invocation throws(ServiceError) in
            let context = invocation.context
            let found = try await context.services.identities.identities(of: context.caller)
            return .objects(found.map { .identity($0) })
        }
        map.service("Mutation.unlinkIdentity") { invocation throws(ServiceError) in
            let context = invocation.context
            return .object(
                .identity(try await context.services.identities.unlink(invocation.text("id"), by: context.caller))
            )
        }
        map.identity("id") { $0.id }
        map.identity("provider") { $0.provider }
        map.identity("issuer") { $0.issuer }
        map.identity("subject") { $0.subject }
        map.identity("name") { $0.name }
        map.identity("linkedAt") { $0.createdAt.iso8601 }
    }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func identity(_ field: String, _ text: @escaping @Sendable (SignInIdentity) -> String) {
        leaf("LinkedIdentity.\(field)") { object, out in
            guard case .identity(let identity) = object else { return out.null() }
            out.string(text(identity))
        }
    }
}
