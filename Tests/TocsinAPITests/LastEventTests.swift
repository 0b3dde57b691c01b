import GraphQLTransport
import JSON
import Testing
import TocsinAPI

@Suite("Subscriptions of clients that have seen an event before", .timeLimit(.minutes(5)))
struct LastEventTests {
    private static let follow =
        "subscription($t: ID, $a: String) { onCreateMessage(topicId: $t, after: $a) { title cursor } }"

    private func request(_ topic: String, after: JSONValue = .null) -> GraphQLRequest {
        GraphQLRequest(query: Self.follow, variables: ["t": .string(topic), "a": after])
    }

    private func titles(_ responses: [JSONValue]) -> [String] {
        responses.compactMap { $0["data"]?["onCreateMessage"]?["title"]?.stringValue }
    }

    private func refusal(_ outcome: SubscribeOutcome) -> String? {
        if case .refused(let errors) = outcome { String(decoding: errors, as: UTF8.self) } else { nil }
    }

    @Test("every event of a topic carries the message's cursor, replayed or live")
    func carries() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let first = try await api.publish("1", to: topic)
        try await api.publish("2", to: topic)
        let (sink, _) = await api.subscribe(request(topic, after: first["cursor"] ?? .null))
        try await api.publish("3", to: topic)
        let responses = await sink.takeResponses(2)
        #expect(responses.count == 2)
        for response in responses {
            let message = try JSONParser.parse(response.body)["data"]?["onCreateMessage"]
            #expect(response.cursor != nil && response.cursor == message?["cursor"]?.stringValue)
        }
    }

    @Test("what came after the last event is replayed, then it goes live, without gap or double")
    func resumes() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let first = try #require(try await api.publish("1", to: topic)["cursor"]?.stringValue)
        for number in 2...450 { try await api.publish(String(number), to: topic) }
        let (sink, _) = await api.subscribe(request(topic), lastEventID: first)
        for number in 451...460 { try await api.publish(String(number), to: topic) }
        #expect(titles(try await sink.take(459)) == (2...460).map(String.init))
    }

    @Test("the last event wins over after, whichever is later, and whether or not after is good")
    func wins() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        var cursors: [String] = []
        for number in 1...6 {
            cursors.append(try #require(try await api.publish(String(number), to: topic)["cursor"]?.stringValue))
        }
        for after in [cursors[0], cursors[5], "nonsense"] {
            let (sink, _) = await api.subscribe(request(topic, after: .string(after)), lastEventID: cursors[3])
            #expect(titles(try await sink.take(2)) == ["5", "6"])
        }
        let (sink, _) = await api.subscribe(request(topic, after: .string(cursors[4])), lastEventID: "")
        #expect(titles(try await sink.take(1)) == ["6"])
    }

    @Test("a last event that was changed, is of another topic or no cursor ends it as the same text as after does")
    func badCursors() async throws {
        let api = try await APIHarness()
        let (one, two) = (try await api.makeTopic("one"), try await api.makeTopic("two"))
        let cursor = try #require(try await api.publish("x", to: one)["cursor"]?.stringValue)
        for (topic, text) in [(one, cursor + "0"), (two, cursor), (one, "nonsense")] {
            let asEvent = refusal(await api.subscribe(request(topic), lastEventID: text).outcome)
            #expect(asEvent?.contains("\"BAD_CURSOR\"") == true)
            #expect(asEvent == refusal(await api.subscribe(request(topic, after: .string(text))).outcome))
        }
    }

    @Test(
        "where there is no feed to resume the last event means nothing",
        arguments: ["onUpdateMessage { title }", "onCreateTopic { name }", "onDelivery { status }"]
    )
    func ignored(field: String) async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let cursor = try #require(try await api.publish("1", to: topic)["cursor"]?.stringValue)
        for text in [cursor, "nonsense"] {
            let request = GraphQLRequest(query: "subscription { \(field) }", variables: [:])
            #expect(refusal(await api.subscribe(request, lastEventID: text).outcome) == nil)
        }
    }
}
