import Testing
import TocsinCore

@Suite("What narrower tokens may")
struct TokenRightsTests {
    private static let subject = "0190a000-0000-7000-8000-00000000000a"
    private static let everything = [AccessRule(.signedIn)]
    private static let topics = ModelType.topics(everything)
    private static let messages = ModelType.messages(everything)
    private static let notes = ModelType.sample([.declared("id"), .declared("topicId")], rules: everything)

    private static func caller(_ scope: Identity.Scope) -> Identity {
        Identity(userID: UserID(subject), username: "ann", scope: scope)
    }

    /// The operations that a token is allowed on this record.
    private static func allowed(_ scope: Identity.Scope, _ record: Record) -> Set<AccessRule.Operation> {
        Set(
            AccessRule.Operation.allCases.filter {
                AccessPolicy.decision($0, on: record.model, for: caller(scope)).allows(record)
            }
        )
    }

    private static let reads: Set<AccessRule.Operation> = [.read, .get, .list]

    @Test("a read-only token reads in every way and writes in none")
    func readOnly() {
        for model in [Self.topics, Self.messages, Self.notes] {
            let all = Set(AccessRule.Operation.allCases)
            #expect(Self.allowed(.full, Record(model, [:])) == all)
            #expect(Self.allowed(.readOnly, Record(model, [:])) == all.subtracting([.create, .update, .delete]))
        }
    }

    @Test("a publish token creates messages of its topic and reads the topic, and may nothing with other models")
    func publish() {
        let scope = Identity.Scope.publish(topic: "t1")
        #expect(Self.allowed(scope, Record(Self.topics, ["id": .text("t1")])) == Self.reads)
        #expect(Self.allowed(scope, Record(Self.topics, ["id": .text("t2")])).isEmpty)
        #expect(Self.allowed(scope, Record(Self.messages, ["topicId": .text("t1")])) == [.create])
        #expect(Self.allowed(scope, Record(Self.messages, ["topicId": .text("t2")])).isEmpty)
        #expect(Self.allowed(scope, Record(Self.notes, ["id": .text("t1"), "topicId": .text("t1")])).isEmpty)
    }

    @Test("a push token reads the topic of its own pushes and its messages, and may nothing else")
    func push() {
        let own = FieldValue.text(DirectPushService.topicID(of: Self.caller(.push)).text)
        #expect(Self.allowed(.push, Record(Self.topics, ["id": own])) == Self.reads)
        #expect(Self.allowed(.push, Record(Self.messages, ["topicId": own])) == Self.reads)
        #expect(Self.allowed(.push, Record(Self.topics, ["id": .text("t1")])).isEmpty)
        #expect(Self.allowed(.push, Record(Self.messages, ["topicId": .text("t1")])).isEmpty)
        #expect(Self.allowed(.push, Record(Self.notes, ["topicId": own])).isEmpty)
    }

    @Test(
        "a token never has more than the rules give",
        arguments: [.readOnly, .publish(topic: "t1"), .push] as [Identity.Scope]
    )
    func neverMore(scope: Identity.Scope) {
        let topics = ModelType.topics([AccessRule(operations: [.read])])
        let foreign = Record(topics, ["id": .text("t1"), "owner": .text("bob")])
        #expect(Self.allowed(scope, foreign).isEmpty)
    }

    @Test(
        "devices and memberships are managed by persons with full tokens, and seen with read-only ones",
        arguments: [
            (.full, .userPools, subject, true, true), (.full, .oidc, "auth0|7", true, true),
            (.readOnly, .userPools, subject, true, false), (.publish(topic: "t"), .userPools, subject, false, false),
            (.push, .userPools, subject, false, false), (.full, .apiKey, subject, false, false),
            (.full, .userPools, "", false, false),
        ] as [(Identity.Scope, Identity.Provider, String, Bool, Bool)]
    )
    func ownThings(scope: Identity.Scope, provider: Identity.Provider, subject: String, sees: Bool, manages: Bool) {
        let caller = Identity(userID: UserID(subject), username: "ann", scope: scope, provider: provider)
        #expect(AccessPolicy.mayManageOwnThings(caller, writing: false) == sees)
        #expect(AccessPolicy.mayManageOwnThings(caller, writing: true) == manages)
    }

    @Test(
        "push tokens reach everybody, people themselves, and all others nobody",
        arguments: [
            (.push, .userPools, "ann", .everybody), (.full, .userPools, "ann", .only(UserID(subject))),
            (.full, .oidc, "ann", .only(UserID(subject))), (.readOnly, .userPools, "ann", .nobody),
            (.publish(topic: "t"), .userPools, "ann", .nobody), (.push, .apiKey, "ann", .nobody),
            (.full, .apiKey, "ann", .nobody),
            // Half a caller owns nothing, so no push of theirs could be kept.
            (.full, .userPools, "", .nobody), (.push, .userPools, "", .nobody),
        ] as [(Identity.Scope, Identity.Provider, String, AccessPolicy.PushReach)]
    )
    func reach(scope: Identity.Scope, provider: Identity.Provider, name: String, reach: AccessPolicy.PushReach) {
        let caller = Identity(userID: UserID(Self.subject), username: name, scope: scope, provider: provider)
        #expect(AccessPolicy.pushReach(of: caller) == reach)
    }

    @Test("all tokens of a user push into one topic, whose id no client can choose; users share none")
    func pushTopics() throws {
        let own = DirectPushService.topicID(of: Self.caller(.push))
        #expect(own == DirectPushService.topicID(of: Self.caller(.full)))
        #expect(own != DirectPushService.topicID(of: Identity(userID: UserID(Self.subject), username: "bob")))
        #expect(DirectPushService.isTopic(own.text))
        #expect(!DirectPushService.isTopic("t1"))
        for kind in ClientIDs.allCases {
            var limits = ServiceLimits()
            limits.clientIDs = kind
            let checks = InputChecks(limits: limits)
            #expect(throws: ServiceError.self) { try checks.check(["id": .text(own.text)], of: Self.topics) }
        }
    }

    @Test(
        "a caller without a name, or without a subject, writes nothing as an owner and hears of nothing",
        arguments: [(subject, ""), ("", "ann")]
    )
    func halves(subject: String, name: String) {
        let model = ModelType.topics([AccessRule()])
        let caller = Identity(userID: UserID(subject), username: name)
        let own = Record(model, ["owner": .text(subject + name)])
        let allowed = AccessRule.Operation.allCases.filter {
            AccessPolicy.decision($0, on: model, for: caller).allows(own)
        }
        #expect(Set(allowed) == [.read, .get, .list, .sync])
    }

    @Test("a caller without a name owns by a claim of its own all the same")
    func halfWithClaim() {
        let model = ModelType.topics([AccessRule(identityClaim: "email", operations: [.create, .listen])])
        let caller = Identity(userID: UserID(Self.subject), username: "", claims: ["email": ["a@b"]])
        let own = Record(model, ["owner": .text("a@b")])
        for operation in [AccessRule.Operation.create, .listen] {
            #expect(AccessPolicy.decision(operation, on: model, for: caller).allows(own))
        }
    }
}

extension AccessRule {
    /// A rule for owners who may do everything.
    fileprivate init() { self.init(operations: Operation.all) }
}
