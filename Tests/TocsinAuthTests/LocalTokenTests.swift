import JSON
import TocsinAuth
import TocsinCore
import TocsinStore
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
    private static func issued(
        _ world: World,
        scope: Identity.Scope = .full,
        seconds: Double = 3600
    ) async throws -> String {
        let row = row(world, scope: scope, seconds: seconds)
        try await world.save(accounts: [alice], tokens: [row])
        return try world.local.text(of: row, for: alice)
    }

    @Test(
        "an issued token gives its user, scope and end",
        arguments: [.full, .readOnly, .publish(topic: "alerts"), .publish(topic: "Übung: 1")] as [Identity.Scope]
    )
    func roundTrip(scope: Identity.Scope) async throws {
        let world = try await World(nil)
        let token = try await Self.issued(world, scope: scope)
        let identity = Identity(
            userID: Self.alice.id,
            username: "alice",
            scope: scope,
            tokenID: TokenID("token-1"),
            expiresAt: Timestamp(milliseconds: 1_800_003_700_000)
        )
        #expect(await world.result(token) == .identity(identity))
        await world.store.close()
        #expect(await world.result(token) == .identity(identity), "the second answer comes from memory")
    }

    @Test("a revoked token is refused at once when the event is told, and after five seconds without it")
    func revocation() async throws {
        for isTold in [true, false] {
            let world = try await World(nil)
            let token = try await Self.issued(world)
            _ = await world.result(token)
            var row = Self.row(world)
            row.revokedAt = world.time.now()
            try await world.save(tokens: [row])
            if isTold {
                world.authenticator.observe(.accessEnded(Self.alice.id, TokenID("token-1")))
            } else {
                world.time.advance(seconds: 5)
            }
            #expect(world.recognized(token) == nil)
            #expect(await world.result(token) == .refused(.revoked))
        }
    }

    @Test("a token is recognized without waiting once it was good, for five seconds or until it ends")
    func recognition() async throws {
        for life in [3.0, 60] {
            let world = try await World(nil)
            let token = try await Self.issued(world, seconds: life)
            #expect(world.recognized(token) == nil)
            let result = await world.result(token)
            #expect(world.recognized(token).map(AuthenticationResult.identity) == result)
            world.time.advance(seconds: min(life, 5) - 0.001)
            #expect(world.recognized(token) != nil)
            #expect(world.recognized(token + "x") == nil)
            world.time.advance(seconds: 0.001)
            #expect(world.recognized(token) == nil)
        }
    }

    @Test("a token gives its user's groups and flag, and those of before are forgotten when the change is told")
    func groups() async throws {
        let world = try await World(nil)
        let token = try await Self.issued(world)
        guard case .identity(let before) = await world.result(token) else {
            Issue.record("The token is refused.")
            return
        }
        #expect(before.groups.isEmpty && !before.isAdmin)
        let change = try await world.store.write { writer throws(StoreError) in
            let group = Group(
                id: GroupID("g"),
                name: "ops",
                description: nil,
                createdBy: nil,
                createdAt: Timestamp(milliseconds: 0)
            )
            try writer.save(group)
            _ = try writer.add(Self.alice.id, to: group.id, at: Timestamp(milliseconds: 1))
            var alice = Self.alice
            alice.isAdmin = true
            try writer.save(alice)
            return try writer.changeRights(of: alice.id, at: Timestamp(milliseconds: 5))
        }
        let moment = try #require(change)
        #expect(world.recognized(token) == before)
        world.authenticator.observe(.rightsChanged(UserID("bob"), at: moment))
        #expect(world.recognized(token) == before)
        world.authenticator.observe(.rightsChanged(Self.alice.id, at: moment))
        #expect(world.recognized(token) == nil)
        guard case .identity(let after) = await world.result(token) else {
            Issue.record("The token is refused.")
            return
        }
        #expect(after.groups == ["ops"] && after.localGroups == ["ops"] && after.isAdmin)
        world.authenticator.observe(.rightsChanged(Self.alice.id, at: moment))
        #expect(world.recognized(token) == after, "what was verified since stays")
    }

    @Test("its user's end ends a token")
    func disabledUser() async throws {
        let world = try await World(nil)
        let token = try await Self.issued(world)
        _ = await world.result(token)
        var alice = Self.alice
        alice.isDisabled = true
        try await world.save(accounts: [alice])
        world.authenticator.observe(.accessEnded(alice.id, nil))
        #expect(await world.result(token) == .refused(.revoked))
    }

    @Test("another token's end, or another user's, does not touch this one, which is not even read again")
    func otherRevocations() async throws {
        let world = try await World(nil)
        let token = try await Self.issued(world)
        let result = await world.result(token)
        guard case .identity = result else {
            Issue.record("refused")
            return
        }
        world.authenticator.observe(.accessEnded(Self.alice.id, TokenID("token-2")))
        world.authenticator.observe(.accessEnded(UserID("bob"), nil))
        await world.store.close()
        #expect(await world.result(token) == result)
    }

    @Test("a token whose row or user is gone or differs is refused")
    func missingRows() async throws {
        var (bob, renamed) = (Self.alice, Self.alice)
        bob.id = UserID("0190-bob")
        bob.name = "bob"
        renamed.name = "alicia"
        try await expectRefused(accounts: [])
        try await expectRefused(accounts: [Self.alice])
        try await expectRefused(accounts: [renamed]) { _ in }
        try await expectRefused(accounts: [Self.alice, bob]) { $0.userID = bob.id }
        try await expectRefused(accounts: [Self.alice]) { $0.scope = .readOnly }
    }

    /// With these accounts, and the token's row changed or not there at all.
    private func expectRefused(accounts: [Account], row change: ((inout IssuedToken) -> Void)? = nil) async throws {
        let world = try await World(nil)
        let issued = Self.row(world)
        var row = issued
        change?(&row)
        try await world.save(accounts: accounts, tokens: change == nil ? [] : [row])
        let token = try world.local.text(of: issued, for: Self.alice)
        #expect(await world.result(token) == .refused(.notAuthorized), "\(row), \(accounts)")
    }

    @Test("while the store cannot be read nothing is judged")
    func unavailable() async throws {
        let world = try await World(nil)
        let token = try await Self.issued(world)
        await world.store.close()
        guard case .unavailable = await world.result(token) else {
            Issue.record("judged without its row")
            return
        }
    }

    @Test("a token of another server, or signed by anything else, is refused")
    func foreignServers() async throws {
        let world = try await World(.secret(HMACKey(secret: Array(Fixtures.hs256Secret.utf8))))
        _ = try await Self.issued(world)
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
        let world = try await World(nil)
        let token = try await Self.issued(world, seconds: 10)
        world.time.advance(seconds: 10)
        #expect(await world.result(token) == .refused(.expired))
    }

    @Test("a token's life is one second to ten years", arguments: [0, -5, 11 * 366 * 86_400] as [Double])
    func life(seconds: Double) async throws {
        let world = try await World(nil)
        #expect(throws: KeyError.self) {
            try world.local.text(of: Self.row(world, seconds: seconds), for: Self.alice)
        }
    }

    @Test("a name that could be taken for another owner gets no token", arguments: ["a::b", ":a", "a:", "", "a\u{7}"])
    func names(name: String) async throws {
        let world = try await World(nil)
        var account = Self.alice
        account.name = name
        #expect(throws: KeyError.self) { try world.local.text(of: Self.row(world), for: account) }
    }
}
