import GraphQLTransport
import JSON
import Synchronization
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

/// `onReadState`: what somebody reads at one device is told to their others.
@Suite("Following what was read", .timeLimit(.minutes(2)))
struct ReadStateFeedTests {
    private static let document = "subscription { onReadState { unread topics { topicId number unread } } }"

    private func mark(_ api: APIHarness, _ topic: String?, _ number: Int64? = nil) async throws {
        let answer = try await api.run(
            "mutation($t: ID, $n: Int) { markRead(topicId: $t, number: $n) { unread } }",
            ["t": topic.map { .string($0) } ?? .null, "n": number.map { .int($0) } ?? .null]
        )
        #expect(answer["errors"] == nil, "\(answer)")
    }

    private func unread(_ sink: CollectingSink) async throws -> JSONValue? {
        try await sink.take(1).first?["data"]?["onReadState"]?["unread"]
    }

    @Test("each mark that moves is told to all subscriptions of the person, one that stays is told to none")
    func marks() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        for title in ["a", "b", "c"] { try await api.publish(title, to: topic) }
        let phones = [await api.subscribe(Self.document).sink, await api.subscribe(Self.document).sink]
        try await mark(api, topic, 1)
        for sink in phones {
            #expect(
                try await sink.take(1).first?["data"]?["onReadState"]
                    == ["unread": 2, "topics": [["topicId": .string(topic), "number": 1, "unread": 2]]]
            )
        }
        try await mark(api, topic, 1)
        try await mark(api, topic, 2)
        for sink in phones { #expect(try await unread(sink) == 1) }
        try await mark(api, nil)
        for sink in phones { #expect(try await unread(sink) == 0) }
    }

    @Test("what others read is not told")
    func others() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let (bobs, _) = await api.subscribe(Self.document, as: APIHarness.identity("bob"))
        let (alices, _) = await api.subscribe(Self.document)
        try await api.publish("a", to: topic)
        try await mark(api, topic)
        #expect(try await unread(alices) == 0)
        let theirs = try await api.makeTopic("theirs", as: APIHarness.identity("bob"))
        _ = try await api.run(
            "mutation($t: ID) { markRead(topicId: $t) { unread } }",
            ["t": .string(theirs)],
            as: APIHarness.identity("bob")
        )
        #expect(
            try await bobs.take(1).first?["data"]?["onReadState"]?["topics"]?[0]?["topicId"] == .string(theirs),
            "the first that bob hears of is his own"
        )
    }

    @Test("it ends with the access, and changed rights end it to be begun again")
    func access() async throws {
        let api = try await APIHarness()
        let (sink, _) = await api.subscribe(Self.document)
        let bob = APIHarness.identity("bob").with(groups: [], isAdmin: false, asOf: Timestamp(milliseconds: 1))
        let (other, _) = await api.subscribe(Self.document, as: bob)
        #expect(api.feed.isListenedTo)
        try await api.store.write { writer throws(StoreError) in
            writer.note(.accessEnded(UserID("sub-alice"), nil))
            writer.note(.rightsChanged(UserID("sub-bob"), at: Timestamp(milliseconds: 2)))
        }
        #expect(await sink.takeResponses(1).isEmpty)
        #expect(sink.endings.withLock { $0 } == [.unauthorized])
        #expect(await other.takeResponses(1).isEmpty)
        #expect(other.endings.withLock { $0 } == [.rightsChanged])
        #expect(!api.feed.isListenedTo)
    }

    @Test("who may only publish cannot follow it, as they cannot ask for it")
    func scopes() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        var publisher = APIHarness.identity("alice")
        publisher.scope = .publish(topic: topic)
        guard case .refused(let errors) = await api.subscribe(Self.document, as: publisher).outcome else {
            Issue.record("a token that only publishes follows what was read")
            return
        }
        #expect(try JSONParser.parse(errors)[0]?["extensions"]?["code"] == "UNAUTHORIZED")
    }
}
