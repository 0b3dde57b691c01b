import GraphQL
import JSON
import TocsinCore

/// Resolvers of local users.
enum PeopleResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        registerQueries(in: &map)
        registerMutations(in: &map)
        registerPasswords(in: &map)
        registerFields(in: &map)
    }

    private static func registerQueries(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Query.users") { invocation throws(ServiceError) in
            let (context, token) = (invocation.context, invocation.pageToken)
            let after = try token.position(from: invocation.arguments["nextToken"]?.stringValue)
            let (accounts, hasMore) = try await context.services.people.accounts(
                matching: filter(invocation.arguments["filter"]),
                after: after?.first?.text ?? "",
                limit: try invocation.pageSize(),
                by: context.authority
            )
            let next = hasMore ? accounts.last.map { token.text(for: [.text($0.name)]) } : nil
            return .object(.userPage(accounts, nextToken: next))
        }
        map.service("Query.user") { invocation throws(ServiceError) in
            let (context, arguments) = (invocation.context, invocation.arguments)
            let account = try await context.services.people.account(
                id: arguments["id"]?.stringValue.map { UserID($0) },
                name: arguments["name"]?.stringValue,
                by: context.authority
            )
            return account.map { .object(.user($0)) } ?? .null
        }
    }

    private static func registerMutations(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.account("Mutation.createUser") { invocation, people throws(ServiceError) in
            try await people.add(
                name: invocation.text("name"),
                password: invocation.arguments["password"]?.stringValue,
                isAdmin: invocation.flag("admin"),
                by: invocation.context.authority
            )
        }
        map.account("Mutation.createServiceAccount") { invocation, people throws(ServiceError) in
            try await people.addService(
                name: invocation.text("name"),
                managedBy: invocation.text("managedBy"),
                by: invocation.context.authority
            )
        }
        map.account("Mutation.setUserDisabled") { invocation, people throws(ServiceError) in
            let (user, isDisabled) = (UserReference(invocation.text("id")), invocation.flag("disabled"))
            return try await people.set(user, isDisabled: isDisabled, by: invocation.context.authority)
        }
        map.account("Mutation.setAdmin") { invocation, people throws(ServiceError) in
            let (user, isAdmin) = (UserReference(invocation.text("id")), invocation.flag("admin"))
            return try await people.set(user, isAdmin: isAdmin, by: invocation.context.authority)
        }
        map.account("Mutation.setGroupMaker") { invocation, people throws(ServiceError) in
            let (user, isGroupMaker) = (UserReference(invocation.text("id")), invocation.flag("groupMaker"))
            return try await people.set(user, isGroupMaker: isGroupMaker, by: invocation.context.authority)
        }
    }

    private static func registerPasswords(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.account("Mutation.setPassword") { invocation, people throws(ServiceError) in
            try await people.setPassword(
                old: invocation.arguments["old"]?.stringValue,
                new: invocation.text("new"),
                caller: invocation.context.caller
            )
        }
        map.service("Mutation.resetPassword") { invocation throws(ServiceError) in
            let context = invocation.context
            let (account, password) = try await context.services.people.resetPassword(
                of: UserReference(invocation.text("id")),
                by: context.authority
            )
            return .object(.temporaryPassword(account, password))
        }
        map.value("TemporaryPassword.user") { object, _ in
            guard case .temporaryPassword(let account, _) = object else { return .null }
            return .object(.user(account))
        }
        map.leaf("TemporaryPassword.password") { object, out in
            guard case .temporaryPassword(_, let password) = object else { return out.null() }
            out.string(password)
        }
    }

    private static func registerFields(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.user("id") { $1.string($0.id.text) }
        map.user("name") { $1.string($0.name) }
        map.user("kind") { $1.string($0.kind.rawValue) }
        map.user("admin") { $1.bool($0.isAdmin) }
        map.user("groupMaker") { $1.bool($0.isGroupMaker) }
        map.user("disabled") { $1.bool($0.isDisabled) }
        map.user("createdAt") { $1.string($0.createdAt.iso8601) }
        map.user("lastSeenAt") { $1.string($0.lastSeenAt?.iso8601) }
        map.user("managedBy") { $1.string($0.manager?.text) }
        map.batch("User.groups") { parents, invocation throws(GraphQLError) in
            let context = invocation.context
            let users = parents.map { parent -> Account? in
                guard case .user(let account) = parent else { return nil }
                return account
            }
            let names = try await invocation.serving { () throws(ServiceError) in
                try await context.services.groups.names(
                    ofGroupsOf: users.compactMap(\.self),
                    by: context.authority
                )
            }
            return users.map { user in .list((user.flatMap { names[$0.id] } ?? []).map { .leaf(.string($0)) }) }
        }
        map.batch("User.sessions") { parents, invocation throws(GraphQLError) in
            let context = invocation.context
            let users = parents.map { parent -> UserID? in
                guard case .user(let account) = parent else { return nil }
                return account.id
            }
            guard let service = context.services.sessions else { return users.map { _ in .null } }
            let (limit, found) = try await invocation.serving {
                () throws(ServiceError) -> (Int, [UserID: [Session]]) in
                let known = Set(users.compactMap(\.self))
                return (try invocation.pageSize(), try await service.sessions(of: known, by: context.caller))
            }
            let current = context.caller.tokenID
            return users.map { user in
                guard let sessions = user.flatMap({ found[$0] }) else { return .null }
                return .objects(sessions.prefix(limit).map { .session($0, isCurrent: current == $0.id) })
            }
        }
        map.connection("UserConnection", of: APIObject.user) { object in
            if case .userPage(let accounts, let token) = object { (accounts, token) } else { nil }
        }
    }

    private static func filter(_ input: JSONValue?) -> AccountFilter {
        var filter = AccountFilter()
        filter.kind = input?["kind"]?.stringValue.flatMap(Account.Kind.init(rawValue:))
        filter.isAdmin = input?["admin"]?.boolValue
        filter.isDisabled = input?["disabled"]?.boolValue
        return filter
    }
}

extension RequestContext {
    /// The caller, as who asks about people and groups.
    var authority: Authority { .caller(caller) }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    /// A mutation of one account, which answers it.
    fileprivate mutating func account(
        _ coordinate: String,
        _ change:
            @escaping @Sendable (FieldInvocation<RequestContext>, PeopleService) async throws(ServiceError) -> Account
    ) {
        service(coordinate) { invocation throws(ServiceError) in
            .object(.user(try await change(invocation, invocation.context.services.people)))
        }
    }

    fileprivate mutating func user(_ field: String, _ write: @escaping @Sendable (Account, inout LeafWriter) -> Void) {
        leaf("User.\(field)") { object, out in
            guard case .user(let account) = object else { return out.null() }
            write(account, &out)
        }
    }
}
