import Metrics

/// Signs people in: by a password, or because a provider vouches for them.
package struct SignInService: Sendable {
    let environment: ServiceEnvironment
    let limits: SessionLimits
    let secrets: any SessionSecrets
    /// Takes refused sign-ins for log and audit.
    package let refusals: RefusedSignIns
    private let checks: PasswordChecks
    private let metrics: AuthMetrics?
    /// A hash that no password has, checked in place of one that is not there.
    private let decoy: String
    /// Whether passwords are taken.
    package let takesPasswords: Bool

    /// A service over the store of `environment`, whose brakes count.
    package init(
        environment: ServiceEnvironment,
        limits: SessionLimits,
        secrets: any SessionSecrets,
        passwords: any PasswordHashing,
        decoy: String,
        takesPasswords: Bool,
        refusals: RefusedSignIns,
        metrics: AuthMetrics? = nil
    ) {
        self.metrics = metrics
        (self.environment, self.limits, self.secrets) = (environment, limits, secrets)
        checks = PasswordChecks(environment, passwords)
        (self.decoy, self.takesPasswords, self.refusals) = (decoy, takesPasswords, refusals)
    }

    /// Signs a local user in.
    ///
    /// A name that is not there, a wrong password and an account that may not sign in are answered
    /// alike, and take alike.
    package func signIn(
        username: String,
        password: String,
        kind: Session.Kind,
        agent: String? = nil
    ) async throws(ServiceError) -> NewSession {
        let account = try await checked(username: username, password: password)
        let session = session(of: account.id, named: account.name, kind, agent)
        return try await begin(session, by: account.passwordHash)
    }

    /// Signs somebody in for whom a provider vouches.
    package func signIn(
        _ person: VouchedPerson,
        agent: String? = nil
    ) async throws(ServiceError) -> ProviderSignIn {
        var new = session(of: person.userID, named: person.username, .browser, agent)
        (new.session.provider, new.session.vouchedBy) = (person.provider, person.vouchedBy)
        (new.session.claims, new.session.isAdmin) = (person.claims, person.isAdmin)
        (new.session.providerSession, new.session.secrets) = (person.providerSession, person.secrets)
        new.session.renewedAt = new.session.createdAt
        if person.isElevated { new.session.elevatedUntil = elevationEnd }
        return try await begin(new, of: person)
    }

    /// Takes a local user's password again, and lets their session do for a while what needs that.
    package func elevate(_ caller: Identity, password: String) async throws(ServiceError) -> Session {
        guard let id = caller.tokenID else { throw Self.noSession }
        let checked = try await checked(username: caller.username, password: password)
        let environment = environment
        return try await environment.store.writing { writer throws(StoreError) -> Result<Session, ServiceError> in
            let now = environment.time.now()
            // The account before its sessions, as all writers lock them.
            guard try writer.account(checked.id)?.passwordHash == checked.passwordHash else {
                return .failure(Self.wrong)
            }
            guard var session = try writer.session(id), session.isGood(at: now), session.provider == nil else {
                return .failure(Self.noSession)
            }
            session.elevatedUntil = now.adding(seconds: SessionLimits.elevationSeconds)
            try writer.save(session)
            try writer.record(
                environment.audit(action: "session.elevate", by: caller, on: .session(id.text, of: session.userID))
            )
            return .success(session)
        }
    }

    private var elevationEnd: Timestamp { environment.time.now().adding(seconds: SessionLimits.elevationSeconds) }

    static let noSession = ServiceError.unauthenticated("There is no session that this could be done to. Sign in.")
    private static let wrong = ServiceError.unauthenticated("The user name or the password is wrong.")
}

// Checking a password.
extension SignInService {
    private func checked(username: String, password: String) async throws(ServiceError) -> Account {
        let begin = ContinuousClock.now
        do throws(ServiceError) {
            let account = try await found(username: username, password: password)
            metrics?.note(.password, .ok, took: .now - begin)
            return account
        } catch {
            metrics?.note(.password, Self.outcome(of: error), took: .now - begin)
            throw error
        }
    }

    private static func outcome(of error: ServiceError) -> AuthMetrics.Outcome {
        switch error {
        case .tooManyTries: .limited
        case .unavailable, .uncertain, .internal: .away
        default: .bad
        }
    }

    /// The account of this name, if the password is its and it may sign in.
    private func found(username: String, password: String) async throws(ServiceError) -> Account {
        guard takesPasswords else {
            throw .badInput("This server takes no passwords (TOCSIN_PASSWORD_SIGN_IN). Sign in another way.")
        }
        // Longer ones are nobody's; they are answered alike.
        let name = username.utf8.count <= 256 ? username : ""
        let tried: PasswordChecks.Outcome
        do throws(ServiceError) {
            tried = try await checks.check(password, of: name, decoy: decoy)
        } catch .tooManyTries(let text, let seconds) {
            if seconds > 1 {
                metrics?.limited[.network].add()
                try await noteBraked(name)
            }
            throw .tooManyTries(text, seconds: seconds)
        }
        guard tried.isRight, tried.mayEnter, let account = tried.account else {
            let reason = tried.account == nil ? "unknown_user" : tried.isRight ? "user_disabled" : "wrong_password"
            refusals.note(SignInRefusal(reason: reason, user: tried.account?.id))
            throw Self.wrong
        }
        return account
    }

