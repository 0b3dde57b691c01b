import Testing
import TocsinCore

@Suite("Rules of access")
struct AccessRuleTests {
    @Test(
        "a rule covers what it names, `read` stands for all ways of reading, and `get` is enough for relations",
        arguments: [
            ([.create], [.create]), ([.update], [.update]), ([.delete], [.delete]),
            ([.read], [.read, .get, .list, .sync, .listen]), ([.get], [.get, .read]), ([.list], [.list]),
            ([.sync], [.sync]), ([.listen], [.listen]), ([], []), ([.create, .get], [.create, .get, .read]),
        ] as [(Set<AccessRule.Operation>, Set<AccessRule.Operation>)]
    )
    func covers(named: Set<AccessRule.Operation>, covered: Set<AccessRule.Operation>) {
        let rule = AccessRule(.signedIn, operations: named)
        #expect(Set(AccessRule.Operation.allCases.filter(rule.covers)) == covered)
    }

    @Test("a rule without operations allows everything", arguments: AccessRule.Operation.allCases)
    func everything(operation: AccessRule.Operation) {
        #expect(AccessRule(.signedIn).covers(operation))
    }

    @Test(
        "the claims that decide a rule are named, both halves of a joined one",
        arguments: [
            (.owner(field: "owner", claim: AccessRule.ownerClaim), ["sub", "username"]),
            (.owner(field: "owner", claim: "email"), ["email"]),
            (.owner(field: "owner", claim: "cognito:username::sub"), ["cognito:username", "sub"]),
            (.groups(["ops"], claim: AccessRule.groupClaim), ["cognito:groups"]),
            (.groupsField("team", claim: "teams"), ["teams"]), (.signedIn, []), (.keyBearer, []),
        ] as [(AccessRule.Grantee, [String])]
    )
    func claims(grantee: AccessRule.Grantee, claims: [String]) {
        #expect(AccessRule(grantee).claims == claims)
    }

    @Test("only a rule for owners has an owner, and by default that is the field `owner` by subject and name")
    func owner() throws {
        let owner = try #require(AccessRule(operations: [.read]).owner)
        #expect(owner.field == "owner" && owner.claim == "sub::username")
        #expect(AccessRule(.groups(["ops"], claim: "g")).owner == nil)
        #expect(AccessRule(.signedIn).owner == nil)
    }
}
