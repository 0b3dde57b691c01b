import JSON
import Testing
import TocsinAPI
import TocsinCore

@Suite("How far somebody has read")
struct ReadStateTests {
    private static let state = "{ readState { unread topics { topicId number unread } } }"

    private func state(_ api: APIHarness, as name: String = "alice") async throws -> JSONValue? {
        try await api.run(Self.state, as: APIHarness.identity(name))["data"]?["readState"]
    }

    private func mark(_ api: APIHarness, _ topic: String? = nil, _ number: Int64? = nil) async throws -> JSONValue {
        var variables: JSONObject = [:]
        if let topic { variables["t"] = .string(topic) }
        if let number { variables["n"] = .int(number) }
        return try await api.run(
            "mutation($t: ID, $n: Int) { markRead(topicId: $t, number: $n) { unread topics { number unread } } }",
            variables
        )
    }

    @Test("nothing counts before the first mark; then what lies beyond it does")
    func counts() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        for title in ["a", "b", "c"] { try await api.publish(title, to: topic) }
        #expect(try await state(api) == ["unread": 0, "topics": []])
        #expect(try await mark(api, topic, 1)["data"]?["markRead"]?["unread"] == 2)
        try await api.publish("d", to: topic)
        #expect(
            try await state(api) == [
                "unread": 3, "topics": [["topicId": .string(topic), "number": 1, "unread": 3]],
            ]
        )
    }

    @Test("a mark never goes back nor beyond the last message")
    func bounds() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        for title in ["a", "b"] { try await api.publish(title, to: topic) }
        #expect(try await mark(api, topic, 99)["data"]?["markRead"]?["topics"]?[0]?["number"] == 2)
        #expect(try await mark(api, topic, 1)["data"]?["markRead"]?["topics"]?[0]?["number"] == 2)
        try await api.publish("c", to: topic)
        #expect(try await state(api)?["unread"] == 1)
    }

    @Test("all topics are marked at once, and later ones count from their beginning")
    func everything() async throws {
        let api = try await APIHarness()
        let (first, second) = (try await api.makeTopic("first"), try await api.makeTopic("second"))
        for topic in [first, second, second] { try await api.publish("x", to: topic) }
        #expect(try await mark(api)["data"]?["markRead"]?["unread"] == 0)
        let third = try await api.makeTopic("third")
        for topic in [first, third, third] { try await api.publish("y", to: topic) }
        #expect(try await state(api)?["unread"] == 3)
        _ = try await api.run("mutation($t: ID!) { unsubscribeFromTopic(topicId: $t) { push } }", ["t": .string(third)])
        #expect(try await state(api)?["unread"] == 1)
    }

    @Test("somebody else's topic is not there, and neither is a number without a topic")
    func refusals() async throws {
        let api = try await APIHarness()
        let theirs = try await api.makeTopic("theirs", as: APIHarness.identity("bob"))
        #expect(try await mark(api, theirs)["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED")
        #expect(try await mark(api, "nowhere")["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED")
        #expect(try await mark(api, nil, 3)["errors"]?[0]?["extensions"]?["code"] == "BAD_USER_INPUT")
        #expect(try await state(api, as: "bob") == ["unread": 0, "topics": []])
        var reader = APIHarness.identity("alice")
        reader.scope = .readOnly
        let refused = try await api.run("mutation { markRead { unread } }", as: reader)
        #expect(refused["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED")
    }
}
