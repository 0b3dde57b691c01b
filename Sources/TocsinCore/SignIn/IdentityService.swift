/// Links people of sign-in providers to local users, who then sign in there as themselves.
///
/// An identity is linked by who has proved to be the user here and the person there, or by a
/// command on the data directory. It is never found by a name or an e-mail address.
package struct IdentityService: Sendable {
    private let environment: ServiceEnvironment

    /// A service over the store of `environment`.
    package init(environment: ServiceEnvironment) { self.environment = environment }

    /// The caller's own linked identities, the oldest first.
    package func identities(of caller: Identity) async throws(ServiceError) -> [SignInIdentity] {
        guard caller.isPerson, caller.scope == .full || caller.scope == .readOnly else { throw .unauthorized }
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.linkedIdentities(of: caller.userID)
        }
    }

    /// All linked identities, by user.
    package func all() async throws(ServiceError) -> [SignInIdentity] {
        try await environment.store.reading(for: .server) { reader throws(StoreError) in
            try reader.linkedIdentities(of: nil)
        }
    }

    /// The session by which the caller may begin to link an identity.
    ///
    /// Throws `reauthenticate` unless they proved a short while ago who they are.
    package func requireLinking(by caller: Identity) async throws(ServiceError) -> Session {
        let (session, account, count) = try await environment.store.reading(for: caller.reads) {
            reader throws(StoreError) in
            (
                try caller.tokenID.flatMap { (id) throws(StoreError) in try reader.session(id) },
                try reader.account(caller.userID), try reader.linkedIdentities(of: caller.userID).count
            )
        }
        guard let session else { throw .badInput("Only who has signed in links an identity. Sign in.") }
        guard account?.kind == .local else { throw Self.notLocal }
        guard session.isElevated(at: environment.time.now()) else { throw .reauthenticate }
        guard count < SignInIdentity.maximumPerUser else { throw Self.tooMany }
        return session
    }

    /// Links somebody, for whom a provider vouches just now, to the user of a session.
    package func link(_ person: VouchedPerson, by session: TokenID) async throws(ServiceError) -> SignInIdentity {
        let environment = environment
        return try await environment.store.writing {
            writer throws(StoreError) -> Result<SignInIdentity, ServiceError> in
            try writer.holdIdentity(issuer: person.issuer, subject: person.subject)
            // The user is held before their session, as where they sign in.
            guard let user = try writer.unlocked.session(session)?.userID,
                let account = try writer.account(user), !account.isDisabled,
                let session = try writer.session(session), session.isGood(at: environment.time.now())
            else { return .failure(SignInService.noSession) }
            let actor = AuditActor(kind: .user, id: account.id.text, token: session.id.text)
            return try Self.link(person, to: account, by: actor, environment, writer)
        }
    }

    /// Links a person of a provider to a user, for a command on the data directory.
    package func link(_ person: VouchedPerson, to user: UserReference) async throws(ServiceError) -> SignInIdentity {
        let environment = environment
        return try await environment.store.writing {
            writer throws(StoreError) -> Result<SignInIdentity, ServiceError> in
            try writer.holdIdentity(issuer: person.issuer, subject: person.subject)
            guard let account = try writer.account(user) else { return .failure(user.unknown) }
            return try Self.link(person, to: account, by: .operator, environment, writer)
        }
    }

    /// Takes one of the caller's own identities from them; another's is answered as one that is not
    /// there.
    ///
    /// Sessions that began by it end. The identity is a user of its own again.
    package func unlink(_ id: String, by caller: Identity) async throws(ServiceError) -> SignInIdentity {
        guard caller.isPerson, caller.scope == .full else { throw .unauthorized }
        try await environment.requireElevation(of: caller)
        let environment = environment
        return try await environment.store.writing {
            writer throws(StoreError) -> Result<SignInIdentity, ServiceError> in
            guard let identity = try writer.identity(id), let user = identity.userID, user == caller.userID,
                let account = try writer.account(user)
            else { return .failure(.unauthorized) }
            let count = try writer.linkedIdentities(of: user).count
            guard account.passwordHash != nil || count > 1 else {
                return .failure(
                    .conflicting("You sign in by this identity alone. Set a password first, or link another one.")
                )
            }
            try Self.unlink(identity, from: account, by: .caller(caller), environment, writer)
            return .success(identity)
        }
    }

    /// Takes an identity from a user, for a command on the data directory.
    package func unlink(
        issuer: String,
        subject: String,
        from user: UserReference
    ) async throws(ServiceError) -> SignInIdentity {
        let environment = environment
        return try await environment.store.writing {
            writer throws(StoreError) -> Result<SignInIdentity, ServiceError> in
            let identity = try writer.identity(issuer: issuer, subject: subject)
            guard let account = try writer.account(user) else { return .failure(user.unknown) }
            guard let identity, identity.userID == account.id else {
                return .failure(.badInput("\(account.name) has no such identity. `tocsin user list --json` shows all."))
            }
            try Self.unlink(identity, from: account, by: .operator, environment, writer)
            return .success(identity)
        }
    }

    private static let notLocal = ServiceError.badInput("Only a local user links identities.")
    private static let tooMany = ServiceError.limit(
        "There are \(SignInIdentity.maximumPerUser) linked identities, as many as one user may have. Unlink one first."
    )
    /// Never says whose it is.
    private static let taken = ServiceError.conflicting(
        "This identity belongs to another user of this server. Nothing was changed."
    )
}

