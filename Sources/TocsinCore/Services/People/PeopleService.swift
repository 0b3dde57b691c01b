/// Local users and service accounts, for admins and for commands on the data directory.
///
/// Who is no admin is answered as if nothing were there.
package struct PeopleService: Sendable {
    let environment: ServiceEnvironment
    /// Takes wrong passwords for log and audit; nil: nobody is told.
    let refusals: RefusedSignIns?

    /// A service over the store of `environment`.
    package init(environment: ServiceEnvironment, refusals: RefusedSignIns? = nil) {
        (self.environment, self.refusals) = (environment, refusals)
    }

    /// Adds a person; without a password they work with tokens alone.
    package func add(
        name: String,
        password: String? = nil,
        isAdmin: Bool = false,
        by authority: Authority
    ) async throws(ServiceError) -> Account {
        try authority.requireAdmin()
        if isAdmin { try await authority.requireElevation(environment) }
        if let problem = Account.problem(inName: name) { throw .badInput(problem) }
        var hash: String?
        if let password {
            try PasswordRules.check(password, of: name)
            hash = try await passwords().hash(password)
        }
        return try await add(name: name, passwordHash: hash, isAdmin: isAdmin, by: authority)
    }

    /// Adds a person whose password is hashed already.
    func add(
        name: String,
        passwordHash: String?,
        isAdmin: Bool = false,
        by authority: Authority
    ) async throws(ServiceError) -> Account {
        if let problem = Account.problem(inName: name) { throw .badInput(problem) }
        let environment = environment
        return try await environment.store.writing { writer throws(StoreError) in
            guard try writer.account(named: name) == nil else { return .failure(Self.taken(name)) }
            var account = Self.account(named: name, environment)
            (account.passwordHash, account.isAdmin) = (passwordHash, isAdmin)
            try writer.save(account)
            try writer.record(environment.audit("user.create", account, by: authority, ["admin": .bool(isAdmin)]))
            return .success(account)
        }
    }

    /// Adds an account for a program; `manager` is a user's name or id, or a local group's name.
    ///
    /// `user:` or `group:` before it says which is meant.
    package func addService(
        name: String,
        managedBy manager: String,
        by authority: Authority
    ) async throws(ServiceError) -> Account {
        try authority.requireAdmin()
        try await authority.requireElevation(environment)
        if let problem = Account.problem(inName: name) { throw .badInput(problem) }
        let environment = environment
        return try await environment.store.writing { writer throws(StoreError) in
            guard try writer.account(named: name) == nil else { return .failure(Self.taken(name)) }
            guard let manager = try Self.manager(manager, writer) else {
                return .failure(.badInput("There is no user and no group \(manager.prefix(64)) that could manage it."))
            }
            var account = Self.account(named: name, environment)
            (account.kind, account.manager) = (.service, manager)
            try writer.save(account)
            let detail: AuditDetail = ["managedBy": .text(manager.text)]
            try writer.record(environment.audit("user.create", account, by: authority, detail))
            return .success(account)
        }
    }

    /// Accounts after a name, by name, for admins.
    package func accounts(
        matching filter: AccountFilter = AccountFilter(),
        after name: String = "",
        limit: Int,
        by authority: Authority
    ) async throws(ServiceError) -> (accounts: [Account], hasMore: Bool) {
        try authority.requireAdmin(writing: false)
        let found = try await environment.store.reading(for: authority.reads) { reader throws(StoreError) in
            try reader.accounts(matching: filter, after: name, limit: limit + 1)
        }
        return (Array(found.prefix(limit)), found.count > limit)
    }

    /// The account with this id or name: for admins any, for others their own and service accounts
    /// that they manage; nil for all that is not.
    package func account(
        id: UserID?,
        name: String?,
        by authority: Authority
    ) async throws(ServiceError) -> Account? {
        guard (id == nil) != (name == nil) else { throw .badInput("Write either id or name.") }
        let found = try await environment.store.reading(for: authority.reads) { reader throws(StoreError) in
            if let id { return try reader.account(id) }
            return try reader.account(named: name ?? "")
        }
        guard let found, authority.mayRead(found) else { return nil }
        return found
    }

    /// Disables an account, or enables it again.
    ///
    /// The tokens of a disabled account are refused from now on. Pushes to its devices end, waiting
    /// ones too. Enabled again, tokens that are neither revoked nor over are accepted as before.
    package func set(
        _ user: UserReference,
        isDisabled: Bool,
        by authority: Authority
    ) async throws(ServiceError) -> Account {
        try authority.requireAdmin()
        let (environment, time) = (environment, environment.time)
        return try await environment.store.writing { writer throws(StoreError) in
            guard var account = try writer.account(user) else { return .failure(user.unknown) }
            if isDisabled, let refusal = try Self.refusalOfLast(account, writer, authority) { return .failure(refusal) }
            if account.isDisabled != isDisabled {
                let action = isDisabled ? "user.disable" : "user.enable"
                try writer.record(environment.audit(action, account, by: authority))
            }
            account.isDisabled = isDisabled
            try writer.save(account)
            for device in isDisabled ? try writer.devices(of: account.id) : [] {
                try writer.endDeliveries(of: device.id, reason: .accessEnded, now: time.now())
            }
            if isDisabled { writer.note(.pushesUnwanted(account.id, nil, .accessEnded)) }
            // Whoever remembers what has ended looks again, in either case.
            writer.note(.accessEnded(account.id, nil))
            return .success(account)
        }
    }

    /// Makes somebody an admin, or ends that.
    package func set(
        _ user: UserReference,
        isAdmin: Bool,
        by authority: Authority
    ) async throws(ServiceError) -> Account {
        try await change(user, \.isAdmin, to: isAdmin, audited: ("user.admin", "admin"), by: authority) {
            account,
            writer throws(StoreError) in
            if account.kind == .service { return .badInput("A service account cannot be an admin.") }
            return isAdmin ? nil : try Self.refusalOfLast(account, writer, authority)
        }
    }

    /// Lets a person make groups and manage those, or ends that; the groups stay.
    package func set(
        _ user: UserReference,
        isGroupMaker: Bool,
        by authority: Authority
    ) async throws(ServiceError) -> Account {
        let audited = ("user.groupMaker", "groupMaker")
        return try await change(user, \.isGroupMaker, to: isGroupMaker, audited: audited, by: authority) {
            account,
            _ throws(StoreError) in
            guard account.kind == .service else { return nil }
            return .badInput("A service account makes no groups. Let a person do it, or an admin.")
        }
    }

    /// Gives or takes a right of somebody, unless `refusal` has a reason against it; audited by an
    /// action and the name of its detail.
    private func change(
        _ user: UserReference,
        _ right: any WritableKeyPath<Account, Bool> & Sendable,
        to isGiven: Bool,
        audited: (action: String, detail: String),
        by authority: Authority,
        refusal: @escaping @Sendable (Account, any StoreWriter) throws(StoreError) -> ServiceError?
    ) async throws(ServiceError) -> Account {
        try authority.requireAdmin()
        try await authority.requireElevation(environment)
        let environment = environment
        return try await environment.store.writing { writer throws(StoreError) in
            guard var account = try writer.account(user) else { return .failure(user.unknown) }
            guard account[keyPath: right] != isGiven else { return .success(account) }
            if let refused = try refusal(account, writer) { return .failure(refused) }
            account[keyPath: right] = isGiven
            try writer.save(account)
            let detail: AuditDetail = [audited.detail: .bool(isGiven)]
            try writer.record(environment.audit(audited.action, account, by: authority, detail))
            try writer.changeRights(of: [account.id], at: environment.changeTime())
            return .success(account)
        }
    }

    /// Why the last admin who can act must stay one; nil for others, and for commands.
    private static func refusalOfLast(
        _ account: Account,
        _ writer: any StoreWriter,
        _ authority: Authority
    ) throws(StoreError) -> ServiceError? {
        guard case .caller = authority, account.isAdmin, !account.isDisabled, try writer.isLastAdmin(account.id) else {
            return nil
        }
        return .conflicting(
            "\(account.name) is the last admin. Make somebody else an admin first, or use `tocsin user` on the server."
        )
    }

    private static func account(named name: String, _ environment: ServiceEnvironment) -> Account {
        Account(
            id: UserID(environment.identifiers.makeID()),
            name: name,
            passwordHash: nil,
            isDisabled: false,
            createdAt: environment.time.now()
        )
    }

    private static func manager(_ text: String, _ reader: any StoreReader) throws(StoreError) -> Account.Manager? {
        if let manager = Account.Manager(text: text) {
            switch manager {
            case .user(let id): return try person(id.text, reader).map { .user($0.id) }
            case .group(let name): return try reader.group(named: name).map { .group($0.name) }
            }
        }
        if let account = try person(text, reader) { return .user(account.id) }
        return try reader.group(named: text).map { .group($0.name) }
    }

    /// Programs look after no programs.
    private static func person(_ text: String, _ reader: any StoreReader) throws(StoreError) -> Account? {
        guard let account = try reader.account(UserReference(text)), account.kind != .service else { return nil }
        return account
    }

    private static func taken(_ name: String) -> ServiceError { .badInput("There is a user \(name) already.") }

    func passwords() throws(ServiceError) -> any PasswordHashing {
        guard let passwords = environment.passwords else { throw .internal("no password can be hashed here") }
        return passwords
    }
}

