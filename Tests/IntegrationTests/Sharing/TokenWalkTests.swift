import Foundation
import JSON
import TestDatabases
import Testing
import TocsinClient

@Suite("Tokens as rows, on the built server", .timeLimit(.minutes(5)))
struct TokenWalkTests {
    private static let me = ["--json", #"{"query":"{ me { scope scopes } }"}"#]
    private static let all = "subscription { onCreateMessage { title } }"

    @Test("the commands make, list, rotate and revoke tokens, at the data and over GraphQL as their user")
    func commands() async throws {
        try await Installation.run { installation in
            let ada = try await installation.addUser("ada")
            let topicID = try await installation.makeClient(token: ada).makeTopic(named: "alerts")
            func ask(_ arguments: [String]) async throws -> String {
                let result = try await installation.tocsin(["token"] + arguments, token: ada)
                guard result.status == 0 else { throw HarnessFailure("token \(arguments): \(result.errors)") }
                return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
            }
            let order = [
                "--name", "ci", "--publish", "alerts", "--read", topicID, "--cidr", "127.0.0.0/8", "--ttl", "1h",
            ]
            let remote = try await ask(["create"] + order)
            let local = try await installation.makeToken(user: "ada", order)
            for text in [remote, local] {
                let me = try await installation.curl("{ me { scopes } listTopics { items { name } } }", token: text)
                #expect(
                    me["data"]?["me"]?["scopes"]
                        == [.string("read:" + topicID), .string("publish:" + topicID)],
                    "\(me)"
                )
                #expect(me["data"]?["listTopics"]?["items"]?.arrayValue?.count == 1)
                _ = try await installation.makeClient(token: text).publish(topic: .id(topicID), title: "t")
            }
            let lists = try await [ask(["list", "--json"]), installation.administer(["token", "list", "--json"])]
                .map { try $0.split(separator: "\n").map { try JSONParser.parse(String($0)) } }
            let ids = lists.map { $0.map { $0["id"] } }
            #expect(ids[0] == ids[1] && ids[0].count == 3)
            let listed = try #require(lists[0].first { $0["id"]?.stringValue == Self.id(of: remote) })
            #expect(listed["name"] == "ci" && listed["user"] == "ada" && listed["cidrs"] == ["127.0.0.0/8"])
            #expect(try await ask(["list", "--unused", "90d"]).isEmpty)
            let rotated = try await ask(["rotate", Self.id(of: remote), "--overlap", "0s"])
            try await Self.until(401, remote, installation)
            try await Self.until(200, rotated, installation)
            #expect(try await ask(["revoke", Self.id(of: local)]).hasPrefix("Revoked token"))
            try await Self.until(401, local, installation)
            let narrow = try await installation.tocsin(["token", "list"], token: rotated)
            #expect(narrow.status == 1 && !narrow.output.contains("ci"))
            #expect(
                try await installation.administer(["token", "revoke", "--all", "--user", "ada"]).contains("2 tokens")
            )
            for text in [ada, rotated] { try await Self.until(401, text, installation) }
        }
    }

    @Test("A6: a narrowed token's sockets and streams end, its requests give what is left, and a nearer end is kept")
    func narrowed() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let token = try await installation.makeToken(user: "ada")
            let socket = try await RawSocket(installation, token: token)
            try await socket.subscribe(Self.all)
            let stream = try RawStream(installation, token: token, Self.all)
            let client = try installation.makeClient(token: scene.ada)
            try await eventually("the stream is live") {
                _ = try await client.publish(topic: .id(scene.topicID), title: "hello")
                return stream.text.contains("hello")
            }
            let change = "scopes: [\"publish:\(scene.topicID)\"]"
            try await Self.update(token, change, by: scene.ada, installation)
            #expect(try await socket.untilClosed() == 4403)
            #expect(try await stream.untilEnd().contains(#""code":"UNAUTHENTICATED""#))
            try await eventually("reading is refused") {
                let answer = try await installation.curl("{ getMessage(id: \"x\") { id } }", token: token)
                return answer["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED"
            }
            _ = try await installation.makeClient(token: token).publish(topic: .id(scene.topicID), title: "left")
            let end = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 8))
            try await Self.update(token, "expiresAt: \"\(end)\"", by: scene.ada, installation)
            try await Self.until(401, token, installation)
        }
    }

    @Test("a socket opened before a token was rotated lasts until the overlap is over, and then ends with 4403")
    func rotated() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let token = try await installation.makeToken(user: "ada", ["--read-only"])
            let socket = try await RawSocket(installation, token: token)
            try await socket.subscribe(Self.all)
            let rotated = try await installation.administer(
                ["token", "rotate", Self.id(of: token), "--overlap", "70s"]
            ).trimmingCharacters(in: .whitespacesAndNewlines)
            let client = try installation.makeClient(token: scene.ada)
            _ = try await client.publish(topic: .id(scene.topicID), title: "both")
            guard case .message(let event) = try await socket.next() else {
                Issue.record("The old token's socket has ended.")
                return
            }
            #expect(event["payload"]?["data"]?["onCreateMessage"]?["title"] == "both")
            try await Self.until(200, rotated, installation)
            let soon = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 8))
            try await Self.update(token, "expiresAt: \"\(soon)\"", by: scene.ada, installation)
            #expect(try await socket.untilClosed() == 4403)
            try await Self.until(200, rotated, installation)
        }
    }

    @Test("a token outside its networks is answered as a revoked one, in requests, routes and sockets")
    func networks() async throws {
        try await Installation.run { installation in
            let ada = try await installation.addUser("ada")
            let token = try await installation.makeToken(user: "ada", ["--cidr", "10.0.0.0/8", "--cidr", "fd00::/8"])
            let revoked = try await installation.makeToken(user: "ada")
            try await installation.administer(["token", "revoke", Self.id(of: revoked)])
            try await Self.until(401, revoked, installation)
            func ask(_ token: String, from address: String) async throws -> HTTPAnswer {
                try await installation.http(
                    "/graphql",
                    token: token,
                    Self.me + ["--header", "X-Forwarded-For: \(address)"]
                )
            }
            let body = try await ask(revoked, from: "10.1.2.3").body
            for address in ["10.1.2.3", "::ffff:10.9.9.9", "fd00::7"] {
                #expect(try await ask(token, from: address).status == 200, "\(address)")
            }
            for address in ["192.0.2.1", "2001:db8::1", "127.0.0.1"] {
                let answer = try await ask(token, from: address)
                #expect(answer.status == 401 && answer.body == body, "\(address): \(answer.body)")
            }
            let socket = try await RawSocket(installation, token: token)
            #expect(try await socket.untilClosed() == 4403)
            try await Self.until(200, ada, installation)
            let key = try await installation.administer(["key", "create", "--cidr", "10.0.0.0/8"])
                .trimmingCharacters(in: .whitespacesAndNewlines)
            for (address, status) in [("10.1.2.3", 200), ("192.0.2.1", 401)] {
                let answer = try await installation.http(
                    "/graphql",
                    Self.me + ["--header", "x-api-key: \(key)", "--header", "X-Forwarded-For: \(address)"]
                )
                #expect(answer.status == status, "\(address): \(answer.body)")
            }
        }
    }

    @Test("TOCSIN_TOKEN_MAX_DAYS bounds new tokens, of operators too")
    func longest() async throws {
        try await Installation.run { installation in
            installation.environment["TOCSIN_TOKEN_MAX_DAYS"] = "7"
        } _: { installation in
            let ada = try await installation.addUser("ada")
            func create(_ more: String) async throws -> JSONValue {
                let document = "mutation { createToken(input: { name: \"t\", scopes: [\"read\"]\(more) }) { text } }"
                return try await installation.curl(document, token: ada)
            }
            let end = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 8 * 86_400))
            let refused = try await create(", expiresAt: \"\(end)\"")
            #expect(refused["errors"]?[0]?["message"]?.stringValue?.contains("at most 7 days") == true, "\(refused)")
            #expect(try await create("")["data"]?["createToken"]?["text"]?.stringValue != nil)
        }
    }

    fileprivate static func until(_ status: Int, _ token: String, _ installation: Installation) async throws {
        try await eventually("requests get \(status)") {
            try await installation.http("/graphql", token: token, me).status == status
        }
    }

    fileprivate static func update(
        _ token: String,
        _ change: String,
        by maker: String,
        _ installation: Installation
    ) async throws {
        let document = "mutation { updateToken(id: \"\(id(of: token))\", input: { \(change) }) { id } }"
        let answer = try await installation.curl(document, token: maker)
        guard answer["errors"] == nil else { throw HarnessFailure("\(answer)") }
    }

    /// The id that a token's text carries.
    fileprivate static func id(of token: String) -> String {
        var text = String(token.split(separator: ".").dropFirst().first ?? "")
            .replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        while !text.count.isMultiple(of: 4) { text += "=" }
        let claims = Data(base64Encoded: text).flatMap { try? JSONParser.parse(Array($0)) }
        return claims?["jti"]?.stringValue ?? ""
    }
}

