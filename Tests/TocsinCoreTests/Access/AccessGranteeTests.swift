import Testing
import TocsinCore

@Suite("Whom the rules of a model allow what")
struct AccessGranteeTests {
    private static let subject = "0190a000-0000-7000-8000-00000000000a"
    private static let ann = Identity(
        userID: UserID(subject),
        username: "ann",
        claims: ["email": ["ann@example.com"], "cognito:groups": ["ops", "dev"], "teams": ["blue"]]
    )

    private static func model(_ rules: [AccessRule]) -> ModelType {
        .sample(
            [
                .declared("id"), .declared("team"), .declared("teams", isList: true),
                .declared("editors", isList: true), .declared("email"), .generated("owner"),
            ],
            rules: rules
        )
    }

    private static func decision(
        _ rules: [AccessRule],
        _ operation: AccessRule.Operation = .read,
        for caller: Identity = ann
    ) -> AccessDecision {
        AccessPolicy.decision(operation, on: model(rules), for: caller)
    }

    /// Whether the rules let Ann read a record of these values.
    private static func mayRead(_ rules: [AccessRule], _ values: KeyValuePairs<String, FieldValue>) -> Bool {
        let model = model(rules)
        return AccessPolicy.decision(.read, on: model, for: ann).allows(Record(model, values))
    }

