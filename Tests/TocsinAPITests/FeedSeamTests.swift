import GraphQLTransport
import JSON
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("Where stored messages and live ones meet", .timeLimit(.minutes(10)))
struct FeedSeamTests {
    private let titles = { FeedScene.titles($0) }

    /// 450 messages, and a subscriber behind the first, who has the first
    /// page and takes no more yet.
    private func stalled(_ scene: FeedScene, namesTopic: Bool) async throws -> (topic: String, sink: CollectingSink) {
        let topic = try await scene.api.makeTopic()
        let cursors = try await scene.publish((1...450).map(String.init), to: [topic])
        let sink = CollectingSink(isClosed: true)
        _ = await scene.follow(namesTopic ? topic : nil, after: cursors[0], into: sink)
        #expect(titles(try await sink.take(32)) == (2...33).map(String.init))
        return (topic, sink)
    }

    @Test(
        "messages pruned while a slow subscriber catches up end it, with its cursor and the oldest",
        arguments: [true, false]
    )
    func prunedMeanwhile(namesTopic: Bool) async throws {
        let scene = try await FeedScene()
        let (topic, sink) = try await stalled(scene, namesTopic: namesTopic)
        try scene.prune(topic, below: 300)
        sink.makeRoom()
        #expect(try await sink.take(1).isEmpty)
        let failure = try #require(try sink.failure())
        #expect(failure["extensions"]?["code"] == "CURSOR_EXPIRED")
        let oldest = failure["extensions"]?["oldestCursor"]?.stringValue
        let (again, _) = await scene.follow(namesTopic ? topic : nil, after: oldest)
        #expect(titles(try await again.take(151)) == (300...450).map(String.init))
    }

    @Test("a store that cannot be read ends the replay with the last cursor, which goes on without gap or double")
    func failingStore() async throws {
        let fails = FailureSwitch()
        let scene = try await FeedScene(fails: fails)
        let (topic, sink) = try await stalled(scene, namesTopic: true)
        fails.isOn = true
        sink.makeRoom()
        #expect(try await sink.take(1).isEmpty)
        let failure = try #require(try sink.failure())
        #expect(failure["extensions"]?["code"] == "UNAVAILABLE")
        fails.isOn = false
        let (again, _) = await scene.follow(topic, after: failure["extensions"]?["cursor"]?.stringValue)
        #expect(titles(try await again.take(417)) == (34...450).map(String.init))
    }

    @Test("a deleted topic ends who is catching up in it")
    func deletedMeanwhile() async throws {
        let scene = try await FeedScene()
        let (topic, sink) = try await stalled(scene, namesTopic: true)
        try scene.change("DELETE FROM topics WHERE id = $1", [.text(topic)])
        sink.makeRoom()
        #expect(try await sink.take(1).isEmpty)
        #expect(try sink.failure()?["extensions"]?["code"] == "CURSOR_EXPIRED")
    }

    @Test("a message that went by live and was deleted before it could be replayed holds nobody up")
    func deletedLast() async throws {
        let scene = try await FeedScene(model: FeedScene.openModel)
        let (topic, sink) = try await stalled(scene, namesTopic: true)
        let (witness, _) = await scene.follow(topic, after: nil)
        let last = try await scene.api.publish("451", to: topic)
        // Delivered to everybody who was there.
        _ = try await witness.take(1)
        let deleted = try await scene.api.run(
            "mutation($i: DeleteMessageInput!) { deleteMessage(input: $i) { id } }",
            ["i": ["id": last["id"] ?? .null, "_version": 1]]
        )
        #expect(deleted["errors"] == nil, "\(deleted.serializedString())")
        sink.makeRoom()
        #expect(titles(try await sink.take(417)) == (34...450).map(String.init))
        try await scene.publish(["452"], to: [topic])
        #expect(titles(try await sink.take(1)) == ["452"])
    }

    @Test(
        "a feed that cannot keep up ends its subscribers with their cursors, and nothing is missed",
        arguments: [true, false],
        // Three commits, or as many as hold two kilobytes.
        [(3, 67_108_864), (65_536, 2000)]
    )
    func overflow(namesTopic: Bool, bound: (Int, Int)) async throws {
        let scene = try await FeedScene(unsorted: LiveFeed.CommitBound(commits: bound.0, bytes: bound.1))
        let topic = try await scene.api.makeTopic()
        try await scene.publish(["1", "2"], to: [topic])
        let name = namesTopic ? topic : nil
        let (sink, _) = await scene.follow(name, after: nil)
        // What was committed before anybody listened does not wait; of these
        // at least one is dropped.
        let titles = (3...10).map(String.init)
        try await scene.publish(titles, to: [topic])
        #expect(try await sink.take(1).isEmpty)
        let failure = try #require(try sink.failure())
        #expect(failure["extensions"]?["code"] == "UNAVAILABLE")
        scene.api.startFeed()
        let (again, _) = await scene.follow(name, after: failure["extensions"]?["cursor"]?.stringValue)
        #expect(self.titles(try await again.take(8)) == titles)
        try await scene.publish(["11"], to: [topic])
        #expect(self.titles(try await again.take(1)) == ["11"])
    }
}
