import Foundation
import JSON
import Testing

@Suite("Keys of integrations, as served", .timeLimit(.minutes(5)))
struct ReceiverKeyTests {
    private static let unknown = String(repeating: "abcdefgh", count: 4)

    @Test("unknown, ended, disabled and foreign keys are answered alike")
    func wrongKeys() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let ended = try await scene.way("EVENT")
            let hint = String(ended.key.prefix(4))
            let revoked = try await installation.curl(
                "mutation($id: ID!, $hint: String!) { revokeIntegrationKey(id: $id, hint: $hint) { keyHint } }",
                ["id": .string(ended.id), "hint": .string(hint)],
                token: scene.ada
            )
            #expect(revoked["data"]?["revokeIntegrationKey"]?["keyHint"]?.isNull == true, "\(revoked)")
            let disabled = try await scene.way("EVENT", ["enabled": false])
            let elsewhere = try await scene.way("EVENT", ["allowedAddresses": ["192.0.2.0/24"]])
            let foreign = try await scene.way("PAGERDUTY")
            let deleted = try await scene.way("EVENT")
            let gone = try await installation.curl(
                "mutation($id: ID!) { deleteIntegration(input: { id: $id, _version: 1 }) { id } }",
                ["id": .string(deleted.id)],
                token: scene.ada
            )
            #expect(gone["errors"] == nil, "\(gone)")
            let expected = try await scene.post("/in/event", SentBody.event, ["Authorization: Bearer \(Self.unknown)"])
            #expect(expected.status == 401)
            for key in [ended.key, disabled.key, elsewhere.key, foreign.key, deleted.key] {
                let answer = try await scene.post("/in/event", SentBody.event, ["Authorization: Bearer \(key)"])
                #expect(answer.status == expected.status && answer.body == expected.body, "\(answer.body)")
            }
            let inPath = try await scene.post("/in/\(Self.unknown)", SentBody.event)
            #expect(inPath.status == 401 && inPath.body == expected.body)
            let differing = try await scene.post(
                "/in/\(foreign.key)",
                SentBody.event,
                ["Authorization: Bearer \(disabled.key)"]
            )
            #expect(differing.status == 401)
            #expect(try await scene.messages().isEmpty)
            #expect(try await scene.integration(disabled.id, "refused")["refused"] == 1)
        }
    }

    @Test("a key opens nothing but its receiver")
    func nothingElse() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let way = try await scene.way("NTFY")
            let nonsense = try await installation.curl("{ me { username } }", token: Self.unknown)
            for query in [
                "{ me { username } }", "{ listTopics { items { id } } }", "{ listIntegrations { items { id } } }",
            ] {
                let answer = try await installation.curl(query, token: way.key)
                #expect(answer == nonsense)
            }
            for path in ["/tcm/create-message", "/api/notifications/history"] {
                let (known, other) = try await (
                    installation.http(path, token: way.key), installation.http(path, token: Self.unknown)
                )
                #expect(known.status == other.status && known.body == other.body, "\(path)")
                #expect([401, 405].contains(known.status), "\(path): \(known.status)")
            }
            let socket = try? await RawSocket(installation, token: way.key)
            if let socket { #expect(try await socket.isAcknowledged() == false) }
            // Another topic, and another product.
            _ = try await installation.makeTopic("other", token: scene.ada)
            let bearer = "Authorization: Bearer \(way.key)"
            #expect(try await scene.post("/other", "x", [bearer]).status == 401)
            #expect(try await scene.post("/in/alertmanager", SentBody.alertmanager, [bearer]).status == 401)
        }
    }

    @Test("no key stands in the log, wherever it was sent")
    func masked() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let (event, slack) = try await (scene.way("EVENT"), scene.way("SLACK"))
            let gotify = try await scene.way("GOTIFY")
            let keys = [event.key, slack.key, gotify.key, Self.unknown]
            for key in keys {
                for path in [
                    "/in/\(key)", "/in/\(key)/more", "/services/a/b/\(key)", "/hooks/\(key)", "/hooks/a/\(key)",
                    "/message?token=\(key)", "/ping/\(key)", "/ping/\(key)/start", "/api/push/\(key)?status=up",
                    "/alerts?auth=\(key)", "/\(key)", "/elsewhere/\(key)",
                ] {
                    _ = try await scene.post(path, SentBody.event, ["Authorization: Bearer \(key)"])
                    _ = try await installation.http(path)
                }
            }
            // The first letter percent-encoded, which a log would show nearly whole.
            let encoded = "%\(String(event.key.utf8.first ?? 0, radix: 16))\(event.key.dropFirst())"
            for path in ["/in/\(encoded)", "/services/a/b/\(encoded)/", "/elsewhere/\(encoded)"] {
                _ = try await scene.post(path, SentBody.event)
            }
            try await installation.restartServer()
            for key in keys { #expect(!installation.log.contains(key)) }
            #expect(!installation.log.contains(event.key.dropFirst()))
            _ = try await scene.post("/in/\(event.key)", SentBody.event)
            let lines = installation.logLines.filter { $0["path"]?.stringValue?.hasPrefix("/in/") == true }
            #expect(lines.last?["path"] == "/in/***", "\(lines)")
        }
    }

    @Test("a new key works beside the one before it for the overlap, and a third ends the first at once")
    func rotation() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let first = try await scene.way("EVENT")
            let second = try await scene.rotated(first.id)
            let hints = try await scene.integration(first.id, "keyHints")["keyHints"]
            #expect(hints == [.string(String(second.key.prefix(4))), .string(String(first.key.prefix(4)))])
            for key in [first.key, second.key] {
                #expect(try await scene.post("/in/\(key)", SentBody.event).status == 202)
            }
            let third = try await scene.rotated(first.id)
            #expect(try await scene.post("/in/\(first.key)", SentBody.event).status == 401)
            let fourth = try await scene.rotated(first.id, overlapSeconds: 0)
            for key in [second.key, third.key] {
                #expect(try await scene.post("/in/\(key)", SentBody.event).status == 401)
            }
            #expect(try await scene.post("/in/\(fourth.key)", SentBody.event).status == 202)
            let audit = try await installation.administer([
                "audit", "list", "--json", "--action", "integration_key.rotate",
            ])
            #expect(audit.split(separator: "\n").count == 4)
            for key in [first.key, second.key, third.key, fourth.key] { #expect(!audit.contains(key)) }
        }
    }

    @Test("others neither make keys nor see what came in; editors do")
    func owners() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let way = try await scene.way("EVENT")
            _ = try await scene.post("/in/\(way.key)", SentBody.event)
            let mine = try await scene.integration(
                way.id,
                "events lastEventAt recent { status outcome body messageId }"
            )
            #expect(mine["events"] == 1)
            #expect(mine["recent"]?[0]?["status"] == 202)
            #expect(mine["recent"]?[0]?["body"]?.stringValue?.contains("Disk full") == true)
            #expect(mine["recent"]?[0]?["messageId"]?.stringValue?.isEmpty == false)
            #expect(try await scene.integration(way.id, "recent { body }", token: scene.bob).isNull)
            for document in [
                "mutation($id: ID!) { rotateIntegrationKey(id: $id) { key } }",
                #"mutation($id: ID!) { revokeIntegrationKey(id: $id, hint: "abcd") { id } }"#,
                #"mutation($id: ID!) { setIntegrationSecret(id: $id, name: SIGNATURE, value: "s") { id } }"#,
            ] {
                let (foreign, absent) = try await (
                    installation.curl(document, ["id": .string(way.id)], token: scene.bob),
                    installation.curl(document, ["id": "00000000-0000-4000-8000-000000000000"], token: scene.bob)
                )
                #expect(foreign.errorCode == "UNAUTHORIZED" && foreign.errorCode == absent.errorCode, "\(foreign)")
            }
            let shared = try await installation.curl(
                """
                mutation($id: ID!) { updateIntegration(input: { id: $id, editors: ["bob"], _version: 1 }) { id } }
                """,
                ["id": .string(way.id)],
                token: scene.ada
            )
            #expect(shared["errors"] == nil, "\(shared)")
            let seen = try await scene.integration(way.id, "recent { body }", token: scene.bob)
            #expect(seen["recent"]?.arrayValue?.count == 1, "\(seen)")
        }
    }

    @Test("an integration is of a topic that its owner may publish to, and its values mean something")
    func checks() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let wrong: [(JSONObject, String)] = [
                (["allowedAddresses": ["here"]], "allowedAddresses"),
                (["severityWords": #"{"sev1": 9}"#], "severityWords"),
                (["ratePerMinute": 0], "ratePerMinute"), (["defaultPriority": 6], "defaultPriority"),
                (["name": ""], "name"), (["receiver": "github"], "TEMPLATE"),
                (["topicId": "00000000-0000-4000-8000-000000000000"], "topicId"),
            ]
            for (values, word) in wrong {
                var input: JSONObject = ["name": "x", "kind": "EVENT", "topicId": .string(scene.topicID)]
                for member in values { input[member.key] = member.value }
                let answer = try await installation.curl(
                    "mutation($input: CreateIntegrationInput!) { createIntegration(input: $input) { id } }",
                    ["input": .object(input)],
                    token: scene.ada
                )
                #expect(answer.errorCode == "BAD_USER_INPUT", "\(values): \(answer)")
                #expect(answer["errors"]?[0]?["message"]?.stringValue?.contains(word) == true, "\(answer)")
            }
            let ofBob = try await installation.curl(
                "mutation($input: CreateIntegrationInput!) { createIntegration(input: $input) { id } }",
                ["input": ["name": "x", "kind": "EVENT", "topicId": .string(scene.topicID)]],
                token: scene.bob
            )
            #expect(ofBob.errorCode == "BAD_USER_INPUT", "\(ofBob)")
        }
    }
}
