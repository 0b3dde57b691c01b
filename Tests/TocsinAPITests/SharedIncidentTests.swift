import JSON
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("Live incidents of others")
struct SharedIncidentTests {
    @Test("who may read the topic hears of its incidents, and nobody else")
    func listeners() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let facts = ["bob", "carol"].compactMap {
            UserFacts(of: APIHarness.identity($0), naming: [], at: api.time.now())
        }
        try await api.store.write { writer throws(StoreError) in for facts in facts { try writer.save(facts) } }
        for (user, role) in [("sub-bob", "READER"), ("sub-carol", "PUBLISHER")] {
            let granted = try await api.run(
                "mutation { grantTopic(input: {topicId: \"\(topic)\", user: \"\(user)\", roles: [\(role)]}) { id } }"
            )
            #expect(granted["errors"] == nil, "\(granted)")
        }
        let subscription = "subscription { onCreateIncident { title } }"
        let (reader, _) = await api.subscribe(subscription, as: APIHarness.identity("bob"))
        let others = await [
            api.subscribe(subscription, as: APIHarness.identity("carol")).sink,
            api.subscribe(subscription, as: APIHarness.identity("eve")).sink,
        ]
        let raise = "mutation($t: ID!) { raiseIncident(input: {topicId: $t, title: \"slow\"}) { id } }"
        let raised = try await api.run(raise, ["t": .string(topic)])
        #expect(raised["errors"] == nil, "\(raised)")
        #expect(try await reader.take(1)[0]["data"]?["onCreateIncident"]?["title"] == "slow")
        // Their own comes first, as nothing was before it.
        for (sink, name) in zip(others, ["carol", "eve"]) {
            let caller = APIHarness.identity(name)
            let own = try await api.makeTopic(as: caller)
            _ = try await api.run(raise.replacing("slow", with: "own"), ["t": .string(own)], as: caller)
            #expect(try await sink.take(1)[0]["data"]?["onCreateIncident"]?["title"] == "own")
        }
    }
}
