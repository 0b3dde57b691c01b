import GraphQLTransport
import JSON
import Synchronization
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("A live feed with and without listeners", .timeLimit(.minutes(5)))
struct LiveListeningTests {
    private static let follow = "subscription($t: ID) { onCreateMessage(topicId: $t) { title } }"

    private func titles(_ responses: [JSONValue]) -> [String] {
        responses.compactMap { $0["data"]?["onCreateMessage"]?["title"]?.stringValue }
    }

    @Test("what is committed while nobody listens does not wait to be sorted, and takes no room from what comes later")
    func unheard() async throws {
        let api = try await APIHarness(unsorted: LiveFeed.CommitBound(commits: 1))
        let topic = try await api.makeTopic()
        for number in 1...5 { try await api.publish("unheard \(number)", to: topic) }
        let (sink, _) = await api.subscribe(Self.follow, ["t": .string(topic)])
        try await api.publish("heard", to: topic)
        #expect(sink.endings.withLock { $0.isEmpty })
        api.startFeed()
        #expect(titles(try await sink.take(1)) == ["heard"])
    }

    @Test("the first who listens is told of, and the next first when all have gone")
    func firsts() async throws {
        let api = try await APIHarness()
        let calls = Mutex([Bool]())
        let feed = api.feed
        // By then commits are waited for.
        feed.whenListenedTo { calls.withLock { $0.append(feed.isListenedTo) } }
        #expect(!feed.isListenedTo)
        let topic = try await api.makeTopic()
        var outcomes: [SubscribeOutcome] = []
        for _ in 0..<3 { outcomes.append(await api.subscribe(Self.follow, ["t": .string(topic)]).outcome) }
        #expect(calls.withLock { $0 } == [true])
        for case .stream(let stream) in outcomes { stream.cancel() }
        #expect(!feed.isListenedTo)
        let (sink, _) = await api.subscribe(Self.follow, ["t": .string(topic)])
        #expect(calls.withLock { $0 } == [true, true])
        try await api.publish("again", to: topic)
        #expect(titles(try await sink.take(1)) == ["again"])
    }

    @Test("access that ends is told to who listens to deliveries, though nobody listens to records")
    func access() async throws {
        let api = try await APIHarness()
        let (sink, _) = await api.subscribe("subscription { onDelivery { status } }")
        #expect(!api.feed.isListenedTo)
        try await api.store.write { writer throws(StoreError) in
            writer.note(.accessEnded(UserID("sub-alice"), nil))
        }
        #expect(await sink.takeResponses(1).isEmpty)
        #expect(sink.endings.withLock { $0.count } == 1)
    }
}
