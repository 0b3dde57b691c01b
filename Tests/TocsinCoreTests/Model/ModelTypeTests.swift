import Testing
import TocsinCore

@Suite("Models")
struct ModelTypeTests {
    private static func key(_ fields: [String], _ values: [String: FieldValue]) -> String? {
        ModelType.sample(fields.map { ModelField.declared($0) }, keyFields: fields).key { values[$0] ?? .null }
    }

    @Test("the key of a model keyed by its id is the id")
    func plainKey() {
        #expect(Self.key(["id"], ["id": .text("n1")]) == "n1")
        #expect(Self.key(["id"], ["id": .int(1)]) == nil)
        #expect(Self.key(["id"], [:]) == nil)
    }

    @Test("a joined key has the length of each value before it, so that no two lists of values have one key")
    func joinedKeys() {
        let fields = ["a", "b"]
        #expect(Self.key(fields, ["a": .text("x"), "b": .int(-7)]) == "1:x2:-7")
        #expect(Self.key(fields, ["a": .text("é"), "b": .bool(true)]) == "2:é4:true")
        #expect(Self.key(["a"], ["a": .double(1.5)]) == "3:1.5")
        let texts = ["", "1", ":", "1:", "x", "1:x", "x1:x", "11:x"]
        var keys: Set<String> = []
        for first in texts {
            for second in texts {
                guard let key = Self.key(fields, ["a": .text(first), "b": .text(second)]) else {
                    Issue.record("There is no key of \(first) and \(second).")
                    continue
                }
                keys.insert(key)
            }
        }
        #expect(keys.count == texts.count * texts.count)
    }

    @Test("a key with a value that is missing or no scalar is no key", arguments: [.null, .json("[]")] as [FieldValue])
    func noKey(value: FieldValue) {
        #expect(Self.key(["a", "b"], ["a": .text("x"), "b": value]) == nil)
    }

    @Test("records are found by their id, or where the key has several fields by what joins them")
    func keyPosition() {
        let joined: [ModelField] = [.declared("a"), .declared("b"), .generated(ModelType.joinedKey)]
        #expect(ModelType.sample([.declared("x"), .declared("id")]).keyPosition == 1)
        #expect(ModelType.sample(joined, keyFields: ["a", "b"]).keyPosition == 2)
        #expect(Record(.sample(joined, keyFields: ["a", "b"]), [ModelType.joinedKey: .text("1:x1:y")]).id == "1:x1:y")
    }

    @Test("only a number that the server gives is a message's number")
    func number() {
        #expect(ModelType.sample([.declared("number", .int)]).numberPosition == nil)
        #expect(ModelType.sample([.generated("number", .int)]).numberPosition == 0)
        #expect(ModelType.sample([.declared("id")]).numberPosition == nil)
    }

    @Test("inputs give what clients declare, by its kind, and nothing that the server makes")
    func inputKinds() {
        let model = ModelType.sample([.declared("n", .int), .generated("owner"), .declared("tags", isList: true)])
        #expect(model.inputKinds == [.int, nil, .json])
    }

    private static let ann = Identity(userID: UserID("s"), username: "ann", claims: ["email": ["a@b", "c@d"]])

    @Test(
        "a feed of one's own is by the one claim that owners have, in a field that the server writes",
        arguments: [
            ([AccessRule(operations: [.read])], "s::ann"),
            ([AccessRule(identityClaim: "email", operations: [.read])], "a@b"),
            ([AccessRule(identityClaim: "missing", operations: [.read])], nil),
            // Two claims would be two feeds.
            ([AccessRule(operations: [.read]), AccessRule(identityClaim: "email", operations: [.read])], nil),
            // Other rules take no feed away.
            ([AccessRule(operations: [.read]), AccessRule(.signedIn)], "s::ann"),
            ([AccessRule(ownerField: "editor", operations: [.read])], nil), ([AccessRule(.signedIn)], nil), ([], nil),
        ] as [([AccessRule], String?)]
    )
    func feedOwner(rules: [AccessRule], owner: String?) {
        let model = ModelType.sample([.declared("id"), .declared("editor"), .generated("owner")], rules: rules)
        #expect(model.feedOwner(of: Self.ann) == owner)
    }

    @Test("an owner whom clients write has no feed")
    func writtenOwner() {
        let model = ModelType.sample([.declared("owner")], rules: [AccessRule(operations: [.read])])
        #expect(model.feedOwner(of: Self.ann) == nil)
    }

    @Test("the rules that name owners are listed in their order, with field and claim")
    func ownerRules() {
        let rules = [
            AccessRule(.signedIn), AccessRule(ownerField: "editor", operations: [.read]),
            AccessRule(identityClaim: "email", operations: [.read]),
        ]
        let found = ModelType.sample([.declared("id")], rules: rules).ownerRules
        #expect(found.map { $0.field } == ["editor", "owner"])
        #expect(found.map { $0.claim } == [AccessRule.ownerClaim, "email"])
    }

    @Test("topics and messages have tables of their own, and all other models share one")
    func tables() {
        #expect(ShippedTables.layout(of: "Topic").table == ModelTable(name: "topics"))
        #expect(ShippedTables.layout(of: "Message").table == ModelTable(name: "messages"))
        #expect(ShippedTables.layout(of: "Note").table == ModelTable(name: "records", discriminator: "Note"))
        #expect(ShippedTables.layout(of: "message").table.discriminator == "message")
    }

