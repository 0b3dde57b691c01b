import Foundation
import JSON
import Testing
import TocsinClient

@Suite("API keys", .timeLimit(.minutes(5)))
struct KeyTests {
    private static let read = "{ listNotices { items { text owner } } }"
    private static let create = "mutation($i: CreateNoticeInput!) { createNotice(input: $i) { id owner } }"
    private static let heard = "subscription { onCreateNotice { text } }"

    /// A server with a model that every bearer of a key may read.
    private static func run(_ body: (Installation) async throws -> Void) async throws {
        let prepare = { (installation: Installation) in
            let notice = """
                type Notice @model @auth(rules: [{ allow: public, operations: [read] }, { allow: owner }]) {
                  id: ID!
                  text: String!
                }
                type Guest @model @auth(rules: [{ allow: public, provider: apiKey }]) { id: ID! text: String }
                """
            let path = installation.folder + "/model.graphql"
            try (try shippedModel() + notice).write(toFile: path, atomically: true, encoding: .utf8)
            installation.options += ["--schema", path]
        }
        try await Installation.run(prepare: prepare, body)
    }

    private static func shippedModel() throws -> String {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: package.appendingPathComponent("schema/model.graphql"), encoding: .utf8) + "\n"
    }

    private static func makeKey(_ installation: Installation, _ options: [String] = []) async throws -> String {
        try await installation.administer(["key", "create"] + options).trimmingCharacters(in: .newlines)
    }

    /// What a request with a key is answered, as AppSync's clients ask.
    private static func ask(
        _ document: String,
        _ variables: JSONObject = [:],
        key: String,
        _ installation: Installation
    ) async throws -> HTTPAnswer {
        let body: JSONValue = ["query": .string(document), "variables": .object(variables)]
        return try await installation.http(
            "/graphql",
            [
                "--header", "x-api-key: \(key)", "--json", body.serializedString(), "--header",
                "Accept: application/json",
            ]
        )
    }

    private static func publish(_ text: String, _ ada: String, _ installation: Installation) async throws {
        let answer = try await installation.curl(create, ["i": ["text": .string(text)]], token: ada)
        #expect(answer["data"]?["createNotice"]?["owner"] == "ada", "\(answer)")
    }

    @Test("a key reads what public may, writes where public may, and is refused everything else")
    func requests() async throws {
        try await Self.run { installation in
            let ada = try await installation.addUser("ada")
            let key = try await Self.makeKey(installation, ["--name", "website"])
            #expect(key.wholeMatch(of: /da2-[a-z2-7]{26}/) != nil, "\(key)")
            try await Self.publish("open", ada, installation)

            let read = try await Self.ask(Self.read, key: key, installation)
            #expect(read.status == 200)
            let items: JSONValue = [["text": "open", "owner": "ada"]]
            #expect(try read.json == ["data": ["listNotices": ["items": items]]])
            let guest = "mutation { createGuest(input: {text: \"hi\"}) { text } }"
            #expect(try await Self.ask(guest, key: key, installation).json["data"]?["createGuest"]?["text"] == "hi")
            let others: [(String, String)] = [
                (Self.create, "createNotice"), ("{ listTopics { items { id } } }", "listTopics"),
                ("{ getTopic(id: \"t\") { id } }", "getTopic"), ("{ devices { id } }", "devices"),
            ]
            for (document, field) in others {
                let answer = try await Self.ask(document, ["i": ["text": "x"]], key: key, installation)
                #expect(answer.status == 200, "\(field)")
                let error = try answer.json["errors"]?.arrayValue?.first
                #expect(error?["errorType"] == "Unauthorized", "\(field): \(answer.body)")
                #expect(error?["message"]?.stringValue?.hasPrefix("Not Authorized to access \(field)") == true)
            }
            // What one has signed in for is not what keys are for.
            #expect(
                try await installation.curl("{ listGuests { items { id } } }", token: ada).errorCode == "UNAUTHORIZED"
            )
        }
    }

    @Test("an unknown key, one that is over and one that is revoked get 401 in AppSync's words")
    func refusals() async throws {
        try await Self.run { installation in
            let key = try await Self.makeKey(installation, ["--name", "first"])
            let brief = try await Self.makeKey(installation, ["--ttl", "1s"])
            #expect(try await Self.ask(Self.read, key: key, installation).status == 200)
            try await eventually("a key of one second ends") {
                try await Self.ask(Self.read, key: brief, installation).status == 401
            }
            for wrong in [brief, "da2-" + String(repeating: "a", count: 26), "da2-", key.uppercased(), key + "x"] {
                let answer = try await Self.ask(Self.read, key: wrong, installation)
                #expect(answer.status == 401, "\(wrong)")
                let error = try answer.json["errors"]?.arrayValue?.first
                #expect(error?["errorType"] == "UnauthorizedException", "\(answer.body)")
                #expect(error?["message"] == "You are not authorized to make this call.", "\(wrong): \(answer.body)")
            }
            let lines = try await installation.administer(["key", "list", "--json"]).split(separator: "\n")
                .map { try JSONParser.parse(String($0)) }
            #expect(Set(lines.map { $0["name"] }) == ["first", "default"])
            #expect(!lines.contains { $0.serializedString().contains(String(key.dropFirst(4))) })
            let id = try #require(lines.first { $0["name"] == "first" }?["id"]?.stringValue)
            try await installation.administer(["key", "revoke", id])
            try await eventually("a revoked key ends") {
                try await Self.ask(Self.read, key: key, installation).status == 401
            }
        }
    }

    @Test("a key in connection_init follows what public may read, until it is revoked")
    func socket() async throws {
        try await Self.run { installation in
            let ada = try await installation.addUser("ada")
            let key = try await Self.makeKey(installation)
            let socket = try await RawSocket(installation, path: "/graphql", subprotocols: "graphql-transport-ws")
            try socket.send(["type": "connection_init", "payload": ["x-api-key": .string(key)]])
            try await socket.subscribe(Self.heard)
            try await Self.publish("live", ada, installation)
            guard case .message(let event) = try await socket.next() else {
                throw HarnessFailure("The socket closed.")
            }
            #expect(event["payload"] == ["data": ["onCreateNotice": ["text": "live"]]])
            let line = try await installation.administer(["key", "list"])
            let id = try #require(line.split(separator: "\t").first)
            try await installation.administer(["key", "revoke", String(id)])
            #expect(try await socket.untilClosed() == 4403)
        }
    }

    @Test("AppSync's socket takes a key in its header and for each subscription")
    func appSyncSocket() async throws {
        try await Self.run { installation in
            let ada = try await installation.addUser("ada")
            let key = try await Self.makeKey(installation)
            let socket = try await RawSocket(installation, path: Self.path(key), subprotocols: "graphql-ws")
            try socket.send(["type": "connection_init"])
            #expect(try await Self.message(socket)["type"] == "connection_ack")
            #expect(try await Self.message(socket) == ["type": "ka"])
            try socket.send(Self.start("a", Self.heard, key: key))
            #expect(try await Self.message(socket) == ["id": "a", "type": "start_ack"])
            try socket.send(Self.start("b", "subscription { onCreateTopic { id } }", key: key))
            let refused = try await Self.message(socket)
            #expect(refused["id"] == "b")
            #expect(refused["payload"]?["errors"]?[0]?["errorType"] == "Unauthorized")
            try socket.send(Self.start("c", Self.heard, key: "da2-nothing"))
            let wrong = try await Self.message(socket)
            #expect(wrong["id"] == "c")
            #expect(wrong["payload"]?["errors"]?[0]?["errorType"] == "UnauthorizedException")
            try await Self.publish("live", ada, installation)
            let event = try await Self.message(socket)
            #expect(event["id"] == "a")
            #expect(event["payload"] == ["data": ["onCreateNotice": ["text": "live"]]])

            let bad = try await RawSocket(installation, path: Self.path("da2-nothing"), subprotocols: "graphql-ws")
            let error = try await Self.message(bad)
            #expect(error["type"] == "connection_error")
            #expect(error["payload"]?["errors"]?[0]?["errorType"] == "UnauthorizedException")
        }
    }

    private static func path(_ key: String) -> String {
        let header = Data(#"{"host":"h","x-api-key":"\#(key)"}"#.utf8).base64EncodedString()
        return "/graphql/realtime?header=\(header)&payload=e30="
    }

    private static func start(_ id: String, _ document: String, key: String) -> JSONValue {
        let request: JSONValue = ["query": .string(document)]
        let payload: JSONObject = [
            "data": .string(request.serializedString()),
            "extensions": ["authorization": ["host": "h", "x-api-key": .string(key)]],
        ]
        return ["id": .string(id), "type": "start", "payload": .object(payload)]
    }

    private static func message(_ socket: RawSocket) async throws -> JSONValue {
        guard case .message(let message) = try await socket.next() else { throw HarnessFailure("The socket closed.") }
        return message
    }
}
