import Testing
import TocsinCore
import TocsinPush

/// What is known of people who are not here, and how long it counts.
@Suite("Pushes by what is known of people")
struct AccessTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)
    private static let ann = UserID("sub-ann")

    /// Rules on topics, and messages that everybody may read who has signed in.
    private func rights(_ rules: [AccessRule], requiresSignIn: Bool = false) -> PushRights {
        let models = TestModels(rules: ["Topic": rules, "Message": [AccessRule(.signedIn)]])
        return PushRights(topics: models.topic, messages: models.message, requiresSignIn: requiresSignIn)
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

    @Test("claims are kept as they are, whatever texts they have")
    func claimsText() {
        for claims in [
            [:], ["cognito:groups": ["a", "b\tc\n\\d", "", "n\0l"], "email\t": ["\\n"]], ["x": ["é\u{301}🛎"]],
        ] as [[String: [String]]] {
            let facts = UserFacts(
                userID: Self.ann,
                username: "ann",
                provider: .oidc,
                claims: claims,
                seenAt: Self.now
            )
            #expect(UserFacts.claims(of: facts.claimsText) == claims)
        }
    }

    @Test("a fan-out and a retry are judged by what is known when they are sent")
    func judged() async throws {
        let models = TestModels(rules: [
            "Topic": [AccessRule(.groups(["ops"], claim: AccessRule.groupClaim), operations: [.read])],
            "Message": [AccessRule(.signedIn)],
        ])
        try await OutboxHarness.with(models: models) { harness in
            try await harness.add((1...3).map { Device.sample("d\($0)", token: "aa0\($0)", user: "user-\($0)") })
            try await harness.know("user-1", groups: ["ops"])
            try await harness.know("user-2", groups: ["dev"])
            try await harness.running { worker in
                // All but user-2 are sent to: nothing is known of user-3. The provider has no time for them yet.
                harness.transport.answer { _, _ in .apns(503, "ServiceUnavailable") }
                try await harness.publish("m1")
                worker.wake()
                try await harness.deliveries { rows in
                    rows.count == 3 && rows.count { $0.status == .waiting } == 2
                        && rows.contains { $0.status == .ended && $0.reason == "ACCESS_ENDED" }
                }
                try await harness.know("user-1", groups: [])
                harness.transport.answer { _, _ in .ok }
                let rows = try await harness.deliveries { rows in
                    rows.allSatisfy { ![.waiting, .sending].contains($0.status) }
                }
                #expect(rows.map { $0.status } == [.ended, .ended, .accepted])
                #expect(rows.map { $0.reason } == ["ACCESS_ENDED", "ACCESS_ENDED", nil])
            }
        }
    }
}
