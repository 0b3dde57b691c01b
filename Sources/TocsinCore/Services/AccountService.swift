/// Local users and the tokens issued to them, for the command line.
package struct AccountService: Sendable {
    private let environment: ServiceEnvironment

    /// A service over the store of `environment`.
    package init(environment: ServiceEnvironment) {
        self.environment = environment
    }

    /// Adds a user without further rights; the name is checked (`Account.problem`).
    package func add(name: String, passwordHash: String?) async throws(ServiceError) -> Account {
        try await PeopleService(environment: environment).add(name: name, passwordHash: passwordHash)
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

    /// Records a token about to be issued, so that it can be revoked.
    package func recordToken(
        for account: Account,
        scope: Identity.Scope,
        lifetimeSeconds: Double
    ) async throws(ServiceError) -> IssuedToken {
        guard !account.isDisabled else { throw .badInput("User \(account.name) is disabled.") }
        let (environment, now) = (environment, environment.time.now())
        let token = IssuedToken(
            id: TokenID(environment.identifiers.makeID()),
            userID: account.id,
            scope: scope,
            createdAt: now,
            expiresAt: now.adding(seconds: lifetimeSeconds)
        )
        try await environment.store.writing { writer throws(StoreError) -> Result<Void, ServiceError> in
            try writer.save(token)
            try writer.record(
                environment.audit(
                    action: "token.create",
                    by: .operator,
                    on: .token(token.id, of: token.userID),
                    detail: [
                        "scope": .text(Self.word(of: token.scope)), "expiresAt": .text(token.expiresAt.iso8601),
                    ]
                )
            )
            return .success(())
        }
        return token
    }

    /// A scope as `tocsin token list` shows it.
    private static func word(of scope: Identity.Scope) -> String {
        switch scope {
        case .full: "full"
        case .readOnly: "read-only"
        case .push: "push"
        case .publish(let topic): "publish:\(topic)"
        }
    }

    /// The tokens of a user, or of everybody for nil, revoked ones too.
    package func tokens(of user: UserID?) async throws(ServiceError) -> [IssuedToken] {
        try await environment.store.reading(for: .server) { reader throws(StoreError) in try reader.tokens(of: user) }
    }

    /// Revokes a token; revoking it again changes nothing.
    ///
    /// Devices that are bound to it are retired, and what waits for them ends.
    package func revoke(_ id: TokenID) async throws(ServiceError) {
        let (environment, time) = (environment, environment.time)
        try await environment.store.writing { writer throws(StoreError) -> Result<Void, ServiceError> in
            guard var token = try writer.token(id) else {
                return .failure(.badInput("There is no token \(id). `tocsin token list` shows all."))
            }
            if token.revokedAt == nil {
                let subject = AuditSubject.token(id, of: token.userID)
                try writer.record(environment.audit(action: "token.revoke", by: .operator, on: subject))
            }
            token.revokedAt = token.revokedAt ?? time.now()
            try writer.save(token)
            for device in try writer.devices(boundTo: id) { try Self.end(device, environment, writer) }
            writer.note(.accessEnded(token.userID, token.id))
            return .success(())
        }
    }

    /// Ends a device with its sign-in; its row stays, and registering it again revives it.
    private static func end(
        _ device: Device,
        _ environment: ServiceEnvironment,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        let (now, reason) = (environment.time.now(), DeliveryReason.accessEnded)
        try writer.endDeliveries(of: device.id, reason: reason, now: now)
        guard try writer.retireDevice(device.id, reason: reason, registeredBy: max(now, device.registeredAt)) else {
            return
        }
        writer.note(.deviceEnded(device.id, reason: reason))
        try writer.record(environment.audit(endOf: device, by: .operator, reason: reason))
        try environment.raise(.unregistered(device, reason: reason), writer)
    }
}
