// Passwords of local users. Hashes are made and compared before the write begins, which must not
// wait.
extension PeopleService {
    /// Changes the caller's own password; `old` is the one until now, if there is one.
    package func setPassword(
        old: String?,
        new: String,
        caller: Identity
    ) async throws(ServiceError) -> Account {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true) else { throw .unauthorized }
        let account = try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.account(caller.userID)
        }
        guard let account else {
            throw .badInput("Your password is your sign-in provider's. Change it there.")
        }
        try Self.requirePerson(account)
        try PasswordRules.check(new, of: account.name)
        if let stored = account.passwordHash {
            try await requirePassword(old, stored, of: account, caller)
        } else {
            // A first password is a further way in, by which sessions are proved from then on.
            try await environment.requireElevation(of: caller)
        }
        return try await setHash(of: account, to: try await passwords().hash(new), by: .caller(caller))
    }

    /// Whoever has a token only must not find out the password by trying: the brakes are those of
    /// signing in.
    private func requirePassword(
        _ old: String?,
        _ stored: String,
        of account: Account,
        _ caller: Identity
    ) async throws(ServiceError) {
        let wrong = ServiceError.badInput("old is not the password until now. An admin can reset it.")
        guard let old else { throw wrong }
        let checks = PasswordChecks(environment, try passwords())
        var refusal = SignInRefusal(reason: "wrong_password", user: account.id)
        refusal.caller = caller
        do throws(ServiceError) {
            guard try await checks.check(old, of: account.name, decoy: stored).isRight else {
                refusals?.note(refusal)
                throw wrong
            }
        } catch .tooManyTries(let text, let seconds) {
            // Of what the server had no time for nothing was tried.
            refusal.reason = "too_many_tries"
            if seconds > 1 { refusals?.note(refusal) }
            throw .tooManyTries(text, seconds: seconds)
        }
    }

    /// Gives a person a new password that an admin hands over; answers it, for it is not stored.
    package func resetPassword(
        of user: UserReference,
        by authority: Authority
    ) async throws(ServiceError) -> (account: Account, password: String) {
        try authority.requireAdmin()
        try await authority.requireElevation(environment)
        let password = try passwords().makePassword()
        return (try await setPassword(of: user, to: password, by: authority), password)
    }

    /// Sets a person's password, whatever it was.
    package func setPassword(
        of user: UserReference,
        to password: String,
        by authority: Authority
    ) async throws(ServiceError) -> Account {
        try authority.requireAdmin()
        try await authority.requireElevation(environment)
        let account = try await environment.store.reading(for: authority.reads) { reader throws(StoreError) in
            try reader.account(user)
        }
        guard let account else { throw user.unknown }
        try Self.requirePerson(account)
        try PasswordRules.check(password, of: account.name)
        return try await setHash(of: account, to: try await passwords().hash(password), by: authority)
    }

    private static func requirePerson(_ account: Account) throws(ServiceError) {
        guard account.kind == .local else {
            throw .badInput("\(account.name) is a service account, which has tokens and no password.")
        }
    }

    /// Sets the hash; all sessions end but the one by which the user asks.
    private func setHash(
        of before: Account,
        to hash: String,
        by authority: Authority
    ) async throws(ServiceError) -> Account {
        let environment = environment
        return try await environment.store.writing { writer throws(StoreError) in
            guard var account = try writer.account(before.id), account.passwordHash == before.passwordHash else {
                return .failure(.conflicting("The password was changed meanwhile. Try again."))
            }
            account.passwordHash = hash
            try writer.save(account)
            try writer.record(environment.audit("user.password", account, by: authority))
            for session in try writer.sessions(of: account.id) where session.id.text != authority.actor.token {
                try environment.end(session, by: authority.actor, reason: "PASSWORD_CHANGED", writer)
            }
            return .success(account)
        }
    }
}