/// A local user as somebody named them: by id, or by name.
package struct UserReference: Sendable, Hashable {
    /// An id or a name; the two never look alike.
    package let text: String

    /// Whoever has this id or name.
    package init(_ text: String) { self.text = text }

    /// What is said where there is nobody.
    var unknown: ServiceError {
        .badInput("There is no user \(text.prefix(64)). `users` or `tocsin user list` shows all.")
    }
}

extension AccountReading {
    /// The account that is meant, if there is one.
    package func account(_ user: UserReference) throws(StoreError) -> Account? {
        // Names never have the form of ids, but tests and imports have ids of any form.
        if let named = try account(named: user.text) { return named }
        return try account(UserID(user.text))
    }
}

extension StoreWriter {
    /// Notes that the rights of users have changed, and tells everybody who remembers them.
    func changeRights(of users: [UserID], at moment: Timestamp) throws(StoreError) {
        for user in users.sorted() {
            guard let changed = try changeRights(of: user, at: moment) else { continue }
            note(.rightsChanged(user, at: changed))
        }
    }
}

extension Authority {
    /// Whether all of an account may be read: by itself, who manages it, and admins.
    func mayRead(_ account: Account) -> Bool {
        if isAdmin(writing: false) { return true }
        guard case .caller(let caller) = self, AccessPolicy.mayManageOwnThings(caller, writing: false) else {
            return false
        }
        return account.id.text.hasBytes(of: caller.userID.text) || account.manager?.covers(caller) == true
    }
}
