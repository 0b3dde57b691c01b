import Foundation
import JSON
import Testing
import TocsinClient

@Suite("Who changed what", .timeLimit(.minutes(5)))
struct AuditTests {
    private static func rows(_ installation: Installation, _ options: [String] = []) async throws -> [JSONValue] {
        let output = try await installation.administer(["audit", "list", "--json", "--limit", "0"] + options)
        return try output.split(separator: "\n").map { try JSONParser.parse(String($0)) }
    }

    @Test("changes, refusals, starts and stops are listed with who and from where, and never a secret")
    func walk() async throws {
        try await Installation.run { installation in
            let token = try await installation.addUser("ada")
            _ = try await installation.makeTopic("alerts", token: token)
            let routed = try await installation.http(
                "/tcm/create-topic",
                token: token,
                ["--json", #"{"name": "builds"}"#]
            )
            #expect(routed.status == 201, "\(routed)")
            let again = try await installation.http(
                "/tcm/create-topic",
                token: token,
                ["--json", #"{"name": "builds"}"#]
            )
            #expect(again.status == 409, "a name is given once: \(again)")
            let builds = try routed.json["topic"]?["id"]?.stringValue ?? "no id"
            #expect(again.body.contains("CONFLICT") && again.body.contains(builds), "\(again)")
            let phone = Phone.firstIOS
            let register = "mutation { registerPushToken(token: \"\(phone)\", platform: \"ios\") { userId } }"
            #expect(try await installation.curl(register, token: token)["errors"] == nil)
            _ = try await installation.curl("{ me { userId } }", token: token + "x")
            let own = try await installation.tocsin(["audit", "list"], token: token)
            #expect(own.status == 0, "\(own.errors)")
            #expect(own.output.contains("topic.create"))
            #expect(try await installation.stopServer() == 0)

            let rows = try await Self.rows(installation)
            let actions = rows.compactMap { $0["action"]?.stringValue }
            let wanted = [
                "server.stop", "token.refused", "device.register", "topic.create", "topic.create", "token.create",
                "user.create", "schema.change", "server.start",
            ]
            #expect(actions.sorted() == wanted.sorted())
            let made = rows.filter { $0["action"] == "topic.create" }
            #expect(made.allSatisfy { $0["network"] == "127.0.0.0/24" && $0["requestId"] != .null }, "\(made)")
            let text = rows.map { $0.serializedString() }.joined()
            #expect(!text.contains("127.0.0.1"))
            #expect(!text.contains(phone))
            #expect(!text.contains(token.suffix(20)))
            let refused = try await Self.rows(installation, ["--outcome", "refused"])
            #expect(refused.compactMap { $0["actorKind"] } == ["STRANGER"])
        }
    }

    @Test("after a kill -9 each topic has its row, and each row its topic")
    func killed() async throws {
        try await Installation.run { installation in
            let token = try await installation.addUser("ada")
            let client = try installation.makeClient(token: token)
            let work = Task {
                for number in 0... {
                    guard (try? await client.makeTopic(named: "topic \(number)")) != nil else { return }
                }
            }
            try await eventually("some topics are made") {
                try await Self.rows(installation, ["--action", "topic.create"]).count >= 20
            }
            try await installation.killAndRestartServer()
            work.cancel()
            await work.value
            let rows = try await Self.rows(installation, ["--action", "topic.create"])
            let listed = try await installation.curl("{ listTopics(limit: 1000) { items { id } } }", token: token)
            let topics = listed["data"]?["listTopics"]?["items"]?.arrayValue ?? []
            #expect(rows.count >= 20)
            #expect(
                Set(rows.compactMap { $0["subject"]?.stringValue }) == Set(topics.compactMap { $0["id"]?.stringValue })
            )
            client.close()
        }
    }
}
