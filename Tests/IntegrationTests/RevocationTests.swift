import JSON
import Testing
import TocsinClient

@Suite("Rights that end while they are used", .timeLimit(.minutes(5)))
struct RevocationTests {
    private static let me = ["--json", #"{"query":"{ me { username } }"}"#]
    private static let all = "subscription { onCreateMessage { title } }"

    @Test("a revoked token's subscription ends with 4403 within seconds and its requests get 401; others go on")
    func revokedToken() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let token = try await installation.makeToken(user: "ada", ["--read-only"])
            let revoked = try await RawSocket(installation, token: token)
            let kept = try await RawSocket(installation, token: scene.ada)
            for socket in [revoked, kept] { try await socket.subscribe(Self.all) }
            #expect(try await installation.http("/graphql", token: token, Self.me).status == 200)

            try await installation.administer(["token", "revoke", try await Self.id(ofReadOnlyToken: installation)])
            #expect(try await revoked.untilClosed() == 4403)
            try await Self.untilRefused(token, installation)
            let again = try await RawSocket(installation, token: token)
            #expect(try await again.untilClosed() == 4403)

            _ = try await installation.makeClient(token: scene.ada).publish(topic: "alerts", title: "still here")
            guard case .message(let event) = try await kept.next() else {
                Issue.record("The other token's socket has ended.")
                return
            }
            #expect(event["payload"]?["data"]?["onCreateMessage"]?["title"] == "still here")
        }
    }

    @Test("a disabled user's sockets end with 4403 within seconds and all their tokens get 401; others go on")
    func disabledUser() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let second = try await installation.makeToken(user: "ada")
            let sockets = [
                try await RawSocket(installation, token: scene.ada), try await RawSocket(installation, token: second),
            ]
            let bobs = try await RawSocket(installation, token: scene.bob)
            for socket in sockets + [bobs] { try await socket.subscribe(Self.all) }

            try await installation.administer(["user", "disable", "ada"])
            for socket in sockets { #expect(try await socket.untilClosed() == 4403) }
            for token in [scene.ada, second] { try await Self.untilRefused(token, installation) }

            let client = try installation.makeClient(token: scene.bob)
            let topicID = try await client.makeTopic(named: "bobs")
            _ = try await client.publish(topic: .id(topicID), title: "bob is here")
            guard case .message(let event) = try await bobs.next() else {
                Issue.record("Bob's socket has ended.")
                return
            }
            #expect(event["payload"]?["data"]?["onCreateMessage"]?["title"] == "bob is here")
        }
    }

    @Test("a user who is enabled again is let in with the tokens of before, in requests and sockets")
    func enabledAgain() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            try await installation.administer(["user", "disable", "ada"])
            try await Self.untilRefused(scene.ada, installation)
            #expect(try await installation.administer(["user", "enable", "ada"]).contains("Enabled user ada."))
            try await eventually("requests are answered again") {
                try await installation.http("/graphql", token: scene.ada, Self.me).status == 200
            }
            let users = try await installation.administer(["user", "list"])
            #expect(users.contains("ada\tactive"), "\(users)")
            let client = try installation.makeClient(token: scene.ada)
            // What was remembered for sockets may be half a second older.
            try await eventually("sockets are served again") {
                let socket = try await RawSocket(installation, token: scene.ada)
                guard (try? await socket.subscribe(Self.all)) != nil else { return false }
                _ = try await client.publish(topic: "alerts", title: "back")
                guard case .message(let event) = try await socket.next() else { return false }
                return event["payload"]?["data"]?["onCreateMessage"]?["title"] == "back"
            }
            let unknown = try await installation.tocsin(
                ["user", "enable", "nobody", "--data-dir", installation.folder + "/data"],
                token: ""
            )
            #expect(unknown.status == 1)
        }
    }

    private static func untilRefused(_ token: String, _ installation: Installation) async throws {
        try await eventually("requests get 401") {
            try await installation.http("/graphql", token: token, me).status == 401
        }
    }

    private static func id(ofReadOnlyToken installation: Installation) async throws -> String {
        let lines = try await installation.administer(["token", "list", "--user", "ada", "--json"]).split(
            separator: "\n"
        )
        let tokens = try lines.map { try JSONParser.parse(String($0)) }
        return try #require(tokens.first { $0["scope"] == "read-only" }?["id"]?.stringValue)
    }
}
