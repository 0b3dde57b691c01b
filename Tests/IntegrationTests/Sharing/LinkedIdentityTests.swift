import Foundation
import JSON
import Testing

@Suite("Linked identities", .timeLimit(.minutes(5)))
struct LinkedIdentityTests {
    private static let origin = "http://localhost:4321"
    private static let password = "correct horse battery"

    /// A server with a provider, and two local users with passwords.
    private struct Scene {
        let installation: Installation
        let provider: SmallProvider

        /// What the next ID tokens say; by default somebody who has signed in just now.
        func says(_ subject: String, provedAt second: Int? = Int(Date().timeIntervalSince1970) + 60) async throws {
            var claims: JSONObject = ["sub": .string(subject), "preferred_username": .string("there-" + subject)]
            claims["auth_time"] = second.map { .int(Int64($0)) }
            try await provider.behave(["claims": .object(claims)], folder: installation.folder)
        }

        /// A browser in which a local user has signed in.
        func browser(of name: String, isElevated: Bool = true) async throws -> BrowserScene {
            var browser = BrowserScene(installation)
            browser.origin = LinkedIdentityTests.origin
            let password = JSONValue.string(LinkedIdentityTests.password)
            let answer = try await browser.post("/auth/password", ["username": .string(name), "password": password])
            #expect(answer.status == 204, "\(answer)")
            browser.take(answer)
            if isElevated {
                #expect(try await browser.post("/auth/elevate", ["password": password]).status == 200)
            }
            return browser
        }

        /// Begins to link, as the account page does.
        func begin(_ browser: BrowserScene) async throws -> ProviderVisit {
            let answer = try await browser.post("/auth/link", ["provider": "default", "return": "/account"])
            #expect(answer.status == 200, "\(answer)")
            let location = try answer.json["location"]?.stringValue ?? ""
            #expect(location.contains("prompt=login") && location.contains("max_age=0"), "\(location)")
            let cookie = try #require(answer.cookies.first { $0.hasPrefix("tocsin-link-") }, "\(answer)")
            return ProviderVisit(location: location, cookie: cookie)
        }

        /// Comes back from the provider with these cookies.
        func comeBack(_ visit: ProviderVisit, cookies: String?...) async throws -> HTTPAnswer {
            let all = cookies.compactMap(\.self).joined(separator: "; ")
            return try await ProviderVisit.finish(
                installation,
                cookie: all.isEmpty ? nil : all,
                state: visit.state,
                code: visit.nonce,
                issuer: provider.issuer
            )
        }

        /// Signs in with the provider; the cookie of the session, where there is one.
        func signIn() async throws -> (answer: HTTPAnswer, browser: BrowserScene) {
            let visit = try await ProviderVisit.begin(installation)
            let answer = try await comeBack(visit, cookies: visit.cookie)
            var browser = BrowserScene(installation)
            browser.origin = LinkedIdentityTests.origin
            browser.cookie = answer.cookies.first { $0.hasPrefix("tocsin=") }
            return (answer, browser)
        }

        func identities(_ browser: BrowserScene) async throws -> [JSONValue] {
            let answer = try await browser.post("/graphql", ["query": "{ identities { id provider subject } }"])
            return try answer.json["data"]?["identities"]?.arrayValue ?? []
        }

        func audited(_ action: String) async throws -> Int {
            try await installation.administer(["audit", "list", "--json", "--limit", "0", "--action", action])
                .split(separator: "\n").count
        }
    }

