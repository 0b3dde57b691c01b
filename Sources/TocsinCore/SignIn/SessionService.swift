/// What becomes of sessions after the sign-in: renewed, ended, listed.
package struct SessionService: Sendable {
    private let environment: ServiceEnvironment
    private let limits: SessionLimits
    private let secrets: any SessionSecrets

    /// A service over the store of `environment`.
    package init(environment: ServiceEnvironment, limits: SessionLimits, secrets: any SessionSecrets) {
        (self.environment, self.limits, self.secrets) = (environment, limits, secrets)
    }

    /// Gives an app's session a new secret and a new life.
    ///
    /// The secret before is good for a minute more, should the answer be lost.
    package func refresh(_ caller: Identity) async throws(ServiceError) -> NewSession {
        let (environment, limits) = (environment, limits)
        let secret = secrets.make(.app)
        let digest = secrets.digest(of: secret)
        guard let id = caller.tokenID else { throw Self.notApp }
        return try await environment.store.writing { writer throws(StoreError) -> Result<NewSession, ServiceError> in
            let now = environment.time.now()
            guard var session = try writer.session(id), session.kind == .app else { return .failure(Self.notApp) }
            guard session.isGood(at: now) else { return .failure(SignInService.noSession) }
            session.formerDigest = session.digest
            session.formerUntil = now.adding(seconds: SessionLimits.formerSeconds)
            session.digest = digest
            session.seenAt = now
            session.idleUntil = now.adding(seconds: limits.idleSeconds)
            session.expiresAt = now.adding(seconds: limits.lifetimeSeconds)
            try writer.save(session)
            try writer.record(
                environment.audit(action: "session.renew", by: caller, on: .session(id.text, of: session.userID))
            )
            return .success(NewSession(session: session, secret: secret))
        }
    }

    /// Ends what the caller signed in with: a session, or a token of this server.
    ///
    /// Answers the session, or nil where a token was revoked.
    package func signOut(_ caller: Identity) async throws(ServiceError) -> Session? {
        guard let id = caller.tokenID, caller.provider != .apiKey else { throw Self.notOurs }
        let environment = environment
        return try await environment.store.writing { writer throws(StoreError) -> Result<Session?, ServiceError> in
            let now = environment.time.now()
            if let session = try writer.session(id) {
                try environment.end(session, by: .caller(caller), reason: "SIGNED_OUT", writer)
                return .success(session)
            }
            guard var token = try writer.token(id) else { return .failure(Self.notOurs) }
            guard token.revokedAt == nil else { return .success(nil) }
            token.revokedAt = now
            try writer.save(token)
            try environment.endDevices(boundTo: id, by: .caller(caller), writer)
            let subject = AuditSubject.token(id, of: token.userID)
            try writer.record(environment.audit(action: "token.revoke", by: caller, on: subject))
            writer.note(.accessEnded(token.userID, id))
            return .success(nil)
        }
    }

    /// The session by which the caller is here; nil for other callers.
    package func session(of caller: Identity) async throws(ServiceError) -> Session? {
        guard let id = caller.tokenID else { return nil }
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.session(id)
        }
    }

    /// The caller's own good sessions, the latest first.
    package func sessions(of caller: Identity) async throws(ServiceError) -> [Session] {
        guard caller.isPerson, caller.scope == .full || caller.scope == .readOnly else { throw .unauthorized }
        let now = environment.time.now()
        let found = try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.sessions(of: caller.userID)
        }
        return found.filter { $0.isGood(at: now) }
    }

    /// The good sessions of these users, for themselves and for admins; nil for whom the caller may
    /// not look at.
    package func sessions(
        of users: Set<UserID>,
        by caller: Identity
    ) async throws(ServiceError) -> [UserID: [Session]] {
        guard caller.isPerson, caller.scope == .full || caller.scope == .readOnly else { return [:] }
        let (shown, now) = (caller.isAdmin ? users : users.intersection([caller.userID]), environment.time.now())
        guard !shown.isEmpty else { return [:] }
        let found = try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.sessions(of: shown)
        }
        let good = Dictionary(grouping: found.filter { $0.isGood(at: now) }, by: \.userID)
        return Dictionary(uniqueKeysWithValues: shown.map { ($0, good[$0] ?? []) })
    }

    /// Ends one of the caller's own sessions, or for an admin anybody's; another's is answered as
    /// one that is not there.
    package func end(_ id: TokenID, by caller: Identity) async throws(ServiceError) -> Session {
        guard caller.isPerson, caller.scope == .full else { throw .unauthorized }
        let environment = environment
        return try await environment.store.writing { writer throws(StoreError) -> Result<Session, ServiceError> in
            guard let session = try writer.session(id), caller.isAdmin || session.userID == caller.userID else {
                return .failure(.unauthorized)
            }
            try environment.end(session, by: .caller(caller), reason: "ENDED", writer)
            return .success(session)
        }
    }

    /// Takes what a provider says of a person who is signed in, or that it vouches no longer.
    package func renew(
        _ id: TokenID,
        _ outcome: ProviderOutcome
    ) async throws(ServiceError) {
        let environment = environment
        try await environment.store.writing { writer throws(StoreError) -> Result<Void, ServiceError> in
            let now = environment.time.now()
            guard var session = try writer.session(id), session.isGood(at: now) else { return .success(()) }
            session.renewedAt = now
            switch outcome {
            case .ended(let reason):
                try environment.end(session, by: .server, reason: reason, writer)
                return .success(())
            case .unanswered: break
            case .renewed(let person, let secrets):
                if let secrets { session.secrets = secrets }
                let before = (session.claims, session.isAdmin)
                if let person { (session.claims, session.isAdmin) = (person.claims, person.isAdmin) }
                // Who remembers the session asks anew; subscriptions are judged again.
                if before != (session.claims, session.isAdmin) { writer.note(.accessEnded(session.userID, id)) }
            }
            try writer.save(session)
            return .success(())
        }
    }

    /// What came of asking a provider again.
    package enum ProviderOutcome: Sendable {
        /// It vouches; with a person it said something of them, with secrets there are new ones.
        case renewed(VouchedPerson?, secrets: String?)
        /// It vouches no longer.
        case ended(reason: String)
        /// Nothing was learnt.
        case unanswered
    }

    private static let notApp = ServiceError.badInput(
        "Only an app's session of signIn can be refreshed. A browser's renews itself, and a token has its end."
    )
    private static let notOurs = ServiceError.badInput(
        "This server did not give out what you signed in with, so it cannot end it. Sign out where you got it."
    )
}

