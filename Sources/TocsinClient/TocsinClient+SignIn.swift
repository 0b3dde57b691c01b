import JSON

extension TocsinClient {
    /// Signs a local user in with a password, and makes the client of the new session.
    ///
    /// It is tried once. UNAUTHENTICATED means a wrong name or password, and LIMIT too many tries,
    /// with `retryAfter`. `device` is what people read in the list of their sessions. `onChange`
    /// gets the session now and each time it has a new token, to be kept in place of the one
    /// before. It gets nil when the session is over.
    public static func signIn(
        _ url: String,
        username: String,
        password: String,
        device: String? = nil,
        settings: ClientSettings = ClientSettings(),
        onChange: @escaping @Sendable (UserSession?) -> Void
    ) async throws(ClientError) -> TocsinClient {
        var once = settings
        once.maximumAttempts = 1
        let stranger = try TocsinClient(url, credentials: .anonymous, settings: once)
        defer { stranger.close() }
        var variables: JSONObject = ["username": .string(username), "password": .string(password)]
        if let device { variables["device"] = .string(device) }
        let answer = try await stranger.mutate(Documents.signIn, variables: variables)
        guard let session = UserSession(answer["signIn"]) else { throw .noSession }
        onChange(session)
        return try TocsinClient(url, credentials: .session(session, onChange: onChange), settings: settings)
    }

    /// The session by which the client is signed in; nil when it is over, and for a client of other
    /// credentials.
    public var session: UserSession? { sessionTokens?.current }

    /// Gets a new token and a new lifetime for the session now, which otherwise happens some time
    /// before its end.
    @discardableResult
    public func refreshSession() async throws(ClientError) -> UserSession {
        guard let sessionTokens else {
            throw ClientError(.signedOut, "This client has no session. Sign in with signIn first.")
        }
        let held = try await keeper.usable(within: settings.requestTimeout)
        _ = try await keeper.newer(than: held, within: settings.requestTimeout)
        guard let session = sessionTokens.current else { throw .signedOut }
        return session
    }

    /// Ends the session, or the token that the server gave out: requests and feeds end with
    /// SIGNED_OUT, and so do pushes to devices that are bound to it.
    ///
    /// When the server cannot be reached it throws, and nothing has changed.
    public func signOut() async throws(ClientError) {
        do throws(ClientError) {
            _ = try await query(Documents.signOut)
        } catch {
            // It was over before.
            guard [.signedOut, .unauthenticated].contains(error.code) else { throw error }
        }
        sessionTokens?.end()
        keeper.end(.signedOut)
        feeds.end(.signedOut)
    }
}
