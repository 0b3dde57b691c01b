import GraphQLTransport
import Testing
import TocsinClient

@Suite("Following a topic", .timeLimit(.minutes(5)))
struct FollowTests {
    @Test("without a cursor the feed begins with the next message")
    func beginsNow() async throws {
        try await FakeServer.run { server in
            server.topic.store("old")
            let feed = RunningFeed(try server.makeClient(), count: 2)
            await feed.untilLive()
            server.topic.store("new")
            server.topic.store("newer")
            #expect(try await feed.titles == ["new", "newer"])
        }
    }

    @Test("with a cursor the feed begins after it")
    func resumes() async throws {
        try await FakeServer.run { server in
            for title in ["one", "two", "three"] { server.topic.store(title) }
            let feed = RunningFeed(try server.makeClient(), after: FakeTopic.cursor(1), count: 3)
            await feed.untilLive()
            server.topic.store("four")
            #expect(try await feed.titles == ["two", "three", "four"])
        }
    }

    @Test("a feed tells where it begins, and whoever keeps that misses nothing", arguments: [0, 2])
    func keepsResumePoint(stored: Int) async throws {
        try await FakeServer.run { server in
            for _ in 0..<stored { server.topic.store("old") }
            let first = RunningFeed(try server.makeClient(), count: 1)
            let point = try #require(await first.untilBegun())
            #expect(point.number == Int64(stored))
            first.messages.cancel()
            server.topic.store("meanwhile")
            let again = RunningFeed(try server.makeClient(), from: point, count: 2)
            server.topic.store("after")
            #expect(try await again.titles == ["meanwhile", "after"])
            let last = try #require(try await again.messages.value.last)
            server.topic.store("later")
            let behind = RunningFeed(try server.makeClient(), from: last.resumePoint, count: 1)
            #expect(try await behind.titles == ["later"])
        }
    }

    @Test("the events of a feed are its messages and, between them, what happens to it")
    func events() async throws {
        try await FakeServer.run { server in
            server.topic.store("one")
            let feed = try server.makeClient().follow(topic: .id("t1"), after: FakeTopic.cursor(0)) { _ in
                Issue.record("onChange was told")
            }
            var seen: [String] = []
            for try await event in feed.events {
                switch event {
                case .message(let message): seen.append(message.title)
                case .change(.live): seen.append("live")
                case .change: break
                }
                if Set(seen).isSuperset(of: ["one", "live"]) { break }
            }
            #expect(Set(seen) == ["one", "live"])
        }
    }

    @Test("a message arrives with all its parts")
    func parts() async throws {
        try await FakeServer.run { server in
            server.topic.store("one")
            let feed = RunningFeed(try server.makeClient(), after: FakeTopic.cursor(0), count: 1)
            let message = try #require(try await feed.messages.value.first)
            #expect(message.id == "message-1")
            #expect(message.number == 1)
            #expect(message.cursor == FakeTopic.cursor(1))
            #expect(message.topicID == "t1")
            #expect(message.data == ["host": "web-1"])
            #expect(message.url == nil)
        }
    }

    @Test("what is stored while the server is away comes once it is back, each once")
    func survivesRestart() async throws {
        try await FakeServer.run { server in
            server.topic.store("old")
            let feed = RunningFeed(try server.makeClient(), count: 4)
            await feed.untilLive()
            server.topic.store("before")
            await server.stop()
            server.topic.store("away 1")
            server.topic.store("away 2")
            #expect(await feed.untilInterrupted()?.code == .connectionFailed)
            try await server.start()
            await feed.untilLive()
            server.topic.store("after")
            #expect(try await feed.titles == ["before", "away 1", "away 2", "after"])
        }
    }

    @Test("a connection lost before the first message loses nothing of a topic with messages")
    func survivesLossBeforeFirstMessage() async throws {
        try await FakeServer.run { server in
            server.topic.store("old")
            let feed = RunningFeed(try server.makeClient(), count: 1)
            await feed.untilLive()
            await server.stop()
            server.topic.store("away")
            try await server.start()
            #expect(try await feed.titles == ["away"])
        }
    }

