import JSON
import Testing

@Suite("Routes of integrations", .timeLimit(.minutes(5)))
struct RouteTests {
    /// Ada with the topics `alerts` and `databases`.
    private struct Scene {
        let receivers: ReceiverScene
        let databases: String

        init(_ installation: Installation) async throws {
            receivers = try await ReceiverScene(installation)
            databases = try await installation.makeTopic("databases", token: receivers.ada)
        }

        /// Routes in the shape of the input.
        func routes(_ routes: [(match: String, topic: String?, priority: Int64?)]) -> JSONObject {
            let items = routes.map { route in
                var item: JSONObject = ["match": .string(route.match)]
                if let topic = route.topic { item["topicId"] = .string(topic) }
                if let priority = route.priority { item["priority"] = .int(priority) }
                return JSONValue.object(item)
            }
            return ["routes": .array(items)]
        }

        func incidents() async throws -> [JSONValue] {
            let answer = try await receivers.installation.curl(
                "{ listIncidents { items { key topicId state priority occurrences } } }",
                token: receivers.ada
            )
            let items = answer["data"]?["listIncidents"]?["items"]?.arrayValue ?? []
            return items.sorted { ($0["key"]?.stringValue ?? "") < ($1["key"]?.stringValue ?? "") }
        }

        func post(_ way: ReceiverScene.Way, _ event: String) async throws {
            let answer = try await receivers.post("/in/\(way.key)", event)
            #expect(answer.status == 202, "\(answer.body)")
        }
    }

