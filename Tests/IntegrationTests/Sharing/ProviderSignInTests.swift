import Foundation
import JSON
import Testing

@Suite("Sign-in with a provider", .timeLimit(.minutes(5)))
struct ProviderSignInTests {
    @Test("a person comes back signed in; what is stolen, replayed, forged or another's is refused, logged and audited")
    func walk() async throws {
        var found: SmallProvider?
        // Where browsers find the server is what the settings say, wherever it listens.
        let origin = "http://localhost:4321"
        defer { found?.process.signal(SIGKILL) }
        try await Installation.run { installation in
            let provider = try await SmallProvider(folder: installation.folder)
            found = provider
            installation.environment.merge([
                "TOCSIN_OIDC_ISSUER": provider.issuer, "TOCSIN_OIDC_CLIENT_ID": "tocsin",
                "TOCSIN_OIDC_GROUPS_CLAIM": "groups", "TOCSIN_OIDC_ADMIN_GROUPS": "ops",
                "TOCSIN_PUBLIC_URL": origin,
            ]) { $1 }
        } _: { installation in
            let provider = try #require(found)
            let (folder, issuer) = (installation.folder, provider.issuer)
            let begun = try await ProviderVisit.begin(installation, returnTo: "/inbox?x=1")
            let good = try await ProviderVisit.finish(
                installation,
                cookie: begun.cookie,
                state: begun.state,
                code: begun.nonce,
                issuer: issuer
            )
            #expect(good.status == 303 && good.header("location") == "/inbox?x=1", "\(good)")
            var browser = BrowserScene(installation)
            browser.origin = origin
            let cookies = good.cookies
            browser.cookie = cookies.first { $0.hasPrefix("tocsin=") }
            let session = try await browser.get("/auth/session")
            #expect(try session.json["admin"] == true, "\(session)")
            #expect(try session.json["user"] == ["id": "subject-1", "name": "carol"], "\(session)")
            let out = try await browser.post("/auth/logout")
            #expect(try out.json["logoutAddress"]?.stringValue?.hasPrefix(issuer + "/logout?") == true, "\(out)")

            var expected: [String] = []
            func refused(_ reason: String, _ answer: HTTPAnswer) {
                expected.append(reason)
                #expect(
                    [400, 403, 503].contains(answer.status) && answer.body.contains(reason),
                    "\(reason): \(answer)"
                )
                #expect(!answer.cookies.contains { $0.hasPrefix("tocsin=") && $0 != "tocsin=" }, "\(answer)")
            }
            func ask(_ cookie: String?, _ state: String, _ code: String, _ iss: String) async throws -> HTTPAnswer {
                try await ProviderVisit.finish(installation, cookie: cookie, state: state, code: code, issuer: iss)
            }
            refused("state_used", try await ask(begun.cookie, begun.state, begun.nonce, issuer))
            let (one, two) = (try await ProviderVisit.begin(installation), try await ProviderVisit.begin(installation))
            refused("state_missing", try await ask(one.cookie, two.state, two.nonce, issuer))
            let name = two.cookie.prefix { $0 != "=" }
            let stolen = name + "=" + one.cookie.drop { $0 != "=" }.dropFirst()
            refused("state_mismatch", try await ask(String(stolen), two.state, two.nonce, issuer))
            refused("issuer_mismatch", try await ask(one.cookie, one.state, one.nonce, "https://evil.example"))
            refused("id_token_nonce", try await ask(two.cookie, two.state, one.nonce, issuer))
            let third = try await ProviderVisit.begin(installation)
            try await provider.behave(["header": ["alg": "none"], "signed": false], folder: folder)
            let none = try await ask(third.cookie, third.state, third.nonce, issuer)
            refused(none.body.contains("id_token_algorithm") ? "id_token_algorithm" : "id_token_malformed", none)
            let fourth = try await ProviderVisit.begin(installation)
            try await provider.behave(["claims": ["iss": "https://evil.example"]], folder: folder)
            refused("id_token_issuer", try await ask(fourth.cookie, fourth.state, fourth.nonce, issuer))
            try await provider.behave([:], folder: folder)
            let open = try await ProviderVisit.begin(installation, returnTo: "//evil.example")
            expected.append("return_refused")
            let home = try await ask(open.cookie, open.state, open.nonce, issuer)
            #expect(home.status == 303 && home.header("location") == "/", "\(home)")
            #expect(BrowserScene.refusals(installation) == expected)
            try await eventually("each refusal has its row") {
                try await BrowserScene.auditedRefusals(installation) == expected
            }
        }
    }
}
