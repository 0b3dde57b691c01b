import JSON
import Synchronization
import Testing
import TocsinClient

@Suite("Founding rows: tokens in the app", .timeLimit(.minutes(5)))
struct TokenManagementTests {
    @Test("A21: an app's feed and requests outlive their token on one socket, with a closure that gets the next one")
    func refresh() async throws {
        try await Installation.run { installation in
            let topics = try installation.makeClient(token: try await installation.addUser("ada"))
            let topicID = try await topics.makeTopic(named: "alerts")
            let short = try await installation.makeToken(user: "ada", ["--ttl", "12s"])
            let provider = Provider([short, try await installation.makeToken(user: "ada")])
            let client = try TocsinClient(
                installation.address,
                credentials: .provider { try provider.next($0) }
            )
            let states = StateLog(client)
            let follower = Follower(client, topicID: topicID)
            try await follower.untilLive()
            _ = try await client.publish(topic: .id(topicID), title: "one")
            try await eventually("the first token ends") {
                try await installation.http("/graphql", token: short, ["--json", #"{"query":"{ me { username } }"}"#])
                    .status == 401
            }
            _ = try await client.publish(topic: .id(topicID), title: "two")
            try await eventually("both messages have come") { follower.messages.count == 2 }
            #expect(follower.messages.map(\.title) == ["one", "two"])
            #expect(provider.reasons == ["first", "expiring"])
            #expect(states.names == ["idle", "connecting", "live"])
            follower.stop()
        }
    }
}

/// Gives one token after the other.
private final class Provider: Sendable {
    private let tokens: [String]
    private let asked = Mutex<[String]>([])

    init(_ tokens: [String]) { self.tokens = tokens }

    var reasons: [String] { asked.withLock { $0 } }

    func next(_ request: CredentialRequest) throws -> AccessToken {
        let count = asked.withLock { asked in
            switch request.reason {
            case .first: asked.append("first")
            case .expiring: asked.append("expiring")
            case .refused(let error): asked.append("refused: \(error.message)")
            }
            return asked.count
        }
        guard count <= tokens.count else { throw SignedOut() }
        return AccessToken(tokens[count - 1])
    }
}

/// What a client's connection went through.
private final class StateLog: Sendable {
    private final class Record: Sendable {
        let names = Mutex<[String]>([])
    }

    private let record = Record()
    private let task: Task<Void, Never>

    init(_ client: TocsinClient) {
        let (record, states) = (record, client.connection)
        task = Task {
            for await state in states {
                let name =
                    switch state {
                    case .idle: "idle"
                    case .connecting: "connecting"
                    case .live: "live"
                    case .waiting: "waiting"
                    case .paused: "paused"
                    case .signedOut: "signed out"
                    }
                record.names.withLock { $0.append(name) }
            }
        }
    }

    deinit { task.cancel() }

    var names: [String] { record.names.withLock { $0 } }
}
