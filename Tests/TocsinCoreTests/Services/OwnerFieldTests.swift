import Testing
import TocsinCore

@Suite("Owners of new records")
struct OwnerFieldTests {
    private static let subject = "0190a000-0000-7000-8000-00000000000a"
    private static let now = Timestamp(milliseconds: 1000)
    private static let ann = Identity(userID: UserID(subject), username: "ann", claims: ["email": ["a@b"]])

    private static func made(_ input: RecordInput, _ fields: [ModelField], _ rules: [AccessRule]) -> Record {
        let model = ModelType.sample([.declared("id")] + fields, rules: rules)
        return RecordFactory(model: model).make(input, id: "n1", caller: ann, at: now)
    }

    @Test("an owner field that the server writes is the caller's, whatever the input says")
    func generated() {
        let record = Self.made(["owner": .text("bob")], [.generated("owner")], [AccessRule(operations: [.create])])
        #expect(record.owner == Self.ann.owner)
    }

    @Test("an owner field that clients write is the caller's where they leave it out, and else what they say")
    func declared() {
        let rules = [AccessRule(ownerField: "author", operations: [.create])]
        let fields: [ModelField] = [.declared("author"), .generated("owner")]
        #expect(Self.made([:], fields, rules)["author"] == .text(Self.ann.owner))
        #expect(Self.made(["author": .text("bob")], fields, rules)["author"] == .text("bob"))
        // To give it to nobody is to say something.
        #expect(Self.made(["author": .null], fields, rules)["author"] == .null)
    }

    @Test("an owner by another claim is stored by that claim's first text")
    func claims() {
        let rules = [AccessRule(identityClaim: "email", operations: [.create])]
        #expect(Self.made([:], [.generated("owner")], rules).owner == "a@b")
        let missing = [AccessRule(identityClaim: "phone", operations: [.create])]
        #expect(Self.made([:], [.generated("owner")], missing).owner == nil)
    }

    @Test("a model without rules for owners has records of nobody")
    func nobody() {
        #expect(Self.made([:], [.generated("owner")], [AccessRule(.signedIn)]).owner == nil)
    }

    @Test("each field that rules name is filled, by its own claim")
    func several() {
        let rules = [
            AccessRule(operations: [.create]),
            AccessRule(ownerField: "contact", identityClaim: "email", operations: [.read]),
        ]
        let record = Self.made([:], [.generated("owner"), .declared("contact")], rules)
        #expect(record.owner == Self.ann.owner)
        #expect(record["contact"] == .text("a@b"))
    }

    @Test(
        "a caller put into a list of owners is found there again, whatever characters their name has",
        arguments: [
            "ann", "a\"b", "a\\b", "a\nb\tc", "a\u{1}b\u{1F}", "é", "e\u{301}", "\u{1F514}", "\u{7F}", "a/b", "[x]",
            ",",
        ]
    )
    func lists(name: String) {
        let caller = Identity(userID: UserID(Self.subject), username: name)
        let rule = AccessRule(ownerField: "editors", operations: [.create, .read])
        let model = ModelType.sample([.declared("id"), .declared("editors", isList: true)], rules: [rule])
        let record = RecordFactory(model: model).make([:], id: "n1", caller: caller, at: Self.now)
        #expect(AccessPolicy.decision(.read, on: model, for: caller).allows(record))
        let other = Identity(userID: UserID("0190a000-0000-7000-8000-00000000000b"), username: "x")
        #expect(!AccessPolicy.decision(.read, on: model, for: other).allows(record))
    }

    @Test("what a new record has where its input says nothing: defaults, also for a required field that is given null")
    func defaults() {
        let fields: [ModelField] = [
            .declared("a", defaultValue: .text("x")), .declared("b", isRequired: true, defaultValue: .text("y")),
            .declared("c"),
        ]
        func values(_ input: RecordInput) -> [FieldValue] {
            let record = Self.made(input, fields, [])
            return ["a", "b", "c"].map { record[$0] }
        }
        #expect(values([:]) == [.text("x"), .text("y"), .null])
        #expect(values(["a": .null, "b": .null]) == [.null, .text("y"), .null])
        #expect(values(["a": .text("1"), "b": .text("2"), "c": .text("3")]) == [.text("1"), .text("2"), .text("3")])
    }

    @Test("a model may name its timestamps otherwise, and lets clients set them")
    func timestamps() {
        let model = ModelType(
            name: "Note",
            plural: "Notes",
            table: ModelTable(name: "records", discriminator: "Note"),
            fields: [.declared("id"), .declared("madeOn"), .generated("changedOn")],
            indexes: [],
            relations: [],
            rules: [],
            timestamps: ModelType.Timestamps(created: "madeOn", updated: "changedOn")
        )
        let factory = RecordFactory(model: model)
        let record = factory.make(
            ["madeOn": .text("then"), "changedOn": .text("then")],
            id: "n1",
            owner: "o",
            at: Self.now
        )
        #expect(record["madeOn"] == .text("then"))
        #expect(record["changedOn"] == .text(Self.now.iso8601))
        let later = factory.changed(record, by: [:], at: Self.now.adding(seconds: 1))
        #expect(later["madeOn"] == .text("then"))
        #expect(later["changedOn"] == .text(Self.now.adding(seconds: 1).iso8601))
    }
}