    @Test(
        "a member of one of a rule's groups has all records, and nobody else any",
        arguments: [(["ops"], true), (["x", "dev"], true), (["x"], false), (["OPS"], false), ([], false)]
            as [(Set<String>, Bool)]
    )
    func groups(names: Set<String>, isMember: Bool) {
        let decision = Self.decision([AccessRule(.groups(names, claim: AccessRule.groupClaim))])
        #expect((decision == .allow(where: .always)) == isMember)
        if !isMember { #expect(!decision.allows(Record(Self.model([]), [:]))) }
    }

    @Test("a group whose name is spelt with other bytes is another one, though its letters look alike")
    func spellings() {
        let rules = [AccessRule(.groups(["caf\u{E9}"], claim: AccessRule.groupClaim))]
        func decision(memberOf group: String) -> AccessDecision {
            Self.decision(rules, for: Self.ann.with(groups: [group], isAdmin: false, asOf: nil))
        }
        #expect(decision(memberOf: "caf\u{E9}") == .allow(where: .always))
        #expect(decision(memberOf: "cafe\u{301}") != .allow(where: .always))
    }

    @Test("groups are those of the claim that the rule names")
    func groupClaim() {
        #expect(Self.decision([AccessRule(.groups(["blue"], claim: "teams"))]) == .allow(where: .always))
        #expect(Self.decision([AccessRule(.groups(["ops"], claim: "teams"))]) != .allow(where: .always))
    }

    @Test(
        "a record that names its group is for the members of that group",
        arguments: [
            (.text("ops"), true), (.text("dev"), true), (.text("x"), false), (.text("op"), false), (.null, false),
        ]
            as [(FieldValue, Bool)]
    )
    func groupsField(team: FieldValue, isReadable: Bool) {
        let rules = [AccessRule(.groupsField("team", claim: AccessRule.groupClaim))]
        #expect(Self.mayRead(rules, ["team": team]) == isReadable)
    }

    @Test(
        "a record that lists groups is for the members of each of them",
        arguments: [
            (#"["x","ops"]"#, true), (#"["dev"]"#, true), (#"["x"]"#, false), ("[]", false), (#"["o\u0070s"]"#, true),
            (#"[["ops"]]"#, false),
        ]
    )
    func groupsList(teams: String, isReadable: Bool) {
        let rules = [AccessRule(.groupsField("teams", claim: AccessRule.groupClaim))]
        #expect(Self.mayRead(rules, ["teams": .json(teams)]) == isReadable)
    }

    @Test(
        "a list of owners is for each of them, by any of their owner texts",
        arguments: [
            (#"["\#(subject)::ann"]"#, true), (#"["bob","ann"]"#, true), (#"["\#(subject)"]"#, true),
            (#"["ann::x"]"#, false), ("[]", false),
        ]
    )
    func ownersList(editors: String, isReadable: Bool) {
        let rules = [AccessRule(ownerField: "editors", operations: [.read])]
        #expect(Self.mayRead(rules, ["editors": .json(editors)]) == isReadable)
    }

    @Test("an owner by another claim is whose claim stands in the field, whatever the name")
    func ownerClaim() {
        let rules = [AccessRule(ownerField: "email", identityClaim: "email", operations: [.read])]
        #expect(Self.mayRead(rules, ["email": .text("ann@example.com")]))
        #expect(!Self.mayRead(rules, ["email": .text("ann")]))
        #expect(!Self.mayRead(rules, ["owner": .text(Self.ann.owner)]))
    }

    @Test("of several rules each gives what it gives, and together they take nothing away")
    func several() {
        let rules = [
            AccessRule(operations: [.read]), AccessRule(.groups(["nobody"], claim: AccessRule.groupClaim)),
            AccessRule(.groupsField("team", claim: AccessRule.groupClaim)),
        ]
        #expect(Self.mayRead(rules, ["owner": .text("ann")]))
        #expect(Self.mayRead(rules, ["owner": .text("bob"), "team": .text("ops")]))
        #expect(!Self.mayRead(rules, ["owner": .text("bob"), "team": .text("x")]))
        let all = rules + [AccessRule(.signedIn)]
        #expect(Self.decision(all) == .allow(where: .always))
    }

    @Test("a rule that is about other operations gives nothing to this one")
    func operations() {
        let rules = [AccessRule(operations: [.read]), AccessRule(.signedIn, operations: [.create])]
        #expect(!Self.mayRead(rules, ["owner": .text("bob")]))
        #expect(Self.decision(rules, .create) == .allow(where: .always))
        #expect(Self.decision(rules, .delete) == .deny(reason: "The schema's rules for Note allow nobody to delete."))
    }

    @Test("who is refused is told whether anybody would be allowed")
    func reasons() {
        let rules = [AccessRule(.groups(["x"], claim: AccessRule.groupClaim), operations: [.update])]
        #expect(Self.decision(rules, .update) == .deny(reason: "No rule for Note allows this caller to update."))
        #expect(Self.decision(rules, .list) == .deny(reason: "The schema's rules for Note allow nobody to list."))
        #expect(Self.decision([]) == .deny(reason: "The schema's rules for Note allow nobody to read."))
    }

    @Test("a rule whose field the model lacks gives nothing")
    func missingField() {
        let rules = [
            AccessRule(ownerField: "author", operations: [.read]), AccessRule(.groupsField("g", claim: "teams")),
        ]
        #expect(!Self.mayRead(rules, ["owner": .text("ann"), "team": .text("blue")]))
    }

    @Test(
        "an API key has what rules for keys give, people what rules for people give, and neither the other's",
        arguments: [
            (.userPools, .signedIn, .userPools, true), (.userPools, .keyBearer, .apiKey, false),
            (.apiKey, .keyBearer, .apiKey, true), (.apiKey, .signedIn, .userPools, false),
            (.oidc, .signedIn, .oidc, true), (.oidc, .signedIn, .userPools, false),
            (.userPools, .signedIn, .oidc, true),
        ] as [(Identity.Provider, AccessRule.Grantee, Identity.Provider, Bool)]
    )
    func providers(
        caller: Identity.Provider,
        grantee: AccessRule.Grantee,
        rule: Identity.Provider,
        isAllowed: Bool
    ) {
        var identity = Self.ann
        identity.provider = caller
        let decision = Self.decision([AccessRule(grantee, provider: rule)], for: identity)
        #expect((decision == .allow(where: .always)) == isAllowed)
    }

    @Test("a bearer of an API key owns no record, whatever stands in its owner field")
    func keysOwnNothing() {
        var key = Self.ann
        key.provider = .apiKey
        let rules = [AccessRule(.owner(field: "owner", claim: AccessRule.ownerClaim), provider: .apiKey)]
        let record = Record(Self.model(rules), ["owner": .text(key.owner)])
        #expect(!AccessPolicy.decision(.read, on: record.model, for: key).allows(record))
    }
}
