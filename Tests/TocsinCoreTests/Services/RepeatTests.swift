import Testing
import TocsinCore

@Suite("Creates of an id or key that is taken")
struct RepeatTests {
    private static let ann = Identity(userID: UserID("auth0|a"), username: "ann")
    private static let bob = Identity(userID: UserID("auth0|b"), username: "bob")
    private static let now = Timestamp(milliseconds: 1000)
    private static let input: RecordInput = ["topicId": .text("t1"), "title": .text("a")]

    private static func stored(_ model: ModelType, by caller: Identity = ann) -> Record {
        RecordFactory(model: model).make(input, id: "m1", caller: caller, at: now)
    }

    private static func outcome(
        _ input: RecordInput = input,
        of stored: Record,
        by caller: Identity,
        defaults: RecordInput = [:]
    ) -> Result<Record, ServiceError> {
        RecordFactory(model: stored.model).outcome(
            ofRepeating: input,
            stored: stored,
            caller: caller,
            defaults: defaults
        )
    }

    private static let owned = ModelType.messages([AccessRule(operations: AccessRule.Operation.all)])

    @Test("the owner who repeats a create is answered what is stored")
    func repeated() {
        let stored = Self.stored(Self.owned)
        #expect(Self.outcome(of: stored, by: Self.ann) == .success(stored))
        var changed = Self.input
        changed["title"] = .text("b")
        #expect(Self.outcome(changed, of: stored, by: Self.ann) == .failure(.conflict(stored)))
    }

    @Test("what the server adds where a create says nothing counts as said")
    func defaults() {
        var stored = Self.stored(Self.owned)
        stored["priority"] = .int(3)
        #expect(Self.outcome(of: stored, by: Self.ann) == .failure(.conflict(stored)))
        #expect(Self.outcome(of: stored, by: Self.ann, defaults: ["priority": .int(3)]) == .success(stored))
    }

    @Test("another spelling of the same letters is other content")
    func spellings() {
        var input = Self.input
        input["title"] = .text("caf\u{E9}")
        let stored = RecordFactory(model: Self.owned).make(input, id: "m1", caller: Self.ann, at: Self.now)
        #expect(Self.outcome(input, of: stored, by: Self.ann) == .success(stored))
        input["title"] = .text("cafe\u{301}")
        #expect(Self.outcome(input, of: stored, by: Self.ann) == .failure(.conflict(stored)))
    }

    @Test("who may not read what has the id is told that it is taken, and nothing else")
    func foreign() {
        #expect(Self.outcome(of: Self.stored(Self.owned), by: Self.bob) == .failure(.conflict(nil)))
    }

    @Test("who may read a record of somebody else's repeats nothing, and is shown what is stored")
    func readers() {
        let model = ModelType.messages([
            AccessRule(operations: AccessRule.Operation.all), AccessRule(.signedIn, operations: [.create, .read]),
        ])
        let stored = Self.stored(model)
        #expect(Self.outcome(of: stored, by: Self.bob) == .failure(.conflict(stored)))
        #expect(Self.outcome(of: stored, by: Self.ann) == .success(stored))
    }

    @Test("where records belong to nobody, whoever may read one repeats it")
    func ownerless() {
        let model = ModelType.messages([AccessRule(.signedIn)])
        let stored = Self.stored(model)
        #expect(Self.outcome(of: stored, by: Self.bob) == .success(stored))
        let unread = ModelType.messages([AccessRule(.signedIn, operations: [.create])])
        #expect(Self.outcome(of: Self.stored(unread), by: Self.ann) == .failure(.conflict(nil)))
    }

    @Test("what was deleted is repeated by nobody")
    func deleted() {
        let factory = RecordFactory(model: Self.owned)
        let stored = factory.tombstone(of: Self.stored(Self.owned), at: Self.now)
        #expect(Self.outcome(of: stored, by: Self.ann) == .failure(.conflict(stored)))
    }

    @Test("a token that may not create repeats nothing, and is shown only what it may read")
    func scopes() {
        let stored = Self.stored(Self.owned)
        for (scope, outcome) in [
            (.readOnly, .failure(.conflict(stored))), (.publish(topic: "t1"), .success(stored)),
            (.publish(topic: "t2"), .failure(.conflict(nil))), (.push, .failure(.conflict(nil))),
        ] as [(Identity.Scope, Result<Record, ServiceError>)] {
            var caller = Self.ann
            caller.scope = scope
            #expect(Self.outcome(of: stored, by: caller) == outcome, "\(scope)")
        }
    }

    @Test("each of several owners repeats a create, others who may only read do not")
    func lists() {
        let rules = [
            AccessRule(ownerField: "editors", operations: AccessRule.Operation.all),
            AccessRule(.signedIn, operations: [.create, .read]),
        ]
        let model = ModelType.sample([.declared("id"), .declared("editors", isList: true)], rules: rules)
        let input: RecordInput = ["editors": .json(#"["ann","bob"]"#)]
        let stored = RecordFactory(model: model).make(input, id: "n1", caller: Self.ann, at: Self.now)
        for caller in [Self.ann, Self.bob] { #expect(Self.outcome(input, of: stored, by: caller) == .success(stored)) }
        let eve = Identity(userID: UserID("auth0|e"), username: "eve")
        #expect(Self.outcome(input, of: stored, by: eve) == .failure(.conflict(stored)))
    }

    @Test("nobody learns by repeating what is in a field that they may not read")
    func hiddenFields() {
        let writers = [AccessRule(operations: [.create])]
        let model = ModelType.messages(
            [AccessRule(operations: AccessRule.Operation.all)],
            fieldRules: ["body": writers]
        )
        var stored = Self.stored(model)
        stored["body"] = .text("secret")
        var guess = Self.input
        for text in ["secret", "other"] {
            guess["body"] = .text(text)
            #expect(Self.outcome(guess, of: stored, by: Self.ann) == .failure(.conflict(stored)))
        }
        #expect(Self.outcome(of: stored, by: Self.ann) == .success(stored))
    }

    @Test(
        "a repeat says of each declared field what is stored",
        arguments: [
            (["title": .text("a"), "data": .json("{}")], true), (["title": .text("a"), "data": .json("{ }")], false),
            (["title": .text("a")], false), (["data": .json("{}")], false),
            // Its time of making is the server's, and not content.
            (["title": .text("a"), "data": .json("{}"), "createdAt": .text("x")], true),
            (["id": .text("other"), "title": .text("a"), "data": .json("{}")], true),
        ] as [(RecordInput, Bool)]
    )
    func content(input: RecordInput, isRepeat: Bool) {
        let stored = Record(Self.owned, ["id": .text("m1"), "title": .text("a"), "data": .json("{}")])
        #expect(RecordFactory(model: Self.owned).isRepeat(input, of: stored) == isRepeat)
    }

    @Test("a field's own default counts as said, unless the caller's service has another")
    func fieldDefaults() {
        let model = ModelType.sample([.declared("id"), .declared("a", defaultValue: .text("x"))])
        let factory = RecordFactory(model: model)
        let stored = factory.make([:], id: "n1", owner: "o", at: Self.now)
        #expect(factory.isRepeat([:], of: stored))
        #expect(!factory.isRepeat([:], of: stored, defaults: ["a": .text("y")]))
    }
}
