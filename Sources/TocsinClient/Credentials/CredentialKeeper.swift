package import GraphQLTransport
import Synchronization

/// A token in use, told from those before and after it by its number.
package struct HeldCredentials: Sendable, Hashable {
    /// Which of the client's tokens it is, counted from 1.
    package let number: Int
    /// What is shown to the server.
    package let credentials: Credentials

    /// Credentials of this number.
    package init(number: Int, credentials: Credentials) {
        self.number = number
        self.credentials = credentials
    }
}

/// Holds the token in use and gets newer ones: one refresh at a time, whoever asks, and all wait
/// for it.
final class CredentialKeeper: Sendable {
    struct Current {
        var held: HeldCredentials
        var claims: TokenClaims
        /// The moment it came; all moments here are uptimes.
        var arrival: Duration
        var end: Duration?
        var renewal: Duration?
        /// It came because the server had refused the one before.
        var isAfterRefusal: Bool
        /// The server does not accept it, and why.
        var refusal: ClientError?
    }

    typealias Provide = @Sendable (CredentialRequest) async throws -> AccessToken
    typealias TokenResult = Result<HeldCredentials, ClientError>
    typealias Waiter = CheckedContinuation<TokenResult, Never>

    struct State {
        var current: Current?
        /// Why there will be no credentials again, once that is so.
        var ended: ClientError?
        var lastNumber = 0
        var subject: String?
        var life = TokenLife()
        var refresh: Task<Void, Never>?
        var lastFailure: (any Error)?
        var waiters: [Int: Waiter] = [:]
        /// How many have found nothing to use and will be waiters in a moment.
        var arriving = 0
        var lastWaiter = 0
    }

    /// A token that is refused this soon after it replaced a refused one ends the trying.
    static let refusalWindow: Duration = .seconds(30)

    /// Who gives tokens; nil where one is for good.
    let provide: Provide?
    let settings: ClientSettings
    let state = Mutex(State())

    init(_ provide: @escaping Provide, settings: ClientSettings) {
        (self.provide, self.settings) = (provide, settings)
    }

    /// A keeper of credentials that are for good.
    init(fixed: Credentials, given text: String?, settings: ClientSettings) throws(ClientError) {
        (provide, self.settings) = (nil, settings)
        if let text { try Self.check(text) }
        let held = HeldCredentials(number: 1, credentials: fixed)
        state.withLock { state in
            state.current = Current(held: held, claims: TokenClaims(of: ""), arrival: .zero, isAfterRefusal: false)
        }
    }

    deinit { state.withLock { $0.refresh?.cancel() } }

    /// Credentials to use now; waits for the provider where there are none, for so long at most.
    func usable(within limit: Duration? = nil) async throws(ClientError) -> HeldCredentials {
        let now = settings.environment.uptime()
        let known = try state.withLock { state throws(ClientError) -> HeldCredentials? in
            if let ended = state.ended { throw ended }
            guard let current = state.current else {
                arrive(.first, &state)
                return nil
            }
            guard provide != nil else { return current.held }
            if let refusal = current.refusal {
                if current.isAfterRefusal, now < current.arrival + Self.refusalWindow { throw refusal }
                arrive(.refused(refusal), &state)
                return nil
            }
            if let end = current.end, now >= end {
                arrive(.expiring, &state)
                return nil
            }
            if let renewal = current.renewal, now >= renewal { begin(.expiring, &state) }
            return current.held
        }
        if let known { return known }
        return try await wait(within: limit)
    }

    /// Credentials newer than these, which will end soon.
    func newer(
        than held: HeldCredentials,
        within limit: Duration? = nil
    ) async throws(ClientError) -> HeldCredentials {
        let known = try state.withLock { state throws(ClientError) -> HeldCredentials? in
            if let ended = state.ended { throw ended }
            if let current = state.current, current.held.number > held.number, current.refusal == nil {
                return current.held
            }
            arrive(.expiring, &state)
            return nil
        }
        if let known { return known }
        return try await wait(within: limit)
    }

