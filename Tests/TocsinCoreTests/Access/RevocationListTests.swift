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
}
