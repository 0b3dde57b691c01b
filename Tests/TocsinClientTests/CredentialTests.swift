import Encodings
import Foundation
import GraphQLTransport
import Synchronization
import Testing
import TocsinClient

/// What a client tells its log.
private final class LoggedEvents: Sendable {
    private let events = Mutex<[String]>([])

    var lines: [String] { events.withLock { $0 } }

    func add(_ event: ClientEvent) { events.withLock { $0.append(event.description) } }
}

@Suite("Credentials", .timeLimit(.minutes(5)))
struct CredentialTests {
    /// `token-1`, `token-2` and so on, each good for so long by the test's clock.
    private static func tokens(_ time: ManualTime, life: Duration = .seconds(100)) -> FakeProvider {
        FakeProvider { call in
            let end = Date(timeIntervalSince1970: Double((time.environment.wallClock() + life).components.seconds))
            return .token(AccessToken("token-\(call)", expiresAt: end))
        }
    }

    @Test("feeds and requests across 20 refreshes: each message once, and one call of the provider a refresh")
    func refreshes() async throws {
        try await FakeServer.run { server in
            let time = ManualTime()
            let provider = Self.tokens(time)
            let client = try server.makeClient(provider, time)
            server.topic.accept("token-1", "token-2")
            let feeds = (0..<110).map { _ in RunningFeed(client, after: "cursor-0", count: 21) }
            for feed in feeds { await feed.untilLive() }
            for round in 1...20 {
                let title = "message \(round)"
                async let first = client.query("{ __typename }")
                async let second = client.publish(topic: .id("t1"), title: title)
                _ = try await (first, second)
                server.topic.accept("token-\(round)", "token-\(round + 1)")
                // Both sockets know when the next token is due.
                await until { time.pending.count { $0 == .seconds(50) } == 2 }
                time.advance(by: .seconds(50))
                _ = try await client.query("{ __typename }")
                await until { provider.calls == round + 1 && server.topic.renewals == 110 * round }
            }
            // With its last message a feed ends, and with the last feed its socket.
            _ = try await client.publish(topic: .id("t1"), title: "message 21")
            let expected = (1...21).map { "message \($0)" }
            for feed in feeds { #expect(try await feed.titles == expected) }
            #expect(provider.calls == 21)
            // Two sockets for 110 feeds, and no third.
            #expect(server.topic.shown.filter { $0 == "token-21" }.count >= 2)
        }
    }

    @Test("a provider that fails is asked again, and told how often it has failed")
    func providerFails() async throws {
        try await FakeServer.run { server in
            let time = ManualTime(random: 0.01)
            let provider = FakeProvider { $0 <= 5 ? .failure : .token(AccessToken(FakeTopic.goodToken)) }
            let client = try server.makeClient(provider, time)
            let query = Task { try await client.query("{ __typename }") }
            await until {
                time.advanceToNext(within: .seconds(1))
                return provider.calls == 6
            }
            _ = try await query.value
            #expect(provider.failures == [0, 1, 2, 3, 4, 5])
            #expect(time.now < .seconds(1))
        }
    }

    @Test("what a client does by itself is told to its log, by codes and numbers")
    func log() async throws {
        try await FakeServer.run { server in
            let provider = FakeProvider { $0 == 1 ? .failure : .token(AccessToken("token-2")) }
            server.topic.accept("token-2")
            server.topic.refuseNextCreates(1)
            var settings = FakeServer.settings()
            settings.credentialPauses = Backoff(first: .milliseconds(1), longest: .milliseconds(2))
            let told = LoggedEvents()
            settings.log = told.add
            let client = try TocsinClient(server.address, credentials: provider.credentials, settings: settings)
            _ = try await client.publish(topic: .id("t1"), title: "one")
            #expect(told.lines == ["token.failed 1", "token.taken", "request.repeated UNAVAILABLE 1"])
        }
    }

    @Test("while the provider fails, the old token serves until it ends, and no longer")
    func oldTokenServes() async throws {
        try await FakeServer.run { server in
            let time = ManualTime(random: 0.5)
            let end = Date(timeIntervalSince1970: 1_800_000_100)
            let provider = FakeProvider { $0 == 1 ? .token(AccessToken("token-1", expiresAt: end)) : .failure }
            let client = try server.makeClient(provider, time)
            server.topic.accept("token-1")
            _ = try await client.query("{ __typename }")
            time.advance(by: .seconds(99))
            _ = try await client.query("{ __typename }")
            await until { provider.calls >= 2 }
            time.advance(by: .seconds(1))
            let late = Task { try await client.query("{ __typename }") }
            let clock = Task {
                while !Task.isCancelled {
                    time.advanceToNext(within: .seconds(60))
                    await Task.yield()
                }
            }
            let error = await #expect(throws: ClientError.self) { try await late.value }
            clock.cancel()
            #expect(error?.code == .timedOut)
            #expect(server.topic.shown == ["token-1", "token-1"])
        }
    }

    @Test("a provider that hangs is given up after 30 seconds and asked again")
    func providerHangs() async throws {
        try await FakeServer.run { server in
            let time = ManualTime()
            let provider = FakeProvider { $0 == 1 ? .hangs : .token(AccessToken(FakeTopic.goodToken)) }
            defer { provider.end() }
            let feed = RunningFeed(try server.makeClient(provider, time), after: "cursor-0", count: 1)
            server.topic.store("one")
            // The topic's name is asked for first, which is given up too, and tried again.
            await until {
                if provider.calls == 1, time.pending.contains(.seconds(30)) { time.advance(by: .seconds(30)) }
                time.advanceToNext(within: .milliseconds(100))
                return provider.calls == 2
            }
            #expect(try await feed.titles == ["one"])
            #expect(time.now >= .seconds(30))
        }
    }

    @Test("a refused token is replaced once, and a request goes on with the new one")
    func refusedOnce() async throws {
        try await FakeServer.run { server in
            let provider = FakeProvider { .token(AccessToken("token-\($0)")) }
            server.topic.accept("token-2")
            _ = try await server.makeClient(provider).publish(topic: "alerts", title: "one")
            #expect(server.topic.stored.map(\.title) == ["one"])
            #expect(provider.calls == 2)
            guard case .refused(let error)? = provider.requests.last?.reason else {
                Issue.record("\(provider.requests)")
                return
            }
            #expect(error.code == .unauthenticated)
        }
    }

    @Test("a token that is refused again is the end, for requests and feeds")
    func refusedTwice() async throws {
        try await FakeServer.run { server in
            let provider = FakeProvider { .token(AccessToken("bad-\($0)")) }
            let client = try server.makeClient(provider, ManualTime())
            let feed = client.follow(from: ResumePoint(topicID: "t1", number: 0, cursor: nil)).makeAsyncIterator()
            let ended = await #expect(throws: ClientError.self) { try await feed.next() }
            #expect(ended?.code == .unauthenticated)
            let error = await #expect(throws: ClientError.self) { try await client.query("{ __typename }") }
            #expect(error?.code == .unauthenticated)
            #expect(provider.calls == 2)
        }
    }

    @Test("a token that is revoked in the middle of a replay costs no message and doubles none")
    func revokedInReplay() async throws {
        try await FakeServer.run { server in
            let provider = FakeProvider { .token(AccessToken("token-\($0)")) }
            server.topic.accept("token-1", "token-2")
            let titles = (1...10).map { "message \($0)" }
            for title in titles { server.topic.store(title) }
            server.topic.revokeInReplay(after: 5)
            let feed = RunningFeed(try server.makeClient(provider), after: "cursor-0", count: 10)
            #expect(try await feed.titles == titles)
            #expect(provider.calls == 2)
        }
    }

    @Test("a newer token that the open socket does not take is tried on a new one")
    func refusedOnSocket() async throws {
        try await FakeServer.run { server in
            let time = ManualTime()
            let provider = Self.tokens(time)
            server.topic.accept("token-1", "token-2")
            server.topic.refuseOnce("token-2")
            let feed = RunningFeed(try server.makeClient(provider, time), after: "cursor-0", count: 2)
            await feed.untilLive()
            server.topic.store("one")
            await until { time.pending.contains(.seconds(50)) }
            time.advance(by: .seconds(50))
            await feed.untilLive()
            server.topic.store("two")
            #expect(try await feed.titles == ["one", "two"])
            #expect(provider.calls == 2)
            #expect(server.topic.shown.suffix(2) == ["token-2", "token-2"])
        }
    }

    @Test("a token of other rights begins the feeds again that it may go on with")
    func otherRights() async throws {
        try await FakeServer.run { server in
            let time = ManualTime()
            let provider = Self.tokens(time)
            server.topic.accept("token-1", "token-2")
            let feed = RunningFeed(try server.makeClient(provider, time), after: "cursor-0", count: 2)
            await feed.untilLive()
            server.topic.store("one")
            await until { time.pending.contains(.seconds(50)) }
            time.advance(by: .seconds(50))
            await until { server.topic.renewals == 1 }
            server.topic.endAll(.failed(errors: FakeTopic.error("UNAUTHORIZED", "Other rights.")))
            await feed.untilLive()
            server.topic.store("two")
            #expect(try await feed.titles == ["one", "two"])
        }
    }

    @Test("another user's token is shown to nobody and ends the feeds")
    func otherUser() async throws {
        try await FakeServer.run { server in
            let time = ManualTime()
            let start = Int64(1_800_000_000)
            let (ada, bob) = (
                FakeProvider.webToken("ada", issued: start, ends: start + 100),
                FakeProvider.webToken("bob", issued: start, ends: start + 900)
            )
            let provider = FakeProvider { .token(AccessToken($0 == 1 ? ada : bob)) }
            server.topic.accept(ada, bob)
            let client = try server.makeClient(provider, time)
            let feed = client.follow(from: ResumePoint(topicID: "t1", number: 0, cursor: nil)).makeAsyncIterator()
            server.topic.store("one")
            #expect(try await feed.next()?.title == "one")
            await until { !time.pending.filter { $0 > .seconds(30) && $0 <= .seconds(50) }.isEmpty }
            time.advance(by: .seconds(50))
            let error = await #expect(throws: ClientError.self) { try await feed.next() }
            #expect(error?.code == .signedOut)
            #expect(!server.topic.shown.contains(bob))
            var states = client.connection.makeAsyncIterator()
            guard case .signedOut(let reason)? = await states.next() else {
                Issue.record("The connection is not signed out.")
                return
            }
            #expect(reason.code == .signedOut)
        }
    }

    @Test("a provider that says that nobody is signed in ends requests and feeds")
    func signedOut() async throws {
        try await FakeServer.run { server in
            let client = try server.makeClient(FakeProvider { _ in .signedOut })
            let feed = client.follow(from: ResumePoint(topicID: "t1", number: 0, cursor: nil)).makeAsyncIterator()
            let ended = await #expect(throws: ClientError.self) { try await feed.next() }
            #expect(ended?.code == .signedOut)
            let error = await #expect(throws: ClientError.self) { try await client.query("{ __typename }") }
            #expect(error?.code == .signedOut)
            #expect(server.topic.shown == [])
        }
    }

    @Test("a wall clock that is hours wrong does not change when a token is renewed", arguments: [-7200, 0, 7200])
    func wrongClock(seconds: Int) async throws {
        try await FakeServer.run { server in
            let time = ManualTime(wallStart: .seconds(1_800_000_000 + seconds))
            let start = Int64(1_800_000_000)
            let token = FakeProvider.webToken("ada", issued: start, ends: start + 3600)
            let provider = FakeProvider { _ in .token(AccessToken(token)) }
            server.topic.accept(token)
            let client = try server.makeClient(provider, time)
            let feed = client.follow(from: ResumePoint(topicID: "t1", number: 0, cursor: nil)).makeAsyncIterator()
            server.topic.store("one")
            #expect(try await feed.next()?.title == "one")
            await until { time.pending.contains { $0 > .seconds(3000) && $0 <= .seconds(3240) } }
            #expect(provider.calls == 1)
        }
    }

    @Test("an API key is shown as what it is")
    func apiKey() async throws {
        try await FakeServer.run { server in
            server.topic.accept("key")
            let client = try TocsinClient(server.address, credentials: .apiKey("key"), settings: FakeServer.settings())
            server.topic.store("one")
            #expect(try await RunningFeed(client, after: "cursor-0", count: 1).titles == ["one"])
        }
    }

    @Test("a token does not show in texts")
    func redacted() {
        let token = AccessToken("secret")
        #expect("\(token) \(String(reflecting: token))" == "<token> <token>")
        #expect(!String(reflecting: [token]).contains("secret"))
    }

    @Test(
        "the server's date is read as it is written",
        arguments: [0, 784_111_777, 951_782_400, 1_800_000_000, 4_107_542_399]
    )
    func dates(seconds: Int64) {
        #expect(HTTPDate.seconds(of: HTTPDate.text(secondsSince1970: seconds)) == seconds)
        let others = [
            "", "today", "Sun, 06 Nov 1994", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
        ]
        for text in others { #expect(HTTPDate.seconds(of: text) == nil) }
    }
}
