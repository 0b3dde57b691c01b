import Foundation
import JSON
import Testing
import TocsinClient

/// What senders of plain messages ask for beside their text.
@Suite("What senders ask for", .timeLimit(.minutes(5)))
struct SenderWishTests {
    @Test("ntfy and Gotify open and end an incident where the request names one, whatever else makes messages")
    func incidents() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let ntfy = try await scene.way("NTFY")
            let field = "Authorization: Bearer \(ntfy.key)"
            let late = try await scene.post("/alerts", "91 %", [field, "X-Incident: db-3", "Delay: 1h"])
            #expect(late.status == 200, "\(late.body)")
            // It is told at once, and the answer says so.
            let now = Int64(Date().timeIntervalSince1970)
            #expect(try late.json["time"]?.intValue ?? .max < now + 1800, "\(late.body)")
            let gotify = try await scene.way("GOTIFY")
            let extras = #""extras": {"tocsin::incident": {"key": "g-1"}}"#
            let opened = try await scene.post("/message?token=\(gotify.key)", #"{"message": "M", \#(extras)}"#)
            #expect(opened.status == 200, "\(opened.body)")
            #expect(try await incidents(scene) == ["db-3 OPEN", "g-1 OPEN"])
            let ended = try await scene.post(
                "/alerts",
                "42 %",
                [field, "X-Incident: db-3", "X-Incident-Action: resolve"]
            )
            #expect(try ended.json["id"] != "", "\(ended.body)")
            #expect(try await incidents(scene) == ["db-3 RESOLVED", "g-1 OPEN"])
            // Without a name it is a message as ever.
            _ = try await scene.post("/alerts", "plain", [field])
            #expect(try await incidents(scene).count == 2)
        }
    }

    private func incidents(_ scene: ReceiverScene) async throws -> [String] {
        let answer = try await scene.installation.curl("{ listIncidents { items { key state } } }", token: scene.ada)
        let items = answer["data"]?["listIncidents"]?["items"]?.arrayValue ?? []
        return items.map { "\($0["key"]?.stringValue ?? "") \($0["state"]?.stringValue ?? "")" }.sorted()
    }

    @Test("tags and labels of a plain message are handed to apps")
    func labels() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let (ntfy, event) = (try await scene.way("NTFY"), try await scene.way("EVENT"))
            _ = try await scene.post(
                "/alerts",
                "x",
                ["Authorization: Bearer \(ntfy.key)", "Title: T", "Tags: warning,db,prod"]
            )
            _ = try await scene.post(
                "/in/\(event.key)",
                #"{"action": "log", "title": "T", "labels": {"host": "db-3"}, "data": {"a": "b"}}"#
            )
            let answer = try await installation.curl("{ listMessages { items { title data } } }", token: scene.ada)
            let items = answer["data"]?["listMessages"]?["items"]?.arrayValue ?? []
            let data = items.map { "\($0["title"]?.stringValue ?? "") \($0["data"]?.stringValue ?? "")" }
            #expect(Set(data) == [#"⚠️ T {"tags":"warning,db,prod"}"#, #"T {"a":"b","host":"db-3"}"#], "\(data)")
        }
    }

    @Test("a delayed message that is sent again with its key waits once")
    func delayed() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let ntfy = try await scene.way("NTFY")
            let fields = ["Authorization: Bearer \(ntfy.key)", "Delay: 1h", "X-Key: k1"]
            let first = try await scene.post("/alerts", "later", fields)
            let second = try await scene.post("/alerts", "later", fields)
            let other = try await scene.post("/alerts", "later", Array(fields.prefix(2)))
            let ids = try [first, second, other].map { try $0.json["id"]?.stringValue ?? "" }
            #expect(ids[0] == ids[1] && ids[0] != ids[2] && !ids[0].isEmpty && !ids[2].isEmpty, "\(ids)")
            let rows = try await installation.curl("{ listScheduledMessages { items { id } } }", token: scene.ada)
            let kept = rows["data"]?["listScheduledMessages"]?["items"]?.arrayValue ?? []
            #expect(Set(kept.compactMap { $0["id"]?.stringValue }) == Set(ids), "\(rows)")
            #expect(try await scene.messages().isEmpty)
        }
    }

    @Test("to delete or clear a sequence makes a message where it is shown, ends what waits, and else makes none")
    func withdrawn() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let fields = ["Authorization: Bearer \(try await scene.way("NTFY").key)"]
            for (method, path) in [("DELETE", "/alerts/s1"), ("PUT", "/alerts/s1/clear")] {
                let answer = try await scene.post(path, "", fields, method: method)
                #expect(answer.status == 200, "\(answer.body)")
                #expect(try answer.json["id"] == "" && answer.json["sequence_id"] == "s1", "\(answer.body)")
            }
            _ = try await scene.post("/alerts", "other", fields + ["Sequence-ID: S1"])
            _ = try await scene.post("/alerts", "later", fields + ["Sequence-ID: s1", "Delay: 1h"])
            _ = try await scene.post("/alerts/s1", "", fields, method: "DELETE")
            #expect(try await scene.messages().map { $0["body"] } == ["other"])
            let rows = try await installation.curl("{ listScheduledMessages { items { id } } }", token: scene.ada)
            #expect(rows["data"]?["listScheduledMessages"]?["items"] == [], "\(rows)")
            _ = try await scene.post("/alerts/s1", "shown", fields)
            for _ in 1...2 { _ = try await scene.post("/alerts/s1", "", fields, method: "DELETE") }
            let titles = try await scene.messages().map { $0["title"]?.stringValue ?? "" }
            #expect(titles.dropFirst(2) == ["Deleted"], "\(titles)")
        }
    }

    @Test("the JSON of a request that names a template is read by it, and answered as ntfy answers")
    func template() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let ntfy = try await scene.way("NTFY")
            let body = #"{"heartbeat": {"status": 0, "msg": "no answer"}, "monitor": {"id": 7, "name": "shop"}}"#
            for name in ["uptime-kuma", "no-such-template"] {
                let answer = try await scene.post(
                    "/alerts",
                    body,
                    ["Authorization: Bearer \(ntfy.key)", "X-Template: \(name)"]
                )
                #expect(answer.status == 200, "\(answer.body)")
                #expect(try answer.json["event"] == "message", "\(answer.body)")
            }
            let messages = try await scene.messages()
            #expect(messages[0]["title"] == "shop is down" && messages[0]["body"] == "no answer", "\(messages)")
            #expect(messages[1]["body"] == .string(body), "\(messages)")
            // Its incident ends as it opened, also where curl calls the body a form.
            let up = body.replacing(#""status": 0"#, with: #""status": 1"#)
            let ended = try await installation.http(
                "/alerts",
                token: ntfy.key,
                ["--header", "X-Template: uptime-kuma", "--data", up]
            )
            #expect(ended.status == 200, "\(ended.body)")
            #expect(try await incidents(scene) == ["uptime-kuma/7 RESOLVED"])
        }
    }

    @Test("the picture of an incident is in its push, until it is over")
    func picture() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let ada = try installation.makeClient(token: scene.ada)
            try await PushScene.register(PushScene.phone("ad"), ada, name: "ada's")
            let join = "mutation($id: ID!) { subscribeToTopic(topicId: $id) { push } }"
            _ = try await ada.query(join, variables: ["id": .string(scene.topicID)])
            let way = try await scene.way("PAGERDUTY")
            for (number, action) in ["trigger", "resolve"].enumerated() {
                let answer = try await scene.post(
                    "/v2/enqueue",
                    """
                    {"routing_key": "\(way.key)", "event_action": "\(action)", "dedup_key": "k",
                     "payload": {"summary": "Disk full", "source": "db-3", "severity": "critical"},
                     "images": [{"src": "https://example.com/graph.png"}]}
                    """
                )
                #expect(answer.status == 202, "\(answer.body)")
                try await eventually("the phone has got it") {
                    try await installation.simulator?.pushes().count { $0.isAccepted } == number + 1
                }
            }
            let pushes = try await installation.simulator?.pushes().filter(\.isAccepted) ?? []
            let images = pushes.map { $0.record["payload"]?["image"] }
            #expect(images == ["https://example.com/graph.png", nil], "\(pushes)")
        }
    }
}
