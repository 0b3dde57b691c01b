import JSON
import Testing
import TocsinAuth
import TocsinCore

@Suite("Discovery of a provider")
struct OIDCDiscoveryTests {
    private let world: SignInWorld

    init() throws {
        world = try SignInWorld()
    }

    private var discovery: OIDCDiscovery { world.signIn.discovery }

    /// Why the provider is away; nil when it is not.
    private func problem() async -> OIDCRefusal.Code? {
        await discovery.lookIfDue()
        guard case .away(let refusal) = await discovery.state else { return nil }
        return refusal.code
    }

    @Test("is read once by many callers, and again after an hour")
    func hourly() async throws {
        await withDiscardingTaskGroup { group in
            for _ in 0..<50 { group.addTask { await discovery.lookIfDue() } }
        }
        guard case .known = await discovery.state else {
            Issue.record("the provider is not known")
            return
        }
        world.time.advance(seconds: 3599)
        await discovery.lookIfDue()
        #expect(world.provider.calls(to: "openid-configuration").count == 1)
        world.time.advance(seconds: 1)
        await discovery.lookIfDue()
        #expect(world.provider.calls(to: "openid-configuration").count == 2)
    }

    @Test("asks for no more than 256 KiB in 5 seconds")
    func bounds() async throws {
        await discovery.lookIfDue()
        let call = try #require(world.provider.calls(to: "openid-configuration").first)
        #expect(call.timeoutSeconds == 5)
        #expect(call.maximumBodyBytes == 256 * 1024)
    }

    @Test("of a provider that is slow, redirects in circles, or errs leaves it away")
    func away() async throws {
        world.provider.change { $0.seconds = 6 }
        #expect(await problem() == .providerAway)
        let circle = [(name: "location", value: "https://id.example/.well-known/openid-configuration")]
        world.provider.change { ($0.seconds, $0.discovery) = (0, .response(status: 302, headers: circle, body: [])) }
        world.time.advance(seconds: 1)
        #expect(await problem() == .providerAway)
        world.provider.change { $0.discovery = .response(status: 503, headers: [], body: []) }
        world.time.advance(seconds: 2)
        #expect(await problem() == .providerAway)
        #expect(world.provider.calls(to: "openid-configuration").count == 3)
    }

