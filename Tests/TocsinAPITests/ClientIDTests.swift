import JSON
import Testing
import TocsinCore

@Suite("Ids that clients choose")
struct ClientIDTests {
    private static let documents = [
        "mutation($id: ID) { r: createTopic(input: { id: $id, name: \"a topic\" }) { id } }",
        "mutation($id: ID) { r: createMessage(input: { id: $id, topicId: \"TOPIC\", type: 1, title: \"t\", body: \"b\" }) { id } }",
    ]

    private func create(_ id: String, on api: APIHarness, as caller: Identity) async throws -> [JSONValue] {
        let topic = try await api.makeTopic(as: caller)
        var answers: [JSONValue] = []
        for document in Self.documents {
            let asked = document.replacing("TOPIC", with: topic)
            answers.append(try await api.run(asked, ["id": .string(id)], as: caller))
        }
        return answers
    }

    @Test(
        "a UUID or a ULID, in large or small letters, is taken as it is",
        arguments: [
            "0198b0c2-7f00-7abc-8def-0123456789ab", "5C1E8B52-7D0E-4F3A-9B7C-1D2E3F405162",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV", "01arz3ndektsv4rrffq69g5fav",
        ]
    )
    func taken(id: String) async throws {
        let api = try await APIHarness(clientIDs: .uuid)
        for answer in try await create(id, on: api, as: APIHarness.identity("alice")) {
            #expect(answer["data"]?["r"]?["id"]?.stringValue == id, "\(answer.serializedString())")
        }
    }

    @Test(
        "any other text is refused, and the answer says what makes a repeat safe",
        arguments: [
            "incident-7", "", "a b", "0198b0c2-7f00-7abc-8def-0123456789a", "0198b0c27f007abc8def0123456789ab",
            "0198b0c2-7f00-7abc-8def-0123456789ag", "81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAU",
            "{0198b0c2-7f00-7abc-8def-0123456789ab}", "push:0198b0c2-7f00-7abc-8def-0123456789ab",
        ]
    )
    func refused(id: String) async throws {
        let api = try await APIHarness(clientIDs: .uuid)
        for answer in try await create(id, on: api, as: APIHarness.identity("alice")) {
            let error = answer["errors"]?[0]
            #expect(error?["extensions"]?["code"] == "BAD_USER_INPUT", "\(answer.serializedString())")
            #expect(error?["message"]?.stringValue?.contains("key") == true)
        }
    }

    @Test("an id that another owner has is refused like any other that is taken, and shows nothing of theirs")
    func foreign() async throws {
        let api = try await APIHarness(clientIDs: .uuid)
        let id = "0198b0c2-7f00-7abc-8def-0123456789ab"
        _ = try await create(id, on: api, as: APIHarness.identity("bob"))
        for answer in try await create(id, on: api, as: APIHarness.identity("alice")) {
            let error = answer["errors"]?[0]
            #expect(error?["extensions"]?["code"] == "CONFLICT")
            #expect(error?["extensions"]?["data"] == nil && error?["extensions"]?["errorInfo"] == .null)
        }
    }

    @Test("a server of one team takes any id of the permitted characters")
    func anyID() async throws {
        let api = try await APIHarness(clientIDs: .any)
        for answer in try await create("incident-7", on: api, as: APIHarness.identity("alice")) {
            #expect(answer["data"]?["r"]?["id"] == "incident-7")
        }
        for answer in try await create("a b", on: api, as: APIHarness.identity("alice")) {
            #expect(answer["errors"]?[0]?["extensions"]?["code"] == "BAD_REQUEST")
        }
    }
}