// What both ways share.
extension IdentityService {
    private static func link(
        _ person: VouchedPerson,
        to account: Account,
        by actor: AuditActor,
        _ environment: ServiceEnvironment,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Result<SignInIdentity, ServiceError> {
        guard account.kind == .local else { return .failure(notLocal) }
        let before = try writer.identity(issuer: person.issuer, subject: person.subject)
        if let before, before.userID == account.id { return .success(before) }
        // Who has things here as a user of their own would lose sight of them.
        guard before?.userID == nil, try writer.unlocked.account(person.userID) == nil,
            try !writer.hasThings(person.userID)
        else { return .failure(taken) }
        guard try writer.linkedIdentities(of: account.id).count < SignInIdentity.maximumPerUser else {
            return .failure(tooMany)
        }
        var identity = SignInIdentity(person, linkedTo: account.id, environment)
        if let before { identity.id = before.id }
        try writer.save(identity)
        try writer.record(environment.audit("identity.link", identity, of: account, by: actor))
        // Who came as a user of its own comes as this one from now on.
        for session in try writer.sessions(of: person.userID) {
            try environment.end(session, by: actor, reason: "IDENTITY_LINKED", writer)
        }
        writer.note(.accessEnded(person.userID, nil))
        return .success(identity)
    }

    private static func unlink(
        _ identity: SignInIdentity,
        from account: Account,
        by actor: AuditActor,
        _ environment: ServiceEnvironment,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        try writer.remove(identity)
        try writer.record(environment.audit("identity.unlink", identity, of: account, by: actor))
        for session in try writer.sessions(of: account.id) where session.identityID == identity.id {
            try environment.end(session, by: actor, reason: "IDENTITY_UNLINKED", writer)
        }
        // Bearer tokens of the identity are looked at anew.
        try writer.changeRights(of: [account.id], at: environment.changeTime())
    }
}

extension ServiceEnvironment {
    /// What the audit says of a link: the provider, and whom it means there.
    fileprivate func audit(
        _ action: String,
        _ identity: SignInIdentity,
        of account: Account,
        by actor: AuditActor
    ) -> AuditEvent {
        audit(
            action: action,
            by: actor,
            on: .user(account.id),
            about: account.id,
            detail: [
                "identity": .text(identity.id), "provider": .text(identity.provider),
                "issuer": .text(identity.issuer), "subject": .text(identity.subject),
            ]
        )
    }
}
