import JSON
import TocsinAuth
import TocsinCore
import TocsinStore
import Testing

@Suite("Tokens of a sign-in provider")
struct ExternalTokenTests {
    private static let alice = Identity(
        userID: UserID("0f9d"),
        username: "alice",
        expiresAt: Timestamp(milliseconds: 1_800_003_600_000)
    )

    /// Who a token stands for, without the claims that rules may name.
    private func caller(_ token: String, in world: World) async throws -> Identity {
        guard case .identity(var identity) = await world.result(token) else { throw NotBelieved() }
        #expect(identity.claims["sub"] == [identity.userID.text])
        identity.claims = [:]
        return identity
    }

    private struct NotBelieved: Error {}

    @Test("tokens made by another implementation are believed", arguments: [Fixtures.ecToken, Fixtures.rsaToken])
    func foreignTokens(token: String) async throws {
        #expect(try await caller(token, in: try World.keySet()) == Self.alice)
    }

    @Test("a shared secret verifies its own tokens")
    func sharedSecret() async throws {
        #expect(try await caller(Fixtures.hsToken, in: try World.secret()) == Self.alice)
    }

    @Test("a subject that is a local account's id is refused, whether or not the account is disabled")
    func localSubject() async throws {
        let world = try await World.secret()
        for isDisabled in [false, true] {
            let account = Account(
                id: UserID("0190-local-\(isDisabled)"),
                name: "ann \(isDisabled)",
                passwordHash: nil,
                isDisabled: isDisabled,
                createdAt: world.time.now()
            )
            try await world.save(accounts: [account])
            for name in [account.name, "mallory"] {
                let token = try Forge.hs256([("sub", .string(account.id.text)), ("username", .string(name))])
                #expect(await world.result(token) == .refused(.notAuthorized))
            }
        }
        #expect(try await caller(Fixtures.hsToken, in: world) == Self.alice, "nobody else is refused")
    }

    @Test("the token of a linked identity is the local user's, until the link or the account ends")
    func linked() async throws {
        let world = try await World.secret()
        var ann = Account(
            id: UserID("id-ann"),
            name: "ann",
            passwordHash: nil,
            isDisabled: false,
            createdAt: world.time.now()
        )
        let identity = SignInIdentity(
            id: "i-1",
            issuer: "https://id.example",
            subject: "0f9d",
            userID: ann.id,
            provider: "default",
            name: "alice",
            createdAt: world.time.now()
        )
        try await world.save(accounts: [ann])
        try await world.store.write { writer throws(StoreError) in try writer.save(identity) }
        guard case .identity(let caller) = await world.result(Fixtures.hsToken) else { throw NotBelieved() }
        #expect(caller.userID == ann.id && caller.username == "ann" && caller.tokenID == nil)
        ann.isDisabled = true
        try await world.save(accounts: [ann])
        world.authenticator.observe(.accessEnded(ann.id, nil))
        #expect(await world.result(Fixtures.hsToken) == .refused(.revoked))
        try await world.store.write { writer throws(StoreError) in try writer.remove(identity) }
        #expect(try await self.caller(Fixtures.hsToken, in: world) == Self.alice)
    }

    @Test("of a provider that takes invited people alone, only who is known comes in")
    func invited() async throws {
        let world = try await World.secret()
        let keys = KeySource.secret(try HMACKey(secret: Array(Fixtures.hs256Secret.utf8)))
        world.authenticator.replaceExternal(
            with: ExternalTokens(
                issuer: "https://id.example",
                audiences: ["app-1", "app-2"],
                keys: keys,
                areToBeKnown: true
            )
        )
        #expect(await world.result(Fixtures.hsToken) == .refused(.notAuthorized))
        let facts = UserFacts(
            userID: Self.alice.userID,
            username: "alice",
            provider: .userPools,
            claims: [:],
            seenAt: world.time.now()
        )
        try await world.store.write { writer throws(StoreError) in try writer.save(facts) }
        #expect(try await caller(Fixtures.hsToken, in: world) == Self.alice)
    }

    @Test("what is remembered of a provider's token is forgotten when a user of its subject loses access")
    func forgotten() async throws {
        let world = try await World.secret()
        #expect(try await caller(Fixtures.hsToken, in: world) == Self.alice)
        world.authenticator.observe(.accessEnded(Self.alice.userID, TokenID("another's")))
        #expect(world.recognized(Fixtures.hsToken) != nil)
        world.authenticator.observe(.accessEnded(Self.alice.userID, nil))
        #expect(world.recognized(Fixtures.hsToken) == nil)
    }

    @Test("claims that are texts or lists of texts can be named by rules; others cannot")
    func claims() async throws {
        let token = try Forge.hs256([
            ("cognito:groups", ["ops", "dev"]), ("mixed", ["ops", 1]), ("number", 7), ("empty", []),
            ("nested", ["a": "b"]),
        ])
        guard case .identity(let identity) = try await World.secret().result(token) else { throw NotBelieved() }
        #expect(identity.claims["cognito:groups"] == ["ops", "dev"])
        #expect(identity.claims["username"] == ["alice"])
        #expect(identity.claims.keys.filter { ["mixed", "number", "empty", "nested", "exp"].contains($0) }.isEmpty)
    }

