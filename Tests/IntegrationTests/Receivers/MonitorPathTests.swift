import JSON
import Testing

@Suite("Pings of monitors, as served", .timeLimit(.minutes(5)))
struct MonitorPathTests {
    /// A monitor of ada's, made by the command, with its key.
    private static func monitor(_ scene: ReceiverScene, _ slug: String = "backup") async throws -> String {
        let arguments = ["monitor", "add", "Backup", "--slug", slug, "--topic", "alerts", "--every", "3600", "--json"]
        let made = try await scene.installation.tocsin(arguments, token: scene.ada)
        try #require(made.status == 0, "\(made.errors)")
        return try JSONParser.parse(made.output)["key"]?.stringValue ?? made.output
    }

    private static func read(_ scene: ReceiverScene, _ slug: String, _ fields: String) async throws -> JSONValue {
        let answer = try await scene.installation.curl(
            "query($slug: String!) { monitorsBySlug(slug: $slug) { items { \(fields) } } }",
            ["slug": .string(slug)],
            token: scene.ada
        )
        return answer["data"]?["monitorsBySlug"]?["items"]?[0] ?? answer
    }

    @Test("each path says what it says, by GET, HEAD and POST, and answers as healthchecks.io does")
    func signals() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let key = try await Self.monitor(scene)
            let run = "0190aaaa-0000-7000-8000-000000000001"
            let requests: [(path: String, fields: [String], signal: String, state: String)] = [
                ("", [], "SUCCESS", "UP"), ("/start?rid=\(run)", ["--head"], "START", "RUNNING"),
                ("/0?rid=\(run)", ["--data", "all is well"], "SUCCESS", "UP"),
                ("/log", ["--data", "note"], "LOG", "UP"),
                ("/3", ["--data", "disk full"], "FAIL", "DOWN"), ("/fail", [], "FAIL", "DOWN"),
                ("", [], "SUCCESS", "UP"),
            ]
            for (path, fields, signal, state) in requests {
                let answer = try await installation.http("/ping/\(key)\(path)", fields)
                #expect(answer.status == 200, "\(path): \(answer.status) \(answer.body)")
                #expect(answer.header("ping-body-limit") == "10000")
                if fields != ["--head"] { #expect(answer.body == "OK") }
                let seen = try await Self.read(scene, "backup", "state pings(limit: 1) { items { signal } }")
                #expect(seen["state"]?.stringValue == state, "\(path): \(seen)")
                #expect(seen["pings"]?["items"]?[0]?["signal"]?.stringValue == signal, "\(path): \(seen)")
            }
            let bodies = try await Self.read(scene, "backup", "pings { items { body exitStatus durationMs runId } }")
            let items = bodies["pings"]?["items"]?.arrayValue ?? []
            #expect(
                items.map { $0["body"]?.stringValue ?? "" } == ["", "", "disk full", "note", "all is well", "", ""]
            )
            #expect(items[2]["exitStatus"] == 3 && items[4]["runId"]?.stringValue == run)
            #expect(items[4]["durationMs"] != .null)
            let incidents = try await installation.curl(
                "{ listIncidents { items { key title body state occurrences } } }",
                token: scene.ada
            )
            let expected: JSONValue = [
                "key": "monitor/backup", "title": "Backup failed", "body": "", "state": "RESOLVED", "occurrences": 2,
            ]
            #expect(incidents["data"]?["listIncidents"]?["items"]?.arrayValue == [expected], "\(incidents)")
        }
    }

    @Test("a long body is taken, and its first 10,000 bytes are kept; one that is too long is refused")
    func bodies() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let key = try await Self.monitor(scene)
            let long = String(repeating: "a", count: 90_000)
            #expect(try await installation.http("/ping/\(key)", ["--data", long]).status == 200)
            let seen = try await Self.read(scene, "backup", "pings { items { body } }")
            #expect(seen["pings"]?["items"]?[0]?["body"]?.stringValue?.utf8.count == 10_000)
            let stranger = String(repeating: "a", count: 32)
            #expect(try await installation.http("/ping/\(stranger)", ["--data", long]).status == 404)
        }
    }

    @Test("one key pings many monitors by their names, which a first ping makes where it is asked to")
    func slugs() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let way = try await scene.way("HEARTBEAT")
            let none = try await installation.http("/ping/\(way.key)/nightly")
            #expect(none.status == 404 && none.body == "not found")
            let made = try await installation.http("/ping/\(way.key)/nightly?create=1")
            #expect(made.status == 201 && made.body == "Created", "\(made.body)")
            #expect(try await installation.http("/ping/\(way.key)/nightly?create=1").body == "OK")
            #expect(try await installation.http("/ping/\(way.key)/nightly/1").body == "OK")
            #expect(try await Self.read(scene, "nightly", "state")["state"] == "DOWN")
            // Another owner's key knows none of them.
            let topic = try await installation.makeTopic("bobs", token: scene.bob)
            let other = try await scene.way("HEARTBEAT", ["topicId": .string(topic)], token: scene.bob)
            #expect(try await installation.http("/ping/\(other.key)/nightly").status == 404)
            // A key of another kind pings nothing.
            let event = try await scene.way("EVENT")
            #expect(try await installation.http("/ping/\(event.key)/nightly").status == 404)
        }
    }

    @Test("Uptime Kuma's pushes are taken at its path, and answered as it does")
    func push() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let key = try await Self.monitor(scene)
            let up = try await installation.http("/api/push/\(key)?status=up&msg=OK&ping=12")
            #expect(try up.status == 200 && up.json["ok"] == true, "\(up.body)")
            let down = try await installation.http("/api/push/\(key)?status=down&msg=gone")
            #expect(down.status == 200)
            let seen = try await Self.read(scene, "backup", "state incident { body }")
            #expect(seen == ["state": "DOWN", "incident": ["body": "gone"]], "\(seen)")
            let unknown = try await installation.http("/api/push/\(String(repeating: "b", count: 32))")
            #expect(try unknown.status == 404 && unknown.json["ok"] == false, "\(unknown.body)")
        }
    }

    @Test("what is no ping is refused without a trace of the key in the log")
    func refusals() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let key = try await Self.monitor(scene)
            let unknown = try await installation.http("/ping/\(String(repeating: "c", count: 32))")
            #expect(unknown.status == 404 && unknown.body == "not found")
            #expect(try await installation.http("/ping/\(key)?rid=7").status == 400)
            #expect(try await installation.http("/ping/\(key)", ["--request", "DELETE"]).status == 405)
            #expect(try await installation.http("/ping/\(key)/a/b/c").status == 404)
            #expect(try await installation.http("/in/\(key)", ["--data", SentBody.event]).status == 401)
            // A key that was replaced with no overlap is over.
            let rotated = try await installation.curl(
                "{ monitorsBySlug(slug: \"backup\") { items { id } } }",
                token: scene.ada
            )
            let id = rotated["data"]?["monitorsBySlug"]?["items"]?[0]?["id"] ?? .null
            _ = try await installation.curl(
                "mutation($id: ID!) { rotateMonitorKey(id: $id, overlapSeconds: 0) { key } }",
                ["id": id],
                token: scene.ada
            )
            #expect(try await installation.http("/ping/\(key)").status == 404)
            #expect(!installation.log.contains(key))
        }
    }

    @Test("an alert of Alertmanager that is a watchdog pings its monitor and opens no incident")
    func watchdog() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            _ = try await Self.monitor(scene, "prometheus")
            let id = try await Self.read(scene, "prometheus", "id")["id"] ?? .null
            let way = try await scene.way(
                "ALERTMANAGER",
                ["watchdogs": [["match": #"{"alertname":"DiskFull"}"#, "monitorId": id]]]
            )
            let answer = try await scene.post(
                "/in/alertmanager",
                SentBody.alertmanager,
                ["Authorization: Bearer \(way.key)"]
            )
            #expect(answer.status == 200, "\(answer.body)")
            #expect(try await Self.read(scene, "prometheus", "state")["state"] == "UP")
            let opened = try await installation.curl("{ listIncidents { items { id } } }", token: scene.ada)
            #expect(opened["data"]?["listIncidents"]?["items"] == [], "\(opened)")
        }
    }

    @Test("the command adds, lists, shows, pauses, rotates and deletes")
    func command() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            _ = try await Self.monitor(scene)
            func run(_ arguments: String...) async throws -> String {
                let answer = try await installation.tocsin(["monitor"] + arguments, token: scene.ada)
                try #require(answer.status == 0, "\(answer.errors)")
                return answer.output
            }
            #expect(try await run("list").contains("backup\tNEW\tBackup"))
            let key = try await run("key", "backup", "--overlap", "0").split(separator: "\n")[0].dropFirst(4)
            #expect(try await installation.http("/ping/\(key)", ["--data", "fine"]).status == 200)
            let shown = try await run("show", "backup")
            #expect(shown.contains("state\tUP") && shown.contains("SUCCESS\t-\tfine"), "\(shown)")
            #expect(try await run("pause", "backup", "--minutes", "5").contains("PAUSED"))
            #expect(try await run("pause", "backup", "--end").contains("UP"))
            #expect(try await run("delete", "backup") == "deleted backup\n")
            #expect(try await installation.http("/ping/\(key)").status == 404)
        }
    }
}
