import JSON
import Testing
import TocsinAuth
import TocsinCore

@Suite("The callback of a sign-in")
struct CallbackTests {
    private let world: SignInWorld

    init() throws {
        world = try SignInWorld()
    }

    /// Why the callback is refused; nil when it is not.
    private func refusal(_ query: [(name: String, value: String)], cookie: String?) async -> OIDCRefusal? {
        do throws(OIDCRefusal) {
            _ = try await world.signIns.finish(CallbackParameters(query), cookie: cookie)
            return nil
        } catch {
            return error
        }
    }

    @Test("signs the person in and sends the browser where it wanted to go")
    func good() async throws {
        let signedIn = try await world.walk(returnTo: "/topics/7?tab=history")
        #expect(signedIn.person.userID == UserID("oidc:default:0f9d"))
        #expect(signedIn.person.username == "alice")
        #expect(signedIn.person.email == "alice@example.com")
        #expect(signedIn.returnPath == "/topics/7?tab=history")
        #expect(signedIn.refreshToken == "refresh-1")
        #expect(signedIn.elevated == nil)
    }

    @Test("is taken once")
    func once() async throws {
        let beginning = try await world.signIn.begin(returnTo: nil)
        let query = world.provider.authorize(beginning.location)
        #expect(await refusal(query, cookie: beginning.cookie) == nil)
        #expect(await refusal(query, cookie: beginning.cookie)?.code == .stateUsed)
        #expect(world.provider.calls(to: "/token").count == 1)
    }

    @Test("with the cookie of another sign-in, a changed one, or none goes nowhere")
    func cookies() async throws {
        let mine = try await world.signIn.begin(returnTo: nil)
        let theirs = try await world.signIn.begin(returnTo: nil)
        let query = world.provider.authorize(mine.location)
        #expect(await refusal(query, cookie: theirs.cookie)?.code == .stateMismatch)
        let strange = [
            nil, "", "x", String(mine.cookie.dropLast()), mine.cookie + "A", String(repeating: "A", count: 9999),
        ]
        for cookie in strange {
            #expect(await refusal(query, cookie: cookie)?.code == .stateMissing)
        }
        #expect(world.provider.calls(to: "/token").isEmpty)
        #expect(await refusal(query, cookie: mine.cookie) == nil)
    }