    @Test("the first route that matches chooses topic and priority; what matches none goes to the integration's own")
    func chosen() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let way = try await scene.receivers.way(
                "EVENT",
                scene.routes([
                    (#"{"team": "db", "env": {"!=": ["test", "dev"]}}"#, scene.databases, nil),
                    (#"{"host": {"=*": "web-*.eu"}}"#, nil, 5), (#"{"team": "db"}"#, nil, 1),
                ])
            )
            for (title, labels) in [
                ("one", #"{"team": "db"}"#), ("two", #"{"team": "db", "env": "dev", "host": "web-1.eu"}"#),
                ("three", #"{"team": "db", "env": "test"}"#), ("four", #"{"host": "web-1.us"}"#), ("five", "{}"),
            ] {
                try await scene.post(way, #"{"action": "log", "title": "\#(title)", "labels": \#(labels)}"#)
            }
            let (own, routed) = try await (scene.receivers.messages(), scene.receivers.messages(in: scene.databases))
            #expect(routed.map { $0["title"] } == ["one"] && routed.map { $0["priority"] } == [4], "\(routed)")
            #expect(own.map { $0["title"] } == ["two", "three", "four", "five"], "\(own)")
            #expect(own.map { $0["priority"] } == [5, 1, 4, 4], "\(own)")
        }
    }

    @Test("an incident stays where it was opened: a repeat with other labels and an end without any reach it")
    func stays() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let way = try await scene.receivers.way(
                "PAGERDUTY",
                scene.routes([(#"{"group": "db"}"#, scene.databases, nil)])
            )
            func send(_ action: String, _ group: String?) async throws {
                var event = #"{"routing_key": "\#(way.key)", "event_action": "\#(action)", "dedup_key": "db-3""#
                if let group {
                    event += #", "payload": {"summary": "Disk full", "source": "db-3", "severity": "critical","#
                    event += #" "group": "\#(group)"}"#
                }
                let answer = try await scene.receivers.post("/v2/enqueue", event + "}")
                #expect(answer.status == 202, "\(answer.body)")
            }
            try await send("trigger", "db")
            try await send("trigger", "web")
            var incidents = try await scene.incidents()
            #expect(incidents.count == 1 && incidents[0]["topicId"]?.stringValue == scene.databases, "\(incidents)")
            #expect(incidents[0]["state"] == "OPEN" && incidents[0]["occurrences"] == 2, "\(incidents)")
            try await send("acknowledge", nil)
            #expect(try await scene.incidents()[0]["state"] == "ACKNOWLEDGED")
            try await send("resolve", nil)
            incidents = try await scene.incidents()
            #expect(incidents.map { $0["state"] } == ["RESOLVED"], "\(incidents)")
            #expect(try await scene.receivers.integration(way.id, "unmatchedResolves")["unmatchedResolves"] == 0)
            // What comes after its end goes by its labels.
            try await send("trigger", "web")
            incidents = try await scene.incidents()
            let open = incidents.filter { $0["state"] == "OPEN" }
            #expect(open.map { $0["topicId"]?.stringValue } == [scene.receivers.topicID], "\(incidents)")
        }
    }

    @Test("of one request each event goes by its own labels, and one without labels follows the incident before it")
    func together() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let way = try await scene.receivers.way(
                "EVENT",
                scene.routes([(#"{"team": "db"}"#, scene.databases, nil)])
            )
            let events = #"""
                [{"action": "trigger", "key": "a", "title": "A", "labels": {"team": "db"}},
                {"action": "trigger", "key": "b", "title": "B"},
                {"action": "resolve", "key": "a"}]
                """#
            try await scene.post(way, events)
            let incidents = try await scene.incidents()
            #expect(incidents.map { $0["state"] } == ["RESOLVED", "OPEN"], "\(incidents)")
            let topics = incidents.map { $0["topicId"]?.stringValue }
            #expect(topics == [scene.databases, scene.receivers.topicID], "\(incidents)")
        }
    }

    @Test("one key with differing labels at once opens one incident")
    func atOnce() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let way = try await scene.receivers.way(
                "EVENT",
                scene.routes([(#"{"team": "db"}"#, scene.databases, nil)])
            )
            let (address, folder) = (installation.address + "/in/\(way.key)", installation.folder)
            let statuses = try await withThrowingTaskGroup(of: String.self) { group in
                for team in ["db", "web", "db", "web", "db", "web", "db", "web"] {
                    let event = #"{"action": "trigger", "key": "k", "title": "t", "labels": {"team": "\#(team)"}}"#
                    group.addTask {
                        try await ChildProcess.run(
                            "/usr/bin/curl",
                            [
                                "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--data", event,
                                address,
                            ],
                            environment: TestBinary.environment,
                            folder: folder
                        ).output
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: "202", count: 8))
            let incidents = try await scene.incidents()
            #expect(incidents.map { $0["occurrences"] } == [8], "\(incidents)")
        }
    }

    @Test("with an incident an alert, each goes by that alert's labels")
    func alerts() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            var more = scene.routes([(#"{"instance": {"=*": "db-*"}}"#, scene.databases, nil)])
            more["grouping"] = "ALERT"
            let way = try await scene.receivers.way("ALERTMANAGER", more)
            let answer = try await scene.receivers.post("/in/\(way.key)", SentBody.alertmanager)
            #expect(answer.status == 200, "\(answer.body)")
            let incidents = try await scene.incidents()
            #expect(incidents.map { $0["topicId"]?.stringValue } == [scene.databases], "\(incidents)")
            let over = SentBody.alertmanager.replacing("firing", with: "resolved")
                .replacing(#""instance":"db-1:9100","#, with: "")
            #expect(try await scene.receivers.post("/in/\(way.key)", over).status == 200)
            #expect(try await scene.incidents().map { $0["state"] } == ["RESOLVED"])
        }
    }

    @Test("a topic whose grant was taken back loses no event: it comes to the integration's own, and recent says so")
    func takenBack() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let (ada, bob) = (scene.receivers.ada, scene.receivers.bob)
            let topic = try await installation.makeTopic("bobs", token: bob)
            let grant = try await installation.share(topic, with: ["user": "ada"], as: ["PUBLISHER"], token: bob)
            let way = try await scene.receivers.way("EVENT", scene.routes([(#"{"team": "db"}"#, topic, 5)]))
            let event = #"{"action": "trigger", "key": "k", "title": "Disk full", "labels": {"team": "db"}}"#
            try await scene.post(way, event)
            let theirs = try await installation.curl("{ listIncidents { items { topicId state } } }", token: bob)
            #expect(
                theirs["data"]?["listIncidents"]?["items"] == [["topicId": .string(topic), "state": "OPEN"]],
                "\(theirs)"
            )
            // Who publishes there reads nothing by it.
            #expect(try await scene.incidents().isEmpty)
            let revoked = try await installation.curl(
                "mutation($id: ID!) { revokeGrant(id: $id) { id } }",
                ["id": .string(grant)],
                token: bob
            )
            #expect(revoked["errors"] == nil, "\(revoked)")
            try await scene.post(way, event)
            let incidents = try await scene.incidents()
            #expect(incidents.map { $0["topicId"]?.stringValue } == [scene.receivers.topicID], "\(incidents)")
            #expect(incidents.map { $0["priority"] } == [5], "\(incidents)")
            try await eventually("recent and trouble say so") {
                let seen = try await scene.receivers.integration(way.id, "trouble recent(limit: 1) { outcome }")
                let outcome = seen["recent"]?[0]?["outcome"]?.stringValue ?? ""
                return outcome.hasPrefix("OPENED; the topic \(topic) of a route")
                    && seen["trouble"]?.stringValue?.contains(topic) == true
            }
            // A topic that was deleted is the same.
            let own = try await installation.makeTopic("short", token: ada)
            let other = try await scene.receivers.way("EVENT", scene.routes([(#"{"team": "db"}"#, own, nil)]))
            let gone = try await installation.curl(
                "mutation($id: ID!) { deleteTopic(input: { id: $id, _version: 1 }) { id } }",
                ["id": .string(own)],
                token: ada
            )
            #expect(gone["errors"] == nil, "\(gone)")
            try await scene.post(other, #"{"action": "log", "title": "late", "labels": {"team": "db"}}"#)
            #expect(try await scene.receivers.messages().last?["title"] == "late")
        }
    }

    @Test("a topic that its owner, or who writes, may not publish to is answered as one that is not there")
    func foreign() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let (ada, bob) = (scene.receivers.ada, scene.receivers.bob)
            let absent = "01930000-0000-7000-8000-000000000000"
            let bobs = try await installation.makeTopic("bobs", token: bob)
            var more = scene.routes([(#"{"team": "db"}"#, scene.databases, nil)])
            more["editors"] = ["bob"]
            let way = try await scene.receivers.way("EVENT", more)
            func answer(_ topic: String, _ token: String) async throws -> String {
                let kept = #"{ match: "{\"team\": \"db\"}", topicId: "\#(scene.databases)" }"#
                let added = #"{ match: "{\"team\": \"web\"}", topicId: "\#(topic)" }"#
                let document = """
                    mutation { updateIntegration(input: { id: "\(way.id)", routes: [\(kept), \(added)], _version: 1 })
                      { id } }
                    """
                let answer = try await installation.curl(document, token: token)
                #expect(answer["errors"]?[0]?["extensions"]?["code"] == "BAD_USER_INPUT", "\(answer)")
                return answer.serializedString().replacing(topic, with: "TOPIC")
            }
            // Ada's route stays untouched in the hands of bob, who may not see its topic.
            #expect(try await answer(bobs, ada) == answer(absent, ada))
            #expect(try await answer(bobs, bob) == answer(absent, bob))
            #expect(try await answer(scene.receivers.topicID, bob) == answer(absent, bob))
            let renamed = try await installation.curl(
                #"mutation { updateIntegration(input: { id: "\#(way.id)", name: "n", _version: 1 }) { name } }"#,
                token: bob
            )
            #expect(renamed["data"]?["updateIntegration"]?["name"] == "n", "\(renamed)")
        }
    }

    @Test("routes have bounds, and what means nothing is refused with what to write")
    func bounds() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let labels = (0..<11).map { #""l\#($0)": "x""# }.joined(separator: ", ")
            let long = String(repeating: "x", count: 257)
            let many = (0..<21).map { _ in (match: #"{"a": "b"}"#, topic: String?.none, priority: Int64?.some(1)) }
            for (routes, words) in [
                (many, "at most 20"), ([("{\(labels)}", nil, 1)], "1 to 10 labels"),
                ([("{}", nil, 1)], "1 to 10 labels"),
                ([("[]", nil, 1)], "match must be an object"), ([(#"{"a": 7}"#, nil, 1)], "match must be an object"),
                ([(#"{"a": {"~": "b"}}"#, nil, 1)], "match must be an object"),
                ([(#"{"a": "b"}"#, nil, nil)], "a topicId"),
                ([(#"{"a": "b"}"#, nil, 6)], "1 (min) to 5"), ([("{\"a\": \"\(long)\"}", nil, 1)], "at most 256"),
                ([("{\"a\": {\"=*\": \"\(long)\"}}", nil, 1)], "at most 64"),
                ([("{\"\": \"b\"}", nil, 1)], "name of a label"),
            ] {
                var input = scene.routes(routes)
                for (name, value) in [("name", "r"), ("kind", "EVENT"), ("topicId", scene.receivers.topicID)] {
                    input[name] = .string(value)
                }
                let answer = try await installation.curl(
                    "mutation($input: CreateIntegrationInput!) { createIntegration(input: $input) { id } }",
                    ["input": .object(input)],
                    token: scene.receivers.ada
                )
                #expect(answer["errors"]?[0]?["extensions"]?["code"] == "BAD_USER_INPUT", "\(answer)")
                #expect(answer["errors"]?[0]?["message"]?.stringValue?.contains(words) == true, "\(words): \(answer)")
            }
        }
    }

    @Test("a preview shows the topic and the priority that routes choose, and a topic that is lost")
    func preview() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let lost = try await installation.makeTopic("lost", token: scene.receivers.ada)
            let way = try await scene.receivers.way(
                "EVENT",
                scene.routes([(#"{"team": "db"}"#, scene.databases, 2), (#"{"team": "web"}"#, lost, nil)])
            )
            let gone = try await installation.curl(
                "mutation($id: ID!) { deleteTopic(input: { id: $id, _version: 1 }) { id } }",
                ["id": .string(lost)],
                token: scene.receivers.ada
            )
            #expect(gone["errors"] == nil, "\(gone)")
            func preview(_ team: String, token: String) async throws -> JSONValue {
                try await installation.curl(
                    """
                    query($body: String!, $id: ID) { previewReceiver(kind: EVENT, body: $body, integrationId: $id) {
                      events { topicId priority } problems } }
                    """,
                    [
                        "id": .string(way.id),
                        "body": .string(#"{"action": "trigger", "title": "t", "labels": {"team": "\#(team)"}}"#),
                    ],
                    token: token
                )
            }
            let found = try await preview("db", token: scene.receivers.ada)["data"]?["previewReceiver"]
            #expect(
                found?["events"] == [["topicId": .string(scene.databases), "priority": 2]],
                "\(String(describing: found))"
            )
            #expect(found?["problems"] == [], "\(String(describing: found))")
            let other = try await preview("web", token: scene.receivers.ada)["data"]?["previewReceiver"]
            #expect(
                other?["events"]?[0]?["topicId"]?.stringValue == scene.receivers.topicID,
                "\(String(describing: other))"
            )
            #expect(other?["problems"]?[0]?.stringValue?.contains(lost) == true, "\(String(describing: other))")
            let refused = try await preview("db", token: scene.receivers.bob)
            #expect(refused["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED", "\(refused)")
        }
    }

    @Test("OWNER of a shared topic sees the routes of its ways in, and sets none: they lead elsewhere")
    func ofOwner() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let way = try await scene.receivers.way("EVENT")
            let (topic, ada) = (scene.receivers.topicID, scene.receivers.ada)
            try await installation.share(topic, with: ["user": "bob"], as: ["OWNER"], token: ada)
            let route = #"{ match: "{\"a\": \"b\"}", priority: 5 }"#
            let document =
                "mutation { updateIntegration(input: { id: \"\(way.id)\", routes: [\(route)], _version: 1 }) { id } }"
            let answer = try await installation.curl(document, token: scene.receivers.bob)
            #expect(answer["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED", "\(answer)")
            #expect(try await installation.curl(document, token: ada)["errors"] == nil)
        }
    }

    @Test("an end of ntfy's sequence reaches the topic where it is shown")
    func withdrawal() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let way = try await scene.receivers.way(
                "NTFY",
                scene.routes([(#"{"tags": {"=*": "*db*"}}"#, scene.databases, nil)])
            )
            let key = "Authorization: Bearer \(way.key)"
            let shown = try await scene.receivers.post("/alerts/disk", "91 %", [key, "Tags: warning,db"])
            #expect(shown.status == 200, "\(shown.body)")
            #expect(try await scene.receivers.messages(in: scene.databases).map { $0["body"] } == ["91 %"])
            let ended = try await scene.receivers.post("/alerts/disk", "", [key], method: "DELETE")
            #expect(ended.status == 200, "\(ended.body)")
            #expect(try await scene.receivers.messages(in: scene.databases).count == 2)
            #expect(try await scene.receivers.messages().isEmpty)
        }
    }

    /// Made of what is odd in a line: 1 to 5 pieces.
    private static func oddText(_ random: inout some RandomNumberGenerator) -> String {
        let pieces = [
            "\"", "\\", " ", "*", "=", "!", "!=", "=*", "->", "priority 5", "\n", "\t", "\r", "\u{1}", "\u{7f}",
            "\u{85}", "\u{a0}", "\u{200e}", "\u{2028}", "\u{301}", "é", "👩‍🚒", "-", "'", "$", "\\n", "\\u0041", "a",
        ]
        return (0..<Int.random(in: 1...5, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
            .joined()
    }

    @Test("routes are read back as the command line prints them, whatever stands in labels, texts and names")
    func odd() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let ada = scene.receivers.ada
            let seed = UInt64.random(in: 0...UInt64.max)
            var random = StormRandom(seed: seed)
            let topic = try await installation.makeTopic(#"a "b" priority 3"#, token: ada)
            let routes = (0..<20).map { number -> (match: String, topic: String?, priority: Int64?) in
                var match: JSONObject = [:]
                for place in 0..<3 {
                    let comparison = ["=", "!=", "=*"][(number + place) % 3]
                    let text = place == 2 && number % 4 == 0 ? "" : Self.oddText(&random)
                    match["\(place)" + Self.oddText(&random)] = .object([comparison: .array([.string(text)])])
                }
                let hasTopic = number % 2 == 0
                let priority = number % 3 == 0 || !hasTopic ? Int64(number % 5 + 1) : nil
                return (
                    match: JSONValue.object(match).serializedString(), topic: hasTopic ? topic : nil, priority: priority
                )
            }
            let way = try await scene.receivers.way("EVENT", scene.routes(routes))
            let fields = "routes { match topicId priority }"
            func stored() async throws -> [JSONValue] {
                let routes = try await scene.receivers.integration(way.id, fields)["routes"]?.arrayValue ?? []
                return try routes.map { route in
                    let match = try JSONParser.parse(route["match"]?.stringValue ?? "").objectValue ?? [:]
                    let labels = match.map { JSONValue.array([.string($0.key), $0.value]).serializedString() }
                    return .array([
                        .array(labels.sorted().map { .string($0) }), route["topicId"] ?? .null,
                        route["priority"] ?? .null,
                    ])
                }
            }
            let before = try await stored()
            try #require(before.count == 20)
            func shown() async throws -> [String] {
                let shown = try await installation.tocsin(["integration", "show", way.id], token: ada)
                #expect(shown.status == 0, "\(shown.errors)")
                return shown.output.split(separator: "\n").filter { $0.hasPrefix("route\t") }
                    .map { String($0.dropFirst(6)) }
            }
            let lines = try await shown()
            let set = try await installation.tocsin(
                ["integration", "set", way.id] + lines.map { "--route=" + $0 },
                token: ada
            )
            #expect(set.status == 0, "seed \(seed): \(set.errors)")
            #expect(try await stored() == before, "seed \(seed): \(lines)")
            #expect(try await shown() == lines, "seed \(seed)")
        }
    }

    @Test("the command line writes routes as lines, and reads them back with names of topics")
    func command() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let ada = scene.receivers.ada
            let made = try await installation.tocsin(
                [
                    "integration", "add", "From scripts", "--kind", "event", "--topic", "alerts", "--route",
                    #"host=*db-* note="a b" team=db -> databases priority 5"#, "--route",
                    "env!=live env!=next -> priority 1",
                ],
                token: ada
            )
            #expect(made.status == 0, "\(made.errors)")
            func shown() async throws -> [String] {
                let shown = try await installation.tocsin(["integration", "show", "From scripts"], token: ada)
                #expect(shown.status == 0, "\(shown.errors)")
                return shown.output.split(separator: "\n").filter { $0.hasPrefix("route\t") }
                    .map { String($0.dropFirst(6)) }
            }
            #expect(
                try await shown() == [
                    #"host=*db-* note="a b" team=db -> databases priority 5"#, "env!=live env!=next -> priority 1",
                ]
            )
            let set = try await installation.tocsin(
                ["integration", "set", "From scripts", "--route", "team=db -> databases"],
                token: ada
            )
            #expect(set.status == 0 && set.output == "route\tteam=db -> databases\n", "\(set.output) \(set.errors)")
            for wrong in [
                "team=db", "-> databases", "team -> databases", "team=db -> no such topic", #"a="b -> x"#,
                #"a="\q" -> x"#,
            ] {
                let refused = try await installation.tocsin(
                    ["integration", "set", "From scripts", "--route", wrong],
                    token: ada
                )
                #expect(refused.status != 0 && !refused.errors.isEmpty, "\(wrong)")
            }
            let none = try await installation.tocsin(["integration", "set", "From scripts", "--no-routes"], token: ada)
            #expect(none.status == 0, "\(none.errors)")
            #expect(try await shown().isEmpty)
        }
    }
}
