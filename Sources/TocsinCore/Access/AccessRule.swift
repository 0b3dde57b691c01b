/// One entry of `@auth(rules: […])`.
package struct AccessRule: Sendable, Hashable {
    /// What a rule allows; `read` stands for `get`, `list`, `sync` and `listen` together.
    package enum Operation: String, Sendable, Hashable, CaseIterable {
        case create, read, update, delete
        case get, list, sync, listen

        /// What a rule without `operations` allows.
        package static let all: Set<Operation> = [.create, .read, .update, .delete]
    }

    /// Whom a rule allows it.
    package enum Grantee: Sendable, Hashable {
        /// Whoever's claim stands in the field of the record; a list field has several owners.
        case owner(field: String, claim: String)
        /// Members of these groups, named by the claim.
        case groups(Set<String>, claim: String)
        /// Members of the group, or of one of the groups, that the record's field names.
        case groupsField(String, claim: String)
        /// Everybody who has signed in.
        case signedIn
        /// Every bearer of an API key.
        case keyBearer
    }

    /// The claim whose value is an owner by default.
    package static let ownerClaim = "sub::username"
    /// The claim that names a caller's groups by default.
    package static let groupClaim = "cognito:groups"

    /// Whom the rule is for.
    package var grantee: Grantee
    /// Whose tokens count.
    package var provider: Identity.Provider
    /// What the rule allows; `covers` says what each of them includes.
    package var operations: Set<Operation>

    /// A rule from its parts; without `operations` it allows all that writes and reads.
    package init(
        _ grantee: Grantee,
        provider: Identity.Provider = .userPools,
        operations: Set<Operation> = Operation.all
    ) {
        self.grantee = grantee
        self.provider = provider
        self.operations = operations
    }

    /// A rule for owners.
    package init(ownerField: String = "owner", identityClaim: String = ownerClaim, operations: Set<Operation>) {
        self.init(.owner(field: ownerField, claim: identityClaim), operations: operations)
    }

    /// Whether the rule is about this operation; relations and publishing ask for `read`,
    /// which `get` is enough for.
    package func covers(_ operation: Operation) -> Bool {
        if operations.contains(operation) { return true }
        switch operation {
        case .get, .list, .sync, .listen: return operations.contains(.read)
        case .read: return operations.contains(.get)
        case .create, .update, .delete: return false
        }
    }

    /// The claims of a token that decide it: both of `a::b`.
    package var claims: [String] {
        switch grantee {
        case .owner(_, let claim): Identity.parts(of: claim)
        case .groups(_, let claim), .groupsField(_, let claim): [claim]
        case .signedIn, .keyBearer: []
        }
    }

    /// The field that holds the owner, and the claim it is compared with.
    package var owner: (field: String, claim: String)? {
        if case .owner(let field, let claim) = grantee { (field, claim) } else { nil }
    }
}
