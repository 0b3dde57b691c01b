import FoundationEssentials
import GraphQLTransport
import JSON
import Synchronization

/// The provider of a session's tokens: first the kept one, then newer ones from the server.
final class SessionTokens: Sendable {
    private let session: Mutex<UserSession?>
    private let caller: HTTPCaller
    private let settings: ClientSettings
    private let onChange: @Sendable (UserSession?) -> Void

    init(
        _ session: UserSession,
        caller: HTTPCaller,
        settings: ClientSettings,
        onChange: @escaping @Sendable (UserSession?) -> Void
    ) {
        self.session = Mutex(session)
        self.caller = caller
        self.settings = settings
        self.onChange = onChange
    }

    /// Nil when it is over.
    var current: UserSession? { session.withLock { $0 } }

    /// The next token, as a provider gives it.
    func token(_ request: CredentialRequest) async throws -> AccessToken {
        guard let session = current else { throw SignedOut() }
        // Uses may have moved the end since the session was kept: the server knows.
        if case .first = request.reason, session.expiresAt > now {
            return AccessToken(session.token, expiresAt: session.expiresAt)
        }
        let newer = try await refresh(session)
        let isWanted = self.session.withLock { current in
            guard current == session else { return false }
            current = newer
            return true
        }
        guard isWanted else { throw SignedOut() }
        onChange(newer)
        return AccessToken(newer.token, expiresAt: newer.expiresAt)
    }

    /// Nobody is signed in any more.
    func end() {
        let isNew = session.withLock { session in
            defer { session = nil }
            return session != nil
        }
        if isNew { onChange(nil) }
    }

    /// One attempt: who asks for a token asks again.
    private func refresh(_ session: UserSession) async throws -> UserSession {
        let request: JSONValue = ["query": .string(Documents.refreshSession)]
        do throws(CallFailure) {
            let answer = try await caller.call(request.serialized(), as: Credentials(authorization: session.token))
            let data = try GraphQLAnswer.data(of: answer, from: caller.address)
            guard let newer = UserSession(data["refreshSession"]) else {
                throw CallFailure(error: .noSession, retry: .never)
            }
            return newer
        } catch {
            guard error.isRefusedCredentials || error.error.code == .unauthenticated else { throw error.error }
            end()
            throw SignedOut()
        }
    }

    private var now: Date {
        Date(timeIntervalSince1970: Double(settings.environment.wallClock().milliseconds) / 1000)
    }
}

extension ClientError {
    static let noSession = ClientError(.badAnswer, "The server did not say the session's token and end.")
}
