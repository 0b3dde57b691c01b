import JSON
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

/// What a topic does that has as many open incidents as it may.
@Suite("Too many open incidents")
struct IncidentOverflowTests {
    private struct Scene {
        let api: APIHarness
        let topic: String
        let integration: Integration

        /// A topic of which two incidents are open, and no more may be.
        init() async throws {
            var limits = ServiceLimits()
            limits.openIncidents = 2
            let api = try await APIHarness(limits: limits)
            self.api = api
            topic = try await api.makeTopic()
            let facts = try #require(UserFacts(of: APIHarness.identity("alice"), naming: [], at: api.time.now()))
            try await api.store.write { writer throws(StoreError) in try writer.save(facts) }
            integration = Integration(
                id: "i",
                owner: "sub-alice::alice",
                name: "Prometheus",
                kind: .event,
                topicID: TopicID(topic)
            )
            for key in ["a", "b"] { _ = try await take(.trigger, key) }
        }

        func take(_ action: SenderEvent.Action, _ key: String, priority: Int = 4) async throws -> EventOutcome {
            var event = SenderEvent(action, key: key, title: "title of \(key)", body: "b")
            event.priority = priority
            return try #require(try await api.services.incidents.take([event], from: integration).first)
        }

        /// Key, state, occurrences and text of each incident, by number.
        func incidents() async throws -> [String] {
            let answer = try await api.run("{ listIncidents { items { number key state occurrences body } } }")
            let items = answer["data"]?["listIncidents"]?["items"]?.arrayValue ?? []
            return items.sorted { ($0["number"]?.intValue ?? 0) < ($1["number"]?.intValue ?? 0) }.map { item in
                let body = item["body"]?.stringValue?.split(separator: ": ").last ?? ""
                let words = ["key", "state"].compactMap { item[$0]?.stringValue }
                return words.joined(separator: " ") + " \(item["occurrences"]?.intValue ?? 0) \(body)"
            }
        }
    }

    @Test("one more incident counts for all that have no room, names the last of them, and rings once")
    func overflow() async throws {
        let scene = try await Scene()
        let first = try await scene.take(.trigger, "c")
        let second = try await scene.take(.trigger, "d")
        #expect(first.change == .opened && first.messageID != nil)
        #expect(second.incidentID == first.incidentID && second.messageID == nil)
        let raised = try await scene.api.run(
            "mutation($t: ID!) { raiseIncident(input: { topicId: $t, title: \"by hand\", key: \"h\" }) { key } }",
            ["t": .string(scene.topic)]
        )
        #expect(raised["data"]?["raiseIncident"]?["key"] == "too many open incidents", "\(raised)")
        #expect(
            try await scene.incidents() == ["a OPEN 1 b", "b OPEN 1 b", "too many open incidents OPEN 3 by hand"]
        )
    }

    @Test("incidents that are open go on: they are counted, raised, acknowledged and resolved as ever")
    func going() async throws {
        let scene = try await Scene()
        _ = try await scene.take(.trigger, "c")
        #expect(try await scene.take(.trigger, "a", priority: 5).change == .raised)
        #expect(try await scene.take(.acknowledge, "a").change == .acknowledged)
        // What was counted alone has nothing to end.
        #expect(try await scene.take(.resolve, "c").change == nil)
        #expect(try await scene.take(.resolve, "a").change == .resolved)
        #expect(try await scene.take(.resolve, "b").change == .resolved)
        // The sender says it again, and there is room now.
        #expect(try await scene.take(.trigger, "c").change == .opened)
        let states = try await scene.incidents().map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        #expect(states == ["a RESOLVED", "b RESOLVED", "too many", "c OPEN"])
    }
}
