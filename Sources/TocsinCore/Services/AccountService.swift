/// Local users and the tokens issued to them, for the command line.
package struct AccountService: Sendable {
    private let environment: ServiceEnvironment

    /// A service over the store of `environment`.
    package init(environment: ServiceEnvironment) {
        self.environment = environment
    }

    /// Adds a user.
    ///
    /// The name is 1 to 64 characters without spaces, control characters or `::`. It must not look
    /// like a UUID, as ids do (`OwnerText`).
    package func add(name: String, passwordHash: String?) async throws(ServiceError) -> Account {
        let isPrintable = name.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
        guard !name.isEmpty, name.utf8.count <= 64, isPrintable, !Self.containsSeparator(name) else {
            throw .badInput("A user name is 1 to 64 bytes without spaces, control characters or '::'.")
        }
        guard !OwnerText.isSubject(name) else {
            throw .badInput("A user name may not have the form of a UUID, as users' ids have it.")
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
            try writer.record(
                environment.audit(
                    action: "user.create",
                    by: .operator,
                    on: .user(account.id),
                    detail: ["name": .text(name)]
                )
            )
            return .success(account)
        }
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

    /// Disables a user.
    ///
    /// Their tokens are refused from now on, those of a sign-in provider that name the user's id
    /// included. Pushes to their devices end, waiting ones too.
    package func disable(name: String) async throws(ServiceError) { try await set(isDisabled: true, name: name) }

    /// Enables a disabled user again: tokens that are neither revoked nor over are accepted as
    /// before, and later messages are pushed.
    package func enable(name: String) async throws(ServiceError) { try await set(isDisabled: false, name: name) }

    private func set(isDisabled: Bool, name: String) async throws(ServiceError) {
        let (environment, time) = (environment, environment.time)
        try await environment.store.writing { writer throws(StoreError) -> Result<Void, ServiceError> in
            guard var account = try writer.account(named: name) else { return .failure(Self.unknown(name)) }
            if account.isDisabled != isDisabled {
                let action = isDisabled ? "user.disable" : "user.enable"
                try writer.record(environment.audit(action: action, by: .operator, on: .user(account.id)))
            }
            account.isDisabled = isDisabled
            try writer.save(account)
            for device in isDisabled ? try writer.devices(of: account.id) : [] {
                try writer.endDeliveries(of: device.id, reason: .accessEnded, now: time.now())
            }
            if isDisabled { writer.note(.pushesUnwanted(account.id, nil, .accessEnded)) }
            // Whoever remembers what has ended looks again, in either case.
            writer.note(.accessEnded(account.id, nil))
            return .success(())
        }
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

    private static func containsSeparator(_ name: String) -> Bool {
        zip(name.utf8, name.utf8.dropFirst()).contains { $0 == UInt8(ascii: ":") && $1 == UInt8(ascii: ":") }
    }
}
