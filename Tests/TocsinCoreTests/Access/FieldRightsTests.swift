import Testing
import TocsinCore

@Suite("Rules of single fields and relations")
struct FieldRightsTests {
    private static let ann = Identity(userID: UserID("auth0|a"), username: "ann", claims: ["cognito:groups": ["ops"]])
    private static let bob = Identity(userID: UserID("auth0|b"), username: "bob")

    private static let owners = [AccessRule(operations: [.read, .update])]
    private static let operators = [AccessRule(.groups(["ops"], claim: AccessRule.groupClaim), operations: [.read])]
    private static let model = ModelType.sample(
        [.declared("id"), .declared("title"), .declared("salary"), .declared("note"), .generated("owner")],
        rules: [AccessRule(.signedIn)],
        fieldRules: ["salary": owners, "note": operators, "gone": owners]
    )

    private static func position(_ name: String) throws -> Int { try #require(model.position(of: name)) }

    private static func record(owner: String) -> Record {
        Record(model, ["id": .text("1"), "salary": .text("7"), "owner": .text(owner)])
    }

    @Test("a field without rules of its own is decided by the model's alone")
    func none() throws {
        let title = try Self.position("title")
        #expect(AccessPolicy.decision(.get, onField: title, of: Self.model, for: Self.bob) == nil)
        #expect(AccessPolicy.readable([title], of: Self.model, by: Self.bob) == .always)
    }

    @Test("a field's rules stand in place of the model's")
    func inPlace() throws {
        let salary = try Self.position("salary")
        #expect(Self.record(owner: "ann").isReadable(at: salary, by: Self.ann))
        #expect(!Self.record(owner: "ann").isReadable(at: salary, by: Self.bob))
        #expect(AccessPolicy.decision(.get, on: Self.model, for: Self.bob) == .allow(where: .always))
    }

    @Test("who is refused a field is told which")
    func reasons() throws {
        let note = try Self.position("note")
        #expect(
            AccessPolicy.decision(.get, onField: note, of: Self.model, for: Self.bob)
                == .deny(reason: "No rule for Note.note allows this caller to get.")
        )
        #expect(AccessPolicy.decision(.get, onField: note, of: Self.model, for: Self.ann) == .allow(where: .always))
    }

    @Test("several fields are readable in the records in which each of them is")
    func several() throws {
        let positions = [try Self.position("title"), try Self.position("salary"), try Self.position("note")]
        let readable = AccessPolicy.readable(positions, of: Self.model, by: Self.ann)
        #expect(readable.matches(Self.record(owner: "ann")))
        #expect(!readable.matches(Self.record(owner: "bob")))
        // One field that is never readable decides for all.
        #expect(AccessPolicy.readable(positions, of: Self.model, by: Self.bob) == .never)
    }

    @Test(
        "an input is written by who may write each field that it gives",
        arguments: [
            (["title": .text("x")], true, true), (["salary": .text("9")], true, false),
            (["salary": .null], true, false), (["title": .text("x"), "salary": .text("9")], true, false),
            // The rules of this field let nobody update it.
            (["note": .text("x")], false, false), ([:], true, true),
        ] as [(RecordInput, Bool, Bool)]
    )
    func writing(input: RecordInput, byOwner: Bool, byOther: Bool) {
        let record = Self.record(owner: "ann")
        #expect(Self.ann.mayWrite(input, .update, to: record) == byOwner)
        #expect(Self.bob.mayWrite(input, .update, to: record) == byOther)
    }

    @Test("a relation without rules is followed by all who read the record, one with rules by whom they name")
    func relations() {
        let open = ModelRelation(fieldName: "parts", target: "Part", kind: .one(keyFields: ["partId"]))
        var ruled = open
        ruled.rules = Self.operators
        #expect(AccessPolicy.decision(following: open, of: Self.model, for: Self.bob) == nil)
        #expect(AccessPolicy.decision(following: ruled, of: Self.model, for: Self.ann) == .allow(where: .always))
        #expect(
            AccessPolicy.decision(following: ruled, of: Self.model, for: Self.bob)
                == .deny(reason: "No rule for Note.parts allows this caller to get.")
        )
    }

    @Test("the claims of all rules are known to the model: of itself, of its fields and of its relations")
    func claims() {
        let model = ModelType.sample(
            [.declared("id"), .declared("secret"), .generated("owner")],
            rules: [AccessRule(operations: [.read])],
            fieldRules: ["secret": [AccessRule(.groups(["x"], claim: "teams"))]],
            relations: [
                ModelRelation(
                    fieldName: "parts",
                    target: "Part",
                    kind: .one(keyFields: ["partId"]),
                    rules: [AccessRule(.groupsField("g", claim: "roles"))]
                )
            ]
        )
        #expect(model.claims == ["sub", "username", "teams", "roles"])
    }
}
