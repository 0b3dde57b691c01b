import JSON
import Synchronization
import Testing
import TocsinClient

@Suite("Feeds of the Swift client, as served", .timeLimit(.minutes(5)))
struct ClientFeedTests {
    @Test("all own topics are followed from a place, and a feed is told when stored messages have come")
    func followsAll() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.ada)
            let other = try await client.makeTopic(named: "other")
            let answer = try await client.query("{ serverInfo { version features reconnectSpreadMs } me { cursor } }")
            #expect(answer["serverInfo"]?["features"] == ["feedCursor", "replayedPing"])
            #expect(answer["serverInfo"]?["reconnectSpreadMs"] == 5000)
            let place = FeedPlace(cursor: try #require(answer["me"]?["cursor"]?.stringValue))
            for title in ["one", "two"] { _ = try await client.publish(topic: .id(scene.topicID), title: title) }
            _ = try await client.publish(topic: .id(other), title: "three")

            let (places, caughtUp) = AsyncStream.makeStream(of: FeedPlace?.self)
            let feed = client.followAll(after: place) { change in
                if case .caughtUp(let place) = change { caughtUp.yield(place) }
            }
            let reading = Task {
                var messages: [FeedMessage] = []
                for try await message in feed {
                    messages.append(message)
                    if messages.count == 4 { break }
                }
                return messages
            }
            var behind: FeedPlace?
            for await place in places {
                behind = place
                break
            }
            _ = try await client.publish(topic: .id(scene.topicID), title: "four")
            let messages = try await reading.value
            #expect(messages.map(\.title) == ["one", "two", "three", "four"])
            #expect(behind?.cursor == messages[2].cursor)
            // Who may read others' messages too has no one place; bob has his own.
            let bobs = try await installation.curl("{ me { cursor } }", token: scene.bob)
            #expect(bobs["data"]?["me"]?["cursor"]?.stringValue?.isEmpty == false)
        }
    }

    @Test("a socket that asks is told behind the replay, and with the acknowledgement when its token ends")
    func replayed() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.ada)
            for number in 1...300 { _ = try await client.publish(topic: .id(scene.topicID), title: "\(number)") }
            let socket = try await RawSocket(installation, token: scene.ada)
            guard case .message(let welcome) = try await socket.next() else { throw HarnessFailure("No welcome.") }
            #expect(welcome["type"] == "connection_ack")
            #expect((welcome["payload"]?["expiresAt"]?.intValue ?? 0) > 1_700_000_000_000)
            #expect(welcome["payload"]?["version"]?.stringValue?.isEmpty == false)
            let document: JSONValue = "subscription { onCreateMessage(after: \"\") { title } }"
            try socket.send(["id": "1", "type": "subscribe", "payload": ["query": document]])
            try socket.send(["type": "ping", "payload": ["replayed": "1"]])
            var titles = 0
            while case .message(let message) = try await socket.next() {
                if message["type"] == "next" { titles += 1 }
                if message["type"] == "pong" {
                    #expect(message["payload"] == ["replayed": "1"])
                    break
                }
            }
            #expect(titles == 300)
        }
    }
}
