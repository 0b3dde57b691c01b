import Testing
import TocsinCore

@Suite("Records as they are made and changed")
struct RecordFactoryTests {
    private static func field(_ name: String, _ role: ModelField.Role = .declared) -> ModelField {
        let kind: ModelField.Kind =
            switch name {
            case "_version", "_lastChangedAt": .int
            case "_deleted": .bool
            default: .text
            }
        return ModelField(
            name: name,
            typeName: "String",
            kind: kind,
            isRequired: false,
            storage: .column(name),
            role: role
        )
    }

    private let factory = RecordFactory(
        model: ModelType(
            name: "Note",
            plural: "Notes",
            table: ModelTable(name: "records", discriminator: "Note"),
            fields: ["id", "title", "body"].map { Self.field($0) }
                + ["createdAt", "updatedAt", "_version", "_deleted", "_lastChangedAt", "owner"].map {
                    Self.field($0, .generated)
                },
            indexes: [],
            relations: [],
            rules: []
        )
    )
    private let start = Timestamp(milliseconds: 1_000_000)

    @Test("a new record has version 1, its owner and one and the same timestamp twice")
    func makes() {
        let record = factory.make(["title": .text("a")], id: "n1", owner: "s::u", at: start)
        #expect(record.id == "n1")
        #expect(record.owner == "s::u")
        #expect(record.version == 1)
        #expect(record["createdAt"] == record["updatedAt"])
        #expect(record["_deleted"] == .null)
        #expect(record["_lastChangedAt"] == .int(1_000_000))
    }

    @Test("input cannot write what the server writes")
    func ignoresGenerated() {
        let input: RecordInput = ["owner": .text("x::y"), "_version": .int(9), "createdAt": .text("never")]
        let record = factory.make(input, id: "n1", owner: "s::u", at: start)
        #expect(record.owner == "s::u")
        #expect(record.version == 1)
        #expect(record["createdAt"] == .text(start.iso8601))
    }

    @Test("a change sets what is given, removes what is null, keeps the rest and steps the version")
    func changes() {
        let old = factory.make(["title": .text("a"), "body": .text("b")], id: "n1", owner: "s::u", at: start)
        let new = factory.changed(old, by: ["title": .null, "id": .text("other")], at: start.adding(seconds: 1))
        #expect(new["title"] == .null)
        #expect(new["body"] == .text("b"))
        #expect(new.id == "n1")
        #expect(new.version == 2)
        #expect(new["_lastChangedAt"] == .int(1_001_000))
    }

    @Test("the time of change never goes back, even if the clock does")
    func neverBack() {
        let old = factory.make([:], id: "n1", owner: "s::u", at: start)
        let new = factory.tombstone(of: old, at: start.adding(seconds: -60))
        #expect(new["_lastChangedAt"] == .int(1_000_000))
        #expect(new.isDeleted)
        #expect(new.version == 2)
    }

    @Test(
        "a repeated create is one with the same content",
        arguments: [
            (["title": .text("a")], true), (["title": .text("b")], false),
            (["title": .text("a"), "body": .null], true), (["title": .text("a"), "body": .text("x")], false),
            ([:], false),
        ] as [(RecordInput, Bool)]
    )
    func repeats(input: RecordInput, isRepeat: Bool) {
        let stored = factory.make(["title": .text("a")], id: "n1", owner: "s::u", at: start)
        #expect(factory.isRepeat(input, of: stored) == isRepeat)
    }

    @Test(
        "a merge goes into objects: stored values stay, missing ones are taken, lists are joined",
        arguments: [
            (#"{"a":1}"#, #"{"a":2,"b":3}"#, #"{"a":1,"b":3}"#),
            (#"{"a":null,"b":1}"#, #"{"a":2}"#, #"{"a":2,"b":1}"#),
            (#"{"a":{"b":1,"c":null}}"#, #"{"a":{"b":2,"c":3,"d":4}}"#, #"{"a":{"b":1,"c":3,"d":4}}"#),
            (#"{"a":[1,{"x":1}]}"#, #"{"a":[2]}"#, #"{"a":[1,{"x":1},2]}"#),
            (#"{"a":[]}"#, #"{"a":{"b":1}}"#, #"{"a":[]}"#), ("{}", #"{"a":1}"#, #"{"a":1}"#), ("{}", "{}", "{}"),
            (
                #"{"a,b":"},\"{","c":"x:y"}"#, #"{"a,b":"z","d\"":":,"}"#,
                #"{"a,b":"},\"{","c":"x:y","d\"":":,"}"#
            ),
            (#"{"a":"\\","b":1}"#, #"{"c":"é"}"#, #"{"a":"\\","b":1,"c":"é"}"#),
        ]
    )
    func merges(stored: String, given: String, merged: String) {
        var field = Self.field("box")
        field.kind = .json
        let model = ModelType(
            name: "Box",
            plural: "Boxes",
            table: ModelTable(name: "records", discriminator: "Box"),
            fields: [field],
            indexes: [],
            relations: [],
            rules: []
        )
        let record = Record(model: model, values: [.json(stored)])
        let result = RecordFactory(model: model).merged(record, with: ["box": .json(given)], at: start)
        #expect(result["box"] == .json(merged))
    }
}
