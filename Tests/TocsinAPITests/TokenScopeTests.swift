import GraphQLTransport
import JSON
import Testing
import TocsinAPI
import TocsinCore

@Suite("What a refusal shows")
struct TokenScopeTests {
    private static let ids = ["6b1f0f0e-4d62-7a3c-9d43-0b5f3a5c1d01", "6b1f0f0e-4d62-7a3c-9d43-0b5f3a5c1d02"]

    /// A token of Alice's that may only publish to this topic.
    private func publisher(to topic: String) -> Identity {
        var token = APIHarness.identity("alice")
        token.scope = .publish(topic: topic)
        return token
    }

    private func create(
        _ title: String,
        in topic: String,
        as caller: Identity,
        with extra: JSONObject,
        on api: APIHarness
    ) async throws -> JSONValue {
        var input: JSONObject = ["type": 1, "title": .string(title), "body": "b", "topicId": .string(topic)]
        for member in extra { input[member.key] = member.value }
        return try await api.run(
            "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id title number } }",
            ["i": .object(input)],
            as: caller,
            style: .appSync
        )
    }

    private func error(_ response: JSONValue) -> JSONValue? { response["errors"]?[0] }

    @Test("a token that only publishes is not shown what has its id in another topic, or its key in its own")
    func publishOnly() async throws {
        let api = try await APIHarness(clientIDs: .uuid)
        let (own, other) = (try await api.makeTopic("own"), try await api.makeTopic("other"))
        let id: JSONObject = ["id": .string(Self.ids[0])]
        try await api.publish("secret", to: other, with: id)
        try await api.publish("secret", to: own, with: ["key": "k"])
        for extra in [id, ["key": "k"]] {
            let refused = try await create("guess", in: own, as: publisher(to: own), with: extra, on: api)
            #expect(error(refused)?["extensions"]?["code"] == "CONFLICT")
            #expect(error(refused)?["data"] == .null && error(refused)?["errorInfo"] == .null)
            #expect(!refused.serializedString().contains("secret"))
            let shown = try await create("guess", in: own, as: APIHarness.identity("alice"), with: extra, on: api)
            #expect(error(shown)?["data"]?["title"] == "secret", "who may read it is shown it")
        }
        // The same content, but in another topic, is no repeat of what this token may create.
        let same = try await create("secret", in: other, as: publisher(to: own), with: id, on: api)
        #expect(error(same)?["extensions"]?["code"] == "UNAUTHORIZED")
    }

    @Test("a token that only publishes is answered its own message when it repeats it", arguments: ["id", "key"])
    func publishAgain(name: String) async throws {
        let api = try await APIHarness(clientIDs: .uuid)
        let topic = try await api.makeTopic()
        let given: JSONObject = [name: .string(Self.ids[1])]
        let first = try await create("once", in: topic, as: publisher(to: topic), with: given, on: api)
        #expect(first["data"]?["createMessage"]?["number"] == 1)
        let again = try await create("once", in: topic, as: publisher(to: topic), with: given, on: api)
        #expect(again == first)
        let count = try await api.run("{ listMessages { items { id } } }")
        #expect(count["data"]?["listMessages"]?["items"]?.arrayValue?.count == 1)
    }

    private static let writers =
        FieldRuleTests.shipped + """
            type Inbox @model @auth(rules: [{ allow: owner }, { allow: private, operations: [update, delete] }]) {
              id: ID!
              text: String
            }
            type Report @model @auth(rules: [{ allow: owner }]) {
              id: ID!
              text: String
              grade: Int @auth(rules: [{ allow: private, operations: [create] }])
            }
            """

    @Test("who may change a record and not read it is shown nothing of it, and asked no question about it")
    func blindWriters() async throws {
        let api = try await APIHarness(model: Self.writers)
        let bob = APIHarness.identity("bob")
        _ = try await api.run("mutation { createInbox(input: { id: \"i\", text: \"secret\" }) { id } }")
        for field in [
            "updateInbox(input: { id: \"i\", text: \"x\", _version: 9 })", "deleteInbox(input: { id: \"i\" })",
        ] {
            let own = try await api.run("mutation { \(field) { id text } }", style: .appSync)
            let blind = try await api.run("mutation { \(field) { id text } }", as: bob, style: .appSync)
            guard let code = error(own)?["extensions"]?["code"] else { continue }
            #expect(code == "VERSION_CONFLICT" && error(own)?["data"]?["text"] == "secret")
            #expect(error(blind)?["extensions"]?["code"] == "VERSION_CONFLICT" && error(blind)?["data"] == .null)
        }
        let question = "updateInbox(input: { id: \"i\", _version: 1 }, condition: { text: { beginsWith: \"s\" } })"
        let asked = try await api.run("mutation { \(question) { id } }", as: bob)
        #expect(error(asked)?["extensions"]?["code"] == "UNAUTHORIZED")
    }

    @Test("a repeat never tells what is in a field that the caller may not read")
    func hiddenFields() async throws {
        let api = try await APIHarness(model: Self.writers)
        func create(_ grade: String) async throws -> JSONValue {
            try await api.run("mutation { createReport(input: { id: \"r\", text: \"t\"\(grade) }) { id } }")
        }
        let first = try await create(", grade: 3")
        #expect(first["errors"] == nil)
        let (right, wrong) = (try await create(", grade: 3"), try await create(", grade: 4"))
        #expect(error(right)?["extensions"]?["code"] == "CONFLICT")
        #expect(right == wrong)
    }
}
