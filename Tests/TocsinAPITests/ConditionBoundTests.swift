import JSON
import Testing
import TocsinAPI
import TocsinCore

@Suite("Conditions that search long texts", .timeLimit(.minutes(5)))
struct ConditionBoundTests {
    private static let update = """
        mutation($i: UpdateMessageInput!, $c: ModelMessageConditionInput) {
          updateMessage(input: $i, condition: $c) { title _version }
        }
        """
    private static let delete = """
        mutation($i: DeleteMessageInput!, $c: ModelMessageConditionInput) {
          deleteMessage(input: $i, condition: $c) { id }
        }
        """

    /// So many searches of the body, of which the last alone finds something.
    private static func condition(searches: Int) -> JSONValue {
        let parts = (1...searches).map { number -> JSONValue in
            ["body": ["contains": .string(number == searches ? "needle" : "no\(number)")]]
        }
        return ["or": .array(parts)]
    }

    @Test("hold or fail as they are, and are refused with LIMIT where they would search more than is allowed")
    func bound() async throws {
        let api = try await APIHarness(model: FeedScene.openModel)
        let topic = try await api.makeTopic()
        let body = JSONValue.string(String(repeating: "x", count: 262_138) + "needle")
        let message = try await api.publish("a", to: topic, with: ["body": body])
        let id = try #require(message["id"])
        // Eight times the longest body is the bound.
        let within = try await api.run(
            Self.update,
            ["i": ["id": id, "title": "b", "_version": 1], "c": Self.condition(searches: 8)]
        )
        #expect(within["data"]?["updateMessage"]?["title"] == "b", "\(within.serializedString().prefix(400))")
        let failed = try await api.run(
            Self.update,
            ["i": ["id": id, "title": "c", "_version": 2], "c": ["body": ["notContains": "needle"]]]
        )
        #expect(failed["errors"]?[0]?["extensions"]?["code"] == "CONDITION_FAILED")
        let tooMuch = Self.condition(searches: 9)
        let inputs: [(String, JSONValue)] = [
            (Self.update, ["id": id, "title": "d", "_version": 2]), (Self.delete, ["id": id, "_version": 2]),
        ]
        for (document, input) in inputs {
            let refused = try await api.run(document, ["i": input, "c": tooMuch])
            let error = refused["errors"]?[0]
            #expect(error?["extensions"]?["code"] == "LIMIT", "\(refused.serializedString().prefix(400))")
            #expect(error?["message"]?.stringValue?.contains("would search 2359296 bytes") == true)
        }
    }
}