    private static func run(
        _ more: [String: String] = [:],
        _ body: (Scene) async throws -> Void
    ) async throws {
        var found: SmallProvider?
        defer { found?.process.signal(SIGKILL) }
        try await Installation.run { installation in
            let provider = try await SmallProvider(folder: installation.folder)
            found = provider
            let settings = [
                "TOCSIN_OIDC_ISSUER": provider.issuer, "TOCSIN_OIDC_CLIENT_ID": "tocsin", "TOCSIN_PUBLIC_URL": origin,
            ]
            installation.environment.merge(settings) { $1 }
            installation.environment.merge(more) { $1 }
        } _: { installation in
            _ = try await BrowserScene.setUp(installation, name: "ann", password: password)
            let scene = Scene(installation: installation, provider: try #require(found))
            let ann = try await scene.browser(of: "ann")
            let make = "mutation { createUser(name: \"bob\", password: \"\(password)\") { id } }"
            #expect(try await ann.post("/graphql", ["query": .string(make)]).status == 200)
            try await body(scene)
        }
    }

    @Test("who proved to be here and there signs in by the provider as themselves, until it is unlinked")
    func walk() async throws {
        try await Self.run { scene in
            try await scene.says("1")
            let ann = try await scene.browser(of: "ann")
            let visit = try await scene.begin(ann)
            let back = try await scene.comeBack(visit, cookies: visit.cookie, ann.cookie)
            #expect(back.status == 303 && back.header("location") == "/account", "\(back)")
            #expect(!back.cookies.contains { $0.hasPrefix("tocsin=") }, "the session stays the same")
            let identity = try #require(try await scene.identities(ann).first)
            #expect(identity["subject"] == "1" && identity["provider"] == "default")

            let (_, there) = try await scene.signIn()
            let session = try await there.get("/auth/session")
            #expect(try session.json["user"]?["name"] == "ann" && session.json["provider"] == "default", "\(session)")
            // Elevation of such a session is the provider's.
            let raised = try await there.post("/auth/elevate", ["return": "/account"])
            let location = try raised.json["location"]?.stringValue ?? ""
            let cookie = try #require(raised.cookies.first { $0.hasPrefix("tocsin-login-") })
            let again = ProviderVisit(location: location, cookie: cookie)
            let proved = try await scene.comeBack(again, cookies: cookie)
            #expect(proved.status == 303, "\(proved)")

            let id = identity["id"]?.stringValue ?? ""
            let unlink: JSONValue = ["query": .string("mutation { unlinkIdentity(id: \"\(id)\") { id } }")]
            let bob = try await scene.browser(of: "bob")
            #expect(try await bob.post("/graphql", unlink).json.errorCode == "UNAUTHORIZED")
            let plain = try await scene.browser(of: "ann", isElevated: false)
            #expect(try await plain.post("/graphql", unlink).json.errorCode == "REAUTHENTICATE")
            #expect(try await ann.post("/graphql", unlink).json.errorCode == nil)
            try await eventually("its session ends") { try await there.get("/auth/session").status == 401 }
            #expect(try await ann.get("/auth/session").status == 200)
            let (_, own) = try await scene.signIn()
            #expect(try await own.get("/auth/session").json["user"]?["id"] == "1")
            #expect(try await scene.audited("identity.link") == 1)
            #expect(try await scene.audited("identity.unlink") == 1)
        }
    }

    @Test("what is replayed, stolen, stale, another's or of another kind links nothing, and is logged and audited")
    func attacks() async throws {
        try await Self.run { scene in
            try await scene.says("1")
            var expected: [String] = []
            func refused(_ reason: String, _ status: Int, _ answer: HTTPAnswer) {
                expected.append(reason)
                #expect(answer.status == status && answer.body.contains(reason), "\(reason): \(answer)")
                #expect(!answer.cookies.contains { $0.hasPrefix("tocsin=") && $0 != "tocsin=" }, "\(answer)")
            }
            let (ann, bob) = (try await scene.browser(of: "ann"), try await scene.browser(of: "bob"))

            // The cookie of another browser, none at all, and one whose names are exchanged.
            let (mine, theirs) = (try await scene.begin(ann), try await scene.begin(bob))
            let value = { (cookie: String) in String(cookie.drop { $0 != "=" }.dropFirst()) }
            let name = { (cookie: String) in String(cookie.prefix { $0 != "=" }) }
            refused("state_missing", 400, try await scene.comeBack(mine))
            refused("state_missing", 400, try await scene.comeBack(mine, cookies: theirs.cookie))
            let stolen = name(mine.cookie) + "=" + value(theirs.cookie)
            refused("state_mismatch", 400, try await scene.comeBack(mine, cookies: stolen))
            let asLogin = mine.cookie.replacing("tocsin-link-", with: "tocsin-login-")
            refused("state_missing", 400, try await scene.comeBack(mine, cookies: asLogin))
            let login = try await ProviderVisit.begin(scene.installation)
            let asLink = login.cookie.replacing("tocsin-login-", with: "tocsin-link-")
            refused("state_missing", 400, try await scene.comeBack(login, cookies: asLink, ann.cookie))

            // Begun by one, finished in the session of another.
            refused("link_other_session", 403, try await scene.comeBack(mine, cookies: mine.cookie, bob.cookie))
            refused("state_used", 400, try await scene.comeBack(mine, cookies: mine.cookie, ann.cookie))
            // The provider did not ask anew.
            try await scene.says("1", provedAt: 1)
            let stale = try await scene.begin(ann)
            refused("id_token_auth_time", 400, try await scene.comeBack(stale, cookies: stale.cookie, ann.cookie))
            try await scene.says("1", provedAt: nil)
            let silent = try await scene.begin(ann)
            refused("id_token_auth_time", 400, try await scene.comeBack(silent, cookies: silent.cookie, ann.cookie))
            #expect(try await scene.identities(ann).isEmpty)
            #expect(try await scene.identities(bob).isEmpty)

            // Somebody else's.
            try await scene.says("1")
            let first = try await scene.begin(ann)
            #expect(try await scene.comeBack(first, cookies: first.cookie).status == 303)
            refused("state_used", 400, try await scene.comeBack(first, cookies: first.cookie))
            let second = try await scene.begin(bob)
            let taken = try await scene.comeBack(second, cookies: second.cookie, bob.cookie)
            refused("identity_taken", 409, taken)
            #expect(!taken.body.contains("ann"))
            // Whose session is over meanwhile.
            let late = try await scene.begin(bob)
            let out = try await bob.post("/auth/logout")
            #expect(out.status == 200)
            try await scene.says("2")
            refused("session_over", 403, try await scene.comeBack(late, cookies: late.cookie))
            #expect(BrowserScene.refusals(scene.installation) == expected)
            try await eventually("each refusal has its row") {
                try await BrowserScene.auditedRefusals(scene.installation) == expected
            }
        }
    }

    @Test("a link begins by an elevated session of a page of our own alone, and ends with a new sign-in in the browser")
    func beginnings() async throws {
        try await Self.run { scene in
            try await scene.says("1")
            let body: JSONValue = ["provider": "default"]
            var plain = try await scene.browser(of: "ann", isElevated: false)
            let raise = try await plain.post("/auth/link", body)
            #expect(raise.status == 403 && raise.body.contains("REAUTHENTICATE"), "\(raise)")
            let ann = try await scene.browser(of: "ann")
            for (name, value) in [
                ("X-Tocsin-Console", nil), ("Sec-Fetch-Site", "cross-site"), ("Content-Type", "text/plain"),
            ] as [(String, String?)] {
                var headers = ann.own
                headers[name] = value
                #expect(try await ann.post("/auth/link", body, headers).status == 403, "\(name)")
            }
            #expect(try await ann.get("/auth/link").status == 405)
            #expect(try await ann.post("/auth/link", ["provider": "none"]).status == 400)
            plain.cookie = nil
            #expect(try await plain.post("/auth/link", body).status == 401)
            // People of a provider are no local users.
            let (_, own) = try await scene.signIn()
            #expect(try await own.post("/auth/link", body).status == 400)

            let visit = try await scene.begin(ann)
            var shared = ann
            shared.cookie = [visit.cookie, ann.cookie].compactMap(\.self).joined(separator: "; ")
            let password = JSONValue.string(Self.password)
            let bob = try await shared.post("/auth/password", ["username": "bob", "password": password])
            let gone = visit.cookie.prefix { $0 != "=" } + "="
            #expect(bob.status == 204 && bob.cookies.contains(String(gone)), "\(bob)")
        }
    }

    @Test("with TOCSIN_OIDC_SIGNUP=invited a stranger is refused, and who was linked by a command comes in")
    func invited() async throws {
        try await Self.run(["TOCSIN_OIDC_SIGNUP": "invited"]) { scene in
            let installation = scene.installation
            try await scene.says("7")
            let (refused, _) = try await scene.signIn()
            #expect(refused.status == 403 && refused.body.contains("not_invited"), "\(refused)")
            #expect(BrowserScene.refusals(installation) == ["not_invited"])
            try await eventually("the refusal has its row") {
                try await BrowserScene.auditedRefusals(installation) == ["not_invited"]
            }
            let file = installation.folder + "/providers.toml"
            let table = "[[oidc]]\nid = \"default\"\nissuer = \"\(scene.provider.issuer)\"\nclient-id = \"tocsin\"\n"
            try ("public-url = \"\(Self.origin)\"\n" + table).write(toFile: file, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            let link = ["user", "link", "bob", "--subject", "7", "--config", file]
            #expect(try await installation.administer(link) == "7 of default signs in as bob from now on.\n")
            #expect(try await installation.administer(["user", "list", "--json"]).contains("\"subject\":\"7\""))
            let (_, browser) = try await scene.signIn()
            #expect(try await browser.get("/auth/session").json["user"]?["name"] == "bob")
            _ = try await installation.administer(["user", "disable", "bob"])
            try await eventually("a disabled user has no session") {
                try await browser.get("/auth/session").status == 401
            }
            #expect(try await scene.signIn().answer.body.contains("user_disabled"))
            _ = try await installation.administer(link + ["--off"])
            #expect(try await scene.signIn().answer.body.contains("not_invited"))
        }
    }
}
