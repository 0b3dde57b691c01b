import GraphQLTransport
import JSON
import Synchronization
import Testing
import TocsinAPI
import TocsinCore

@Suite("The live feed")
struct LiveFeedTests {
    private static let follow = """
        subscription($t: ID, $a: String) { onCreateMessage(topicId: $t, after: $a) { number title topic { name } } }
        """

    private func titles(_ responses: [JSONValue]) -> [String] {
        responses.compactMap { $0["data"]?["onCreateMessage"]?["title"]?.stringValue }
    }

    @Test("a subscriber gets each later message once, in order, with its relations")
    func live() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        try await api.publish("before", to: topic)
        let (sink, _) = await api.subscribe(Self.follow)
        for title in ["a", "b", "c"] { try await api.publish(title, to: topic) }
        let responses = try await sink.take(3)
        #expect(titles(responses) == ["a", "b", "c"])
        #expect(responses[0]["data"]?["onCreateMessage"]?["topic"]?["name"] == "alerts")
    }

    @Test("a cursor replays what came after it, then goes live, without gap or double")
    func resumes() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let first = try await api.publish("1", to: topic)
        for number in 2...450 { try await api.publish(String(number), to: topic) }
        let (sink, _) = await api.subscribe(Self.follow, ["t": .string(topic), "a": first["cursor"] ?? .null])
        for number in 451...460 { try await api.publish(String(number), to: topic) }
        #expect(titles(try await sink.take(459)) == (2...460).map(String.init))
    }

    @Test("topicId narrows to one topic, and the other topics' messages do not come")
    func narrows() async throws {
        let api = try await APIHarness()
        let (one, two) = (try await api.makeTopic("one"), try await api.makeTopic("two"))
        let (sink, _) = await api.subscribe(Self.follow, ["t": .string(two)])
        try await api.publish("x", to: one)
        try await api.publish("y", to: two)
        #expect(titles(try await sink.take(1)) == ["y"])
    }

    @Test("another user hears nothing, and may not ask for this owner's events")
    func isolation() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let bob = APIHarness.identity("bob")
        let (bobSink, _) = await api.subscribe(Self.follow, as: bob)
        try await api.publish("secret", to: topic)
        let bobTopic = try await api.makeTopic("bobs", as: bob)
        try await api.publish("own", to: bobTopic, as: bob)
        #expect(titles(try await bobSink.take(1)) == ["own"])
        let foreign = await api.subscribe("subscription { onCreateMessage(owner: \"alice\") { id } }", as: bob)
        #expect(refusal(foreign.outcome)?.contains("\"UNAUTHORIZED\"") == true)
        let topicOfAlice = await api.subscribe(Self.follow, ["t": .string(topic)], as: bob)
        #expect(refusal(topicOfAlice.outcome)?.contains("\"UNAUTHORIZED\"") == true)
    }

    @Test("a changed cursor, and one of another topic, end the subscription with BAD_CURSOR")
    func badCursors() async throws {
        let api = try await APIHarness()
        let (one, two) = (try await api.makeTopic("one"), try await api.makeTopic("two"))
        let cursor = try #require(try await api.publish("x", to: one)["cursor"]?.stringValue)
        for (topic, text) in [(one, cursor + "0"), (two, cursor), (one, "nonsense")] {
            let outcome = await api.subscribe(Self.follow, ["t": .string(topic), "a": .string(text)]).outcome
            #expect(refusal(outcome)?.contains("\"BAD_CURSOR\"") == true)
        }
    }

    @Test("filters narrow a subscription: fields by AND, operators of one field by OR")
    func filters() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let (sink, _) = await api.subscribe(
            "subscription { onCreateMessage(filter: {type: {lt: 2, gt: 8}, title: {ne: \"no\"}}) { title } }"
        )
        for (title, type) in [("low", 1), ("middle", 5), ("no", 1), ("high", 9)] as [(String, JSONValue)] {
            try await api.publish(title, to: topic, with: ["type": type])
        }
        #expect(titles(try await sink.take(2)) == ["low", "high"])
    }

    @Test("when the server stops every subscription is told, and no new one begins")
    func stops() async throws {
        let api = try await APIHarness()
        let (sink, _) = await api.subscribe(Self.follow)
        api.feed.stop()
        #expect(try await sink.take(1).isEmpty)
        #expect(sink.endings.withLock { $0 } == [.shuttingDown])
        #expect(refusal(await api.subscribe(Self.follow).outcome) != nil)
    }

    private func refusal(_ outcome: SubscribeOutcome) -> String? {
        if case .refused(let errors) = outcome { String(decoding: errors, as: UTF8.self) } else { nil }
    }
}

@Suite("Access that ends")
struct RevocationTests {
    @Test("a revoked token's subscriptions end, and its open socket can ask for nothing more")
    func revoked() async throws {
        let api = try await APIHarness()
        var caller = APIHarness.identity("alice")
        caller.tokenID = TokenID("t1")
        let (sink, _) = await api.subscribe("subscription { onCreateMessage { id } }", as: caller)
        let token = IssuedToken(
            id: TokenID("t1"),
            userID: caller.userID,
            scope: .full,
            createdAt: Timestamp(milliseconds: 0),
            expiresAt: Timestamp(milliseconds: .max),
            revokedAt: Timestamp(milliseconds: 1)
        )
        api.hub.publish(api.revoked.replace(tokens: [token], accounts: []))
        #expect(try await sink.take(1).isEmpty)
        #expect(sink.endings.withLock { $0 } == [.unauthorized])
        let answer = try await api.run("{ me { userId } }", as: caller)
        #expect(answer["errors"]?[0]?["extensions"]?["code"] == "UNAUTHENTICATED")
        #expect(try await api.run("{ me { userId } }")["errors"] == nil)
    }
}
