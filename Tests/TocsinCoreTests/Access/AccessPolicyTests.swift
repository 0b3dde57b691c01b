import Testing
import TocsinCore

@Suite("Access policy")
struct AccessPolicyTests {
    private static let subject = "0190a000-0000-7000-8000-00000000000a"
    private let alice = Identity(userID: UserID(subject), username: "alice")

    private func model(_ name: String, rules: [AccessRule]) -> ModelType {
        let fields = ["id", "topicId", "owner"].map {
            ModelField(name: $0, typeName: "ID", kind: .text, isRequired: false, storage: .column($0))
        }
        return ModelType(
            name: name,
            plural: name + "s",
            table: ModelTable(name: "t"),
            fields: fields,
            indexes: [],
            relations: [],
            rules: rules
        )
    }

    private func record(_ model: ModelType, id: String = "1", topic: String = "t1", owner: String) -> Record {
        Record(model: model, values: [.text(id), .text(topic), .text(owner)])
    }

    private func isAllowed(
        _ operation: AccessRule.Operation,
        _ record: Record,
        for caller: Identity
    ) -> Bool {
        guard case .allow(let predicate) = AccessPolicy.decision(operation, on: record.model, for: caller) else {
            return false
        }
        return predicate.matches(record)
    }

    @Test(
        "an owner is recognised in today's form and in the two older ones",
        arguments: [subject + "::alice", subject, "alice"]
    )
    func ownerForms(owner: String) {
        let topics = model("Topic", rules: [AccessRule(operations: [.read])])
        #expect(isAllowed(.read, record(topics, owner: owner), for: alice))
    }

    @Test(
        "nobody else's row is visible",
        arguments: ["sub-b::bob", "sub-b::alice", subject + "::bob", "alice::" + subject, ""]
    )
    func foreignOwners(owner: String) {
        let topics = model("Topic", rules: [AccessRule(operations: [.read])])
        #expect(!isAllowed(.read, record(topics, owner: owner), for: alice))
    }

    @Test("an operation that no rule names is refused to the owner too")
    func missingOperation() {
        let messages = model("Message", rules: [AccessRule(operations: [.create, .read])])
        let own = record(messages, owner: alice.owner)
        #expect(isAllowed(.create, own, for: alice))
        #expect(!isAllowed(.update, own, for: alice))
        #expect(!isAllowed(.delete, own, for: alice))
    }

    @Test("a read-only token reads and writes nothing")
    func readOnly() {
        var caller = alice
        caller.scope = .readOnly
        let topics = model("Topic", rules: [AccessRule(operations: AccessRule.Operation.all)])
        let own = record(topics, owner: alice.owner)
        #expect(isAllowed(.read, own, for: caller))
        for operation in [AccessRule.Operation.create, .update, .delete] {
            #expect(!isAllowed(operation, own, for: caller))
        }
    }

    @Test("a token without a user name reads what its subject alone owns, and writes nothing")
    func incomplete() {
        let caller = Identity(userID: UserID(Self.subject), username: "")
        let topics = model("Topic", rules: [AccessRule(operations: AccessRule.Operation.all)])
        #expect(isAllowed(.read, record(topics, owner: Self.subject), for: caller))
        #expect(!isAllowed(.read, record(topics, owner: ""), for: caller))
        #expect(!isAllowed(.read, record(topics, owner: Self.subject + "::alice"), for: caller))
        for operation in [AccessRule.Operation.create, .update, .delete] {
            #expect(!isAllowed(operation, record(topics, owner: Self.subject), for: caller))
        }
    }

    @Test(
        "one text as an owner is a subject or a name by its form, so nobody has another's by name or by subject",
        arguments: [
            // The victim's subject is taken as a name; with and without a subject of the same form.
            (subject, Identity(userID: UserID("0190a000-0000-7000-8000-00000000000b"), username: subject)),
            (subject, Identity(userID: UserID("auth0|b"), username: subject)),
            (subject.uppercased(), Identity(userID: UserID("auth0|b"), username: subject.uppercased())),
            // The victim's name is the subject of somebody else; with and without a name.
            ("alice", Identity(userID: UserID("alice"), username: "mallory")),
            ("alice", Identity(userID: UserID("alice"), username: "")),
        ]
    )
    func textsOfOnePart(owner: String, mallory: Identity) {
        var topics = model("Topic", rules: [AccessRule(operations: AccessRule.Operation.all)])
        #expect(!isAllowed(.read, record(topics, owner: owner), for: mallory))
        let turned = AccessRule(identityClaim: "cognito:username::sub", operations: AccessRule.Operation.all)
        topics = model("Topic", rules: [turned])
        #expect(!isAllowed(.read, record(topics, owner: owner), for: mallory))
    }

    @Test("a publish token creates messages in its topic, sees that topic, and nothing else")
    func publishOnly() {
        var caller = alice
        caller.scope = .publish(topic: "t1")
        let rule = AccessRule(operations: AccessRule.Operation.all)
        let topics = model("Topic", rules: [rule])
        let messages = model("Message", rules: [rule])
        #expect(isAllowed(.create, record(messages, topic: "t1", owner: alice.owner), for: caller))
        #expect(!isAllowed(.create, record(messages, topic: "t2", owner: alice.owner), for: caller))
        #expect(!isAllowed(.read, record(messages, topic: "t1", owner: alice.owner), for: caller))
        #expect(isAllowed(.read, record(topics, id: "t1", owner: alice.owner), for: caller))
        #expect(!isAllowed(.read, record(topics, id: "t2", owner: alice.owner), for: caller))
        #expect(!isAllowed(.update, record(topics, id: "t1", owner: alice.owner), for: caller))
        #expect(!AccessPolicy.mayManageOwnThings(caller, writing: false))
    }

    @Test("what was decided for a caller holds for nobody made of it with other rights")
    func decidedAnew() {
        let topics = model("Topic", rules: [AccessRule(operations: AccessRule.Operation.all)])
        let own = record(topics, owner: alice.owner)
        #expect(isAllowed(.update, own, for: alice))
        var caller = alice
        caller.scope = .readOnly
        #expect(!isAllowed(.update, own, for: caller))
        caller.scope = .full
        caller.username = "carol"
        #expect(!isAllowed(.update, own, for: caller))
        #expect(isAllowed(.update, own, for: alice))
    }

    @Test("decisions about more models than are remembered are the same")
    func manyModels() {
        let models = (0..<20).map { number in
            model("Model\(number)", rules: [AccessRule(operations: number.isMultiple(of: 2) ? [.read] : [.create])])
        }
        for _ in 0..<2 {
            for (number, model) in models.enumerated() {
                let own = record(model, owner: alice.owner)
                #expect(isAllowed(.read, own, for: alice) == number.isMultiple(of: 2))
                #expect(isAllowed(.create, own, for: alice) != number.isMultiple(of: 2))
            }
        }
    }
}
