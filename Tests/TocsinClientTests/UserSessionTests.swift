import Foundation
import GraphQLTransport
import Synchronization
import Testing
import TocsinClient

@Suite("Sign-in of the client", .timeLimit(.minutes(5)))
struct UserSessionTests {
    /// What an app keeps between its starts, and what it kept before.
    private final class Kept: Sendable {
        private let sessions = Mutex<[UserSession?]>([])

        func keep(_ session: UserSession?) { sessions.withLock { $0.append(session) } }

        var current: UserSession? { sessions.withLock { $0.last ?? nil } }
        /// The token of each change; nil for the end.
        var tokens: [String?] { sessions.withLock { $0.map { $0?.token } } }
    }

    /// A client that has signed in, whose session lasts for 100 seconds.
    private static func signIn(_ server: FakeServer, _ time: ManualTime, _ kept: Kept) async throws -> TocsinClient {
        server.topic.signIn {
            Date(timeIntervalSince1970: Double((time.environment.wallClock() + .seconds(100)).components.seconds))
        }
        return try await TocsinClient.signIn(
            server.address,
            username: "ada",
            password: "secret",
            settings: FakeServer.settings(time),
            onChange: kept.keep
        )
    }

    @Test("a session gets a new token before its end, shows it on the open socket, and the app keeps it")
    func renewed() async throws {
        try await FakeServer.run { server in
            let (time, kept) = (ManualTime(), Kept())
            let client = try await Self.signIn(server, time, kept)
            #expect(client.session?.username == "ada")
            let feed = RunningFeed(client, after: "cursor-0", count: 2)
            await feed.untilLive()
            server.topic.store("one")
            await until { time.pending.contains(.seconds(50)) }
            time.advance(by: .seconds(50))
            await until { server.topic.renewals == 1 }
            async let first = client.query("{ __typename }")
            async let second = client.query("{ __typename }")
            _ = try await (first, second)
            #expect(kept.tokens == ["session-1", "session-2"])
            #expect(server.topic.shown.suffix(2) == ["session-2", "session-2"])
            server.topic.store("two")
            #expect(try await feed.titles == ["one", "two"])
        }
    }

    @Test("whoever asks for a new token at once, and whoever needs one meanwhile, get the same one")
    func askedFor() async throws {
        try await FakeServer.run { server in
            let kept = Kept()
            let client = try await Self.signIn(server, ManualTime(), kept)
            #expect(try await client.refreshSession().token == "session-2")
            #expect(try await client.refreshSession().token == "session-3")
            _ = try await client.query("{ __typename }")
            #expect(kept.tokens == ["session-1", "session-2", "session-3"])
            #expect(server.topic.shown.last == "session-3")
        }
    }

    @Test("a kept session is used as it is, and is renewed where its end seems to have passed")
    func kept() async throws {
        try await FakeServer.run { server in
            let (time, kept) = (ManualTime(), Kept())
            _ = try await Self.signIn(server, time, kept)
            for (seconds, token) in [(10, "session-1"), (200, "session-2")] {
                time.advance(by: .seconds(seconds))
                let stored = try JSONEncoder().encode(try #require(kept.current))
                let read = try JSONDecoder().decode(UserSession.self, from: stored)
                let client = try TocsinClient(
                    server.address,
                    credentials: .session(read, onChange: kept.keep),
                    settings: FakeServer.settings(time)
                )
                _ = try await client.query("{ __typename }")
                #expect(server.topic.shown.last == token)
            }
            #expect(
                "\(String(describing: kept.current)) \(String(reflecting: kept.current))".contains("session-") == false
            )
        }
    }

    @Test("a session that the server has ended ends feeds and requests with SIGNED_OUT, and the app hears of it")
    func ended() async throws {
        try await FakeServer.run { server in
            let kept = Kept()
            let client = try await Self.signIn(server, ManualTime(), kept)
            let feed = RunningFeed(client, after: "cursor-0", count: 1)
            await feed.untilLive()
            server.topic.accept("another")
            server.topic.endAll(.unauthorized)
            let end = await #expect(throws: ClientError.self) { try await feed.titles }
            #expect(end?.code == .signedOut)
            let error = await #expect(throws: ClientError.self) { try await client.query("{ __typename }") }
            #expect(error?.code == .signedOut)
            #expect(kept.tokens == ["session-1", nil])
            #expect(client.session == nil)
        }
    }

    @Test("signing out ends feeds and requests; where the server cannot be reached nothing changes")
    func signedOut() async throws {
        try await FakeServer.run { server in
            let kept = Kept()
            let client = try await Self.signIn(server, ManualTime(), kept)
            await server.stop()
            var once = FakeServer.settings()
            once.maximumAttempts = 1
            let session = try #require(kept.current)
            let offline = try TocsinClient(
                server.address,
                credentials: .session(session, onChange: kept.keep),
                settings: once
            )
            let failure = await #expect(throws: ClientError.self) { try await offline.signOut() }
            #expect(failure?.code == .connectionFailed)
            #expect(offline.session == session)
            try await server.start()
            let feed = RunningFeed(client, after: "cursor-0", count: 1)
            await feed.untilLive()
            try await client.signOut()
            let end = await #expect(throws: ClientError.self) { try await feed.titles }
            #expect(end?.code == .signedOut)
            let late = await #expect(throws: ClientError.self) {
                try await client.publish(topic: .id("t1"), title: "one")
            }
            #expect(late?.code == .signedOut)
            #expect(kept.tokens == ["session-1", nil])
            try await client.signOut()
        }
    }
}
