import GraphQLTransport
import JSON
import Testing
import TocsinAPI
import TocsinCore

@Suite("The feed of all topics", .timeLimit(.minutes(5)))
struct AllTopicsFeedTests {
    private let titles = { FeedScene.titles($0) }

    @Test("a cursor replays what came after it in every topic, in order of commit, then it goes live")
    func resumes() async throws {
        let scene = try await FeedScene()
        let topics = [try await scene.api.makeTopic("one"), try await scene.api.makeTopic("two")]
        let cursors = try await scene.publish((1...450).map(String.init), to: topics)
        let (sink, _) = await scene.follow(nil, after: cursors[2])
        try await scene.publish((451...460).map(String.init), to: topics)
        #expect(titles(try await sink.take(457)) == (4...460).map(String.init))
    }

    @Test("every event carries its message's cursor, and each resumes both kinds of feed")
    func cursors() async throws {
        let scene = try await FeedScene()
        let topics = [try await scene.api.makeTopic("one"), try await scene.api.makeTopic("two")]
        let (sink, _) = await scene.follow(nil, after: nil)
        let cursors = try await scene.publish((1...6).map(String.init), to: topics)
        let events = await sink.takeResponses(6)
        #expect(events.map(\.cursor) == cursors)
        for (topic, rest) in [(nil, ["4", "5", "6"]), (topics[0], ["5"]), (topics[1], nil)] {
            let (sink, outcome) = await scene.follow(topic, after: cursors[2])
            if let rest {
                #expect(titles(try await sink.take(rest.count)) == rest)
            } else {
                #expect(try FeedScene.refusal(outcome)?["extensions"]?["code"] == "BAD_CURSOR")
            }
        }
    }

    @Test("the last event of a stream resumes all topics too, and wins over after")
    func lastEvent() async throws {
        let scene = try await FeedScene()
        let topics = [try await scene.api.makeTopic("one"), try await scene.api.makeTopic("two")]
        let cursors = try await scene.publish((1...6).map(String.init), to: topics)
        let (sink, _) = await scene.follow(nil, after: cursors[0], lastEventID: cursors[3])
        #expect(titles(try await sink.take(2)) == ["5", "6"])
    }

    @Test("messages of others are not in it, whoever publishes in between")
    func isolation() async throws {
        let scene = try await FeedScene()
        let bob = APIHarness.identity("bob")
        let (mine, his) = (try await scene.api.makeTopic("one"), try await scene.api.makeTopic("two", as: bob))
        let first = try await scene.publish(["1"], to: [mine])
        let foreign = try await scene.publish(["x", "y"], to: [his], as: bob)
        try await scene.publish(["2"], to: [mine])
        let (sink, _) = await scene.follow(nil, after: first[0])
        try await scene.publish(["z"], to: [his], as: bob)
        try await scene.publish(["3"], to: [mine])
        #expect(titles(try await sink.take(2)) == ["2", "3"])
        let refusal = try FeedScene.refusal(await scene.follow(nil, after: foreign[0]).outcome)
        #expect(refusal?["extensions"]?["code"] == "BAD_CURSOR")
    }

    @Test("who hears of several owners is told to name a topic, gets no cursors without, and hears all the same")
    func groups() async throws {
        let scene = try await FeedScene(model: FeedScene.openModel)
        let topic = try await scene.api.makeTopic()
        let cursors = try await scene.publish(["1"], to: [topic])
        let refusal = try FeedScene.refusal(
            await scene.follow(nil, after: cursors[0], as: FeedScene.staff).outcome
        )
        #expect(refusal?["extensions"]?["code"] == "BAD_CURSOR")
        #expect(refusal?["message"]?.stringValue?.contains("Name a topicId") == true)
        let (sink, _) = await scene.follow(nil, after: nil, as: FeedScene.staff)
        let (named, _) = await scene.follow(topic, after: cursors[0], as: FeedScene.staff)
        try await scene.publish(["2"], to: [topic])
        let heard = await sink.takeResponses(1)
        #expect(heard.map(\.cursor) == [nil])
        let inTopic = await named.takeResponses(1)
        // The reader's cursor names the topic alone: how many messages the owner has
        // elsewhere is the owner's.
        let (again, _) = await scene.follow(topic, after: inTopic.first?.cursor, as: FeedScene.staff)
        try await scene.publish(["3"], to: [topic])
        #expect(titles(try await again.take(1)) == ["3"])
        let own = try FeedScene.refusal(await scene.follow(nil, after: inTopic.first?.cursor).outcome)
        #expect(own?["extensions"]?["code"] == "BAD_CURSOR")
        // The owner, who is in no group, resumes all topics under the same rules.
        let (mine, _) = await scene.follow(nil, after: cursors[0])
        #expect(titles(try await mine.take(2)) == ["2", "3"])
    }
}

