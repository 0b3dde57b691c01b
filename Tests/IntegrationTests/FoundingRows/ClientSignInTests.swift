import JSON
import Synchronization
import Testing
import TocsinClient

@Suite("Founding rows: sign-in in the app", .timeLimit(.minutes(5)))
struct ClientSignInTests {
    /// What the app keeps between its starts.
    private final class Kept: Sendable {
        private let place = Mutex<UserSession?>(nil)

        var session: UserSession? { place.withLock { $0 } }

        func keep(_ session: UserSession?) { place.withLock { $0 = session } }
    }

    private static let password = "correct horse battery"

    @Test("E3, E18: an app signs in, goes on with the session it kept, renews it on its socket, and signs out")
    func signIn() async throws {
        try await Installation.run { installation in
            _ = try await BrowserScene.setUp(installation, name: "root", password: Self.password)
            let kept = Kept()
            let wrong = await #expect(throws: ClientError.self) {
                try await TocsinClient.signIn(
                    installation.address,
                    username: "root",
                    password: "wrong horse",
                    onChange: kept.keep
                )
            }
            #expect(wrong?.code == .unauthenticated)
            let first = try await TocsinClient.signIn(
                installation.address,
                username: "root",
                password: Self.password,
                device: "Root's iPhone",
                onChange: kept.keep
            )
            let topicID = try await first.makeTopic(named: "alerts")
            first.close()

            let session = try #require(kept.session)
            let client = try TocsinClient(installation.address, credentials: .session(session, onChange: kept.keep))
            let follower = Follower(client, topicID: topicID)
            try await follower.untilLive()
            let newer = try await client.refreshSession()
            #expect(newer.id == session.id && newer.token != session.token && newer.expiresAt >= session.expiresAt)
            #expect(kept.session == newer)
            _ = try await client.publish(topic: .id(topicID), title: "one")
            try await eventually("the message has come") { follower.messages.map(\.title) == ["one"] }

            let taken = await #expect(throws: ClientError.self) {
                try await client.mutate("mutation { createTopic(input: {name: \"alerts\"}) { id } }")
            }
            #expect(taken?.code == .conflict && taken?.path == "createTopic", "\(String(describing: taken))")
            #expect(taken?.storedRow?["id"] == .string(topicID))

            try await client.signOut()
            try await eventually("the feed has ended") { follower.failure?.code == .signedOut }
            #expect(kept.session == nil)
            let late = await #expect(throws: ClientError.self) { try await client.query("{ me { username } }") }
            #expect(late?.code == .signedOut)
            let ended = try await installation.curl("{ me { username } }", token: newer.token)
            #expect(ended.errorCode == "UNAUTHENTICATED")
        }
    }
}
