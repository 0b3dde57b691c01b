import Testing
import TocsinCore

@Suite("Access that has ended")
struct RevocationListTests {
    private static let ann = Account(
        id: UserID("0190a000-0000-7000-8000-00000000000a"),
        name: "ann",
        passwordHash: nil,
        isDisabled: true,
        createdAt: Timestamp(milliseconds: 0)
    )

    @Test("a disabled user is refused by whatever token the id came in, and by none once enabled again")
    func disabled() {
        let list = RevocationList()
        let local = Identity(userID: Self.ann.id, username: "ann", tokenID: TokenID("t1"))
        let external = Identity(userID: Self.ann.id, username: "somebody", provider: .oidc)
        let other = Identity(userID: UserID("0190a000-0000-7000-8000-00000000000b"), username: "ann")
        let events = list.replace(tokens: [], accounts: [Self.ann])
        #expect(events == [.pushesUnwanted(Self.ann.id, nil, .accessEnded), .accessEnded(Self.ann.id, nil)])
        #expect(list.covers(local) && list.covers(external) && !list.covers(other))
        #expect(list.replace(tokens: [], accounts: []).isEmpty)
        #expect(!list.covers(local) && !list.covers(external))
    }

    private static func token(_ id: String, isRevoked: Bool) -> IssuedToken {
        IssuedToken(
            id: TokenID(id),
            userID: UserID("ann"),
            scope: .full,
            createdAt: Timestamp(milliseconds: 0),
            expiresAt: Timestamp(milliseconds: 9),
            revokedAt: isRevoked ? Timestamp(milliseconds: 1) : nil
        )
    }

    private static func key(_ id: String, isRevoked: Bool) -> APIKey {
        APIKey(
            id: TokenID(id),
            name: "k",
            digest: "d",
            createdAt: Timestamp(milliseconds: 0),
            expiresAt: Timestamp(milliseconds: 9),
            revokedAt: isRevoked ? Timestamp(milliseconds: 1) : nil
        )
    }

    @Test("a revoked token ends whoever came in with it, and no other token of the same user")
    func tokens() {
        let list = RevocationList()
        let events = list.replace(
            tokens: [Self.token("t1", isRevoked: true), Self.token("t2", isRevoked: false)],
            accounts: []
        )
        #expect(events == [.accessEnded(UserID("ann"), TokenID("t1"))])
        let callers = ["t1", "t2"].map { Identity(userID: UserID("ann"), username: "ann", tokenID: TokenID($0)) }
        #expect(callers.map(list.covers) == [true, false])
        #expect(!list.covers(Identity(userID: UserID("ann"), username: "ann")))
    }

    @Test("a revoked API key ends its bearers, and no token")
    func keys() {
        let list = RevocationList()
        let keys = [Self.key("k1", isRevoked: true), Self.key("k2", isRevoked: false)]
        #expect(list.replace(tokens: [], accounts: [], keys: keys) == [.accessEnded(UserID("key-k1"), TokenID("k1"))])
        #expect(keys.map { list.covers($0.identity) } == [true, false])
    }

    @Test("what has ended is told once, and again when it ended a second time")
    func once() {
        let list = RevocationList()
        let tokens = [Self.token("t1", isRevoked: true)]
        let ended: [DomainEvent] = [.accessEnded(UserID("ann"), TokenID("t1"))]
        #expect(list.replace(tokens: tokens, accounts: []) == ended)
        #expect(list.replace(tokens: tokens, accounts: []).isEmpty)
        let more = tokens + [Self.token("t2", isRevoked: true)]
        #expect(list.replace(tokens: more, accounts: []) == [.accessEnded(UserID("ann"), TokenID("t2"))])
        #expect(list.replace(tokens: [], accounts: []).isEmpty)
        #expect(list.replace(tokens: tokens, accounts: []) == ended)
    }

    @Test("a list that was never filled covers nobody")
    func empty() {
        #expect(!RevocationList().covers(Identity(userID: Self.ann.id, username: "ann", tokenID: TokenID("t1"))))
    }

    private static func changed(_ scope: Identity.Scope, narrowed: Int64? = nil, end: Int64 = 9000) -> IssuedToken {
        var token = token("t1", isRevoked: false)
        (token.scope, token.changedAt) = (scope, Timestamp(milliseconds: 5))
        token.narrowedAt = narrowed.map { Timestamp(milliseconds: $0) }
        token.expiresAt = Timestamp(milliseconds: end)
        return token
    }

    @Test("a narrowed token ends whoever came in with its older rights, once, and nobody who came in since")
    func narrowed() {
        let list = RevocationList()
        var before = Identity(userID: UserID("ann"), username: "ann", tokenID: TokenID("t1"))
        let ended: [DomainEvent] = [.accessEnded(UserID("ann"), TokenID("t1"))]
        #expect(list.replace(tokens: [Self.changed(.readOnly, narrowed: 5)], accounts: []) == ended)
        #expect(list.covers(before))
        before.scope = .readOnly
        #expect(!list.covers(before))
        #expect(list.replace(tokens: [Self.changed(.readOnly, narrowed: 5)], accounts: []).isEmpty)
        let again = Self.changed(.publish(topic: "t"), narrowed: 6)
        #expect(list.replace(tokens: [again], accounts: []) == ended)
        #expect(list.covers(before))
    }

    @Test("a token whose end came nearer ends whoever holds it at that moment, and is told of once")
    func nearerEnd() {
        let list = RevocationList()
        let caller = Identity(userID: UserID("ann"), username: "ann", tokenID: TokenID("t1"))
        #expect(list.replace(tokens: [Self.changed(.full, end: 700)], accounts: []).isEmpty)
        #expect(list.ended(by: Timestamp(milliseconds: 699)).isEmpty && !list.covers(caller))
        #expect(
            list.ended(by: Timestamp(milliseconds: 700)) == [.accessEnded(UserID("ann"), TokenID("t1"))]
        )
        #expect(list.covers(caller))
        _ = list.replace(tokens: [Self.changed(.full, end: 700)], accounts: [])
        #expect(list.ended(by: Timestamp(milliseconds: 800)).isEmpty && list.covers(caller))
    }
}
