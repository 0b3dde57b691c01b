/// Local users and the tokens issued to them, for the command line.
package struct AccountService: Sendable {
    private let environment: ServiceEnvironment

    package init(environment: ServiceEnvironment) {
        self.environment = environment
    }

    /// Adds a user; the name is 1 to 64 characters without spaces, control characters or `::`.
    package func add(name: String, passwordHash: String?) async throws(ServiceError) -> Account {
        let isPrintable = name.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
        guard !name.isEmpty, name.utf8.count <= 64, isPrintable, !Self.containsSeparator(name) else {
            throw .badInput("A user name is 1 to 64 bytes without spaces, control characters or '::'.")
        }
        let environment = environment
        return try await environment.store.writing { writer throws(StoreError) in
            guard try writer.account(named: name) == nil else {
                return .failure(.badInput("There is a user \(name) already."))
            }
            let account = Account(
                id: UserID(environment.identifiers.makeID()),
                name: name,
                passwordHash: passwordHash,
                isDisabled: false,
                createdAt: environment.time.now()
            )
            try writer.save(account)
            return .success(account)
        }
    }

    package func accounts() async throws(ServiceError) -> [Account] {
        try await environment.store.reading { reader throws(StoreError) in try reader.accounts() }
    }

    /// The account, or an error that names it.
    package func account(named name: String) async throws(ServiceError) -> Account {
        let found = try await environment.store.reading { reader throws(StoreError) in
            try reader.account(named: name)
        }
        guard let found else {
            throw .badInput("There is no user \(name). `tocsin user list` shows all; `tocsin user add` makes one.")
        }
        return found
    }

    /// Disables a user: none of their tokens is accepted any more.
    package func disable(name: String) async throws(ServiceError) {
        var account = try await account(named: name)
        account.isDisabled = true
        let disabled = account
        try await environment.store.writing { writer throws(StoreError) -> Result<Void, ServiceError> in
            try writer.save(disabled)
            writer.note(.accessEnded(disabled.id, nil))
            return .success(())
        }
    }

    /// Records a token about to be issued, so that it can be revoked.
    package func recordToken(
        for account: Account,
        scope: Identity.Scope,
        lifetimeSeconds: Double
    ) async throws(ServiceError) -> IssuedToken {
        guard !account.isDisabled else { throw .badInput("User \(account.name) is disabled.") }
        let now = environment.time.now()
        let token = IssuedToken(
            id: TokenID(environment.identifiers.makeID()),
            userID: account.id,
            scope: scope,
            createdAt: now,
            expiresAt: now.adding(seconds: lifetimeSeconds)
        )
        try await environment.store.writing { writer throws(StoreError) -> Result<Void, ServiceError> in
            try writer.save(token)
            return .success(())
        }
        return token
    }

    package func tokens(of user: UserID?) async throws(ServiceError) -> [IssuedToken] {
        try await environment.store.reading { reader throws(StoreError) in try reader.tokens(of: user) }
    }

    /// Revokes a token; revoking it again changes nothing.
    package func revoke(_ id: TokenID) async throws(ServiceError) {
        let time = environment.time
        try await environment.store.writing { writer throws(StoreError) -> Result<Void, ServiceError> in
            guard var token = try writer.token(id) else {
                return .failure(.badInput("There is no token \(id). `tocsin token list` shows all."))
            }
            token.revokedAt = token.revokedAt ?? time.now()
            try writer.save(token)
            writer.note(.accessEnded(token.userID, token.id))
            return .success(())
        }
    }

    private static func containsSeparator(_ name: String) -> Bool {
        zip(name.utf8, name.utf8.dropFirst()).contains { $0 == UInt8(ascii: ":") && $1 == UInt8(ascii: ":") }
    }
}
