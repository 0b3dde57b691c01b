import JSON
import Testing
import TocsinAPI
import TocsinCore

@Suite("Words for types of messages")
struct TypeWordTests {
    private static let create = """
        mutation($i: CreateMessageInput!) { createMessage(input: $i) { type typeName } }
        """

    private static func made(_ api: APIHarness, _ fields: JSONObject) async throws -> JSONValue {
        let topic = try await api.makeTopic()
        var input: JSONObject = ["topicId": .string(topic), "title": "t", "body": ""]
        for field in fields { input[field.key] = field.value }
        let answer = try await api.run(create, ["i": .object(input)])
        return answer["errors"]?[0]?["message"] ?? answer["data"]?["createMessage"] ?? answer
    }

    @Test(
        "a word has its number, an unknown one keeps the number that came with it, and a number has no word",
        arguments: [
            (["type": 0, "typeName": "comment"], ["type": 2, "typeName": "comment"]),
            (["type": 2, "typeName": "Comment"], ["type": 2, "typeName": "Comment"]),
            (["type": 0, "typeName": "sunset"], ["type": 0, "typeName": "sunset"]),
            (["type": 70, "typeName": "sunset"], ["type": 70, "typeName": "sunset"]),
            (["type": 2], ["type": 2, "typeName": nil]),
        ] as [(JSONObject, JSONValue)]
    )
    func shipped(_ given: JSONObject, _ expected: JSONValue) async throws {
        #expect(try await Self.made(try await APIHarness(), given) == expected)
    }

    @Test("a word beside another word's number, and what is no word, are refused")
    func refused() async throws {
        let api = try await APIHarness()
        let other = try await Self.made(api, ["type": 3, "typeName": "comment"])
        #expect(other.stringValue?.contains("typeName says type 2, but type is 3") == true, "\(other)")
        for word in ["", " ", "line\nbreak", "turn\u{202E}ed", "comment ", String(repeating: "w", count: 65)] {
            let answer = try await Self.made(api, ["type": 0, "typeName": .string(word)])
            #expect(answer.stringValue?.contains("typeName must have 1 to 64 characters") == true, "\(answer)")
        }
    }

    @Test("words of the model file take the place of those that ship, and are told of numbers too")
    func declared() async throws {
        let model = SchemaLines.shipped.replacing(
            "type: Int!",
            with: "type: Int! @typeNames(names: [\"info\", \"alarm\"])"
        )
        let api = try await APIHarness(model: model)
        #expect(try await Self.made(api, ["type": 1]) == ["type": 1, "typeName": "alarm"])
        #expect(try await Self.made(api, ["type": 0, "typeName": "alarm"]) == ["type": 1, "typeName": "alarm"])
        #expect(try await Self.made(api, ["type": 9]) == ["type": 9, "typeName": nil])
        #expect(try await Self.made(api, ["type": 0, "typeName": "comment"]) == ["type": 0, "typeName": "comment"])
    }

    @Test(
        "a list of words that cannot be is refused with its line",
        arguments: [
            ("@typeNames(names: [])", "names must be a list of texts"),
            ("@typeNames(names: [\"a\", \"A\"])", "has A twice"), ("@typeNames(names: [\"7\"])", "taken for a number"),
            ("@typeNames", "takes the words for 0, 1, 2"),
        ]
    )
    func mistakes(_ directive: String, _ problem: String) {
        let model = SchemaLines.shipped.replacing("type: Int!", with: "type: Int! " + directive)
        do {
            _ = try APISchema(modelText: model)
            Issue.record("\(directive) was taken")
        } catch {
            #expect("\(error)".contains(problem), "\(error)")
        }
    }
}

/// The model that ships, as a text to change.
private enum SchemaLines {
    static let shipped = EmbeddedSchema.files.first { $0.name == "model.graphql" }?.text ?? ""
}
