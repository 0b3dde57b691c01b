import Encodings
import JSON
import Testing
import TocsinAuth
import TocsinCore

@Suite("The ID token of a sign-in")
struct IDTokenTests {
    /// What an ID token says besides what is right, and what becomes of it; nil: it is good.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let claims: [String: JSONValue]
        let code: OIDCRefusal.Code?

        init(_ name: String, _ claims: [String: JSONValue], _ code: OIDCRefusal.Code?) {
            (testDescription, self.claims, self.code) = (name, claims, code)
        }
    }

    /// The fake provider's clock.
    private static let now: Int64 = 1_800_000_100

    private static let cases = [
        Case("plain", [:], nil),
        Case("a list of one audience", ["aud": ["app-1"]], nil),
        Case("two audiences and the right azp", ["aud": ["app-2", "app-1"], "azp": "app-1"], nil),
        Case("one audience and the right azp", ["azp": "app-1"], nil),
        Case("iat a minute ahead", ["iat": .int(now + 60)], nil),
        Case("iat a minute behind", ["iat": .int(now - 60)], nil),
        Case("nbf a minute ahead", ["nbf": .int(now + 60)], nil),
        Case("times with fractions", ["iat": 1_800_000_100.5, "exp": 1_800_000_101.5], nil),
        Case("Cognito's word for ID tokens", ["token_use": "id"], nil),
        Case("another nonce", ["nonce": "bm9uY2U"], .tokenNonce),
        Case("a number as nonce", ["nonce": 1], .tokenNonce),
        Case("another issuer", ["iss": "https://evil.example"], .tokenIssuer),
        Case("an issuer with a slash too many", ["iss": "https://id.example/"], .tokenIssuer),
        Case("no issuer", ["iss": nil], .tokenIssuer),
        Case("another audience", ["aud": "app-2"], .tokenAudience),
        Case("no audience", ["aud": nil], .tokenAudience),
        Case("a list of texts and others", ["aud": ["app-1", 1]], .tokenAudience),
        Case(
            "an access token's client id",
            ["aud": nil, "client_id": "app-1", "token_use": "access"],
            .tokenMalformed
        ),
        Case("two audiences without azp", ["aud": ["app-1", "app-2"]], .tokenParty),
        Case("two audiences and another azp", ["aud": ["app-1", "app-2"], "azp": "app-2"], .tokenParty),
        Case("one audience and another azp", ["azp": "app-2"], .tokenParty),
        Case("over", ["exp": .int(now)], .tokenExpired),
        Case("no end", ["exp": nil], .tokenExpired),
        Case("an end in words", ["exp": "tomorrow"], .tokenMalformed),
        Case("an end beyond all time", ["exp": 1e300], .tokenMalformed),
        Case("iat in the future", ["iat": .int(now + 61)], .tokenIssuedAt),
        Case("iat before the sign-in", ["iat": .int(now - 61)], .tokenIssuedAt),
        Case("nbf in the future", ["nbf": .int(now + 61)], .tokenIssuedAt),
        Case("no iat", ["iat": nil], .tokenIssuedAt),
        Case("another access token's hash", ["at_hash": "c29tZXRoaW5n"], .tokenAccessHash),
        Case("a hash that is no text", ["at_hash": 7], .tokenAccessHash),
    ]

    @Test("is believed only where every claim is right", arguments: cases)
    func claims(example: Case) async throws {
        let world = try SignInWorld()
        world.claim(example.claims)
        #expect(await world.refusal() == example.code)
    }

    @Test("without a nonce is not of this sign-in")
    func noNonce() async throws {
        let world = try SignInWorld()
        world.provider.change { $0.repeatsNonce = false }
        #expect(await world.refusal() == .tokenNonce)
    }

    @Test("with the right hash of its access token is good")
    func accessHash() async throws {
        let world = try SignInWorld()
        let half = Digest.sha256(Array(FakeSignInProvider.accessToken.utf8)).prefix(16)
        world.claim(["at_hash": .string(Base64URL.encoded(half))])
        #expect(await world.refusal() == nil)
    }

    @Test("may be signed by any key of the set, by its own algorithm")
    func rsa() async throws {
        let world = try SignInWorld()
        let key = try PrivateKey(pem: Fixtures.rsaPKCS8)
        world.provider.change { ($0.key, $0.header) = (key, ["alg": "RS256", "kid": "rsa-1"]) }
        #expect(await world.refusal() == nil)
    }

    @Test("chooses neither its algorithm nor its key")
    func signatures() async throws {
        let ec = try PrivateKey(pem: Fixtures.ecPKCS8)
        let public256 = try HMACKey(secret: Array(Fixtures.ecPublic.utf8))
        let secret = try HMACKey(secret: Array("s3 cret s3 cret s3 cret s3 cret".utf8))
        let cases: [(JSONObject, any Signer, OIDCRefusal.Code)] = [
            (["alg": "none", "kid": "ec-1"], ec, .tokenAlgorithm),
            (["alg": "HS256", "kid": "ec-1"], public256, .tokenAlgorithm),
            (["alg": "HS256"], secret, .tokenAlgorithm),
            (["alg": "HS256", "kid": "secret"], secret, .tokenAlgorithm),
            (["alg": "RS256", "kid": "ec-1"], ec, .tokenAlgorithm),
            (["alg": "ES256", "kid": "rsa-1"], ec, .tokenAlgorithm),
            (["alg": "es256", "kid": "ec-1"], ec, .tokenAlgorithm),
            (["alg": "ES256", "kid": "ec-1"], public256, .tokenSignature),
            (["alg": "ES256", "kid": "other"], ec, .tokenKeyUnknown),
            (["alg": "ES256"], ec, .tokenKeyUnknown),
            (["alg": "ES256", "kid": "ec-1", "jku": "https://evil.example/keys"], ec, .tokenMalformed),
            (["alg": "ES256", "kid": "ec-1", "jwk": [:]], ec, .tokenMalformed),
            (["alg": "ES256", "kid": "ec-1", "crit": ["b64"]], ec, .tokenMalformed),
        ]
        for (header, key, code) in cases {
            let world = try SignInWorld()
            world.provider.change { ($0.header, $0.key) = (header, key) }
            #expect(await world.refusal() == code, "\(JSONValue.object(header).serializedString())")
        }
    }

    @Test("that is not signed, changed, or no token at all is refused")
    func texts() async throws {
        let world = try SignInWorld()
        let key = try PrivateKey(pem: Fixtures.ecPKCS8)
        let header = Array(#"{"alg":"ES256","kid":"ec-1"}"#.utf8)
        let twice = Array(#"{"iss":"https://id.example","sub":"a","sub":"b","aud":"app-1"}"#.utf8)
        let long = "{\"x\":\"" + String(repeating: "x", count: 64 * 1024) + "\"}"
        let good = try Forge.token(header: header, claims: twice, key: key)
        let unsigned = Base64URL.encoded(Array(#"{"alg":"none"}"#.utf8)) + "." + Base64URL.encoded(twice) + "."
        let texts = [
            good, unsigned, "x", "..", "null", "a.b", String(good.dropLast(4)),
            try Forge.token(header: header, claims: Array(long.utf8), key: key),
        ]
        for text in texts {
            world.provider.change { $0.idToken = text }
            let code = await world.refusal()
            #expect(code == .tokenMalformed || code == .tokenAlgorithm, "\(text.prefix(40))")
        }
    }

    @Test("with a claim too many groups long is taken")
    func long() async throws {
        let world = try SignInWorld { $0.groupsClaim = ClaimPath("groups") }
        let groups = (0..<200).map { JSONValue.string("0f9d6c1e-0000-4000-8000-\($0 + 100_000_000_000)") }
        world.claim(["groups": .array(groups)])
        #expect(try await world.walk().person.groups.count == 200)
    }

    @Test("proves that the person is there again only by a new auth_time")
    func elevation() async throws {
        let user = UserID("oidc:default:0f9d")
        let cases: [(JSONValue, OIDCRefusal.Code?)] = [
            (.int(Self.now), nil), (.int(Self.now + 2), nil), (.int(Self.now - 1), .tokenAuthTime),
            (.null, .tokenAuthTime), ("now", .tokenMalformed),
        ]
        for (moment, code) in cases {
            let world = try SignInWorld()
            world.claim(["auth_time": moment])
            #expect(await world.refusal(elevating: user) == code)
        }
        let world = try SignInWorld()
        world.claim(["auth_time": .int(Self.now), "sub": "somebody else"])
        #expect(await world.refusal(elevating: user) == .personOther)
    }

    @Test("of an unknown key asks for the key set once in a minute, however many come")
    func flood() async throws {
        let world = try SignInWorld()
        #expect(await world.refusal() == nil)
        world.time.advance(seconds: 61)
        let second = world.time.now().milliseconds / 1000
        world.claim(["iat": .int(second), "exp": .int(second + 300)])
        for number in 0..<30 {
            world.provider.change { $0.header = ["alg": "ES256", "kid": .string("new-\(number)")] }
            #expect(await world.refusal() == .tokenKeyUnknown)
        }
        #expect(world.provider.calls(to: "/keys").count == 2)
    }

    @Test("of a key that is new is believed once the set is read again")
    func rotation() async throws {
        let world = try SignInWorld()
        world.provider.change { $0.keys = .json(Fixtures.keySet.replacing("ec-1", with: "ec-0")) }
        #expect(await world.refusal() == .tokenKeyUnknown)
        world.provider.change { $0.keys = .json(Fixtures.keySet) }
        world.time.advance(seconds: 61)
        let second = world.time.now().milliseconds / 1000
        world.claim(["iat": .int(second), "exp": .int(second + 300)])
        #expect(await world.refusal() == nil)
    }

    @Test("is not judged while the keys cannot be had")
    func keysAway() async throws {
        let world = try SignInWorld()
        world.provider.change { $0.keys = .response(status: 503, headers: [], body: []) }
        #expect(await world.refusal() == .providerAway)
    }
}