@Suite("Cursors that cannot be honoured", .timeLimit(.minutes(5)))
struct RefusedCursorTests {
    private let titles = { FeedScene.titles($0) }

    @Test(
        "a cursor behind which messages were pruned has expired, and the oldest that can be honoured is told",
        arguments: [true, false]
    )
    func pruned(namesTopic: Bool) async throws {
        let scene = try await FeedScene()
        let topic = try await scene.api.makeTopic()
        let cursors = try await scene.publish((1...9).map(String.init), to: [topic])
        try scene.prune(topic, below: 6)
        let name = namesTopic ? topic : nil
        let refusal = try FeedScene.refusal(await scene.follow(name, after: cursors[3]).outcome)
        #expect(refusal?["extensions"]?["code"] == "CURSOR_EXPIRED")
        let oldest = try #require(refusal?["extensions"]?["oldestCursor"]?.stringValue)
        for cursor in [oldest, cursors[4]] {
            let (sink, _) = await scene.follow(name, after: cursor)
            #expect(titles(try await sink.take(4)) == ["6", "7", "8", "9"])
        }
    }

    @Test("a cursor of a message that is not there is refused, with the oldest one", arguments: [true, false])
    func future(namesTopic: Bool) async throws {
        let scene = try await FeedScene()
        let topic = try await scene.api.makeTopic()
        let cursors = try await scene.publish(["1", "2", "3"], to: [topic])
        // As after a restore from an older backup.
        try scene.change("DELETE FROM messages WHERE number > 1", [])
        try scene.change("UPDATE topics SET last_number = 1", [])
        try scene.change("UPDATE feeds SET last_position = 1", [])
        let name = namesTopic ? topic : nil
        let refusal = try FeedScene.refusal(await scene.follow(name, after: cursors[1]).outcome)
        #expect(refusal?["extensions"]?["code"] == "BAD_CURSOR")
        let oldest = try #require(refusal?["extensions"]?["oldestCursor"]?.stringValue)
        let (sink, _) = await scene.follow(name, after: oldest)
        #expect(titles(try await sink.take(1)) == ["1"])
    }

    @Test(
        "the cursor of a topic that was deleted has expired, also when nothing of it is left; to others it is nothing"
    )
    func deletedTopic() async throws {
        let scene = try await FeedScene(model: FeedScene.openModel)
        let topic = try await scene.api.makeTopic()
        let cursors = try await scene.publish(["1", "2"], to: [topic])
        let deleted = try await scene.api.run(
            "mutation($i: DeleteTopicInput!) { deleteTopic(input: $i) { id } }",
            ["i": ["id": .string(topic), "_version": 1]]
        )
        #expect(deleted["errors"] == nil, "\(deleted.serializedString())")
        for isReaped in [false, true] {
            if isReaped { try scene.change("DELETE FROM topics", []) }
            let refusal = try FeedScene.refusal(await scene.follow(topic, after: cursors[0]).outcome)
            #expect(refusal?["extensions"]?["code"] == "CURSOR_EXPIRED")
            for caller in [APIHarness.identity("bob"), FeedScene.staff] {
                let refusal = try FeedScene.refusal(await scene.follow(topic, after: cursors[0], as: caller).outcome)
                #expect(refusal?["extensions"]?["code"] == "UNAUTHORIZED")
            }
        }
        // The messages outlive it, in the feed of all topics.
        let (sink, _) = await scene.follow(nil, after: cursors[0])
        #expect(titles(try await sink.take(1)) == ["2"])
    }
}
