/// Local users and the tokens issued to them, for the command line.
package struct AccountService: Sendable {
    private let environment: ServiceEnvironment

    /// A service over the store of `environment`.
    package init(environment: ServiceEnvironment) {
        self.environment = environment
    }

    /// Adds a user without further rights; the name is checked (`Account.problem`).
    package func add(name: String, passwordHash: String?) async throws(ServiceError) -> Account {
        try await PeopleService(environment: environment).add(name: name, passwordHash: passwordHash, by: .shell)
    }

    /// All accounts, disabled ones too; throws `unavailable` when the store cannot read.
    package func accounts() async throws(ServiceError) -> [Account] {
        try await environment.store.reading(for: .server) { reader throws(StoreError) in try reader.accounts() }
    }

    /// The account, or an error that names it.
    package func account(named name: String) async throws(ServiceError) -> Account {
        let found = try await environment.store.reading(for: .server) { reader throws(StoreError) in
            try reader.account(named: name)
        }
        guard let found else { throw Self.unknown(name) }
        return found
    }

    /// Disables a user, as `PeopleService` does for a command.
    package func disable(name: String) async throws(ServiceError) {
        let people = PeopleService(environment: environment)
        _ = try await people.set(UserReference(name), isDisabled: true, by: .shell)
    }

    /// Enables a disabled user again, as `PeopleService` does for a command.
    package func enable(name: String) async throws(ServiceError) {
        let people = PeopleService(environment: environment)
        _ = try await people.set(UserReference(name), isDisabled: false, by: .shell)
    }

    private static func unknown(_ name: String) -> ServiceError {
        .badInput("There is no user \(name). `tocsin user list` shows all; `tocsin user add` makes one.")
    }

    /// The tokens of a user, or of everybody for nil, revoked ones too.
    package func tokens(of user: UserID?) async throws(ServiceError) -> [IssuedToken] {
        try await environment.store.reading(for: .server) { reader throws(StoreError) in try reader.tokens(of: user) }
    }

    /// Revokes a token; revoking it again changes nothing.
    package func revoke(_ id: TokenID) async throws(ServiceError) {
        _ = try await TokenService(environment: environment).revoke(id, by: nil)
    }
}
