import Foundation
import JSON
import Testing

@Suite("What a body would become", .timeLimit(.minutes(5)))
struct ReceiverPreviewTests {
    private static let document = """
        query($kind: IntegrationKind!, $receiver: String, $template: AWSJSON, $headers: AWSJSON, $query: AWSJSON,
            $body: String!, $id: ID) {
          previewReceiver(kind: $kind, receiver: $receiver, template: $template, headers: $headers, query: $query,
            body: $body, integrationId: $id) { status answer events { action key title body priority url labels data } problems } }
        """

    private struct Scene {
        let receivers: ReceiverScene

        func preview(
            _ kind: String,
            _ body: String,
            _ more: JSONObject = [:],
            token: String? = nil
        ) async throws -> JSONValue {
            var variables: JSONObject = ["kind": .string(kind), "body": .string(body)]
            for member in more { variables[member.key] = member.value }
            let answer = try await receivers.installation.curl(document, variables, token: token ?? receivers.ada)
            guard let preview = answer["data"]?["previewReceiver"], !preview.isNull else { return answer }
            return preview
        }
    }

    @Test("a preview shows events and the answer as the sender would get them, and stores nothing")
    func events() async throws {
        try await Installation.run { installation in
            let scene = Scene(receivers: try await ReceiverScene(installation))
            let alerts = try await scene.preview("ALERTMANAGER", SentBody.alertmanager)
            #expect(alerts["status"] == 200 && alerts["problems"] == [], "\(alerts)")
            let event = alerts["events"]?[0]
            #expect(event?["action"] == "trigger" && event?["priority"] == 5, "\(alerts)")
            #expect(try JSONParser.parse(alerts["answer"]?.stringValue ?? "")["status"] == "success", "\(alerts)")
            let shipped = try await scene.preview(
                "TEMPLATE",
                #"{"heartbeat": {"status": 0, "msg": "timeout"}, "monitor": {"id": 1, "name": "db"}, "msg": "Down"}"#,
                ["receiver": "uptime-kuma"]
            )
            #expect(shipped["events"]?[0]?["key"] == "uptime-kuma/1", "\(shipped)")
            let own = #"{"rules": [{"event": {"action": "log", "title": "{header.X-From} {query.team} {name}"}}]}"#
            let template = try await scene.preview(
                "TEMPLATE",
                #"{"name": "db"}"#,
                ["template": .string(own), "headers": #"{"X-From": "ops"}"#, "query": #"{"team": "a b&c"}"#]
            )
            #expect(template["events"]?[0]?["title"] == "ops a b&c db", "\(template)")
            let kinds = [
                "GRAFANA", "PAGERDUTY", "NTFY", "GOTIFY", "SLACK", "CLOUDEVENTS", "EVENT", "MAIL", "HEARTBEAT",
            ]
            for kind in kinds {
                let preview = try await scene.preview(kind, #"{"title": "t", "message": "m", "text": "x"}"#)
                #expect(preview["status"]?.intValue != nil && preview["errors"] == nil, "\(kind): \(preview)")
            }
            #expect(try await scene.receivers.messages().isEmpty)
            let made = try await installation.curl(
                "{ listIntegrations { items { id } } listIncidents { items { id } } }",
                token: scene.receivers.ada
            )
            #expect(made["data"] == ["listIntegrations": ["items": []], "listIncidents": ["items": []]], "\(made)")
        }
    }

    @Test("an integration's own receiver or template reads what is previewed for it, unless another is given")
    func ofIntegration() async throws {
        try await Installation.run { installation in
            let scene = Scene(receivers: try await ReceiverScene(installation))
            let own = #"{"rules": [{"event": {"action": "log", "title": "own {name}"}}]}"#
            let written = try await scene.receivers.way("TEMPLATE", ["template": .string(own)])
            let shipped = try await scene.receivers.way("TEMPLATE", ["receiver": "uptime-kuma"])
            let body = #"{"name": "x", "heartbeat": {"status": 0, "msg": "m"}, "monitor": {"id": 1, "name": "db"}}"#
            let byOwn = try await scene.preview("TEMPLATE", body, ["id": .string(written.id)])
            #expect(byOwn["events"]?[0]?["title"] == "own x", "\(byOwn)")
            let byShipped = try await scene.preview("TEMPLATE", body, ["id": .string(shipped.id)])
            #expect(byShipped["events"]?[0]?["key"] == "uptime-kuma/1", "\(byShipped)")
            let given = try await scene.preview(
                "TEMPLATE",
                body,
                ["id": .string(written.id), "receiver": "uptime-kuma"]
            )
            #expect(given["events"]?[0]?["key"] == "uptime-kuma/1", "\(given)")
        }
    }

    @Test("what is wrong with a template or a body is an answer, and what strangers can send has a bound")
    func problems() async throws {
        try await Installation.run { installation in
            let scene = Scene(receivers: try await ReceiverScene(installation))
            let wrong = #"{"rules": [{"event": {"action": "log", "title": "{nonsense("}}]}"#
            for more in [
                ["template": .string(wrong)], ["receiver": "no-such"], [:], ["template": #"{"rules": 7}"#],
            ] as [JSONObject] {
                let preview = try await scene.preview("TEMPLATE", "{}", more)
                #expect(preview["status"] == 400 && preview["events"] == [], "\(preview)")
                #expect(preview["problems"]?[0]?.stringValue?.isEmpty == false, "\(preview)")
            }
            for body in ["", "not json", #"{"action": "dance"}"#] {
                let preview = try await scene.preview("EVENT", body)
                #expect(preview["status"] == 400 && preview["problems"] != [], "\(preview)")
            }
            let variables: JSONValue = ["kind": "EVENT", "body": .string(String(repeating: "x", count: 300_000))]
            let file = installation.folder + "/long.json"
            try (["query": .string(Self.document), "variables": variables] as JSONValue).serializedString()
                .write(toFile: file, atomically: true, encoding: .utf8)
            let fields = ["--header", "Content-Type: application/json", "--data-binary", "@" + file]
            let answer = try await installation.http("/graphql", token: scene.receivers.ada, fields)
            let long = try JSONParser.parse(answer.body)
            #expect(long["errors"]?[0]?["message"]?.stringValue?.contains("262144") == true, "\(long)")
            for more in [["headers": "[1]"], ["query": #"{"a": 1}"#], ["receiver": "github"]] as [JSONObject] {
                let refused = try await scene.preview("EVENT", "{}", more)
                #expect(refused["errors"]?[0]?["extensions"]?["code"] == "BAD_USER_INPUT", "\(refused)")
            }
            let publisher = try await installation.makeToken(user: "ada", ["--publish", "alerts"])
            for token in [publisher, "nonsense"] {
                let refused = try await scene.preview("EVENT", "{}", token: token)
                #expect(refused["errors"] != nil && refused["data"]?["previewReceiver"]?["status"] == nil, "\(refused)")
            }
            // Templates that were tried out push out none that is in use.
            #expect(try await scene.preview("EVENT", SentBody.event, token: scene.receivers.bob)["status"] == 202)
        }
    }
}
