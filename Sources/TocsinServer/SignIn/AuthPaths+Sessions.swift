import GraphQLTransport
import HTTPTypes
import JSON
import TocsinAuth
import TocsinCore
import TocsinHTTP

// Passwords, and what becomes of a session.
extension AuthPaths {
    /// How people may sign in, and at which address.
    func methods() async -> OutgoingResponse {
        var providers: [JSONValue] = []
        for signIn in signIn.providers?.signIns.all ?? [] {
            var isAway = false
            if case .away = await signIn.discovery.state { isAway = true }
            var provider: JSONObject = [
                "id": .string(signIn.provider.id), "label": .string(signIn.provider.shownLabel),
            ]
            if isAway { provider["away"] = .bool(true) }
            providers.append(.object(provider))
        }
        var members: JSONObject = [
            "password": .bool(signIn.service.takesPasswords), "oidc": .array(providers),
        ]
        if let address = signIn.publicAddress { members["address"] = .string(address) }
        return AuthAnswer.json(.object(members))
    }

    /// `{username, password}`: 204 and the cookie.
    func password(_ request: IncomingRequest) async -> OutgoingResponse {
        await answering { () async throws(AuthFault) in
            let members = try ownMembers(request)
            guard let name = members["username"]?.stringValue, let password = members["password"]?.stringValue else {
                throw AuthFault(
                    AuthAnswer.error(.badRequest, .badUserInput, "Send {\"username\": \"…\", \"password\": \"…\"}.")
                )
            }
            let agent = request.header("user-agent")
            let new = try await calling { () async throws(ServiceError) in
                try await signIn.service.signIn(username: name, password: password, kind: .browser, agent: agent)
            }
            return AuthAnswer.empty(linkRemovals(request) + [cookie(of: new)])
        }
    }

    /// Who is signed in.
    func session(_ request: IncomingRequest) async -> OutgoingResponse {
        await answering { () async throws(AuthFault) in
            let caller = try await caller(request, isRead: true)
            let session = try await calling { () async throws(ServiceError) in
                try await signIn.sessions.session(of: caller)
            }
            let now = time.now()
            var members: JSONObject = [
                "user": ["id": .string(caller.userID.text), "name": .string(caller.username)],
                "admin": .bool(caller.isAdmin),
                "groups": .array(caller.groups.map { .string($0) }),
                "expiresAt": caller.expiresAt.map { .string($0.iso8601) } ?? .null,
                "elevatedUntil": .null,
            ]
            if let session {
                members["session"] = .string(session.id.text)
                members["provider"] = session.provider.map { .string($0) } ?? .null
                if session.isElevated(at: now), let end = session.elevatedUntil {
                    members["elevatedUntil"] = .string(end.iso8601)
                }
            }
            return AuthAnswer.json(.object(members))
        }
    }

    /// Ends the session; says where the browser ends the provider's.
    func logout(_ request: IncomingRequest) async -> OutgoingResponse {
        await answering { () async throws(AuthFault) in
            let caller = try await caller(request)
            let session = try await calling { () async throws(ServiceError) in try await signIn.sessions.signOut(caller)
            }
            var address: String?
            if let session, let origin = request.ownOrigin {
                address = await signIn.providers?.logoutAddress(of: session, returnAddress: origin + signIn.home)
            }
            return AuthAnswer.json(
                ["logoutAddress": address.map { .string($0) } ?? .null],
                linkRemovals(request) + [removal(of: signIn.cookies.name)]
            )
        }
    }

    /// A local user's password again; for others where to prove with their provider who they are.
    func elevate(_ request: IncomingRequest) async -> OutgoingResponse {
        await answering { () async throws(AuthFault) in
            let caller = try await caller(request)
            let members = try ownMembers(request)
            let found = try await calling { () async throws(ServiceError) in
                try await signIn.sessions.session(of: caller)
            }
            guard let found else {
                let text = "Only a session can be raised. Sign in."
                throw AuthFault(AuthAnswer.error(.badRequest, .badRequest, text))
            }
            if let provider = found.provider {
                return try await begin(provider, returnTo: members["return"]?.stringValue, of: found, request)
            }
            let password = members["password"]?.stringValue ?? ""
            let session = try await calling { () async throws(ServiceError) in
                try await signIn.service.elevate(caller, password: password)
            }
            return AuthAnswer.json(["elevatedUntil": session.elevatedUntil.map { .string($0.iso8601) } ?? .null])
        }
    }

    private func begin(
        _ provider: String,
        returnTo path: String?,
        of session: Session,
        _ request: IncomingRequest
    ) async throws(AuthFault) -> OutgoingResponse {
        let user = try await calling { () async throws(ServiceError) in
            do throws(StoreError) {
                return try await signIn.providers?.provided(session)
            } catch {
                throw ServiceError(error)
            }
        }
        guard let user, let provided = signIn.providers?.signIns[provider] else {
            throw AuthFault(AuthAnswer.error(.badRequest, .badRequest, "The session's provider is no longer set."))
        }
        note(returnTo: path)
        return try await sending(to: provided, request) { () async throws(OIDCRefusal) in
            try await provided.begin(returnTo: path, elevating: user)
        }
    }

    /// Tells a page of ours where the browser goes to sign in with a provider.
    func sending(
        to provider: OIDCSignIn,
        _ request: IncomingRequest,
        isLink: Bool = false,
        _ begin: () async throws(OIDCRefusal) -> SignInBeginning
    ) async throws(AuthFault) -> OutgoingResponse {
        do throws(OIDCRefusal) {
            let beginning = try await begin()
            let cookies = loginCookies(beginning, request, isLink: isLink)
            return AuthAnswer.json(["location": .string(beginning.location)], cookies)
        } catch {
            let id = provider.provider.id
            signIn.note(SignInRefusal(reason: error.code.rawValue, sentence: error.description, provider: id))
            throw AuthFault(AuthAnswer.error(.serviceUnavailable, .unavailable, "The sign-in provider is away."))
        }
    }
}

// Cookies.
extension AuthPaths {
    func cookie(of new: NewSession) -> (name: String, value: String) {
        let seconds = max(0, (new.session.expiresAt.milliseconds - time.now().milliseconds) / 1000)
        return setCookie(signIn.cookies.name, new.secret, "Strict", seconds: Int(seconds))
    }

    func removal(of name: String, sameSite: String = "Strict") -> (name: String, value: String) {
        setCookie(name, "", sameSite, seconds: 0)
    }

    func setCookie(_ name: String, _ value: String, _ sameSite: String, seconds: Int) -> (name: String, value: String) {
        let secure = signIn.cookies.isSecure ? "; Secure" : ""
        return (
            "set-cookie",
            "\(name)=\(value); Path=\(signIn.cookies.path); Max-Age=\(seconds); HttpOnly\(secure); SameSite=\(sameSite)"
        )
    }
}