    @Test("a connection lost before the first message loses nothing of an empty topic")
    func survivesLossInEmptyTopic() async throws {
        try await FakeServer.run { server in
            let feed = RunningFeed(try server.makeClient(), count: 6)
            await feed.untilLive()
            await server.stop()
            let titles = (1...5).map { "away \($0)" }
            for title in titles { server.topic.store(title) }
            try await server.start()
            await feed.untilLive()
            server.topic.store("live")
            #expect(try await feed.titles == titles + ["live"])
        }
    }

    @Test("a message that comes twice is given out once")
    func dropsDoubles() async throws {
        try await FakeServer.run { server in
            let feed = RunningFeed(try server.makeClient(), count: 3)
            await feed.untilLive()
            server.topic.store("one")
            server.topic.sendAgain(1)
            server.topic.store("two")
            server.topic.sendAgain(1)
            server.topic.sendAgain(2)
            server.topic.store("three")
            #expect(try await feed.titles == ["one", "two", "three"])
        }
    }

    @Test("a hole in the numbers is filled by asking again")
    func fillsHoles() async throws {
        try await FakeServer.run { server in
            let feed = RunningFeed(try server.makeClient(), count: 3)
            await feed.untilLive()
            server.topic.store("one")
            server.topic.store("two", sends: false)
            server.topic.store("three")
            #expect(try await feed.titles == ["one", "two", "three"])
        }
    }

    @Test("a subscription that the server ends for a while goes on")
    func survivesTemporaryError() async throws {
        try await FakeServer.run { server in
            let feed = RunningFeed(try server.makeClient(), count: 2)
            await feed.untilLive()
            server.topic.store("one")
            server.topic.endAll(.failed(errors: FakeTopic.error("UNAVAILABLE", "Too busy.")))
            #expect(await feed.untilInterrupted()?.code == .unavailable)
            server.topic.store("two")
            #expect(try await feed.titles == ["one", "two"])
        }
    }

    @Test("a cursor that the server refuses ends the feed")
    func badCursor() async throws {
        try await FakeServer.run { server in
            let feed = RunningFeed(try server.makeClient(), after: "forged", count: 1)
            let error = await #expect(throws: ClientError.self) { try await feed.messages.value }
            #expect(error?.code == .badCursor)
        }
    }

    @Test("a token that is not accepted ends the feed")
    func badToken() async throws {
        try await FakeServer.run { server in
            let feed = RunningFeed(try server.makeClient(token: "bad"), count: 1)
            let error = await #expect(throws: ClientError.self) { try await feed.messages.value }
            #expect(error?.code == .unauthenticated)
        }
    }

    @Test("an address without a GraphQL socket ends the feed")
    func noSocket() async throws {
        try await FakeServer.run { server in
            let client = try server.makeClient(path: "/healthz")
            let feed = client.follow(topic: .id("t1")).makeAsyncIterator()
            let error = await #expect(throws: ClientError.self) { try await feed.next() }
            #expect(error?.code == .badAnswer)
            #expect(error?.message.contains("status 4") == true, "\(error?.message ?? "")")
        }
    }

    @Test("a token that ends while the feed runs ends it")
    func tokenEnds() async throws {
        try await FakeServer.run { server in
            let feed = RunningFeed(try server.makeClient(), count: 1)
            await feed.untilLive()
            server.topic.endAll(.unauthorized)
            let error = await #expect(throws: ClientError.self) { try await feed.messages.value }
            #expect(error?.code == .unauthenticated)
        }
    }

    @Test("a cancelled feed ends and leaves no subscription")
    func cancellation() async throws {
        try await FakeServer.run { server in
            let feed = RunningFeed(try server.makeClient(), count: 1)
            await feed.untilLive()
            #expect(server.topic.subscriberCount == 1)
            feed.messages.cancel()
            #expect(try await feed.messages.value.isEmpty)
            while server.topic.subscriberCount > 0 { await Task.yield() }
        }
    }
}
