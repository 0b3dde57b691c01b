import Testing
import TocsinCore

/// What is known of people who are not here, and how long it counts.
@Suite("Rights to pushes")
struct PushRightsTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)
    private static let ann = UserID("sub-ann")

    /// Rules on topics, and messages that everybody may read who has signed in.
    private func rights(_ rules: [AccessRule], requiresSignIn: Bool = false) -> PushRights {
        PushRights(topics: .topics(rules), messages: .messages([AccessRule(.signedIn)]), requiresSignIn: requiresSignIn)
    }

    private func mayReceive(_ rights: PushRights, _ standing: PushRights.Standing?, topic owner: String) -> Bool {
        var topic = Record(model: rights.topics)
        topic["id"] = .text("t")
        topic["owner"] = .text(owner)
        var message = Record(model: rights.messages)
        message["id"] = .text("m")
        return rights.mayReceive(rights.receiver(Self.ann, standing, now: Self.now), message, in: topic)
    }

    private func facts(_ claims: [String: [String]], seconds: Double) -> PushRights.Standing {
        let facts = UserFacts(
            userID: Self.ann,
            username: "ann",
            provider: .userPools,
            claims: claims,
            seenAt: Self.now.adding(seconds: -seconds)
        )
        return PushRights.Standing(facts: facts)
    }

    private static let week = 7.0 * 86_400

    @Test("claimed groups count for a week after a token last named them", arguments: [week - 1, week])
    func groups(seconds: Double) {
        let rights = rights([AccessRule(.groups(["ops"], claim: AccessRule.groupClaim), operations: [.read])])
        let standing = facts([AccessRule.groupClaim: ["ops"]], seconds: seconds)
        #expect(mayReceive(rights, standing, topic: "somebody") == (seconds < Self.week))
    }

    @Test("who somebody is counts longer: owners by name, and by a claim of their own", arguments: [0, 52 * week])
    func owners(seconds: Double) {
        let byName = rights([AccessRule(operations: [.read])])
        #expect(mayReceive(byName, facts([:], seconds: seconds), topic: "sub-ann::ann"))
        #expect(!mayReceive(byName, facts([:], seconds: seconds), topic: "sub-bob::bob"))
        let byClaim = rights([AccessRule(identityClaim: "email", operations: [.read])])
        let standing = facts(["email": ["ann@example.com"]], seconds: seconds)
        #expect(mayReceive(byClaim, standing, topic: "ann@example.com"))
        #expect(!mayReceive(byClaim, facts([:], seconds: seconds), topic: "ann@example.com"))
    }

    @Test("a local account says who its user is, whatever a token once said; disabled, it ends all")
    func accounts() {
        let rights = rights([AccessRule(operations: [.read])])
        var standing = facts([:], seconds: 0)
        standing.account = PushRights.Standing.LocalAccount(name: "anna", isDisabled: false)
        #expect(mayReceive(rights, standing, topic: "sub-ann::anna"))
        #expect(!mayReceive(rights, standing, topic: "sub-ann::ann"))
        standing.account?.isDisabled = true
        #expect(!mayReceive(rights, standing, topic: "sub-ann::anna"))
    }

    @Test("a member of whom nothing is known yet keeps what the membership gives, but where sign-in is needed")
    func unknown() {
        let rules = [AccessRule(operations: [.read])]
        #expect(mayReceive(rights(rules), nil, topic: "somebody"))
        #expect(!mayReceive(rights(rules, requiresSignIn: true), nil, topic: "somebody"))
    }

    @Test("where sign-in is needed, local users need a token, others one seen within the week")
    func signIn() {
        let rights = rights([AccessRule(.signedIn)], requiresSignIn: true)
        let account = PushRights.Standing.LocalAccount(name: "ann", isDisabled: false)
        for hasToken in [true, false] {
            let standing = PushRights.Standing(account: account, hasToken: hasToken)
            #expect(mayReceive(rights, standing, topic: "somebody") == hasToken)
        }
        #expect(mayReceive(rights, facts([:], seconds: Self.week - 1), topic: "somebody"))
        #expect(!mayReceive(rights, facts([:], seconds: Self.week), topic: "somebody"))
    }
}