    @Test("no two fields of a table have one column", arguments: ["Topic", "Message", "Note"])
    func columns(model: String) {
        let columns = ShippedTables.layout(of: model).columns
        #expect(Set(columns.values).count == columns.count)
        #expect(columns["_lastChangedAt"] == "last_changed_at")
    }
}

@Suite("Records")
struct RecordTests {
    private static let model = ModelType.messages([])

    @Test("a new record has no values, and what is asked of it says so")
    func empty() {
        let record = Record(model: Self.model)
        #expect(record.values.allSatisfy { $0.isNull })
        #expect(record.id.isEmpty && record.owner == nil && record.version == 0 && record.lastChangedAt == 0)
        #expect(!record.isDeleted && record.number == nil && record.making == nil && record.feedPosition == nil)
    }

    @Test("a field that the model lacks is null, and cannot be set")
    func unknownFields() {
        var record = Record(Self.model, ["id": .text("m1")])
        let before = record
        record["nothing"] = .text("x")
        #expect(record["nothing"] == .null)
        #expect(record == before)
    }

    @Test(
        "only a mark that is true deletes",
        arguments: [(.bool(true), true), (.bool(false), false), (.null, false), (.int(1), false)]
            as [(FieldValue, Bool)]
    )
    func deleted(mark: FieldValue, isDeleted: Bool) {
        #expect(Record(Self.model, ["_deleted": mark]).isDeleted == isDeleted)
    }

    @Test("when a message was made is told with its topic")
    func making() throws {
        let making = try #require(Record(Self.model, ["topicId": .text("t"), ModelType.makingTime: .int(7)]).making)
        #expect(making.topic == "t" && making.at == Timestamp(milliseconds: 7))
        #expect(Record(Self.model, [ModelType.makingTime: .int(7)]).making == nil)
    }

    @Test("the texts of a record are counted in bytes of UTF-8, JSON included, and numbers are not")
    func bytes() throws {
        let record = Record(Self.model, ["title": .text("é"), "data": .json("[1]"), "priority": .int(1_000_000)])
        #expect(record.textBytes == 5)
        let (title, data) = (
            try #require(Self.model.position(of: "title")), try #require(Self.model.position(of: "data"))
        )
        #expect(record.searchedBytes(of: [title, title, data]) == 7)
        #expect(record.approximateBytes > record.textBytes + Self.model.fields.count)
    }

    @Test("records of two models are never equal, whatever their values")
    func equality() {
        let values: KeyValuePairs<String, FieldValue> = ["id": .text("m1")]
        #expect(Record(Self.model, values) == Record(Self.model, values))
        #expect(Record(Self.model, values) != Record(.messages([]), values))
        #expect(Set([Record(Self.model, values), Record(Self.model, values)]).count == 1)
    }

    @Test(
        "a value is read as what it is, and as nothing else",
        arguments: [
            (.text("a"), "a", nil), (.json("a"), nil, nil), (.int(1), nil, 1), (.double(1), nil, nil),
            (.bool(true), nil, nil), (.null, nil, nil),
        ] as [(FieldValue, String?, Int64?)]
    )
    func values(value: FieldValue, text: String?, int: Int64?) {
        #expect(value.text == text)
        #expect(value.int == int)
        #expect(value.isNull == (value == .null))
    }
}

@Suite("Input of records")
struct RecordInputTests {
    private static let model = ModelType.sample([.declared("a"), .declared("b"), .declared("c")])

    @Test("a name has one value, the last one given, where it stood first")
    func setting() {
        var input: RecordInput = ["b": .int(1), "a": .int(2)]
        input["b"] = .int(3)
        #expect(input.map { $0.key } == ["b", "a"])
        #expect(input["b"] == .int(3))
        #expect(input.count == 2)
    }

    @Test("null is a value, and nil takes the name out")
    func removing() {
        var input: RecordInput = ["a": .null, "b": .int(1)]
        #expect(input["a"] == .some(.null))
        #expect(input["c"] == nil)
        (input["a"], input["c"]) = (nil, nil)
        #expect(input["a"] == nil)
        #expect(input.map { $0.key } == ["b"])
    }

    @Test("values are found by position in the model they were read for, and in any other by name")
    func positions() {
        var input = RecordInput(of: Self.model, capacity: 2)
        input.append(.int(1), at: 2)
        input["a"] = .int(2)
        input["x"] = .int(3)
        let other = ModelType.sample([.declared("x"), .declared("c")])
        #expect((0..<input.count).map { input.position(at: $0, in: Self.model) } == [2, 0, nil])
        #expect((0..<input.count).map { input.position(at: $0, in: other) } == [1, nil, 0])
        #expect((0..<input.count).map(input.name) == ["c", "a", "x"])
        #expect(input.value(ofFieldAt: 2, in: Self.model) == .int(1))
        #expect(input.value(ofFieldAt: 1, in: Self.model) == nil)
        #expect(input.value(ofFieldAt: 1, in: other) == .int(1))
        #expect(input.value(ofFieldAt: nil, in: Self.model) == nil)
    }
}
