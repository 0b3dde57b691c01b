import JSON
import TocsinAuth
import TocsinCore
import Testing

@Suite("Tokens of the server itself")
struct LocalTokenTests {
    private static let alice = Account(
        id: UserID("0190-alice"),
        name: "alice",
        passwordHash: nil,
        isDisabled: false,
        createdAt: Timestamp(milliseconds: 0)
    )

    private static func row(_ world: World, scope: Identity.Scope = .full, seconds: Double = 3600) -> IssuedToken {
        IssuedToken(
            id: TokenID("token-1"),
            userID: alice.id,
            scope: scope,
            createdAt: world.time.now(),
            expiresAt: world.time.now().adding(seconds: seconds)
        )
    }

    /// A token whose row and user are stored.
    private static func issued(_ world: World, scope: Identity.Scope = .full, seconds: Double = 3600) throws -> String {
        let row = row(world, scope: scope, seconds: seconds)
        world.store.change { rows in
            rows.users[alice.id] = alice
            rows.issued[row.id] = row
        }
        return try world.local.text(of: row, for: alice)
    }

    @Test(
        "an issued token gives its user, scope and end",
        arguments: [.full, .readOnly, .publish(topic: "alerts"), .publish(topic: "Übung: 1")] as [Identity.Scope]
    )
    func roundTrip(scope: Identity.Scope) async throws {
        let world = try World(nil)
        let token = try Self.issued(world, scope: scope)
        let identity = Identity(
            userID: Self.alice.id,
            username: "alice",
            scope: scope,
            tokenID: TokenID("token-1"),
            expiresAt: Timestamp(milliseconds: 1_800_003_700_000)
        )
        #expect(await world.result(token) == .identity(identity))
        #expect(await world.result(token) == .identity(identity))
        #expect(world.store.reads == 1, "the second answer comes from memory")
    }

    @Test("a revoked token is refused at once when the event is told, and after five seconds without it")
    func revocation() async throws {
        for isTold in [true, false] {
            let world = try World(nil)
            let token = try Self.issued(world)
            _ = await world.result(token)
            world.store.change { $0.issued[TokenID("token-1")]?.revokedAt = world.time.now() }
            if isTold {
                world.authenticator.observe(.accessEnded(Self.alice.id, TokenID("token-1")))
            } else {
                world.time.advance(seconds: 5)
            }
            #expect(await world.result(token) == .refused(.revoked))
        }
    }

    @Test("another token's end does not touch this one, its user's does")
    func otherRevocations() async throws {
        let world = try World(nil)
        let token = try Self.issued(world)
        _ = await world.result(token)
        world.authenticator.observe(.accessEnded(Self.alice.id, TokenID("token-2")))
        world.authenticator.observe(.accessEnded(UserID("bob"), nil))
        _ = await world.result(token)
        #expect(world.store.reads == 1)
        world.store.change { $0.users[Self.alice.id]?.isDisabled = true }
        world.authenticator.observe(.accessEnded(Self.alice.id, nil))
        #expect(await world.result(token) == .refused(.revoked))
    }

    @Test("a token whose row or user is gone or differs is refused")
    func missingRows() async throws {
        let changes: [(inout Rows) -> Void] = [
            { $0.issued = [:] }, { $0.users = [:] }, { $0.issued[TokenID("token-1")]?.userID = UserID("bob") },
            { $0.issued[TokenID("token-1")]?.scope = .readOnly }, { $0.users[Self.alice.id]?.name = "bob" },
        ]
        for change in changes {
            let world = try World(nil)
            let token = try Self.issued(world)
            world.store.change(change)
            #expect(await world.result(token) == .refused(.notAuthorized))
        }
    }

    @Test("while the store cannot be read nothing is judged")
    func unavailable() async throws {
        let world = try World(nil)
        let token = try Self.issued(world)
        world.store.fail(.unavailable(reason: "disk"))
        guard case .unavailable = await world.result(token) else {
            Issue.record("judged without its row")
            return
        }
    }

    @Test("a token of another server, or signed by anything else, is refused")
    func foreignServers() async throws {
        let world = try World(.secret(HMACKey(secret: Array(Fixtures.hs256Secret.utf8))))
        _ = try Self.issued(world)
        let other = LocalTokens(try ServerKey(secret: [UInt8](repeating: 8, count: 32)))
        let token = try other.text(of: Self.row(world), for: Self.alice)
        #expect(await world.result(token) == .refused(.notAuthorized))
        let forged = try Forge.hs256([
            ("iss", "tocsin"), ("sub", "0190-alice"), ("username", "alice"), ("jti", "token-1"),
        ])
        #expect(await world.result(forged) == .refused(.notAuthorized))
    }

    @Test("an expired token says so")
    func expiry() async throws {
        let world = try World(nil)
        let token = try Self.issued(world, seconds: 10)
        world.time.advance(seconds: 10)
        #expect(await world.result(token) == .refused(.expired))
    }

    @Test("a token's life is one second to ten years", arguments: [0, -5, 11 * 366 * 86_400] as [Double])
    func life(seconds: Double) throws {
        let world = try World(nil)
        #expect(throws: KeyError.self) {
            try world.local.text(of: Self.row(world, seconds: seconds), for: Self.alice)
        }
    }

    @Test("a name that could be taken for another owner gets no token", arguments: ["a::b", ":a", "a:", "", "a\u{7}"])
    func names(name: String) throws {
        let world = try World(nil)
        var account = Self.alice
        account.name = name
        #expect(throws: KeyError.self) { try world.local.text(of: Self.row(world), for: account) }
    }
}
