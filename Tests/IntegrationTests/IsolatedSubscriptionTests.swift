import JSON
import Testing
import TocsinClient

@Suite("Somebody else's events", .timeLimit(.minutes(5)))
struct IsolatedSubscriptionTests {
    @Test("no subscription shows them, with or without the ids of what is not the caller's")
    func isolation() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.bob)
            let fields = try await subscriptionFields(client)
            #expect(fields.contains("onCreateMessage"))
            let aimed = "onCreateMessage(topicId: \"\(scene.topicID)\")"
            let listeners = (fields + [aimed]).map {
                Listener(client, "subscription { \($0) { id } }", field: Self.name($0))
            }
            for listener in listeners { try await listener.untilSettled() }

            let adasIDs = try await stir(installation, token: scene.ada, topicID: scene.topicID)
            // Bob's own events come after ada's in the server's order: when they
            // are there, hers would be.
            let bobsTopic = try await client.makeTopic(named: "bobs")
            let bobsIDs = try await stir(installation, token: scene.bob, topicID: bobsTopic)
            for field in ["onCreateTopic", "onUpdateTopic", "onDeleteTopic", "onCreateMessage"] {
                let listener = try #require(listeners.first { $0.field == field })
                try await eventually("bob's own event of \(field)") { !listener.ids.isDisjoint(with: bobsIDs) }
            }
            for listener in listeners {
                #expect(listener.ids.isDisjoint(with: adasIDs), "\(listener.field)")
                listener.stop()
            }
        }
    }

    /// The field's name without its arguments.
    private static func name(_ field: String) -> String { String(field.prefix { $0 != "(" }) }

    private func subscriptionFields(_ client: TocsinClient) async throws -> [String] {
        let roots = try await client.query("{ __schema { subscriptionType { fields { name } } } }")
        let fields = roots["__schema"]?["subscriptionType"]?["fields"]?.arrayValue ?? []
        return fields.compactMap { $0["name"]?.stringValue }
    }

    /// Makes an event of every kind; gives the ids in them.
    private func stir(_ installation: Installation, token: String, topicID: String) async throws -> Set<String> {
        let client = try installation.makeClient(token: token)
        let other = try await client.makeTopic(named: "other")
        let message = try await client.publish(topic: .id(topicID), title: "event")
        let rename = "mutation($input: UpdateTopicInput!) { updateTopic(input: $input) { id } }"
        _ = try await client.query(rename, variables: ["input": ["id": .string(other), "name": "new", "_version": 1]])
        let delete = "mutation($input: DeleteTopicInput!) { deleteTopic(input: $input) { id } }"
        _ = try await client.query(delete, variables: ["input": ["id": .string(other), "_version": 2]])
        return [topicID, other, message.id]
    }
}