/// Removes rows of sessions whose time was over long ago.
package struct SessionReaper: Sendable {
    private let store: any Store
    private let time: any TimeSource

    /// A reaper of a store's sessions.
    package init(store: any Store, time: any TimeSource) { (self.store, self.time) = (store, time) }

    /// Removes some rows every ten minutes.
    package var task: PeriodicTask {
        PeriodicTask(
            .sessions,
            everySeconds: 600,
            failure: "old sessions could not be removed"
        ) { () async throws(ServiceError) in
            let end = time.now().adding(seconds: -SessionLimits.keptSeconds)
            return try await store.writing { writer throws(StoreError) in
                .success(try writer.removeSessions(before: end, limit: 500))
            }
        }
    }
}

extension ServiceEnvironment {
    /// The beginning of a session, for the audit.
    func audit(startOf session: Session) -> AuditEvent {
        audit(
            action: "session.start",
            by: AuditActor(kind: .user, id: session.userID.text, token: session.id.text),
            on: .session(session.id.text, of: session.userID),
            detail: [
                "kind": .text(session.kind.rawValue), "method": session.provider == nil ? "PASSWORD" : "OIDC",
                "provider": session.provider.map { .text($0) }, "agent": session.agent.map { .text($0) },
                "expiresAt": .text(session.expiresAt.iso8601),
            ]
        )
    }

    /// Ends a session and all that rests on it; one that is over stays as it is.
    func end(
        _ session: Session,
        by actor: AuditActor,
        reason: String,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        guard session.endedAt == nil else { return }
        var session = session
        session.endedAt = time.now()
        session.secrets = nil
        try writer.save(session)
        try endDevices(boundTo: session.id, by: actor, writer)
        try writer.record(
            audit(
                action: "session.end",
                by: actor,
                on: .session(session.id.text, of: session.userID),
                about: session.userID,
                detail: ["reason": .text(reason)]
            )
        )
        writer.note(.accessEnded(session.userID, session.id))
    }

    /// Retires devices that are bound to a session or token; registering them again revives them.
    func endDevices(boundTo id: TokenID, by actor: AuditActor, _ writer: any StoreWriter) throws(StoreError) {
        let (now, reason) = (time.now(), DeliveryReason.accessEnded)
        for device in try writer.devices(boundTo: id) {
            try writer.endDeliveries(of: device.id, reason: reason, now: now)
            guard
                try writer.retireDevice(device.id, reason: reason, registeredBy: max(now, device.registeredAt))
            else { continue }
            writer.note(.deviceEnded(device.id, reason: reason))
            try writer.record(audit(endOf: device, by: actor, reason: reason))
            try raise(.unregistered(device, reason: reason), writer)
        }
    }
}
