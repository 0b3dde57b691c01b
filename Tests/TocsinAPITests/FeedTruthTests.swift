import GraphQLTransport
import JSON
import Synchronization
import Testing
import TocsinAPI
import TocsinCore

@Suite("What a feed promises when topics, databases and documents change", .timeLimit(.minutes(5)))
struct FeedTruthTests {
    private let titles = { FeedScene.titles($0) }

    @Test("who follows a topic that is deleted hears everything that was committed before, then where it stood")
    func deletedTopic() async throws {
        let scene = try await FeedScene()
        let topic = try await scene.api.makeTopic()
        let sender = TestSender()
        let sink = SenderSink(sender)
        let document = "subscription { onCreateMessage(topicId: \"\(topic)\") { title cursor } }"
        _ = await scene.api.subscribe(document, sink: sink)
        // Tells that the feed has seen the deletion.
        let (witness, _) = await scene.api.subscribe("subscription { onDeleteTopic { id } }")
        sender.isFull.withLock { $0 = true }
        let cursors = try await scene.publish(["1", "2", "3"], to: [topic])
        let deleted = try await scene.api.run(
            "mutation($i: DeleteTopicInput!) { deleteTopic(input: $i) { id } }",
            ["i": ["id": .string(topic), "_version": 1]]
        )
        #expect(deleted["errors"] == nil, "\(deleted.serializedString())")
        _ = try await witness.take(1)
        sender.makeRoom()
        #expect(titles(try await sink.inbox.take(4)) == ["1", "2", "3"])
        let failure = try #require(try sink.inbox.failure())
        #expect(failure["extensions"]?["code"] == "UNAUTHORIZED")
        #expect(failure["extensions"]?["cursor"]?.stringValue?.isEmpty == false)
        #expect(cursors.count == 3)
    }

    @Test(
        "a variable that is `after` and something else too is each subscriber's own",
        arguments: [
            "subscription($t: ID, $a: String) { onCreateMessage(topicId: $t, after: $a, filter: {title: {ne: $a}}) { title } }",
            "subscription($t: ID, $a: String) { onCreateMessage(topicId: $t, filter: {title: {ne:$a}}, after:$a) { title } }",
        ]
    )
    func sharedVariable(document: String) async throws {
        let scene = try await FeedScene()
        let topic = try await scene.api.makeTopic()
        let cursors = try await scene.publish(["1", "2"], to: [topic])
        var sinks: [CollectingSink] = []
        for cursor in cursors {
            let variables: JSONObject = ["t": .string(topic), "a": .string(cursor)]
            sinks.append(await scene.api.subscribe(document, variables).sink)
        }
        #expect(titles(try await sinks[0].take(1)) == ["2"])
        try await scene.publish(cursors + ["last"], to: [topic])
        #expect(titles(try await sinks[0].take(2)) == [cursors[1], "last"])
        #expect(titles(try await sinks[1].take(2)) == [cursors[0], "last"])
    }

    @Test("subscribers that differ in `after` alone still get the same bytes")
    func sharing() async throws {
        let scene = try await FeedScene()
        let topic = try await scene.api.makeTopic()
        let cursors = try await scene.publish(["1", "2"], to: [topic])
        let (first, _) = await scene.follow(topic, after: cursors[0])
        let (second, _) = await scene.follow(topic, after: cursors[1])
        _ = try await first.take(1)
        // The first of these may come by a replay, of which each has its own.
        for number in 3...200 {
            try await scene.publish([String(number)], to: [topic])
            let responses = await first.takeResponses(1) + second.takeResponses(1)
            let addresses = responses.map { response in
                response.body.withUnsafeBufferPointer { $0.baseAddress.map { UInt(bitPattern: $0) } }
            }
            if addresses.count == 2, addresses[0] == addresses[1] { return }
        }
        Issue.record("each still gets bytes of its own")
    }

    @Test("an empty `after` begins with the first message that is kept, in an empty feed with the next")
    func fromTheBeginning() async throws {
        let scene = try await FeedScene()
        let topic = try await scene.api.makeTopic()
        let (early, _) = await scene.follow(topic, after: "")
        try await scene.publish((1...9).map(String.init), to: [topic])
        #expect(titles(try await early.take(9)) == (1...9).map(String.init))
        try scene.prune(topic, below: 6)
        for name in [topic, nil] {
            let (sink, _) = await scene.follow(name, after: "")
            #expect(titles(try await sink.take(4)) == (6...9).map(String.init))
        }
        let refusal = try FeedScene.refusal(await scene.follow("none", after: "").outcome)
        #expect(refusal?["extensions"]?["code"] == "UNAUTHORIZED")
    }

