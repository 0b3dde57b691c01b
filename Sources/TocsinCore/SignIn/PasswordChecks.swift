/// Checks passwords behind the brakes, whoever asks: a sign-in, or somebody who wants a new one.
struct PasswordChecks: Sendable {
    let environment: ServiceEnvironment
    let passwords: any PasswordHashing
    private var brakes: SignInBrakes { environment.signInBrakes }

    init(_ environment: ServiceEnvironment, _ passwords: any PasswordHashing) {
        (self.environment, self.passwords) = (environment, passwords)
    }

    /// A password that was tried, and whose it was to be.
    struct Try: Sendable {
        var account: Account?
        fileprivate var braked: SignInBrakes.Try
    }

    /// A try of the account with this name, if there is one.
    func attempt(_ name: String) async throws(ServiceError) -> Try {
        let (origin, now) = (RequestOrigin.current, environment.time.now())
        let (account, isFamiliar) = try await environment.store.reading(for: .server) { reader throws(StoreError) in
            let account = try reader.account(named: name)
            guard let network = origin?.network else { return (account, false) }
            // Asked for those who are not there too, so that they take alike.
            let since = now.adding(seconds: -SessionLimits.familiarSeconds)
            let user = account?.id ?? UserID("")
            return (account, try reader.hasSignedIn(user, from: network, since: since))
        }
        let braked = SignInBrakes.Try(account: name, network: origin?.shareKey, isFamiliar: isFamiliar)
        return Try(account: account, braked: braked)
    }

    /// Whether the password is the one stored as `hash`, after the wait that the brakes want.
    ///
    /// Where `mayCount` is false, a right one counts as a failure, too. Throws `tooManyTries` where
    /// nothing was checked.
    func isRight(
        _ password: String,
        _ hash: String,
        _ attempt: Try,
        mayCount: Bool
    ) async throws(ServiceError) -> Bool {
        switch brakes.begin(attempt.braked, now: environment.time.now()) {
        case .busy: throw Self.busy
        case .refused(let seconds):
            throw .tooManyTries(
                "Too many sign-ins failed from this network. Try again in \(seconds) s.",
                seconds: seconds
            )
        case .after(let seconds):
            defer { brakes.finished(attempt.braked) }
            if seconds > 0 { try await pause(attempt.braked.share(ofSeconds: seconds)) }
            let isRight = try await verified(password, hash, attempt)
            if isRight, mayCount { brakes.succeeded(attempt.braked) }
            return isRight
        }
    }

    private func verified(_ password: String, _ hash: String, _ attempt: Try) async throws(ServiceError) -> Bool {
        guard brakes.beginCheck(attempt.braked) else { throw Self.busy }
        defer { brakes.endCheck(attempt.braked) }
        do throws(ServiceError) {
            return try await passwords.verify(password, against: hash)
        } catch .limit {
            throw Self.busy
        }
    }

    private func pause(_ seconds: Double) async throws(ServiceError) {
        do {
            try await environment.time.sleep(until: environment.time.now().adding(seconds: seconds))
        } catch {
            throw .unavailable("the request was given up")
        }
    }

    private static let busy = ServiceError.tooManyTries(
        "The server is checking as many passwords as it can. Nothing was checked; try again in a second.",
        seconds: 1
    )
}
