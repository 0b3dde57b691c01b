import JSON
import Synchronization
import Testing
import TocsinClient

@Suite("One socket for all feeds", .timeLimit(.minutes(5)))
struct SharedSocketTests {
    private static let start = ResumePoint(topicID: "t1", number: 0, cursor: nil)

    @Test("a hundred feeds share a socket, and the next gets another")
    func shares() async throws {
        try await FakeServer.run { server in
            let client = try server.makeClient()
            let feeds = (0..<100).map { _ in RunningFeed(client, from: Self.start, count: 1) }
            for feed in feeds { await feed.untilLive() }
            #expect(server.topic.shown.count == 1)
            let another = RunningFeed(client, from: Self.start, count: 1)
            await another.untilLive()
            #expect(server.topic.shown.count == 2)
            server.topic.store("one")
            for feed in feeds + [another] { #expect(try await feed.titles == ["one"]) }
        }
    }

    @Test("a reader who is behind is parked: the others feel nothing, and it misses nothing")
    func parks() async throws {
        try await FakeServer.run { server in
            let client = try server.makeClient()
            let lives = Mutex(0)
            let slow = client.follow(from: Self.start) { change in
                if case .live = change { lives.withLock { $0 += 1 } }
            }.makeAsyncIterator()
            server.topic.store("0")
            #expect(try await slow.next()?.title == "0")
            for batch in 0..<8 {
                let titles = (1...100).map { "\(batch * 100 + $0)" }
                let fast = RunningFeed(
                    client,
                    from: ResumePoint(
                        topicID: "t1",
                        number: Int64(batch * 100 + 1),
                        cursor: FakeTopic.cursor(Int64(batch * 100 + 1))
                    ),
                    count: 100
                )
                for title in titles { server.topic.store(title) }
                #expect(try await fast.titles == titles)
            }
            // Its operation was completed, and the reader still has all to come.
            await until { server.topic.subscriberCount == 0 }
            for number in 1...800 { #expect(try await slow.next()?.title == "\(number)") }
            server.topic.store("last")
            #expect(try await slow.next()?.title == "last")
            #expect(lives.withLock { $0 } == 1)
        }
    }

    @Test("a paused client has no subscription, but may ask; resumed, it gets what was stored meanwhile")
    func pauses() async throws {
        try await FakeServer.run { server in
            let client = try server.makeClient()
            let feed = RunningFeed(client, from: Self.start, count: 2)
            await feed.untilLive()
            server.topic.store("one")
            client.pause()
            await until { server.topic.subscriberCount == 0 }
            _ = try await client.publish(topic: .id("t1"), title: "two")
            client.resume()
            #expect(try await feed.titles == ["one", "two"])
        }
    }

    @Test("the connection's states are told in their order")
    func states() async throws {
        try await FakeServer.run { server in
            let client = try server.makeClient()
            var states = client.connection.makeAsyncIterator()
            func next() async -> String {
                switch await states.next() {
                case .idle?: "idle"
                case .connecting?: "connecting"
                case .live?: "live"
                case .waiting(_, let error)?: "waiting \(error.code)"
                case .paused?: "paused"
                case .signedOut(let error)?: "signed out \(error.code)"
                case nil: "nothing"
                }
            }
            #expect(await next() == "idle")
            let feed = RunningFeed(client, from: Self.start, count: 1)
            #expect(await next() == "connecting")
            #expect(await next() == "live")
            await server.stop()
            #expect(await next() == "waiting CONNECTION_FAILED")
            #expect(await next() == "connecting")
            try await server.start()
            while await next() != "live" {}
            client.pause()
            #expect(await next() == "paused")
            feed.messages.cancel()
            _ = try await feed.messages.value
        }
    }

    @Test("all topics of the caller's are followed from now on, or from a place")
    func followsAll() async throws {
        try await FakeServer.run { server in
            server.topic.store("old")
            let client = try server.makeClient()
            let feed = RunningFeed(client, allAfter: nil, count: 1)
            #expect(await feed.untilCaughtUp() == FeedPlace(cursor: FakeTopic.cursor(1)))
            server.topic.store("new")
            #expect(try await feed.titles == ["new"])
            let all = RunningFeed(client, allAfter: FeedPlace(cursor: FakeTopic.cursor(0)), count: 2)
            #expect(try await all.titles == ["old", "new"])
        }
    }

    @Test("a feed says when what was stored before has come")
    func caughtUp() async throws {
        try await FakeServer.run { server in
            for number in 1...50 { server.topic.store("\(number)") }
            let feed = RunningFeed(try server.makeClient(), after: FakeTopic.cursor(0), count: 51)
            #expect(await feed.untilCaughtUp() == FeedPlace(cursor: FakeTopic.cursor(50)))
            server.topic.store("51")
            #expect(try await feed.titles.count == 51)
        }
    }

    @Test("any subscription comes back by itself and says that events may be missing")
    func subscriptionComesBack() async throws {
        try await FakeServer.run { server in
            let client = try server.makeClient()
            let (changes, change) = AsyncStream.makeStream(of: String.self)
            var words = changes.makeAsyncIterator()
            let events = client.subscribe(
                "subscription { onCreateMessage { id } }",
                onLive: { change.yield("live") },
                onGap: { change.yield("gap \($0.code)") }
            )
            let reading = Task {
                var titles: [String?] = []
                for try await event in events {
                    titles.append(event["onCreateMessage"]?["title"]?.stringValue)
                    change.yield("event")
                    if titles.count == 2 { break }
                }
                return titles
            }
            #expect(await words.next(isolation: #isolation) == "live")
            server.topic.store("one")
            // An event that has not come before the stop is lost, as it says.
            #expect(await words.next(isolation: #isolation) == "event")
            await server.stop()
            #expect(await words.next(isolation: #isolation) == "gap CONNECTION_FAILED")
            try await server.start()
            while await words.next(isolation: #isolation) != "live" {}
            server.topic.store("two")
            #expect(try await reading.value == ["one", "two"])
        }
    }

    @Test("a closed client ends its feeds as if their tasks were cancelled")
    func closes() async throws {
        try await FakeServer.run { server in
            let client = try server.makeClient()
            let feed = RunningFeed(client, from: Self.start, count: 1)
            await feed.untilLive()
            client.close()
            #expect(try await feed.messages.value.isEmpty)
            await until { server.topic.subscriberCount == 0 }
        }
    }
}
