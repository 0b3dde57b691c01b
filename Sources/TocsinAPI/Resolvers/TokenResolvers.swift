import GraphQL
import JSON
import TocsinCore

/// Resolvers of tokens: their rows, and once their texts.
enum TokenResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        registerRoots(in: &map)
        registerChanges(in: &map)
        registerFields(in: &map)
    }

    private static func registerRoots(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Query.tokens") { invocation throws(ServiceError) in try await page(invocation) }
        map.service("Mutation.createToken") { invocation throws(ServiceError) in
            let (context, input) = (invocation.context, invocation.arguments["input"]?.objectValue ?? [:])
            let service = context.services.tokens
            var order = TokenService.Order(
                name: input["name"]?.stringValue ?? "",
                for: try await service.userID(input["user"]?.stringValue, of: context.caller),
                scope: try TokenService.scope(of: input["scopes"]?.texts ?? [])
            )
            order.networks = try TokenService.networks(of: input["cidrs"]?.texts ?? [])
            order.expiresAt = try expiry(input)
            return .object(.newToken(try await service.create(order, by: context.caller)))
        }
        map.service("Mutation.rotateToken") { invocation throws(ServiceError) in
            let context = invocation.context
            let made = try await context.services.tokens.rotate(
                TokenID(invocation.text("id")),
                overlapSeconds: invocation.arguments["overlapSeconds"]?.intValue ?? 86_400,
                by: context.caller
            )
            return .object(.newToken(made))
        }
    }

    private static func registerChanges(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Mutation.updateToken") { invocation throws(ServiceError) in
            let (context, input) = (invocation.context, invocation.arguments["input"]?.objectValue ?? [:])
            var change = TokenService.Change()
            change.name = input["name"]?.stringValue
            change.scope = try input["scopes"]?.texts.map { words throws(ServiceError) in
                try TokenService.scope(of: words)
            }
            change.networks = try input["cidrs"]?.texts.map { texts throws(ServiceError) in
                try TokenService.networks(of: texts)
            }
            change.expiresAt = try expiry(input)
            let id = TokenID(invocation.text("id"))
            return .object(.token(try await context.services.tokens.update(id, change, by: context.caller)))
        }
        map.service("Mutation.revokeToken") { invocation throws(ServiceError) in
            let (context, id) = (invocation.context, TokenID(invocation.text("id")))
            return .object(.token(try await context.services.tokens.revoke(id, by: context.caller)))
        }
        map.service("Mutation.revokeAllTokens") { invocation throws(ServiceError) in
            let (context, service) = (invocation.context, invocation.context.services.tokens)
            let user = try await service.userID(invocation.text("user"), of: context.caller)
            return .leaf(.int(Int64(try await service.revokeAll(of: user, by: context.caller))))
        }
    }

    private static func expiry(_ input: JSONObject) throws(ServiceError) -> Timestamp? {
        guard let text = input["expiresAt"]?.stringValue else { return nil }
        return try moment(text, "expiresAt")
    }

    private static func page(
        _ invocation: FieldInvocation<RequestContext>
    ) async throws(ServiceError) -> ResolvedValue<APIObject> {
        let (context, token) = (invocation.context, invocation.pageToken)
        let after = try token.position(from: invocation.arguments["nextToken"]?.stringValue)
        let service = context.services.tokens
        let (tokens, hasMore) = try await service.tokens(
            of: try await service.userID(invocation.arguments["user"]?.stringValue, of: context.caller),
            after: after?.first?.text.map { TokenID($0) },
            limit: try invocation.pageSize(),
            by: context.caller
        )
        let next = hasMore ? tokens.last.map { token.text(for: [.text($0.id.text)]) } : nil
        return .object(.tokenPage(tokens, nextToken: next))
    }

    private static func registerFields(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.token("id") { $1.string($0.id.text) }
        map.token("name") { $1.string($0.name) }
        map.token("user") { $1.string($0.userID.text) }
        map.token("createdAt") { $1.string($0.createdAt.iso8601) }
        map.token("createdBy") { $1.string($0.createdBy?.text ?? "operator") }
        map.token("expiresAt") { $1.string($0.expiresAt.iso8601) }
        map.token("lastUsedAt") { $1.string($0.lastUsedAt?.iso8601) }
        map.token("lastUsedFrom") { $1.string($0.lastUsedFrom) }
        map.token("revokedAt") { $1.string($0.revokedAt?.iso8601) }
        map.token("rotatedTo") { $1.string($0.rotatedTo?.text) }
        map.value("AccessToken.scopes") { object, _ in texts(object) { $0.scope.words } }
        map.value("AccessToken.cidrs") { object, _ in texts(object) { $0.networkTexts } }
        map.connection("AccessTokenConnection", of: APIObject.token) { object in
            if case .tokenPage(let tokens, let token) = object { (tokens, token) } else { nil }
        }
        map.value("NewToken.token") { object, _ in
            guard case .newToken(let made) = object else { return .null }
            return .object(.token(made.token))
        }
        map.leaf("NewToken.text") { object, out in
            guard case .newToken(let made) = object else { return out.null() }
            out.string(made.text)
        }
    }

    private static func texts(_ object: APIObject, _ texts: (IssuedToken) -> [String]) -> ResolvedValue<APIObject> {
        guard case .token(let token) = object else { return .null }
        return .list(texts(token).map { .leaf(.string($0)) })
    }
}

extension JSONValue {
    /// The texts of a list; nil for what is no list.
    fileprivate var texts: [String]? { arrayValue?.compactMap(\.stringValue) }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func token(
        _ field: String,
        _ write: @escaping @Sendable (IssuedToken, inout LeafWriter) -> Void
    ) {
        leaf("AccessToken.\(field)") { object, out in
            guard case .token(let token) = object else { return out.null() }
            write(token, &out)
        }
    }
}
