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

    @Test("local groups count for as long as the account has them, under whatever claim a rule names")
    func localGroups() {
        for claim in [AccessRule.groupClaim, "roles"] {
            let rights = rights([AccessRule(.groups(["ops"], claim: claim), operations: [.read])])
            let member = PushRights.Standing.LocalAccount(name: "ann", isDisabled: false, groups: ["ops"])
            #expect(mayReceive(rights, PushRights.Standing(account: member), topic: "somebody"))
            let other = PushRights.Standing.LocalAccount(name: "ann", isDisabled: false, groups: ["dev"])
            #expect(!mayReceive(rights, PushRights.Standing(account: other), topic: "somebody"))
        }
    }

    @Test("groups of a provider are written apart from local ones, unless they are merged")
    func claimedGroups() {
        var claimed = ClaimedGroups()
        claimed.claim = "roles"
        #expect(claimed.subjects(in: ["roles": ["ops"], AccessRule.groupClaim: ["dev"]]) == ["oidc:ops"])
        claimed.areMerged = true
        #expect(claimed.subjects(in: ["roles": ["ops"]]) == ["ops"])
        claimed.trustSeconds = 60
        let rights = PushRights(topics: .topics([]), messages: .messages([]), claimedGroups: claimed)
        #expect(rights.notedClaims == ["roles"])
        for (seconds, expected) in [(59.0, ["ops"]), (60.0, [])] {
            let receiver = rights.receiver(Self.ann, facts(["roles": ["ops"]], seconds: seconds), now: Self.now)
            guard case .person(let identity) = receiver else {
                Issue.record("\(receiver)")
                return
            }
            #expect(identity.groups == expected)
        }
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

    @Test("a push takes the right to read the topic, and one way to the message: to read, list or hear of it")
    func both() {
        let owners = [AccessRule(operations: [.read])]
        let nobody: [AccessRule] = []
        let ann = PushRights.Receiver.person(Identity(userID: Self.ann, username: "ann"))
        for (topicRules, messageRules, isGiven) in [
            (owners, owners, true), (owners, nobody, false), (nobody, owners, false),
            (owners, [AccessRule(operations: [.list])], true), (owners, [AccessRule(operations: [.listen])], true),
            (owners, [AccessRule(operations: [.sync])], false), ([AccessRule(operations: [.list])], owners, false),
            ([AccessRule(operations: [.get])], owners, true), (owners, [AccessRule(operations: [.create])], false),
        ] as [([AccessRule], [AccessRule], Bool)] {
            let rights = PushRights(topics: .topics(topicRules), messages: .messages(messageRules))
            let topic = Record(rights.topics, ["id": .text("t"), "owner": .text("ann")])
            let message = Record(rights.messages, ["id": .text("m"), "owner": .text("ann")])
            #expect(rights.mayReceive(ann, message, in: topic) == isGiven, "\(topicRules) \(messageRules)")
        }
    }

    @Test(
        "a push shows title and body, so whoever may not read one of them gets none",
        arguments: ["title", "body", "data"]
    )
    func shownFields(field: String) {
        let owners = [AccessRule(operations: [.read])]
        let rights = PushRights(
            topics: .topics([AccessRule(.signedIn)]),
            messages: .messages([AccessRule(.signedIn)], fieldRules: [field: owners])
        )
        let topic = Record(rights.topics, ["id": .text("t")])
        let message = Record(rights.messages, ["id": .text("m"), "owner": .text("bob")])
        let (ann, bob) = (
            Identity(userID: Self.ann, username: "ann"), Identity(userID: UserID("sub-bob"), username: "bob")
        )
        #expect(rights.mayReceive(.person(bob), message, in: topic))
        #expect(rights.mayReceive(.person(ann), message, in: topic) == (field == "data"))
    }

    @Test("a direct push goes to whom it names, whatever the rules of reading are, unless they get no pushes at all")
    func direct() {
        let rights = PushRights(topics: .topics([]), messages: .messages([]))
        let sender = Identity(userID: UserID("sub-bob"), username: "bob")
        let topic = Record(rights.topics, ["id": .text(DirectPushService.topicID(of: sender).text)])
        let message = Record(rights.messages, ["id": .text("m")])
        let ann = PushRights.Receiver.person(Identity(userID: Self.ann, username: "ann"))
        #expect(rights.mayReceive(ann, message, in: topic))
        #expect(rights.mayReceive(.member, message, in: topic))
        #expect(!rights.mayReceive(.nobody, message, in: topic))
        #expect(!rights.mayReceive(ann, message, in: Record(rights.topics, ["id": .text("t")])))
    }

    @Test("who somebody is stays known when their groups have grown old")
    func partsOfFacts() {
        let rules = [
            AccessRule(.groups(["ops"], claim: AccessRule.groupClaim)),
            AccessRule(identityClaim: "email", operations: [.read]),
        ]
        let claims = [AccessRule.groupClaim: ["ops"], "email": ["ann@example.com"]]
        let rights = rights(rules)
        for (seconds, known) in [(0, claims), (Self.week, ["email": ["ann@example.com"]])] {
            let groups = ClaimedGroups().subjects(in: known)
            let identity = Identity(userID: Self.ann, username: "ann", claims: known, claimedGroups: groups)
            #expect(rights.receiver(Self.ann, facts(claims, seconds: seconds), now: Self.now) == .person(identity))
        }
    }

    @Test("a group by which an owner is named too says who somebody is, and does not grow old")
    func sharedClaim() {
        let rules = [
            AccessRule(.groups(["ops"], claim: "teams")), AccessRule(identityClaim: "teams", operations: [.read]),
        ]
        let old = facts(["teams": ["ops"]], seconds: 2 * Self.week)
        #expect(mayReceive(rights(rules), old, topic: "somebody"))
    }

    @Test("the claims to be noted are those of both models and of the fields that a push shows")
    func claims() {
        let byClaim = { (claim: String) in [AccessRule(.groups(["x"], claim: claim))] }
        let messages = ModelType.messages(byClaim("b"), fieldRules: ["title": byClaim("c"), "data": byClaim("d")])
        let rights = PushRights(topics: .topics(byClaim("a")), messages: messages)
        #expect(rights.notedClaims == ["a", "b", "c", rights.claimedGroups.claim])
    }
}