    @Test("of a sign-in does for no link, and that of a link for no sign-in")
    func links() async throws {
        let session = TokenID("session-1")
        let link = try await world.signIn.begin(returnTo: "/account", linking: session)
        let plain = try await world.signIn.begin(returnTo: nil)
        for (beginning, isLink) in [(link, false), (plain, true)] {
            let query = try CallbackParameters(world.provider.authorize(beginning.location))
            let refusal = await #expect(throws: OIDCRefusal.self) {
                try await world.signIns.finish(query, cookie: beginning.cookie, isLink: isLink)
            }
            #expect(refusal?.code == .stateMissing)
        }
        #expect(link.location.contains("prompt=login") && link.location.contains("max_age=0"))
        let query = try CallbackParameters(world.provider.authorize(link.location))
        let stale = await #expect(throws: OIDCRefusal.self) {
            try await world.signIns.finish(query, cookie: link.cookie, isLink: true)
        }
        #expect(stale?.code == .tokenAuthTime, "a link needs somebody who has proved just now to be there")
        world.claim(["auth_time": .int(world.time.now().milliseconds / 1000)])
        let again = try await world.signIn.begin(returnTo: "/account", linking: session)
        let signedIn = try await world.signIns.finish(
            CallbackParameters(world.provider.authorize(again.location)),
            cookie: again.cookie,
            isLink: true
        )
        #expect(signedIn.linking == session && signedIn.elevated == nil && signedIn.returnPath == "/account")
        #expect(signedIn.person.issuer == FakeSignInProvider.issuer)
    }

    @Test("asks a provider thirty times a minute for one network, and others' callbacks go on")
    func share() async throws {
        func code(from address: String) async -> OIDCRefusal.Code? {
            await RequestOrigin.$current.withValue(RequestOrigin(address: address)) { await world.refusal() }
        }
        for number in 0..<30 { #expect(await code(from: "2001:db8::\(number)") == nil) }
        #expect(await code(from: "2001:db8::77") == .tooManyCallbacks)
        #expect(world.provider.calls(to: "/token").count == 30)
        #expect(await code(from: "2001:db8:1::1") == nil)
    }

    @Test("is too late after ten minutes")
    func late() async throws {
        let beginning = try await world.signIn.begin(returnTo: nil)
        let query = world.provider.authorize(beginning.location)
        world.time.advance(seconds: 600)
        #expect(await refusal(query, cookie: beginning.cookie)?.code == .stateExpired)
    }

    @Test("may come to another node, which has the same key")
    func otherNode() async throws {
        let beginning = try await world.signIn.begin(returnTo: "/a")
        let query = world.provider.authorize(beginning.location)
        let other = try SignInWorld.signIns([world.signIn.provider], world.provider, world.time)
        let signedIn = try await other.finish(CallbackParameters(query), cookie: beginning.cookie)
        #expect(signedIn.returnPath == "/a")
    }

    @Test("of another issuer, or of none where the provider names itself, is a mix-up")
    func issuer() async throws {
        for issuer in [nil, "https://evil.example", "https://id.example/"] {
            let beginning = try await world.signIn.begin(returnTo: nil)
            var query = world.provider.authorize(beginning.location).filter { $0.name != "iss" }
            if let issuer { query.append(("iss", issuer)) }
            #expect(await refusal(query, cookie: beginning.cookie)?.code == .issuerMismatch)
        }
        #expect(world.provider.calls(to: "/token").isEmpty)
    }

    @Test("without an issuer is good where the provider announces none")
    func unannounced() async throws {
        world.provider.change { $0.document["authorization_response_iss_parameter_supported"] = nil }
        let beginning = try await world.signIn.begin(returnTo: nil)
        let query = world.provider.authorize(beginning.location).filter { $0.name != "iss" }
        #expect(await refusal(query, cookie: beginning.cookie) == nil)
    }

    @Test(
        "with an error shows a word of a fixed list",
        arguments: [
            ("access_denied", ProviderError.accessDenied, OIDCRefusal.Code.providerError),
            ("temporarily_unavailable", .temporarilyUnavailable, .providerAway),
            ("<script>alert(1)</script>", .other, .providerError),
        ]
    )
    func errors(text: String, shown: ProviderError, code: OIDCRefusal.Code) async throws {
        let beginning = try await world.signIn.begin(returnTo: nil)
        let state = Form.pairs(ofAddress: beginning.location)["state"] ?? ""
        let query = [
            ("error", text), ("error_description", "<b>call 555</b>"), ("state", state),
            ("iss", FakeSignInProvider.issuer),
        ]
        let refusal = try #require(await refusal(query.map { (name: $0.0, value: $0.1) }, cookie: beginning.cookie))
        #expect(refusal.code == code)
        #expect(refusal.providerError == shown)
        #expect(!refusal.description.contains("<"))
    }

    @Test("that refuses may lack the issuer or even the state, as some providers leave them out")
    func bareErrors() async throws {
        let beginning = try await world.signIn.begin(returnTo: nil)
        let state = Form.pairs(ofAddress: beginning.location)["state"] ?? ""
        let stateless = await refusal([("error", "access_denied")], cookie: beginning.cookie)
        #expect(stateless?.code == .callbackMalformed)
        #expect(stateless?.providerError == .accessDenied)
        let foreign = [("error", "access_denied"), ("state", state), ("iss", "https://evil.example")]
        let other = try await world.signIn.begin(returnTo: nil)
        let otherState = Form.pairs(ofAddress: other.location)["state"] ?? ""
        let nameless = [("error", "access_denied"), ("state", otherState)].map { (name: $0.0, value: $0.1) }
        #expect(await refusal(nameless, cookie: other.cookie)?.code == .providerError)
        let query = foreign.map { (name: $0.0, value: $0.1) }
        #expect(await refusal(query, cookie: beginning.cookie)?.code == .issuerMismatch)
    }

    @Test(
        "that no provider sends is refused",
        arguments: [
            "code=a", "state=a", "state=a&code=b&error=access_denied", "state=a&state=b&code=c", "state=a&code=",
            "state=a&code=b&code=b", "state=a&iss=b", "state=a&code=" + String(repeating: "x", count: 4097),
        ]
    )
    func malformed(text: String) async throws {
        let query = text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            return (name: parts[0], value: parts[1])
        }
        #expect(await refusal(query, cookie: nil)?.code == .callbackMalformed)
    }

    @Test("of a provider that was taken out of the settings is refused")
    func unset() async throws {
        let beginning = try await world.signIn.begin(returnTo: nil)
        let query = try CallbackParameters(world.provider.authorize(beginning.location))
        var settings = world.signIn.provider
        settings.id = "another"
        let other = try SignInWorld.signIns([settings], world.provider, world.time)
        await #expect(throws: OIDCRefusal.self) { try await other.finish(query, cookie: beginning.cookie) }
    }
}