    @Test(
        "what cannot be a token is malformed",
        arguments: [
            "", ".", "..", "a.b", "a.b.c", "a.b.c.d", "no token at all", Fixtures.ecToken + ".", Fixtures.ecToken + "=",
            "{}.{}.", "bnVsbA.bnVsbA.", "W10.W10.AAAA", String(repeating: "A", count: 8193),
            String(repeating: ".", count: 5000), "🙂.🙂.🙂",
        ]
    )
    func malformed(token: String) async throws {
        #expect(try await World.keySet().result(token) == .refused(.malformed))
    }

    @Test(
        "a token that chooses how it is to be believed is not",
        arguments: [
            ["alg": "none"], ["alg": "None", "kid": "ec-1"], ["alg": "HS256", "kid": "ec-1"],
            ["alg": "HS256", "kid": "rsa-1"], ["alg": "RS256", "kid": "ec-1"], ["alg": "ES256", "kid": "rsa-1"],
            ["alg": "ES384", "kid": "ec-1"], ["alg": "ES256", "kid": "other"], ["alg": "ES256"],
            ["alg": "ES256", "kid": "../../etc/passwd"], ["alg": "ES256", "kid": ""],
            ["alg": "ES256", "kid": "ec-1", "jku": "https://evil.example/keys"],
            ["alg": "ES256", "kid": "ec-1", "x5u": "https://evil.example/cert"],
            ["alg": "ES256", "kid": "ec-1", "x5c": ["AAAA"]], ["alg": "ES256", "kid": "ec-1", "jwk": ["kty": "EC"]],
            ["alg": "ES256", "kid": "ec-1", "crit": ["exp"], "exp": 1], ["alg": "ES256", "kid": "ec-1", "crit": []],
            ["alg": "ES256", "kid": "ec-1", "b64": false],
        ] as [JSONObject]
    )
    func badHeaders(header: JSONObject) async throws {
        let key = try PrivateKey(pem: Fixtures.ecPKCS8)
        let token = try Forge.token(header: header, key: key)
        #expect(try await World.keySet().result(token) == .refused(.notAuthorized))
        let unsigned = token.prefix(through: try #require(token.lastIndex(of: ".")))
        #expect(try await World.keySet().result(String(unsigned)) == .refused(.notAuthorized))
    }

    @Test("a public key is no shared secret")
    func algorithmConfusion() async throws {
        #expect(try await World.keySet().result(Fixtures.confusedToken) == .refused(.notAuthorized))
    }

    @Test("no character of a signed token can change", arguments: [Fixtures.ecToken, Fixtures.rsaToken])
    func tampering(token: String) async throws {
        let world = try await World.keySet()
        for index in token.indices where token[index] != "." {
            var changed = token
            changed.replaceSubrange(index...index, with: token[index] == "x" ? "y" : "x")
            let result = await world.result(changed)
            #expect(result == .refused(.notAuthorized) || result == .refused(.malformed), "\(changed)")
        }
    }

    @Test(
        "claims outside the rules are refused",
        arguments: [
            ("exp", nil), ("exp", "1800003600"), ("exp", true), ("exp", 1e300), ("iss", nil),
            ("iss", "https://id.example/"),
            ("iss", ["https://id.example"]), ("iss", "tocsin"), ("aud", nil), ("aud", "app"), ("aud", []),
            ("aud", ["other"]), ("aud", ["app-1", 7]), ("aud", ["app-1": true]), ("nbf", 1_800_000_161),
            ("iat", 1_800_000_161), ("nbf", "soon"), ("sub", nil), ("sub", ""), ("sub", 7), ("sub", ["0f9d"]),
            ("sub", "a\u{0}b"), ("sub", "a\u{202E}b"), ("sub", "a::b"), ("sub", "a:"),
            ("sub", .string(String(repeating: "s", count: 257))), ("username", ""), ("username", ["alice"]),
            ("username", "0f9d::bob"), ("username", ":bob"), ("username", "al\nice"), ("token_use", "refresh"),
        ] as [(String, JSONValue?)]
    )
    func badClaims(name: String, value: JSONValue?) async throws {
        let token = try Forge.hs256([(name, value ?? .null)])
        #expect(try await World.secret().result(token) == .refused(.notAuthorized))
    }

    @Test(
        "claims within the rules are believed",
        arguments: [
            [("aud", ["other", "app-2"])], [("nbf", 1_800_000_160), ("iat", 1_800_000_160)], [("exp", 1_800_000_100.5)],
            [("aud", .null), ("token_use", "access"), ("client_id", "app-1")],
            [("sub", .string(String(repeating: "s", count: 256)))], [("username", "Zoë :) 🙂")],
        ] as [[(String, JSONValue)]]
    )
    func goodClaims(changes: [(String, JSONValue)]) async throws {
        guard case .identity = try await World.secret().result(try Forge.hs256(changes)) else {
            Issue.record("refused: \(changes)")
            return
        }
    }

    @Test("an access token's client counts as audience only where there is no aud")
    func clientID() async throws {
        for changes: [(String, JSONValue)] in [
            [("aud", "other"), ("token_use", "access"), ("client_id", "app-1")],
            [("aud", .null), ("token_use", "id"), ("client_id", "app-1")],
            [("aud", .null), ("client_id", "app-1")],
        ] {
            #expect(try await World.secret().result(try Forge.hs256(changes)) == .refused(.notAuthorized))
        }
    }

    @Test(
        "the first claim of the list names the user; without any there is no name",
        arguments: [
            ([("username", "a"), ("cognito:username", "b")], "a"),
            ([("cognito:username", "b"), ("email", "e@x")], "b"),
            ([("preferred_username", "p"), ("email", "e@x")], "p"), ([("email", "e@x")], "e@x"), ([], ""),
        ] as [([(String, JSONValue)], String)]
    )
    func usernames(claims: [(String, JSONValue)], username: String) async throws {
        let token = try Forge.hs256([("username", .null)] + claims)
        guard case .identity(let identity) = try await World.secret().result(token) else {
            Issue.record("refused")
            return
        }
        #expect(identity.username == username)
    }

    @Test(
        "a claim or header that is written twice is refused",
        arguments: [
            (
                #"{"alg":"HS256"}"#,
                #"{"iss":"x","iss":"https://id.example","aud":"app-1","sub":"0f9d","exp":1800003600}"#
            ),
            (
                #"{"alg":"HS256"}"#,
                #"{"sub":"0f9d","aud":"app-1","s\u0075b":"b","iss":"https://id.example","exp":1800003600}"#
            ),
            (
                #"{"alg":"none","alg":"HS256"}"#,
                #"{"sub":"0f9d","aud":"app-1","iss":"https://id.example","exp":1800003600}"#
            ),
            (
                #"{"alg":"HS256"}"#,
                #"{"sub":"0f9d","aud":"app-1","iss":"https://id.example","exp":1800003600,"a":{"b":1,"b":2}}"#
            ),
        ]
    )
    func duplicates(header: String, claims: String) async throws {
        let key = try HMACKey(secret: Array(Fixtures.hs256Secret.utf8))
        let token = try Forge.token(header: Array(header.utf8), claims: Array(claims.utf8), key: key)
        #expect(try await World.secret().result(token) == .refused(.malformed))
    }

    @Test("a claim that is null is there, and wrong", arguments: ["sub", "username", "exp", "nbf", "aud", "token_use"])
    func nulls(name: String) async throws {
        var claims = Forge.claims
        claims[name] = .some(.null)
        let key = try HMACKey(secret: Array(Fixtures.hs256Secret.utf8))
        let token = try Forge.token(header: ["alg": "HS256"], claims: claims, key: key)
        #expect(try await World.secret().result(token) == .refused(.notAuthorized))
    }

    @Test("colons and quotes inside texts are not taken for second members")
    func colons() async throws {
        let token = try Forge.hs256([("note", #"a:"b\":c:"#), ("c:d", ["e:f": ["g", ":"]])])
        guard case .identity = try await World.secret().result(token) else {
            Issue.record("refused")
            return
        }
    }

    @Test("a token ends to the second, from memory too")
    func expiry() async throws {
        let world = try await World.secret()
        let token = try Forge.hs256([("exp", 1_800_000_110)])
        world.time.advance(seconds: 9.9)
        guard case .identity = await world.result(token) else {
            Issue.record("refused before its end")
            return
        }
        world.time.advance(seconds: 0.1)
        #expect(await world.result(token) == .refused(.expired))
    }

    @Test("without a provider every foreign token is refused")
    func noProvider() async throws {
        #expect(try await World(nil).result(Fixtures.ecToken) == .refused(.notAuthorized))
    }

    @Test("random changes of signed parts are answered, and never believed")
    func randomInput() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let world = try await World.secret()
        let key = try HMACKey(secret: Array(Fixtures.hs256Secret.utf8))
        let whole = JSONValue.object(Forge.claims).serialized()
        for _ in 0..<3000 {
            var claims = whole
            for _ in 0...next(3) { claims[next(claims.count)] = UInt8(next(256)) }
            let token = try Forge.token(header: Array(#"{"alg":"HS256"}"#.utf8), claims: claims, key: key)
            guard case .identity(let identity) = await world.result(token) else { continue }
            // Signed claims may say anything within the rules, but nothing outside them.
            let isNamed = identity.username.isEmpty || OwnerClaims.isValid(identity.username)
            #expect(OwnerClaims.isValid(identity.userID.text) && isNamed, "seed \(seed)")
            var broken = token
            broken.removeLast(next(20) + 1)
            let result = await world.result(broken)
            #expect(result == .refused(.malformed) || result == .refused(.notAuthorized), "seed \(seed)")
        }
    }
}
