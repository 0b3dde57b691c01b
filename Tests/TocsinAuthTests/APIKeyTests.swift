import JSON
import Testing
import TocsinAuth
import TocsinCore
import TocsinStore

@Suite("API keys")
struct APIKeyTests {
    private static let text = "da2-abcdefghijklmnopqrstuvwxyz"

    private static func key(_ time: ManualTime, lifetimeSeconds: Double = 60) -> APIKey {
        APIKey(
            id: TokenID("key-1"),
            name: "website",
            digest: APIKeyText.digest(of: text),
            createdAt: time.now(),
            expiresAt: time.now().adding(seconds: lifetimeSeconds)
        )
    }

    @Test("are the prefix and 26 letters and digits, never the same twice")
    func texts() {
        let keys = (0..<200).map { _ in APIKeyText.make() }
        #expect(Set(keys).count == 200)
        for key in keys { #expect(key.wholeMatch(of: /da2-[a-z2-7]{26}/) != nil, "\(key)") }
        // All letters come, so that none of the bits is lost.
        #expect(Set(keys.flatMap { $0.dropFirst(4) }).count == 32)
    }

    @Test("are stored as SHA-256 in hexadecimal")
    func digests() {
        #expect(
            APIKeyText.digest(of: "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
    }

    @Test("make their bearer a key and no person, until they are over")
    func bearer() async throws {
        let world = try await World(nil)
        #expect(await world.result(Self.text) == .refused(.notAuthorized))
        try await world.save(keys: [Self.key(world.time)])
        guard case .identity(let identity) = await world.result(Self.text) else {
            Issue.record("refused")
            return
        }
        #expect(identity.provider == .apiKey)
        #expect(!identity.isPerson)
        #expect(identity.ownerForms(of: AccessRule.ownerClaim).isEmpty)
        #expect(await world.result(Self.text + "a") == .refused(.notAuthorized))
        world.time.advance(seconds: 60)
        #expect(await world.result(Self.text) == .refused(.notAuthorized))
    }

    @Test("are forgotten at once when they are revoked")
    func revocation() async throws {
        let world = try await World(nil)
        var key = Self.key(world.time)
        try await world.save(keys: [key])
        guard case .identity(let identity) = await world.result(Self.text) else {
            Issue.record("refused")
            return
        }
        key.revokedAt = world.time.now()
        try await world.save(keys: [key])
        // It is remembered for a moment, unless its end is told.
        #expect(await world.result(Self.text) == .identity(identity))
        world.authenticator.observe(.accessEnded(identity.userID, identity.tokenID))
        #expect(await world.result(Self.text) == .refused(.notAuthorized))
    }

    @Test("cannot be looked up while the store fails, which is not the bearer's fault")
    func unavailable() async throws {
        let world = try await World(nil)
        await world.store.close()
        guard case .unavailable = await world.result(Self.text) else {
            Issue.record("a failing store refused a key")
            return
        }
    }
}

@Suite("Whose tokens a provider's are")
struct ProviderTests {
    private static func world(_ provider: Identity.Provider, claims: [String]) async throws -> TokenAuthenticator {
        let world = try await World(nil)
        let keys = KeySource.secret(try HMACKey(secret: Array(Fixtures.hs256Secret.utf8)))
        return TokenAuthenticator(
            local: world.local,
            external: ExternalTokens(
                issuer: "https://id.example",
                audiences: ["app-1"],
                keys: keys,
                provider: provider,
                usernameClaims: claims
            ),
            store: world.store,
            time: world.time
        )
    }

    @Test("the issuer stands for the user pool, or beside it", arguments: [Identity.Provider.userPools, .oidc])
    func provider(provider: Identity.Provider) async throws {
        let authenticator = try await Self.world(provider, claims: OwnerClaims.usernameClaims)
        guard case .identity(let identity) = await authenticator.authenticate(token: try Forge.hs256([])) else {
            Issue.record("refused")
            return
        }
        #expect(identity.provider == provider)
        #expect(identity.isFrom(.userPools) == (provider == .userPools))
        #expect(identity.isFrom(.oidc))
    }

    @Test("the claim that names the user can be chosen, and sub can stand in")
    func usernameClaim() async throws {
        let authenticator = try await Self.world(.userPools, claims: ["nickname", "sub"])
        for (nickname, username) in [("nick", "nick"), (nil, "0f9d")] as [(String?, String)] {
            let token = try Forge.hs256(nickname.map { [("nickname", .string($0))] } ?? [])
            guard case .identity(let identity) = await authenticator.authenticate(token: token) else {
                Issue.record("refused")
                return
            }
            #expect(identity.username == username)
        }
    }

    @Test("a token without a user name is let in, and is its subject's; one without a subject is refused")
    func incomplete() async throws {
        let authenticator = try await Self.world(.userPools, claims: OwnerClaims.usernameClaims)
        let nameless = try Forge.hs256([("username", .null)])
        guard case .identity(let identity) = await authenticator.authenticate(token: nameless) else {
            Issue.record("refused")
            return
        }
        #expect(identity.isPerson)
        #expect(identity.username.isEmpty)
        let neither = try Forge.hs256([("sub", .null)])
        #expect(await authenticator.authenticate(token: neither) == .refused(.notAuthorized))
    }
}
