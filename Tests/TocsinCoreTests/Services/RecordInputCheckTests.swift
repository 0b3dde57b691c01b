import Testing
import TocsinCore

@Suite("Checks of a record's input")
struct RecordInputCheckTests {
    private static let limits: ServiceLimits = {
        var limits = ServiceLimits()
        limits.topicNameBytes = 3
        limits.titleBytes = 4
        limits.bodyBytes = 5
        limits.keyBytes = 6
        limits.textBytes = 7
        limits.clientIDs = .any
        return limits
    }()
    private static let topics = ModelType.sample(
        [.declared("id"), .declared("name"), .declared("title"), .declared("tags", isList: true)],
        named: "Topic"
    )
    private static let messages = ModelType.sample(
        ["id", "topicId", "title", "body", "key", "category", "url", "name"].map { ModelField.declared($0) }
            + [.declared("data", .json), .declared("priority", .int)],
        named: "Message"
    )

    private static func refusal(_ input: RecordInput, of model: ModelType) -> ServiceError? {
        do throws(ServiceError) {
            try InputChecks(limits: limits).check(input, of: model)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "each field has the limit of its kind, which its text may reach and not pass",
        arguments: [
            (topics, "name", 3), (topics, "title", 7), (topics, "tags", 7), (messages, "title", 4),
            (messages, "body", 5),
            (messages, "key", 6), (messages, "category", 6), (messages, "topicId", 6), (messages, "url", 7),
            (messages, "data", 7), (messages, "name", 7), (messages, "nothing", 7),
        ]
    )
    func limitOfField(model: ModelType, field: String, bytes: Int) {
        for make in [FieldValue.text, FieldValue.json] {
            let (full, more) = (String(repeating: "x", count: bytes), String(repeating: "x", count: bytes + 1))
            #expect(Self.refusal([field: make(full)], of: model) == nil)
            #expect(
                Self.refusal([field: make(more)], of: model)
                    == .badRequest("\(field) has \(bytes + 1) bytes; at most \(bytes) are allowed.")
            )
        }
    }

    @Test("a NUL is refused in every text of every field", arguments: ["topicId", "title", "body", "key", "data"])
    func zeros(field: String) {
        let refusal = Self.refusal([field: .text("a\0")], of: Self.messages)
        #expect(refusal == .badRequest("\(field) contains a NUL character, which is not allowed."))
    }

    @Test("what is no text has no limit", arguments: [.null, .bool(true), .int(.max), .double(1e300)] as [FieldValue])
    func noTexts(value: FieldValue) {
        #expect(Self.refusal(["url": value, "title": value], of: Self.messages) == nil)
    }

    @Test("of several faults the first by the field's name is told, in whatever order the fields came")
    func firstByName() {
        let long = FieldValue.text("far too long")
        for names in [["url", "body", "title"], ["body", "title", "url"], ["title", "url", "body"]] {
            var input = RecordInput()
            for name in names { input[name] = long }
            #expect(
                Self.refusal(input, of: Self.messages) == .badRequest("body has 12 bytes; at most 5 are allowed.")
            )
        }
    }

    @Test("a key of a message is left out or says something; other models may have an empty one")
    func emptyKey() {
        let refusal = Self.refusal(["key": .text("")], of: Self.messages)
        #expect(refusal == .badRequest("key must not be empty; leave it out instead."))
        #expect(Self.refusal(["key": .null], of: Self.messages) == nil)
        #expect(Self.refusal(["key": .text("")], of: Self.topics) == nil)
    }

    @Test(
        "a message's priority is 1 to 5",
        arguments: [(.min, false), (-1, false), (0, false), (1, true), (5, true), (6, false), (.max, false)]
            as [(Int64, Bool)]
    )
    func priorities(priority: Int64, isGood: Bool) {
        let refusal = Self.refusal(["priority": .int(priority)], of: Self.messages)
        #expect(refusal == (isGood ? nil : .badInput("priority must be 1 (min) to 5 (critical); it is \(priority).")))
        #expect(Self.refusal(["priority": .int(priority)], of: Self.topics) == nil)
    }

    @Test("ids of topics and messages are of the chosen kind; other models' are what an id may be")
    func chosenIDs() {
        var limits = Self.limits
        limits.clientIDs = .uuid
        let checks = InputChecks(limits: limits)
        let note = ModelType.sample([.declared("id")])
        for model in [Self.topics, Self.messages] {
            #expect(throws: ServiceError.self) { try checks.check(["id": .text("n-1")], of: model) }
        }
        #expect(throws: Never.self) { try checks.check(["id": .text("n-1")], of: note) }
        #expect(throws: ServiceError.self) { try checks.check(["id": .text("n:1")], of: note) }
    }

    @Test("a page that is too small is told apart from other bad requests, and named")
    func pages() {
        #expect(throws: ServiceError.badRequest("limit must be at least 1; it is -3.", .pageSize)) {
            try InputChecks(limits: Self.limits).pageSize(-3)
        }
    }
}

@Suite("Kinds of ids that clients choose")
struct ClientIDKindTests {
    @Test(
        "a UUID or a ULID is accepted, its letters large or small, and nothing that only looks like one",
        arguments: [
            ("0198b0c2-7f00-7abc-8def-0123456789ab", true), ("0198B0C2-7F00-7ABC-8DEF-0123456789AB", true),
            ("0198b0c2-7f00-7abc-8def-0123456789a", false), ("0198b0c2-7f00-7abc-8def-0123456789abc", false),
            ("0198b0c2-7f00-7abc-8def_0123456789ab", false), ("0198b0c2-7f007-abc-8def-0123456789ab", false),
            ("0198b0c2-7f00-7abc-8def-0123456789ag", false), ("01ARZ3NDEKTSV4RRFFQ69G5FAV", true),
            ("7zzzzzzzzzzzzzzzzzzzzzzzzz", true), ("8ZZZZZZZZZZZZZZZZZZZZZZZZZ", false),
            ("01ARZ3NDEKTSV4RRFFQ69G5FA", false), ("01ARZ3NDEKTSV4RRFFQ69G5FAVV", false), ("", false),
        ]
    )
    func uuids(id: String, isAccepted: Bool) {
        #expect(ClientIDs.uuid.accepts(id) == isAccepted)
        #expect(ClientIDs.any.accepts(id))
    }

    @Test("a ULID has no letter that reads as a digit", arguments: ["i", "l", "o", "u", "I", "L", "O", "U"])
    func letters(letter: String) {
        #expect(!ClientIDs.uuid.accepts("01ARZ3NDEKTSV4RRFFQ69G5FA" + letter))
    }

    @Test("a ULID has no other byte in place of a letter or digit", arguments: UInt8(0)..<128)
    func bytes(byte: UInt8) {
        let allowed = Set("0123456789abcdefghjkmnpqrstvwxyzABCDEFGHJKMNPQRSTVWXYZ".utf8)
        let id = "01ARZ3NDEKTSV4RRFFQ69G5FA" + String(UnicodeScalar(byte))
        #expect(ClientIDs.uuid.accepts(id) == allowed.contains(byte))
    }
}
