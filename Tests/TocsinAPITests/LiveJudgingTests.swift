import GraphQLTransport
import JSON
import Synchronization
import Testing
import TocsinAPI
import TocsinCore

@Suite("Filters of live subscriptions, as they are judged", .timeLimit(.minutes(5)))
struct LiveJudgingTests {
    private static func follow(_ filter: String, on topic: String? = nil, selecting fields: String = "title") -> String
    {
        let topic = topic.map { "topicId: \"\($0)\", " } ?? ""
        return "subscription { onCreateMessage(\(topic)filter: {\(filter)}) { \(fields) } }"
    }

    private func titles(_ responses: [JSONValue]) -> [String] {
        responses.compactMap { $0["data"]?["onCreateMessage"]?["title"]?.stringValue }
    }

    /// Begun by the test: all that was published waits until then.
    private func api(bytesOfEvent: Int = 16_777_216, bytesOfTurn: Int = 1_048_576) async throws -> APIHarness {
        try await APIHarness(
            unsorted: LiveFeed.CommitBound(),
            judging: LiveJudging.Bound(bytesOfEvent: bytesOfEvent, bytesOfTurn: bytesOfTurn)
        )
    }

    @Test("an owner whose filters take many turns keeps no other waiting, and hears all in order")
    func turns() async throws {
        let api = try await api(bytesOfTurn: 1)
        let (topic, bob) = (try await api.makeTopic(), APIHarness.identity("bob"))
        let bobTopic = try await api.makeTopic("bobs", as: bob)
        let arrivals = Mutex([String]())
        var sinks: [SenderSink] = []
        for number in 0..<100 {
            let sink = SenderSink(TestSender { arrivals.withLock { $0.append("alice") } })
            sinks.append(sink)
            _ = await api.subscribe(Self.follow("body: {notContains: \"\(number)-\"}"), sink: sink)
        }
        let bobs = SenderSink(TestSender { arrivals.withLock { $0.append("bob") } })
        _ = await api.subscribe("subscription { onCreateMessage { title } }", as: bob, sink: bobs)
        for title in ["a", "b", "c"] { try await api.publish(title, to: topic) }
        try await api.publish("x", to: bobTopic, as: bob)
        api.startFeed()
        #expect(titles(try await bobs.inbox.take(1)) == ["x"])
        for sink in sinks { #expect(titles(try await sink.inbox.take(3)) == ["a", "b", "c"]) }
        let index = try #require(arrivals.withLock { $0.firstIndex(of: "bob") })
        #expect(index < 90, "bob's one group came after \(index) of alice's")
    }

    @Test("filters that would search too much of one event end with LIMIT and a cursor; equal ones are searched once")
    func limit() async throws {
        let api = try await api(bytesOfEvent: 3_000)
        let topic = try await api.makeTopic()
        let equal = "body: {contains: \"x\"}"
        var following: [CollectingSink] = []
        for field in ["id title", "title", "title body", "number title"] {
            following.append(await api.subscribe(Self.follow(equal, on: topic, selecting: field)).sink)
        }
        // Without a search nothing is ended, whatever else is.
        let (cheap, _) = await api.subscribe(Self.follow("type: {eq: 1}", on: topic))
        let (greedy, _) = await api.subscribe(
            Self.follow("or: [{body: {contains: \"y\"}}, {body: {contains: \"z\"}}, {title: {eq: \"a\"}}]", on: topic)
        )
        let body = JSONValue.string(String(repeating: "x", count: 2_000))
        try await api.publish("a", to: topic, with: ["body": body])
        api.startFeed()
        for sink in following + [cheap] { #expect(titles(try await sink.take(1)) == ["a"]) }
        #expect(try await greedy.take(1).isEmpty)
        let failure = try #require(try greedy.failure())
        #expect(failure["extensions"]?["code"] == "LIMIT")
        #expect(failure["message"]?.stringValue?.contains("fewer comparisons by contains") == true)
        let cursor = try #require(failure["extensions"]?["cursor"]?.stringValue)
        let again = "subscription($a: String) { onCreateMessage(topicId: \"\(topic)\", after: $a) { title } }"
        let (resumed, _) = await api.subscribe(again, ["a": .string(cursor)])
        #expect(titles(try await resumed.take(1)) == ["a"])
    }

    @Test("two spellings of the same letters are two filters")
    func spellings() async throws {
        let api = try await api()
        let topic = try await api.makeTopic()
        let document = """
            subscription($f: ModelSubscriptionMessageFilterInput) { onCreateMessage(filter: $f) { title } }
            """
        var sinks: [CollectingSink] = []
        for title in ["\u{E9}", "e\u{301}"] {
            sinks.append(
                await api.subscribe(document + " # \(sinks.count)", ["f": ["title": ["eq": .string(title)]]]).sink
            )
        }
        for title in ["\u{E9}", "e\u{301}", "\u{E9}"] { try await api.publish(title, to: topic) }
        api.startFeed()
        let composed = titles(try await sinks[0].take(2))
        #expect(composed.map(\.unicodeScalars.count) == [1, 1])
        let decomposed = titles(try await sinks[1].take(1))
        #expect(decomposed.map(\.unicodeScalars.count) == [2])
    }

    @Test("the end of a deleted topic comes behind what was still to be judged")
    func deletedTopic() async throws {
        let api = try await api(bytesOfTurn: 1)
        let topic = try await api.makeTopic()
        let (sink, _) = await api.subscribe(Self.follow("body: {contains: \"b\"}", on: topic))
        for _ in 0..<20 { _ = await api.subscribe(Self.follow("body: {contains: \"c\"}", on: topic)) }
        for title in ["a", "b"] { try await api.publish(title, to: topic) }
        let response = try await api.run(
            "mutation($i: ID!) { deleteTopic(input: {id: $i, _version: 1}) { id } }",
            ["i": .string(topic)]
        )
        #expect(response["errors"] == nil, "\(response.serializedString())")
        api.startFeed()
        #expect(titles(try await sink.take(3)) == ["a", "b"])
        #expect(try sink.failure()?["extensions"]?["code"] == "UNAUTHORIZED")
    }

    @Test("too much that waits to be judged ends the owner's subscriptions, and no other's")
    func overflow() async throws {
        let api = try await APIHarness(unsorted: LiveFeed.CommitBound(), waiting: LiveBacklog.Bound(events: 3))
        let (topic, bob) = (try await api.makeTopic(), APIHarness.identity("bob"))
        let bobTopic = try await api.makeTopic("bobs", as: bob)
        var sinks: [CollectingSink] = []
        for number in 0..<4 { sinks.append(await api.subscribe(Self.follow("type: {ne: \(100 + number)}")).sink) }
        let (bobs, _) = await api.subscribe("subscription { onCreateMessage { title } }", as: bob)
        try await api.publish("a", to: topic)
        try await api.publish("x", to: bobTopic, as: bob)
        api.startFeed()
        #expect(titles(try await bobs.take(1)) == ["x"])
        for sink in sinks {
            #expect(try await sink.take(2).count < 2)
            #expect(try sink.failure()?["extensions"]?["code"] == "UNAVAILABLE")
        }
    }
}
