import GraphQLTransport
import HTTPTypes
import TocsinAuth
import TocsinCore
import TocsinHTTP

// Signing in with a provider.
extension AuthPaths {
    private static let loginSeconds = 600
    /// Sign-ins of one browser that may be under way.
    private static let maximumLogins = 5

    /// Sends the browser to a provider.
    func login(_ request: IncomingRequest) async -> OutgoingResponse {
        guard let providers = signIn.providers else { return nobody() }
        let query = Self.query(request)
        let wanted = query?.first { $0.name == "return" }?.value
        let id = query?.first { $0.name == "provider" }?.value
        note(returnTo: wanted)
        guard let provider = id.map({ providers.signIns[$0] }) ?? providers.signIns.all.first else { return nobody() }
        do throws(OIDCRefusal) {
            let beginning = try await provider.begin(returnTo: wanted)
            return AuthAnswer.seeOther(beginning.location, loginCookies(beginning, request))
        } catch {
            return refused(error, provider: provider.provider.id, [])
        }
    }

    /// Tells log and audit of a path that leads elsewhere, which is not gone.
    func note(returnTo path: String?) {
        guard let path, path != "/", ReturnPath.checked(path) == "/" else { return }
        signIn.note(SignInRefusal(reason: "return_refused", sentence: "A sign-in was to end on another site."))
    }

    /// Takes the browser back from a provider.
    func callback(_ request: IncomingRequest) async -> OutgoingResponse {
        guard let providers = signIn.providers else { return nobody() }
        guard let query = Self.query(request) else {
            signIn.note(SignInRefusal(reason: "callback_malformed"))
            return page(.badRequest, "callback_malformed", nil, [])
        }
        var used: [(name: String, value: String)] = []
        do throws(OIDCRefusal) {
            let parameters = try CallbackParameters(query)
            var (cookie, isLink): (String?, Bool) = (nil, false)
            if let tab = SignInState.tab(ofState: parameters.state) {
                isLink = request.cookie(loginName(tab, isLink: true)) != nil
                cookie = request.cookie(loginName(tab, isLink: isLink))
                // It is used up whatever comes of it.
                used = [removal(of: loginName(tab, isLink: isLink), sameSite: "Lax")]
            }
            let signedIn = try await providers.signIns.finish(parameters, cookie: cookie, isLink: isLink)
            let person = providers.person(of: signedIn)
            if let session = signedIn.linking {
                return await link(person, by: session, signedIn.returnPath, request, used)
            }
            return await begin(person, signedIn.returnPath, request, used + linkRemovals(request))
        } catch {
            return refused(error, provider: nil, used)
        }
    }

    private func begin(
        _ person: VouchedPerson,
        _ path: String,
        _ request: IncomingRequest,
        _ used: [(name: String, value: String)]
    ) async -> OutgoingResponse {
        do throws(ServiceError) {
            switch try await signIn.service.signIn(person, agent: request.header("user-agent")) {
            case .begun(let new):
                // Browsers that asked for no page come to the first one.
                return AuthAnswer.seeOther(path == "/" ? signIn.home : path, used + [cookie(of: new)])
            case .refused(let reason, _): return page(.forbidden, reason.rawValue, nil, used)
            }
        } catch {
            return page(AuthAnswer.error(error, report: report).status, "unavailable", nil, used)
        }
    }

    /// What goes to the browser of a sign-in that begins; older ones beyond the limit go.
    func loginCookies(
        _ beginning: SignInBeginning,
        _ request: IncomingRequest,
        isLink: Bool = false
    ) -> [(name: String, value: String)] {
        let names = loginNames(request, isLink: isLink)
        let removed = names.prefix(max(0, names.count + 1 - Self.maximumLogins))
        let name = loginName(beginning.tab, isLink: isLink)
        return removed.map { removal(of: $0, sameSite: "Lax") } + [
            setCookie(name, beginning.cookie, "Lax", seconds: Self.loginSeconds)
        ]
    }

    /// Ends what a browser has begun to link: whoever signs in or out in it is somebody else.
    func linkRemovals(_ request: IncomingRequest) -> [(name: String, value: String)] {
        loginNames(request, isLink: true).prefix(Self.maximumLogins).map { removal(of: $0, sameSite: "Lax") }
    }

    private func loginNames(_ request: IncomingRequest, isLink: Bool) -> [String] {
        let prefix = loginName("", isLink: isLink)
        return (request.header("cookie") ?? "").split(separator: ";").compactMap { pair -> String? in
            let name = pair.drop { $0 == " " }.prefix { $0 != "=" }
            return name.hasPrefix(prefix) && name.utf8.allSatisfy(Self.isNameByte) ? String(name) : nil
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Names that tell a sign-in from one that links an identity.
    private func loginName(_ tab: String, isLink: Bool) -> String {
        signIn.cookies.name + (isLink ? "-link-" : "-login-") + tab
    }

    /// The decoded query; nil where it cannot be decoded.
    private static func query(_ request: IncomingRequest) -> [(name: String, value: String)]? {
        pairs(request.queryString[...])
    }

    /// Names and values of a query or a form.
    static func pairs(_ text: Substring) -> [(name: String, value: String)]? {
        var pairs: [(name: String, value: String)] = []
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.formText(parts[0].utf8),
                let value = parts.count > 1 ? PercentEncoding.formText(parts[1].utf8) : ""
            else { return nil }
            pairs.append((name, value))
        }
        return pairs
    }
}

// Pages about what went wrong.
extension AuthPaths {
    private func refused(
        _ refusal: OIDCRefusal,
        provider: String?,
        _ fields: [(name: String, value: String)]
    ) -> OutgoingResponse {
        signIn.note(SignInRefusal(reason: refusal.code.rawValue, sentence: refusal.description, provider: provider))
        let status: HTTPResponse.Status =
            switch refusal.code {
            case .providerAway, .discoveryRefused: .serviceUnavailable
            case .tooManyCallbacks: .tooManyRequests
            case .groupsNotAllowed, .claimRequired, .groupsOverage: .forbidden
            default: .badRequest
            }
        let wait = status == .tooManyRequests ? [(name: "retry-after", value: "60")] : []
        return page(status, refusal.code.rawValue, refusal.providerError, fields + wait)
    }

    /// Our own words alone; of the provider's a code of a fixed list.
    private func page(
        _ status: HTTPResponse.Status,
        _ code: String,
        _ error: ProviderError?,
        _ fields: [(name: String, value: String)]
    ) -> OutgoingResponse {
        let said = error.map { " The provider said: <code>\($0.rawValue)</code>." } ?? ""
        let advice =
            switch status {
            case .serviceUnavailable: "The sign-in provider or this server is away. Try again in a minute."
            case .tooManyRequests: "Many people of your network sign in at once. Begin again in a minute."
            case .forbidden where code == ProviderSignIn.Refusal.notInvited.rawValue:
                "This server takes nobody whom its administrators have not invited. Ask whoever runs it."
            case .forbidden: "You are known, but may not sign in here. Ask whoever runs this server."
            default: "The sign-in could not be completed. Begin it again, in one browser."
            }
        return AuthAnswer.page(
            status,
            title: "Not signed in",
            body: "<p>\(advice)\(said)</p><p>Code: <code>\(code)</code></p><p><a href=\"\(signIn.home)\">Back</a></p>",
            fields
        )
    }

    private func nobody() -> OutgoingResponse {
        AuthAnswer.page(
            .notFound,
            title: "Not signed in",
            body: "<p>This server has no such sign-in provider.</p>"
        )
    }
}