    @Test("is tried again after 1, 2, 4 and at most 60 seconds")
    func pauses() async throws {
        world.provider.change { $0.discovery = .failed(reason: "no route") }
        var pauses: [Int64] = []
        for _ in 0..<9 {
            #expect(await problem() == .providerAway)
            let next = await discovery.nextLook
            pauses.append((next.milliseconds - world.time.now().milliseconds) / 1000)
            world.time.advance(seconds: Double(pauses.last ?? 0))
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60])
        #expect(await world.refusal() == .providerAway)
        world.provider.change { $0.discovery = nil }
        world.time.advance(seconds: 60)
        _ = try await world.signIn.begin(returnTo: nil)
    }

    @Test("keeps what it knew for a day while the provider is away")
    func lastGood() async throws {
        await discovery.lookIfDue()
        world.provider.change { $0.discovery = .failed(reason: "no route") }
        world.time.advance(seconds: 3600)
        #expect(await problem() == .providerAway)
        _ = try await world.signIn.begin(returnTo: nil)
        world.time.advance(seconds: 86_400)
        await #expect(throws: OIDCRefusal.self) { try await world.signIn.begin(returnTo: nil) }
    }

    @Test(
        "of another issuer is refused, to the last byte",
        arguments: ["https://id.example/", "https://ID.example", "https://id.example.org", "http://id.example"]
    )
    func issuer(text: String) async throws {
        world.provider.change { $0.document["issuer"] = .string(text) }
        #expect(await problem() == .discoveryRefused)
    }

    @Test(
        "with an address that no browser should be sent to is refused",
        arguments: [
            "http://id.example/token", "//id.example/token", "javascript:alert(1)", "https://a@id.example/token",
            "https://id.example/token#x", "https://", "https://id.example:99999/", "https://id.example:+443/",
            "https://id.example:/", "https://id.example/\r\nx: y",
            "http://localhost.evil.example/token", "http://127.0.0.1@evil.example/", "ftp://id.example/token",
        ]
    )
    func endpoints(text: String) async throws {
        for name in ["authorization_endpoint", "token_endpoint", "jwks_uri", "end_session_endpoint"] {
            let world = try SignInWorld()
            world.provider.change { $0.document[name] = .string(text) }
            await world.signIn.discovery.lookIfDue()
            guard case .away(let refusal) = await world.signIn.discovery.state else {
                Issue.record("\(text) was taken as \(name)")
                continue
            }
            #expect(refusal.code == .discoveryRefused)
            #expect(refusal.description.contains(name))
        }
    }

    @Test("on this machine may be plain http", arguments: ["127.0.0.1:9", "localhost", "[::1]:8443"])
    func loopback(host: String) async throws {
        world.provider.change { $0.document["authorization_endpoint"] = .string("http://\(host)/authorize") }
        #expect(await problem() == nil)
    }

    @Test("without the code flow, or with foreign signatures only, is refused")
    func flows() async throws {
        world.provider.change { $0.document["response_types_supported"] = ["id_token"] }
        #expect(await problem() == .discoveryRefused)
        let other = try SignInWorld()
        other.provider.change { $0.document["id_token_signing_alg_values_supported"] = ["HS256", "none"] }
        #expect(await other.refusal() == .discoveryRefused)
    }

    @Test("gives bearer tokens their keys too, where the settings name none")
    func bearerTokens() async throws {
        let bearers = try await World(.discovered(discovery), time: world.time)
        world.provider.change { $0.discovery = .failed(reason: "no route") }
        guard case .unavailable = await bearers.result(Fixtures.ecToken) else {
            Issue.record("judged without keys")
            return
        }
        world.provider.change { $0.discovery = nil }
        world.time.advance(seconds: 1)
        guard case .identity(let identity) = await bearers.result(Fixtures.ecToken) else {
            Issue.record("not believed")
            return
        }
        #expect(identity.userID == UserID("0f9d"))
        #expect(await bearers.result(Fixtures.confusedToken) == .refused(.notAuthorized))
    }

    @Test("that is damaged somewhere is refused, or still names this issuer and good addresses")
    func damage() async throws {
        let good = JSONValue.object(FakeSignInProvider.Behaviour.honestDocument).serialized()
        let seed = UInt64.random(in: 0 ... .max)
        var dice = Dice(state: seed)
        var known = 0
        for _ in 0..<200 {
            var bytes = good
            for _ in 0...Int.random(in: 0..<3, using: &dice) {
                bytes[Int.random(in: bytes.indices, using: &dice)] = UInt8.random(in: 0x20...0x7E, using: &dice)
            }
            let world = try SignInWorld()
            let text = String(decoding: bytes, as: UTF8.self)
            world.provider.change { $0.discovery = .json(text) }
            guard let beginning = try? await world.signIn.begin(returnTo: nil) else { continue }
            known += 1
            #expect(beginning.location.hasPrefix("https://"), "seed \(seed): \(text)")
            #expect(text.contains(FakeSignInProvider.issuer), "seed \(seed): \(text)")
        }
        // Both happened, or this tests nothing.
        #expect((1..<200).contains(known), "seed \(seed)")
    }

    @Test("that is no document at all is refused", arguments: foreignTexts)
    func foreign(text: String) async throws {
        world.provider.change { $0.discovery = .json(text) }
        let code = await problem()
        #expect(code == .discoveryRefused || code == .providerAway)
    }

    private static let foreignTexts = [
        "", "[]", "<html></html>", "{}", #"{"issuer":"https://id.example"}"#,
        // Its issuer twice: which of them counts is the reader's whim.
        #"{"issuer":"https://evil.example","issuer":"https://id.example","token_endpoint":"https://id.example/token","#
            + #""authorization_endpoint":"https://id.example/a","jwks_uri":"https://id.example/keys"}"#,
        #"{"issuer":"https://id.example","x":""# + String(repeating: "x", count: 256 * 1024) + #""}"#,
        String(repeating: "[", count: 1000),
    ]
}

/// SplitMix64: the same numbers for the same seed.
private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
