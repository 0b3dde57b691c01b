package import TocsinCore

// Sessions: those of apps come as bearer tokens, those of browsers in a cookie.
extension TokenAuthenticator {
    /// Verifies the secret of a browser's session.
    package func authenticate(cookie: String) async -> AuthenticationResult {
        let fingerprint = fingerprint(ofCookie: cookie)
        guard !fingerprint.isEmpty else { return .refused(.malformed) }
        let now = time.now()
        if let identity = verified.identity(for: fingerprint, now: now) { return .identity(identity) }
        let begin = ContinuousClock.now
        let result = await verify(cookie: cookie, fingerprint, now)
        metrics?.note(.session, Self.outcome(of: result), took: .now - begin)
        return result
    }

    private func verify(cookie: String, _ fingerprint: [UInt8], _ now: Timestamp) async -> AuthenticationResult {
        let generation = verified.generation
        do throws(TokenProblem) {
            let identity = try await identity(ofSession: cookie, .browser, now: now)
            remember(identity, fingerprint, now, generation)
            return .identity(identity)
        } catch {
            return Self.result(of: error)
        }
    }

    /// SHA-256 of the secret behind a word that no token begins with.
    package func fingerprint(ofCookie cookie: String) -> [UInt8] {
        guard !cookie.isEmpty, cookie.utf8.count <= SessionSecretText.maximumBytes else { return [] }
        return Digest.sha256(Array(("cookie " + cookie).utf8))
    }

    /// Who is signed in by this secret; of which kind its session is counts too.
    func identity(
        ofSession secret: String,
        _ kind: Session.Kind,
        now: Timestamp
    ) async throws(TokenProblem) -> Identity {
        guard let sessionUsed, secret.utf8.count <= SessionSecretText.maximumBytes else { throw .notAuthorized }
        let digest = SessionSecretText().digest(of: secret)
        let (session, account, groups): (Session?, Account?, [Group])
        do throws(StoreError) {
            // Made-up secrets take turns as few owners do, as made-up keys.
            (session, account, groups) = try await store.read(for: .owner("session \(digest.prefix(2))")) {
                (reader) throws(StoreError) in
                guard let session = try reader.session(digest: digest) else { return (nil, nil, []) }
                let user = session.userID
                return (session, try reader.account(user), try reader.groups(of: [user])[user] ?? [])
            }
        } catch {
            throw .unavailable(reason: error.description)
        }
        guard let session, session.kind == kind, session.isShown(by: digest, at: now) else { throw .notAuthorized }
        guard session.endedAt == nil else { throw .revoked }
        guard session.isGood(at: now) else { throw .expired }
        let identity = Identity(session, claimedGroups: claimedGroups.subjects(in: session.claims))
        if session.provider == nil || session.identityID != nil {
            guard let account, account.name == session.username else { throw .notAuthorized }
            guard !account.isDisabled else { throw .revoked }
            sessionUsed(session)
            noted(identity)
            return identity.with(account, in: groups, isAlsoAdmin: session.isAdmin)
        }
        guard account == nil else { throw .notAuthorized }
        sessionUsed(session)
        // Noted as of an external token: the person has no account that says it.
        var facts = identity
        facts.tokenID = nil
        noted(facts)
        return identity.with(groups: [], isAdmin: session.isAdmin, asOf: nil)
    }
}

extension Identity {
    /// The caller with what the rows of their account and groups say.
    ///
    /// Who `isAlsoAdmin` is one by a group of their sign-in provider.
    func with(_ account: Account, in groups: [Group], isAlsoAdmin: Bool = false) -> Identity {
        with(
            groups: groups.map(\.name),
            isAdmin: account.isAdmin || isAlsoAdmin,
            isGroupMaker: account.isGroupMaker,
            asOf: account.rightsChangedAt
        )
    }
}