    @Test("Topic.cursor is where its feed stands now, whatever publishers say of their messages' time")
    func topicCursor() async throws {
        let scene = try await FeedScene()
        let topic = try await scene.api.makeTopic()
        let document = "query($t: ID!) { getTopic(id: $t) { cursor lastNumber } }"
        for (count, title) in ["one", "two"].enumerated() {
            let found = try await scene.api.run(document, ["t": .string(topic)])
            let now = found["data"]?["getTopic"]
            #expect(now?["lastNumber"] == .int(Int64(count)), "\(found.serializedString())")
            try await scene.publish([title], to: [topic])
            let (sink, _) = await scene.follow(topic, after: now?["cursor"]?.stringValue)
            #expect(titles(try await sink.take(1)) == [title])
        }
    }
}

@Suite("Cursors after a restore from a backup", .timeLimit(.minutes(5)))
struct RestoredFeedTests {
    private let titles = { FeedScene.titles($0) }

    /// As after a restore from a backup that ends with the third message, and as many new
    /// ones as were lost, and more.
    private func restore(_ scene: FeedScene, _ topic: String) async throws {
        try scene.change("DELETE FROM messages WHERE number > 3", [])
        try scene.change("UPDATE topics SET last_number = 3", [])
        try scene.change("UPDATE feeds SET last_position = 3", [])
        try await scene.publish(["4b", "5b", "6b", "7b"], to: [topic])
    }

    @Test("a cursor of a message that was lost is refused also once its number is another's", arguments: [true, false])
    func refused(namesTopic: Bool) async throws {
        let scene = try await FeedScene()
        let topic = try await scene.api.makeTopic()
        let cursors = try await scene.publish((1...6).map(String.init), to: [topic])
        try await restore(scene, topic)
        let name = namesTopic ? topic : nil
        for cursor in cursors[3...] {
            let refusal = try FeedScene.refusal(await scene.follow(name, after: cursor).outcome)
            #expect(refusal?["extensions"]?["code"] == "BAD_CURSOR")
            let oldest = refusal?["extensions"]?["oldestCursor"]?.stringValue
            let (sink, _) = await scene.follow(name, after: oldest)
            #expect(titles(try await sink.take(7)) == ["1", "2", "3", "4b", "5b", "6b", "7b"])
        }
        let (sink, _) = await scene.follow(name, after: cursors[2])
        #expect(titles(try await sink.take(4)) == ["4b", "5b", "6b", "7b"])
    }

    @Test(
        "the same holds for the cursor with which a subscription ended, and for where a topic stood",
        arguments: [true, false]
    )
    func ended(namesTopic: Bool) async throws {
        let scene = try await FeedScene()
        let topic = try await scene.api.makeTopic()
        let name = namesTopic ? topic : nil
        let cursors = try await scene.publish((1...5).map(String.init), to: [topic])
        // One that has heard one live, one that was replayed to, one that has heard nothing.
        let live = await scene.follow(name, after: nil).sink
        let replayed = await scene.follow(name, after: cursors[2]).sink
        _ = try await replayed.take(2)
        try await scene.publish(["6"], to: [topic])
        for sink in [live, replayed] { #expect(titles(try await sink.take(1)) == ["6"]) }
        let silent = await scene.follow(name, after: nil).sink
        scene.api.feed.loseTrack()
        var old: [String] = []
        for sink in [silent, live, replayed] {
            _ = try await sink.take(1)
            old.append(try #require(try sink.failure()?["extensions"]?["cursor"]?.stringValue))
        }
        let found = try await scene.api.run(
            "query($t: ID!) { getTopic(id: $t) { cursor } }",
            ["t": .string(topic)]
        )
        if namesTopic { old.append(try #require(found["data"]?["getTopic"]?["cursor"]?.stringValue)) }
        for cursor in old { #expect(try FeedScene.refusal(await scene.follow(name, after: cursor).outcome) == nil) }
        try await restore(scene, topic)
        for cursor in old {
            let refusal = try FeedScene.refusal(await scene.follow(name, after: cursor).outcome)
            #expect(refusal?["extensions"]?["code"] == "BAD_CURSOR")
        }
    }
}