    /// Credentials in place of those that the server has refused; throws `error` where there can be
    /// none.
    func replacement(
        for held: HeldCredentials,
        refused error: ClientError,
        within limit: Duration? = nil
    ) async throws(ClientError) -> HeldCredentials {
        guard provide != nil else { throw error }
        let now = settings.environment.uptime()
        let known = try state.withLock { state throws(ClientError) -> HeldCredentials? in
            if let ended = state.ended { throw ended }
            guard let current = state.current else {
                arrive(.refused(error), &state)
                return nil
            }
            if current.held.number > held.number, current.refusal == nil { return current.held }
            state.current?.refusal = error
            if current.isAfterRefusal, now < current.arrival + Self.refusalWindow { throw error }
            arrive(.refused(error), &state)
            return nil
        }
        if let known { return known }
        return try await wait(within: limit)
    }

    /// Whoever called this waits next: the refresh goes on for them.
    private func arrive(_ reason: CredentialRequest.Reason, _ state: inout State) {
        state.arriving += 1
        begin(reason, &state)
    }

    /// There will be no credentials any more; who waits for some gets the error.
    func end(_ error: ClientError) {
        let waiters = state.withLock { state in
            state.ended = error
            state.current = nil
            state.refresh?.cancel()
            state.refresh = nil
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: .failure(error)) }
    }

    /// The server's clock, in seconds since 1970, as an answer of this moment says.
    func heard(serverSeconds: Int64) {
        let environment = settings.environment
        state.withLock { state in
            guard state.life.heard(serverSeconds: serverSeconds, uptime: environment.uptime()),
                let current = state.current, current.claims.endsAt != nil
            else { return }
            let end = state.life.end(
                of: current.claims,
                uptime: environment.uptime(),
                wallClock: environment.wallClock()
            )
            state.current?.setEnd(end, random: environment.random())
        }
    }

    /// How long from now a newer token should be asked for; the server may have said when these
    /// end, in milliseconds since 1970.
    func renewal(of held: HeldCredentials, serverSays milliseconds: Int64?) -> Duration? {
        let environment = settings.environment
        return state.withLock { state in
            guard provide != nil, let current = state.current else { return nil }
            // There is a newer one already.
            guard current.held == held else { return .zero }
            let now = environment.uptime()
            if current.end == nil, let milliseconds {
                let end = state.life.uptime(
                    ofSeconds: .milliseconds(milliseconds),
                    uptime: now,
                    wallClock: environment.wallClock(),
                    byServer: true
                )
                state.current?.setEnd(end, random: environment.random())
            }
            return state.current?.renewal.map { max(.zero, $0 - now) }
        }
    }

    static func check(_ text: String) throws(ClientError) {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw ClientError(.unauthenticated, "The token is empty or has spaces or odd characters in it.")
        }
    }
}

extension CredentialKeeper.Current {
    mutating func setEnd(_ end: Duration?, random: Double) {
        self.end = end
        renewal = end.map { TokenLife.renewal(before: $0, from: arrival, random: random) }
    }
}

// Who waits for a refresh.
extension CredentialKeeper {
    private func wait(within limit: Duration? = nil) async throws(ClientError) -> HeldCredentials {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let sleep = settings.environment.sleep
        let alarm = limit.map { limit in
            Task { [weak self] in
                guard (try? await sleep(limit)) != nil else { return }
                self?.timeOut(number)
            }
        }
        defer { alarm?.cancel() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let answer = state.withLock { state -> TokenResult? in
                    state.arriving -= 1
                    if Task.isCancelled { return .failure(.cancelled) }
                    if let ended = state.ended { return .failure(ended) }
                    // The refresh may have ended since it was asked for.
                    if state.refresh == nil, let current = state.current, isGood(current) {
                        return .success(current.held)
                    }
                    if state.refresh == nil { begin(state.current == nil ? .first : .expiring, &state) }
                    state.waiters[number] = waiter
                    return nil
                }
                if let answer { waiter.resume(returning: answer) }
            }
        } onCancel: {
            leave(number, .cancelled)
        }
        return try result.get()
    }

    private func isGood(_ current: Current) -> Bool {
        guard current.refusal == nil else { return false }
        return current.end.map { settings.environment.uptime() < $0 } ?? true
    }

    private func timeOut(_ number: Int) {
        let cause = state.withLock { $0.lastFailure }
        let reason = cause.map { ": \($0)" } ?? ""
        leave(number, ClientError(.timedOut, "There was no token in time\(reason).", cause: cause))
    }

    private func leave(_ number: Int, _ error: ClientError) {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(returning: .failure(error))
    }
}
