import FoundationEssentials
import GraphQLTransport
import Synchronization

// The refresh: one task that asks the provider until there is a token.
extension CredentialKeeper {
    /// What became of one call of the provider.
    private enum Outcome: Sendable {
        case token(AccessToken)
        case signedOut
        case failed(any Error)
    }

    /// Starts a refresh unless one is under way.
    func begin(_ reason: CredentialRequest.Reason, _ state: inout State) {
        guard state.refresh == nil, state.ended == nil, let provide else { return }
        let settings = settings
        state.refresh = Task { [weak self] in
            var failures = 0
            while !Task.isCancelled {
                let request = CredentialRequest(reason: reason, failures: failures)
                let outcome = await Self.ask(provide, request, settings)
                guard !Task.isCancelled, let pause = self?.took(outcome, reason, failures: failures) else { return }
                failures += 1
                try? await settings.environment.sleep(pause)
            }
        }
    }

    /// Calls the provider and waits for it, but not for ever: it may hang.
    private static func ask(
        _ provide: @escaping Provide,
        _ request: CredentialRequest,
        _ settings: ClientSettings
    ) async -> Outcome {
        let (outcomes, outcome) = AsyncStream.makeStream(of: Outcome.self)
        let call = Task {
            do {
                outcome.yield(.token(try await provide(request)))
            } catch is SignedOut {
                outcome.yield(.signedOut)
            } catch {
                outcome.yield(.failed(error))
            }
        }
        let alarm = Task {
            guard (try? await settings.environment.sleep(settings.credentialTimeout)) != nil else { return }
            outcome.yield(.failed(ClientError(.timedOut, "The provider gave no token in time.")))
        }
        defer {
            call.cancel()
            alarm.cancel()
        }
        for await first in outcomes { return first }
        return .failed(ClientError.cancelled)
    }

    /// Takes what the provider gave; the answer is the pause before it is asked again, if it is.
    private func took(_ outcome: Outcome, _ reason: CredentialRequest.Reason, failures: Int) -> Duration? {
        let (pause, waiters, result) = state.withLock { state -> (Duration?, [Waiter], TokenResult?) in
            // Nobody waits for what came too late.
            if let ended = state.ended { return (nil, [], .failure(ended)) }
            var pause: Duration?
            let result: TokenResult?
            switch outcome {
            case .token(let token): result = take(token, reason, &state)
            case .signedOut: result = .failure(.signedOut)
            case .failed(let error):
                state.lastFailure = error
                result = nil
            }
            if result == nil, isNeeded(state) {
                pause = settings.credentialPauses.pause(
                    afterFailures: failures,
                    random: settings.environment.random()
                )
                return (pause, [], result)
            }
            if case .failure? = result { state.current = nil }
            state.refresh = nil
            let waiters = Array(state.waiters.values)
            state.waiters = [:]
            return (pause, waiters, result)
        }
        tell(result, failures: failures + 1)
        for waiter in waiters { waiter.resume(returning: result ?? .failure(.cancelled)) }
        return pause
    }

    private func tell(_ result: TokenResult?, failures: Int) {
        switch result {
        case .success?: settings.log?(ClientEvent("token.taken"))
        case .failure(let error)?: settings.log?(ClientEvent("token.failed", error.code))
        case nil: settings.log?(ClientEvent("token.failed", count: failures))
        }
    }

    /// Whether anybody would miss a token: who waits for one, or who has one that goes on for a
    /// while.
    private func isNeeded(_ state: State) -> Bool {
        if !state.waiters.isEmpty || state.arriving > 0 { return true }
        guard let current = state.current, current.refusal == nil else { return false }
        return current.end.map { settings.environment.uptime() < $0 } ?? false
    }

    /// `nil` counts as a failure of the provider.
    private func take(
        _ token: AccessToken,
        _ reason: CredentialRequest.Reason,
        _ state: inout State
    ) -> TokenResult? {
        let environment = settings.environment
        let (now, wallClock) = (environment.uptime(), environment.wallClock())
        let claims = TokenClaims(of: token.text)
        do throws(ClientError) {
            try Self.check(token.text)
            let end = end(of: token, claims, state.life, now, wallClock)
            if state.life.serverOffset != nil, let end, end <= now {
                throw ClientError(.unauthenticated, "The provider's token has ended already.")
            }
            if let subject = claims.subject {
                guard subject == state.subject ?? subject else {
                    let message = "The provider's token is another user's. Make a new client for them."
                    return .failure(ClientError(.signedOut, message))
                }
                state.subject = subject
            }
            state.lastNumber += 1
            let credentials = Credentials(authorization: token.text)
            let held = HeldCredentials(number: state.lastNumber, credentials: credentials)
            let isAfterRefusal = if case .refused = reason { true } else { false }
            var current = Current(held: held, claims: claims, arrival: now, isAfterRefusal: isAfterRefusal)
            current.setEnd(end, random: environment.random())
            state.current = current
            state.lastFailure = nil
            return .success(held)
        } catch {
            state.lastFailure = error
            return nil
        }
    }

    private func end(
        of token: AccessToken,
        _ claims: TokenClaims,
        _ life: TokenLife,
        _ now: Duration,
        _ wallClock: Duration
    ) -> Duration? {
        let own = life.end(of: claims, uptime: now, wallClock: wallClock)
        guard let named = token.expiresAt else { return own }
        // The same moment, said twice: the token's own can be read by the server's clock.
        if let end = claims.endsAt, abs(named.timeIntervalSince1970 - Double(end)) < 2 { return own }
        let moment = Duration.seconds(named.timeIntervalSince1970)
        return life.uptime(ofSeconds: moment, uptime: now, wallClock: wallClock, byServer: false)
    }
}
