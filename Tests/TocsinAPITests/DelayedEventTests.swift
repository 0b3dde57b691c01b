import JSON
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

/// What senders say of a message that comes later.
@Suite("Delayed messages of senders")
struct DelayedEventTests {
    @Test("a delayed message is pushed as its sender said: in the place of an earlier one, and not at all")
    func wishes() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let alice = APIHarness.identity("alice")
        try await api.join(alice.userID, topic)
        let facts = try #require(UserFacts(of: alice, naming: [], at: api.time.now()))
        try await api.store.write { writer throws(StoreError) in try writer.save(facts) }
        let integration = Integration(
            id: "i",
            owner: "sub-alice::alice",
            name: "ntfy",
            kind: .ntfy,
            topicID: TopicID(topic)
        )
        var events: [SenderEvent] = []
        let wishes = [("plain", nil, true), ("replacing", "ntfy/s1", true), ("kept", "ntfy/s1", false)]
        for (title, key, isPushed) in wishes {
            var event = SenderEvent(.log, title: title, body: "b")
            (event.collapseKey, event.isPushed) = (key, isPushed)
            event.image = key == nil ? nil : "https://example.com/a.png"
            event.dueAt = api.time.now().adding(seconds: 60)
            events.append(event)
        }
        _ = try await api.services.incidents.take(events, from: integration)
        // What its owner changes of it leaves what the sender said.
        let listed = try await api.run("{ listScheduledMessages { items { id name } } }")
        let rows = listed["data"]?["listScheduledMessages"]?["items"]?.arrayValue ?? []
        #expect(rows.count == 3, "\(listed)")
        for row in rows {
            let rename = "mutation($i: UpdateScheduledMessageInput!) { updateScheduledMessage(input: $i) { id } }"
            let input: JSONObject = ["id": row["id"] ?? .null, "name": "renamed"]
            let renamed = try await api.run(rename, ["i": .object(input)])
            #expect(renamed["errors"] == nil, "\(renamed)")
        }
        api.time.advance(seconds: 61)
        let runner = TimerRunner(
            environment: api.environment,
            effects: [ScheduledMessageEffect(api.services.scheduledMessages) { _ in }]
        ) { Issue.record("\($0.subject): \($1)") }
        #expect(try await runner.fireDue() == 3)
        let found = try await api.run("{ listMessages { items { id title } } }")
        var sent: [String] = []
        for item in found["data"]?["listMessages"]?["items"]?.arrayValue ?? [] {
            let id = MessageID(item["id"]?.stringValue ?? "")
            let isSent = try await api.store.read { reader throws(StoreError) in
                if try reader.isFanningOut(id) { return true }
                return try reader.deliverySummaries(of: [id])[id] != nil
            }
            if isSent { sent.append(item["title"]?.stringValue ?? "") }
        }
        #expect(sent.sorted() == ["plain", "replacing"])
        let pushes = try await api.store.read { reader throws(StoreError) in
            try reader.recentPushes(in: TopicID(topic), with: "collapseKey").map(\.push)
        }
        let place = #"{"image":"https://example.com/a.png","collapseKey":"ntfy/s1"}"#
        #expect(pushes == [place, place])
    }
}
