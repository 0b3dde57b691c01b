/// Checks passwords behind the brakes, whoever asks: a sign-in, or somebody who wants a new one.
///
/// From a network where nobody signed in, what the brakes refuse costs the store one look in ten
/// seconds. From others each try costs it one.
struct PasswordChecks: Sendable {
    let environment: ServiceEnvironment
    let passwords: any PasswordHashing
    private var brakes: SignInBrakes { environment.signInBrakes }

    init(_ environment: ServiceEnvironment, _ passwords: any PasswordHashing) {
        (self.environment, self.passwords) = (environment, passwords)
    }

    /// What came of a try.
    struct Outcome: Sendable {
        /// The account with the name, if there is one.
        var account: Account?
        /// Whether the password is the account's, or that of the decoy.
        var isRight = false
        /// Whether the account may sign in, and has a password.
        var mayEnter: Bool { account.map { $0.passwordHash != nil && !$0.isDisabled } ?? false }
    }

    /// Checks a password, after the wait that the brakes want.
    ///
    /// `decoy` is a hash that is checked in place of one that is not there: names take alike.
    /// Where the account may not sign in, a right password counts as a failure, too. Throws
    /// `tooManyTries` where nothing was checked.
    func check(_ password: String, of name: String, decoy: String) async throws(ServiceError) -> Outcome {
        let origin = RequestOrigin.current
        let attempt = SignInBrakes.Try(
            account: name,
            network: origin?.shareKey,
            isFamiliar: try await isFamiliar(name, origin?.network)
        )
        switch brakes.begin(attempt, now: environment.time.now()) {
        case .busy: throw Self.busy
        case .refused(let seconds):
            throw .tooManyTries(
                "Too many sign-ins failed from this network. Try again in \(seconds) s.",
                seconds: seconds
            )
        case .after(let seconds):
            defer { brakes.finished(attempt) }
            if seconds > 0 { try await pause(attempt.share(ofSeconds: seconds)) }
            let outcome = try await verified(password, attempt, decoy)
            if outcome.isRight, outcome.mayEnter {
                brakes.succeeded(attempt)
                if let network = origin?.network { brakes.noteKnown(network) }
            }
            return outcome
        }
    }

    /// The account with this name, if there is one.
    func account(named name: String) async throws(ServiceError) -> Account? {
        try await environment.store.reading(for: .server) { reader throws(StoreError) in
            try reader.account(named: name)
        }
    }

    /// Whether the user with this name signed in from the network before.
    private func isFamiliar(_ name: String, _ network: String?) async throws(ServiceError) -> Bool {
        let now = environment.time.now()
        guard let network, !brakes.isUnknown(network, now: now) else { return false }
        let since = now.adding(seconds: -SessionLimits.familiarSeconds)
        let (isKnown, isFamiliar) = try await environment.store.reading(for: .server) { reader throws(StoreError) in
            guard try reader.isKnown(network, since: since) else { return (false, false) }
            // Asked for those who are not there too, so that they take alike.
            let user = try reader.account(named: name)?.id ?? UserID("")
            return (true, try reader.hasSignedIn(user, from: network, since: since))
        }
        if !isKnown { brakes.noteUnknown(network, now: now) }
        return isFamiliar
    }

    private func verified(
        _ password: String,
        _ attempt: SignInBrakes.Try,
        _ decoy: String
    ) async throws(ServiceError) -> Outcome {
        guard brakes.beginCheck(attempt) else { throw Self.busy }
        defer { brakes.endCheck(attempt) }
        var outcome = Outcome(account: try await account(named: attempt.account))
        do throws(ServiceError) {
            outcome.isRight = try await passwords.verify(password, against: outcome.account?.passwordHash ?? decoy)
        } catch .limit {
            throw Self.busy
        }
        return outcome
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
