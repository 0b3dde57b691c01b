/// Makes the first administrator, for whoever has the code that the server's first start told.
package struct SetupService: Sendable {
    private let environment: ServiceEnvironment
    private let secrets: any SessionSecrets
    private let refusals: RefusedSignIns

    /// A service over the store of `environment`.
    package init(environment: ServiceEnvironment, secrets: any SessionSecrets, refusals: RefusedSignIns) {
        (self.environment, self.secrets, self.refusals) = (environment, secrets, refusals)
    }

    /// Keeps this code, if there is no administrator and no code yet; answers whether it did.
    package func begin(code: String) async throws(ServiceError) -> Bool {
        let (environment, digest) = (environment, secrets.digest(of: code))
        return try await environment.store.writing { writer throws(StoreError) -> Result<Bool, ServiceError> in
            guard try !Self.hasAdmin(writer) else {
                if try writer.setupCodeDigest() != nil {
                    try writer.saveSetupCode(digest: nil, at: environment.time.now())
                }
                return .success(false)
            }
            guard try writer.setupCodeDigest() == nil else { return .success(false) }
            try writer.saveSetupCode(digest: digest, at: environment.time.now())
            return .success(true)
        }
    }

    /// Whether a code would be taken.
    package func isOpen() async throws(ServiceError) -> Bool {
        try await environment.store.reading(for: .server) { reader throws(StoreError) in
            guard try reader.setupCodeDigest() != nil else { return false }
            return try !Self.hasAdmin(reader)
        }
    }

    /// Makes an administrator; the code is used up.
    package func finish(code: String, name: String, password: String) async throws(ServiceError) -> Account {
        let (environment, digest) = (environment, secrets.digest(of: code))
        let isKnown = try await environment.store.reading(for: .server) { reader throws(StoreError) in
            try reader.setupCodeDigest() == digest
        }
        // Nothing is said of names and passwords to who has no code.
        guard isKnown else { throw refusal() }
        if let problem = Account.problem(inName: name) { throw .badInput(problem) }
        try PasswordRules.check(password, of: name)
        guard let passwords = environment.passwords else { throw .internal("no password can be hashed here") }
        let hash = try await passwords.hash(password)
        let made = try await environment.store.writing { writer throws(StoreError) -> Result<Account?, ServiceError> in
            guard try writer.setupCodeDigest() == digest, try !Self.hasAdmin(writer) else { return .success(nil) }
            guard try writer.account(named: name) == nil else {
                return .failure(.badInput("There is a user \(name) already. Take another name."))
            }
            var account = Account(
                id: UserID(environment.identifiers.makeID()),
                name: name,
                passwordHash: hash,
                isDisabled: false,
                createdAt: environment.time.now()
            )
            account.isAdmin = true
            try writer.save(account)
            try writer.saveSetupCode(digest: nil, at: environment.time.now())
            try writer.record(
                environment.audit(
                    action: "user.create",
                    by: AuditActor.stranger,
                    on: .user(account.id),
                    about: account.id,
                    detail: ["name": .text(account.name), "admin": true]
                )
            )
            return .success(account)
        }
        guard let made else { throw refusal() }
        return made
    }

    private func refusal() -> ServiceError {
        refusals.note(SignInRefusal(reason: "setup_code_refused"))
        return .unauthenticated("The set-up code is wrong, was used, or there is an administrator already.")
    }

    private static func hasAdmin(_ reader: any StoreReader) throws(StoreError) -> Bool {
        var filter = AccountFilter()
        (filter.isAdmin, filter.isDisabled) = (true, false)
        return try !reader.accounts(matching: filter, after: "", limit: 1).isEmpty
    }
}