    /// Notes a try that the brakes refused.
    ///
    /// Whose account it was to be is looked up for a row of its own alone.
    private func noteBraked(_ name: String) async throws(ServiceError) {
        let user = refusals.hasRowLeft ? try await checks.account(named: name)?.id : nil
        refusals.note(SignInRefusal(reason: "too_many_tries", user: user))
    }
}

// Beginning a session.
extension SignInService {
    private func session(of user: UserID, named name: String, _ kind: Session.Kind, _ agent: String?) -> NewSession {
        let secret = secrets.make(kind)
        var session = Session(
            id: TokenID(environment.identifiers.makeID()),
            digest: secrets.digest(of: secret),
            userID: user,
            username: name,
            kind: kind,
            at: environment.time.now(),
            limits
        )
        session.agent = agent.map {
            String(String.UnicodeScalarView($0.unicodeScalars.filter(Self.isShown).prefix(120)))
        }
        session.network = RequestOrigin.current?.network
        return NewSession(session: session, secret: secret)
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool { scalar.value >= 0x20 && scalar.value != 0x7F }

    /// Begins a session of a local user by the password that was right a moment ago.
    ///
    /// Who has set another since has ended all sessions, and this one must not come behind that.
    private func begin(_ new: NewSession, by hash: String?) async throws(ServiceError) -> NewSession {
        let (environment, limits, session) = (environment, limits, new.session)
        let refused = SignInRefusal(reason: "changed_meanwhile", user: session.userID)
        do throws(ServiceError) {
            try await environment.store.writing { writer throws(StoreError) -> Result<Void, ServiceError> in
                // Held until the end, so that a user's sessions are counted one sign-in at a time.
                guard let account = try writer.account(session.userID), !account.isDisabled,
                    account.passwordHash == hash
                else { return .failure(Self.wrong) }
                try Self.begin(session, limits, environment, writer)
                return .success(())
            }
        } catch .unauthenticated(let text) {
            refusals.note(refused)
            throw .unauthenticated(text)
        }
        return new
    }

    private func begin(_ new: NewSession, of person: VouchedPerson) async throws(ServiceError) -> ProviderSignIn {
        let (environment, limits, session) = (environment, limits, new.session)
        let result = try await environment.store.writing {
            writer throws(StoreError) -> Result<ProviderSignIn, ServiceError> in
            try writer.holdIdentity(issuer: person.issuer, subject: person.subject)
            var session = session
            if let refused = try Self.place(&session, of: person, environment, writer) {
                return .success(.refused(refused, session.userID))
            }
            try Self.begin(session, limits, environment, writer)
            return .success(.begun(NewSession(session: session, secret: new.secret)))
        }
        if case .refused(let reason, let user) = result {
            refusals.note(SignInRefusal(reason: reason.rawValue, user: user, provider: person.provider))
        }
        return result
    }

    /// Makes the session that of the user whose the identity is: a local one by a link, or one of
    /// its own.
    ///
    /// Answers why it may not begin; nil where it may.
    private static func place(
        _ session: inout Session,
        of person: VouchedPerson,
        _ environment: ServiceEnvironment,
        _ writer: any StoreWriter
    ) throws(StoreError) -> ProviderSignIn.Refusal? {
        let identity = try writer.identity(issuer: person.issuer, subject: person.subject)
        if let identity, let user = identity.userID {
            (session.userID, session.identityID, session.vouchedBy) = (user, identity.id, .userPools)
            guard let account = try writer.account(user), !account.isDisabled else { return .userDisabled }
            session.username = account.name
            return nil
        }
        guard try writer.account(person.userID) == nil else { return .accountTaken }
        guard identity == nil else { return nil }
        // Who came before identities were kept has things or a session.
        if person.mustBeKnown, try !writer.hasThings(person.userID), try writer.sessions(of: person.userID).isEmpty {
            return .notInvited
        }
        try writer.save(SignInIdentity(person, linkedTo: nil, environment))
        return nil
    }

    private static func begin(
        _ session: Session,
        _ limits: SessionLimits,
        _ environment: ServiceEnvironment,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        try makeRoom(for: session, limits, environment, writer)
        try writer.save(session)
        try writer.record(environment.audit(startOf: session))
    }

    /// Ends the oldest sessions beyond the limit, and forgets those that ended long ago.
    private static func makeRoom(
        for session: Session,
        _ limits: SessionLimits,
        _ environment: ServiceEnvironment,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        let now = environment.time.now()
        let all = try writer.sessions(of: session.userID)
        let good = all.filter { $0.isGood(at: now) }
        for old in good.dropFirst(limits.perUser - 1) {
            try environment.end(old, by: .server, reason: "TOO_MANY", writer)
        }
        let goodIDs = Set(good.map(\.id))
        for old in all.filter({ !goodIDs.contains($0.id) }).dropFirst(limits.rowsPerUser - limits.perUser) {
            try writer.remove(old.id)
        }
    }
}

/// What becomes of somebody for whom a provider vouches.
package enum ProviderSignIn: Sendable {
    /// They are signed in.
    case begun(NewSession)
    /// They may not come in; with the id of the user who they would have been.
    case refused(Refusal, UserID)

    /// Why; a word keeps its meaning.
    package enum Refusal: String, Sendable {
        /// A local user has the id that the person would have.
        case accountTaken = "account_taken"
        /// The provider's people must be known here (`TOCSIN_OIDC_SIGNUP`), and this one is not.
        case notInvited = "not_invited"
        /// The local user whose identity it is has been disabled.
        case userDisabled = "user_disabled"
    }
}
