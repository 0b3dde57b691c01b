import Foundation
import JSON
import Testing
import TocsinClient

@Suite("Who gets in", .timeLimit(.minutes(5)))
struct AccessTests {
    private static let me = ["--json", #"{"query":"{ me { username } }"}"#]

    @Test("a request without a good token is answered 401 and tells nothing")
    func requests() async throws {
        try await Installation.run { installation in
            let good = try await installation.addUser("ada")
            #expect(try await installation.http("/graphql", token: good, Self.me).status == 200)
            for (what, token) in try await Self.badTokens(good, installation) {
                let answer = try await installation.http("/graphql", token: token, Self.me)
                #expect(answer.status == 401, "\(what)")
                #expect(answer.header("www-authenticate") == "Bearer", "\(what)")
                #expect(try answer.json.errorCode == "UNAUTHENTICATED", "\(what): \(answer.body)")
                #expect(!answer.body.contains("ada"), "\(what): \(answer.body)")
            }
        }
    }

    @Test("a socket without a token is closed with 4401, one with a bad token with 4403")
    func sockets() async throws {
        try await Installation.run { installation in
            let good = try await installation.addUser("ada")
            let silent = try await RawSocket(installation, token: nil)
            try silent.send(["type": "connection_init"])
            #expect(try await silent.untilClosed() == 4401)
            let hasty = try await RawSocket(installation, token: nil)
            try hasty.send(["id": "1", "type": "subscribe", "payload": ["query": "{ me { username } }"]])
            #expect(try await hasty.untilClosed() == 4401)
            for (what, token) in try await Self.badTokens(good, installation) {
                guard let token else { continue }
                let socket = try await RawSocket(installation, token: token)
                #expect(try await socket.untilClosed() == 4403, "\(what)")
            }
        }
    }

    @Test("a socket that sends what the protocol does not know is closed with 4400")
    func strangeMessages() async throws {
        try await Installation.run { installation in
            let token = try await installation.addUser("ada")
            for text in ["not JSON", "[]", #"{"type":"start"}"#, #"{"type":1}"#] {
                let socket = try await RawSocket(installation, token: token)
                try socket.send(text: Array(text.utf8))
                #expect(try await socket.untilClosed() == 4400, "\(text)")
            }
        }
    }

    @Test("a socket's token that ends takes the socket with it")
    func tokenEnds() async throws {
        try await Installation.run { installation in
            _ = try await installation.addUser("ada")
            let token = try await installation.makeToken(user: "ada", ["--ttl", "8s"])
            let socket = try await RawSocket(installation, token: token)
            try await socket.subscribe("subscription { onCreateMessage { id } }")
            #expect(try await socket.untilClosed() == 4403)
        }
    }

    /// Tokens that are not good, each with what is wrong with it.
    private static func badTokens(
        _ good: String,
        _ installation: Installation
    ) async throws -> [(what: String, token: String?)] {
        let parts = good.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let other = try await installation.makeToken(user: "ada")
        let otherSignature = other.split(separator: ".").last.map(String.init) ?? ""
        let none = Data(#"{"alg":"none","typ":"JWT"}"#.utf8).base64URL
        let expired = try await installation.makeToken(user: "ada", ["--ttl", "1s"])
        try await eventually("a token of one second ends") {
            try await installation.http("/graphql", token: expired, me).status == 401
        }
        return [
            ("no token", nil), ("no token at all", "nonsense"), ("expired", expired),
            ("another token's signature", "\(parts[0]).\(parts[1]).\(otherSignature)"),
            ("no signature", "\(parts[0]).\(parts[1])."),
            ("alg none", "\(none).\(parts[1])."), ("alg none, signed", "\(none).\(parts[1]).\(parts[2])"),
        ]
    }
}

@Suite("What a narrow token can do", .timeLimit(.minutes(5)))
struct ScopeTests {
    private static let create = "mutation($input: CreateMessageInput!) { createMessage(input: $input) { id number } }"
    private static let register =
        #"mutation { registerPushToken(token: "\#(Phone.ofBob)", platform: "ios") { userId } }"#

    @Test("a read-only token reads, and is refused whatever writes")
    func readOnly() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let token = try await installation.makeToken(user: "ada", ["--read-only"])
            let before = try await installation.curl(Self.everything, token: scene.ada)
            #expect(try await installation.curl(Self.everything, token: token) == before)
            let writes: [(String, JSONObject)] = [
                (Self.create, Self.message(in: scene.topicID)), (Self.createTopic, ["input": ["name": "more"]]),
                (Self.register, [:]),
                (#"mutation { subscribeToTopic(topicId: "\#(scene.topicID)") { topicId } }"#, [:]),
                ("mutation { setNotifications(enabled: false) { userId } }", [:]),
            ]
            for (document, input) in writes {
                let answer = try await installation.curl(document, input, token: token)
                #expect(answer.errorCode == "UNAUTHORIZED", "\(document): \(answer)")
            }
            #expect(try await installation.curl(Self.everything, token: scene.ada) == before)
            let listener = Listener(
                try installation.makeClient(token: token),
                "subscription { onCreateMessage { title } }",
                field: "onCreateMessage"
            )
            try await listener.untilLive()
            listener.stop()
        }
    }

    @Test("a publish-only token creates messages in its topic, and is refused everything else")
    func publishOnly() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let adas = try installation.makeClient(token: scene.ada)
            let otherTopic = try await adas.makeTopic(named: "other")
            let token = try await installation.makeToken(user: "ada", ["--publish", "alerts"])
            let made = try await installation.curl(Self.create, Self.message(in: scene.topicID), token: token)
            #expect(made["data"]?["createMessage"]?["number"] == 1, "\(made)")
            let others: [(String, JSONObject)] = [
                (Self.create, Self.message(in: otherTopic)), (Self.createTopic, ["input": ["name": "more"]]),
                (Self.register, [:]), ("{ devices { id } }", [:]), ("{ listMessages { items { id } } }", [:]),
                ("{ memberships { topicId } }", [:]), ("{ history { items { id } } }", [:]),
                ("mutation { setNotifications(enabled: false) { userId } }", [:]),
            ]
            for (document, input) in others {
                let answer = try await installation.curl(document, input, token: token)
                #expect(answer.errorCode == "UNAUTHORIZED", "\(document): \(answer)")
            }
            let topics = try await installation.curl("{ listTopics { items { name } } }", token: token)
            #expect(topics["data"]?["listTopics"]?["items"] == [["name": "alerts"]], "\(topics)")
            let listener = Listener(
                try installation.makeClient(token: token),
                "subscription { onCreateMessage { title } }",
                field: "onCreateMessage"
            )
            try await listener.untilSettled()
            #expect(listener.failure?.code == .unauthorized, "\(String(describing: listener.failure))")
            let titles = try await adas.query("{ listMessages { items { title } } }")["listMessages"]?["items"]
            #expect(titles == [["title": "narrow"]])
        }
    }

    private static let createTopic = "mutation($input: CreateTopicInput!) { createTopic(input: $input) { id } }"
    private static let everything =
        "{ listTopics { items { id name } } listMessages { items { title } } devices { id } memberships { topicId } }"

    private static func message(in topicID: String) -> JSONObject {
        ["input": ["topicId": .string(topicID), "type": 1, "title": "narrow", "body": ""]]
    }
}