@Suite("Tokens on two nodes", .enabled(if: PostgresServer.named != nil), .timeLimit(.minutes(5)))
struct NodeTokenTests {
    @Test("A6: what one node narrows, revokes or disables ends on the other one")
    func ends() async throws {
        try await Cluster.run(2) { cluster in
            let ada = try await cluster.addUser("ada")
            let maker = try cluster.client(0, ada)
            let topicID = try await maker.makeTopic(named: "alerts")
            let all = "subscription { onCreateMessage { title } }"
            func make() async throws -> String {
                let order = "mutation { createToken(input: { name: \"t\", scopes: [\"full\"] }) { text } }"
                return try #require(try await maker.mutate(order)["createToken"]?["text"]?.stringValue)
            }
            func answer(_ token: String) async throws -> String {
                let client = try cluster.impatientClient(1, token)
                defer { client.close() }
                do throws(ClientError) {
                    return try await client.query("{ devices { id } }").serializedString()
                } catch {
                    return error.description
                }
            }
            for change in [
                "updateToken(id: \"ID\", input: { scopes: [\"publish:\(topicID)\"] }) { id }",
                "updateToken(id: \"ID\", input: { cidrs: [\"10.0.0.0/8\"] }) { id }", "revokeToken(id: \"ID\") { id }",
            ] {
                let token = try await make()
                let socket = try await RawSocket(port: cluster.port(1), token: token)
                try await socket.subscribe(all)
                let before = try await answer(token)
                let document = change.replacingOccurrences(of: "ID", with: TokenWalkTests.id(of: token))
                _ = try await maker.mutate("mutation { \(document) }")
                #expect(try await socket.untilClosed() == 4403, "\(change)")
                try await eventually("requests are answered otherwise") {
                    try await answer(token) != before
                }
            }
            let token = try await make()
            let socket = try await RawSocket(port: cluster.port(1), token: token)
            try await socket.subscribe(all)
            try await cluster.administer(["user", "disable", "ada"])
            #expect(try await socket.untilClosed() == 4403)
            maker.close()
        }
    }
}
