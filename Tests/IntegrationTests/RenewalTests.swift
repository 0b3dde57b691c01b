import JSON
import Testing
import TocsinClient

@Suite("Newer tokens on open sockets, as served", .timeLimit(.minutes(5)))
struct RenewalTests {
    private static let follow = "subscription { onCreateMessage { title } }"

    private static func ping(_ token: String) -> JSONValue {
        ["type": "ping", "payload": ["authorization": .string("Bearer \(token)")]]
    }

    private static func message(_ socket: RawSocket) async throws -> JSONValue {
        let event = try await socket.next()
        guard case .message(let message) = event else { throw HarnessFailure("The socket closed: \(event)") }
        return message
    }

    private static func title(_ socket: RawSocket) async throws -> String? {
        try await message(socket)["payload"]?["data"]?["onCreateMessage"]?["title"]?.stringValue
    }

    @Test("a renewed socket gets each message once beyond its first token's end, until the newer one is revoked")
    func renewed() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.ada)
            let newer = try await installation.makeToken(user: "ada", ["--read-only"])
            let first = try await installation.makeToken(user: "ada", ["--read-only", "--ttl", "15s"])
            let socket = try await RawSocket(installation, token: first)
            try await socket.subscribe(Self.follow)
            _ = try await client.publish(topic: .id(scene.topicID), title: "one")
            #expect(try await Self.title(socket) == "one")

            try socket.send(Self.ping("nonsense"))
            let refusal = try await Self.message(socket)
            #expect(refusal["type"] == "pong" && refusal["payload"]?["authenticated"] == false)
            #expect(refusal["payload"]?["message"]?.stringValue?.isEmpty == false)
            try socket.send(Self.ping(newer))
            let answer = try await Self.message(socket)
            #expect(answer["type"] == "pong" && answer["payload"]?["authenticated"] == true)
            #expect((answer["payload"]?["expiresAt"]?.intValue ?? 0) > 1_700_000_000_000)

            try await eventually("the first token ends") {
                try await installation.http("/graphql", token: first, ["--json", #"{"query":"{ me { username } }"}"#])
                    .status == 401
            }
            for title in ["two", "three"] {
                _ = try await client.publish(topic: .id(scene.topicID), title: title)
                #expect(try await Self.title(socket) == title)
            }
            for id in try await Self.readOnlyTokens(installation) {
                try await installation.administer(["token", "revoke", id])
            }
            #expect(try await socket.untilClosed() == 4403)
        }
    }

    @Test("another user's token closes the socket, and a token of other rights ends the subscription alone")
    func others() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let stranger = try await RawSocket(installation, token: scene.ada)
            try await stranger.subscribe(Self.follow)
            try stranger.send(Self.ping(scene.bob))
            #expect(try await stranger.untilClosed() == 4403)

            let socket = try await RawSocket(installation, token: scene.ada)
            try await socket.subscribe(Self.follow)
            try socket.send(Self.ping(try await installation.makeToken(user: "ada", ["--read-only"])))
            var messages = [try await Self.message(socket), try await Self.message(socket)]
            messages.sort { ($0["type"]?.stringValue ?? "") < ($1["type"]?.stringValue ?? "") }
            #expect(messages[0]["type"] == "error" && messages[0]["id"] == "1")
            #expect(messages[0]["payload"]?.arrayValue?.first?["extensions"]?["code"] == "UNAUTHORIZED")
            #expect(messages[1]["payload"]?["authenticated"] == true)
        }
    }

    private static func readOnlyTokens(_ installation: Installation) async throws -> [String] {
        try await installation.administer(["token", "list", "--user", "ada", "--json"]).split(separator: "\n")
            .map { try JSONParser.parse(String($0)) }.filter { $0["scope"] == "read-only" }
            .compactMap { $0["id"]?.stringValue }
    }
}
