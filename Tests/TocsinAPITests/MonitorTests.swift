import GraphQL
import JSON
import TestDatabases
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("Monitors")
struct MonitorTests {
    /// An API with a topic of alice's and a monitor of it.
    private struct Scene {
        let api: APIHarness
        let topic: String
        let monitor: String

        init(_ more: JSONObject = [:]) async throws {
            api = try await APIHarness()
            topic = try await api.makeTopic()
            let now = api.time.now()
            let facts = ["alice", "bob"].compactMap { UserFacts(of: APIHarness.identity($0), naming: [], at: now) }
            try await api.store.write { writer throws(StoreError) in for facts in facts { try writer.save(facts) } }
            var input: JSONObject = [
                "name": "Nightly backup", "slug": "backup", "topicId": .string(topic), "graceSeconds": 20,
            ]
            if more["cron"] == nil { input["periodSeconds"] = 100 }
            for member in more { input[member.key] = member.value }
            let made = try await api.run(
                "mutation($i: CreateMonitorInput!) { createMonitor(input: $i) { id } }",
                ["i": .object(input)]
            )
            monitor = made["data"]?["createMonitor"]?["id"]?.stringValue ?? "none: \(made.serializedString())"
        }

        var service: MonitorService {
            get throws { try #require(api.services.monitors) }
        }

        /// Lets time pass while a node is there, and fires what is due; answers how many.
        @discardableResult
        func pass(seconds: Double) async throws -> Int {
            api.time.advance(seconds: seconds)
            let now = api.time.now()
            try await api.store.write { writer throws(StoreError) in
                try writer.save(MonitorWatch(seenAt: now, gap: try writer.monitorWatch()?.gap))
            }
            return try await fire()
        }

        @discardableResult
        func fire() async throws -> Int {
            let runner = TimerRunner(environment: api.environment, effects: [MonitorEffect(try service)]) {
                Issue.record("\($0.kind): \($1)")
            }
            return try await runner.fireDue()
        }

        @discardableResult
        func ping(_ more: String = "") async throws -> String {
            let answer = try await api.run("mutation { pingMonitor(id: \"\(monitor)\"\(more)) { state } }")
            return answer["data"]?["pingMonitor"]?["state"]?.stringValue ?? answer.serializedString()
        }

        func read(_ fields: String, as caller: Identity = APIHarness.identity("alice")) async throws -> JSONValue {
            let found = try await api.run("{ getMonitor(id: \"\(monitor)\") { \(fields) } }", as: caller)
            return found["data"]?["getMonitor"] ?? found
        }

        func state() async throws -> String {
            let found = try await read("state")
            return found["state"]?.stringValue ?? found.serializedString()
        }

        /// Titles, changes and occurrences of the incidents of the topic.
        func incidents() async throws -> [String] {
            let found = try await api.run(
                "{ listIncidents { items { key title body state integrationId occurrences priority resolvedVia } } }"
            )
            return (found["data"]?["listIncidents"]?["items"]?.arrayValue ?? []).map {
                "\($0["key"]?.stringValue ?? "") \($0["state"]?.stringValue ?? "") \($0["occurrences"]?.intValue ?? 0) "
                    + "\($0["title"]?.stringValue ?? "")"
            }
        }
    }

    @Test("what does not report opens one incident, told once, and the next ping resolves it")
    func life() async throws {
        let scene = try await Scene()
        #expect(try await scene.state() == "NEW")
        try await scene.pass(seconds: 100_000)
        #expect(try await scene.incidents() == [])
        #expect(try await scene.ping() == "UP")
        try await scene.pass(seconds: 100)
        #expect(try await scene.state() == "LATE")
        try await scene.pass(seconds: 20)
        #expect(try await scene.state() == "DOWN")
        try await scene.pass(seconds: 500)
        let title = "Nightly backup has not reported for 2 min (expected every 1 min 40 s)"
        #expect(try await scene.incidents() == ["monitor/backup OPEN 1 \(title)"])
        let seen = try await scene.read("incident { state integrationId key labels } dueAt lastPingAt uptime")
        #expect(seen["incident"]?["state"] == "OPEN" && seen["incident"]?["integrationId"] == .null, "\(seen)")
        #expect(seen["incident"]?["labels"]?.stringValue == #"{"monitor":"backup"}"#)
        #expect(try await scene.ping() == "UP")
        #expect(try await scene.incidents() == ["monitor/backup RESOLVED 1 \(title)"])
        #expect(try await scene.read("incident { state }")["incident"] == .null)
    }

    @Test("a failure opens an incident with what the ping brought, each further one counts in it")
    func failures() async throws {
        let scene = try await Scene(["priority": 5, "failures": 2, "successes": 2])
        #expect(try await scene.ping(#", signal: FAIL, exitStatus: 1, body: "disk full""#) == "UP")
        #expect(try await scene.ping(#", signal: FAIL, exitStatus: 7, body: "disk full""#) == "DOWN")
        #expect(try await scene.ping(", signal: FAIL, exitStatus: 7") == "DOWN")
        #expect(try await scene.incidents() == ["monitor/backup OPEN 2 Nightly backup failed with status 7"])
        let incident = try await scene.read("incident { body priority }")["incident"]
        #expect(incident?["priority"] == 5, "\(incident ?? .null)")
        #expect(try await scene.ping() == "DOWN")
        #expect(try await scene.ping() == "UP")
        #expect(try await scene.incidents() == ["monitor/backup RESOLVED 2 Nightly backup failed with status 7"])
        let wrong = try await scene.ping(", signal: FAIL, exitStatus: 256")
        #expect(wrong.contains("exitStatus must be 0 to 255"))
        #expect(try await scene.ping(#", runId: "7""#).contains("runId must be a UUID"))
    }

    @Test("work that does not end in time is told, and how long it took is known")
    func runs() async throws {
        let scene = try await Scene(["maxRunSeconds": 3600])
        let run = #", runId: "0190AAAA-0000-7000-8000-000000000001""#
        #expect(try await scene.ping(", signal: START" + run) == "RUNNING")
        try await scene.pass(seconds: 60)
        #expect(try await scene.ping(run) == "UP")
        let duration = try await scene.read("lastDurationMs pings { items { signal durationMs runId } }")
        #expect((60_000..<61_000).contains(duration["lastDurationMs"]?.intValue ?? 0), "\(duration)")
        #expect(duration["pings"]?["items"]?[0]?["durationMs"] == duration["lastDurationMs"])
        #expect(duration["pings"]?["items"]?[0]?["runId"] == "0190aaaa-0000-7000-8000-000000000001")
        #expect(try await scene.ping(", signal: START") == "RUNNING")
        try await scene.pass(seconds: 3600)
        #expect(try await scene.incidents() == ["monitor/backup OPEN 1 Nightly backup has been running for 1 h"])
    }

    @Test("after we were away nothing is down that could not ping, and what died is found a grace later")
    func away() async throws {
        let scene = try await Scene()
        #expect(try await scene.ping() == "UP")
        try await scene.pass(seconds: 10)
        scene.api.time.advance(seconds: 5000)
        try await scene.fire()
        #expect(try await scene.state() == "LATE")
        try await scene.service.noteWatch()
        try await scene.pass(seconds: 50)
        #expect(try await scene.state() == "LATE")
        #expect(try await scene.incidents() == [])
        try await scene.pass(seconds: 20)
        #expect(try await scene.state() == "DOWN")
    }

    @Test("a pause asks for nothing until its end, and resolves what is open")
    func pauses() async throws {
        let scene = try await Scene()
        #expect(try await scene.ping(", signal: FAIL") == "DOWN")
        let end = scene.api.time.now().adding(seconds: 600).iso8601
        func pause(_ until: String?) async throws -> JSONValue {
            let argument = until.map { #", until: "\#($0)""# } ?? ""
            let answer = try await scene.api.run(
                "mutation { pauseMonitor(id: \"\(scene.monitor)\"\(argument)) { state dueAt } }"
            )
            return answer["data"]?["pauseMonitor"]?["state"] ?? answer
        }
        #expect(try await pause(end) == "PAUSED")
        #expect(try await scene.incidents() == ["monitor/backup RESOLVED 1 Nightly backup failed"])
        #expect(try await scene.ping() == "PAUSED")
        try await scene.pass(seconds: 601)
        #expect(try await scene.state() == "UP")
        try await scene.pass(seconds: 130)
        #expect(try await scene.state() == "DOWN")
        #expect(try await pause(nil) == "PAUSED")
        try await scene.pass(seconds: 100_000)
        #expect(try await scene.state() == "PAUSED")
        #expect(try await scene.ping() == "UP")
        let uptime = try await scene.read("uptime(days: 1)")["uptime"]
        #expect(uptime != .null, "\(uptime ?? .null)")
    }

    @Test("the last 100 pings are kept, the latest first, page by page")
    func pings() async throws {
        let scene = try await Scene()
        for number in 1...105 { try await scene.ping(#", signal: LOG, body: "\#(number)""#) }
        let first = try await scene.read("pings(limit: 60) { items { number body signal } nextToken }")
        let items = first["pings"]?["items"]?.arrayValue ?? []
        #expect(items.count == 60 && items[0]["number"] == 105 && items[0]["body"] == "105", "\(first)")
        let token = first["pings"]?["nextToken"]?.stringValue ?? ""
        let second = try await scene.read("pings(limit: 60, nextToken: \"\(token)\") { items { number } nextToken }")
        #expect(second["pings"]?["items"]?.arrayValue?.last?["number"] == 6, "\(second)")
        #expect(second["pings"]?["nextToken"] == .null)
    }

    @Test("two nodes that look at the same moment open one incident, with one message")
    func twoNodes() async throws {
        let scene = try await Scene()
        #expect(try await scene.ping() == "UP")
        for seconds in [100.0, 20] {
            scene.api.time.advance(seconds: seconds)
            let now = scene.api.time.now()
            try await scene.api.store.write { writer throws(StoreError) in try writer.save(MonitorWatch(seenAt: now)) }
            async let first = scene.fire()
            async let second = scene.fire()
            _ = try await (first, second)
        }
        #expect(try await scene.incidents().count == 1)
        let messages = try await scene.api.run(
            "{ getMessageByTopicIdAndCreatedAt(topicId: \"\(scene.topic)\") { items { incidentChange } } }"
        )
        #expect(
            messages["data"]?["getMessageByTopicIdAndCreatedAt"]?["items"]?.arrayValue?.map { $0["incidentChange"] }
                == [
                    "OPENED"
                ],
            "\(messages)"
        )
    }

    @Test(
        "what means nothing is refused in words",
        arguments: [
            (#"slug: "start", periodSeconds: 60"#, "slug must have"),
            (#"slug: "7", periodSeconds: 60"#, "slug must have"),
            (#"slug: "A b", periodSeconds: 60"#, "slug must have"), (#"slug: "a""#, "either periodSeconds or cron"),
            (#"slug: "a", periodSeconds: 60, cron: "* * * * *""#, "either periodSeconds or cron"),
            (#"slug: "a", periodSeconds: 9"#, "periodSeconds must be 10 to"),
            (#"slug: "a", cron: "61 * * * *""#, "minute"),
            (#"slug: "a", cron: "0 2 * * *", timeZone: "Mars/Base""#, "timeZone names no zone"),
            (#"slug: "a", periodSeconds: 60, timeZone: "UTC""#, "timeZone is of monitors with cron"),
            (#"slug: "a", periodSeconds: 60, graceSeconds: 4"#, "graceSeconds must be 5 to"),
            (#"slug: "a", periodSeconds: 60, priority: 6"#, "priority must be 1 to 5"),
            (#"slug: "backup", periodSeconds: 60"#, "slug backup already"),
        ]
    )
    func refusals(input: String, reason: String) async throws {
        let scene = try await Scene()
        let made = try await scene.api.run(
            "mutation { createMonitor(input: { name: \"n\", topicId: \"\(scene.topic)\", \(input) }) { id } }"
        )
        #expect(made["errors"]?[0]?["message"]?.stringValue?.contains(reason) == true, "\(made)")
    }

    @Test("clients cannot say how it stands, another schedule counts from now, and a slug stays")
    func updates() async throws {
        let scene = try await Scene(["state": "UP", "dueAt": "2020-01-01T00:00:00.000Z"])
        #expect(try await scene.read("state dueAt") == ["state": "NEW", "dueAt": .null])
        #expect(try await scene.ping() == "UP")
        func update(_ fields: String) async throws -> JSONValue {
            let version = try await scene.read("_version")["_version"]?.intValue ?? 0
            return try await scene.api.run(
                "mutation { updateMonitor(input: { id: \"\(scene.monitor)\", _version: \(version), \(fields) }) { state dueAt } }"
            )
        }
        let due = try await scene.read("dueAt")["dueAt"]
        let same = try await update(#"name: "b", state: DOWN, dueAt: "2020-01-01T00:00:00.000Z""#)
        #expect(same["data"]?["updateMonitor"] == ["state": "UP", "dueAt": due ?? .null], "\(same)")
        let sooner = try await update("periodSeconds: 10, graceSeconds: 5")
        #expect(sooner["data"]?["updateMonitor"]?["dueAt"] != due, "\(sooner)")
        try await scene.pass(seconds: 15)
        #expect(try await scene.state() == "DOWN")
        let slug = try await update(#"slug: "other""#)
        #expect(slug["errors"]?[0]?["message"]?.stringValue?.contains("slug cannot be changed") == true, "\(slug)")
    }

    @Test("others see and change nothing, and a monitor that is deleted asks for nothing")
    func rights() async throws {
        let scene = try await Scene()
        let bob = APIHarness.identity("bob")
        #expect(try await scene.read("id", as: bob) == .null)
        for act in ["pingMonitor", "pauseMonitor"] {
            let refused = try await scene.api.run("mutation { \(act)(id: \"\(scene.monitor)\") { id } }", as: bob)
            #expect(refused["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED", "\(refused)")
        }
        let key = try await scene.api.run("mutation { rotateMonitorKey(id: \"\(scene.monitor)\") { key } }", as: bob)
        #expect(key["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED", "\(key)")
        #expect(try await scene.ping() == "UP")
        let version = try await scene.read("_version")["_version"]?.intValue ?? 0
        let gone = try await scene.api.run(
            "mutation { deleteMonitor(input: { id: \"\(scene.monitor)\", _version: \(version) }) { id } }"
        )
        #expect(gone["errors"] == nil, "\(gone)")
        #expect(try await scene.pass(seconds: 1000) == 0)
        #expect(try await scene.incidents() == [])
        #expect(try await scene.ping().contains("UNAUTHORIZED"))
    }

    @Test("a key of the monitor's own pings it alone, and one of a way in pings all of its owner by their names")
    func keys() async throws {
        let scene = try await Scene()
        let (api, service) = (scene.api, try scene.service)
        let rotated = try await api.run(
            "mutation { rotateMonitorKey(id: \"\(scene.monitor)\") { key url snippets monitor { id } integration { id } } }"
        )["data"]?["rotateMonitorKey"]
        #expect(rotated?["monitor"]?["id"]?.stringValue == scene.monitor && rotated?["integration"] == .null)
        let key = rotated?["key"]?.stringValue ?? ""
        #expect(rotated?["url"]?.stringValue?.hasSuffix("/ping/" + key) == true, "\(rotated ?? .null)")
        #expect(rotated?["snippets"]?.stringValue?.contains("/ping/\(key)/$?") == true, "\(rotated ?? .null)")
        let own = try #require(try await service.bearer(ofKey: key))
        #expect(try await service.take(MonitorPing(.success), from: own, slug: nil, creates: false) != .unknown)
        #expect(try await service.take(MonitorPing(.success), from: own, slug: "other", creates: true) == .unknown)
        let way =
            try await api.run(
                "mutation { createIntegration(input: { name: \"cron\", kind: HEARTBEAT, topicId: \"\(scene.topic)\" }) { id } }"
            )["data"]?["createIntegration"]?["id"]?.stringValue ?? ""
        let shared = try await api.run("mutation { rotateIntegrationKey(id: \"\(way)\") { key snippets } }")
        // Without a slug it would ping nothing.
        let snippets = shared["data"]?["rotateIntegrationKey"]?["snippets"]?.stringValue
        #expect(snippets?.contains("/SLUG/$?") == true, "\(shared)")
        let bearer = try #require(
            try await service.bearer(ofKey: shared["data"]?["rotateIntegrationKey"]?["key"]?.stringValue ?? "")
        )
        func take(_ slug: String?, creates: Bool = false) async throws -> MonitorService.Taken {
            try await service.take(MonitorPing(.success), from: bearer, slug: slug, creates: creates)
        }
        #expect(try await take("backup") == .stored(owner: "sub-alice::alice"))
        #expect(try await take(nil) == .unknown)
        #expect(try await take("new-one") == .unknown)
        let alice = APIHarness.identity("alice").userID
        var known = try #require(UserFacts(of: APIHarness.identity("alice"), naming: [], at: api.time.now()))
        (known.provider, known.claims) = (.oidc, ["cognito:groups": ["ops"]])
        let facts = known
        try await api.store.write { writer throws(StoreError) in try writer.save(facts) }
        api.time.advance(seconds: 60)
        #expect(try await take("new-one", creates: true) == .made(owner: "sub-alice::alice"))
        let standing = try await api.store.read { reader throws(StoreError) in
            try reader.standings(of: [alice], tokensAt: nil)[alice]
        }
        #expect(standing?.facts == facts, "a ping says nothing of who its owner is")
        #expect(try await take("new-one", creates: true) == .stored(owner: "sub-alice::alice"))
        let made = try await api.run("{ monitorsBySlug(slug: \"new-one\") { items { state periodSeconds topicId } } }")
        let expected: JSONValue = ["state": "UP", "periodSeconds": 86_400, "topicId": .string(scene.topic)]
        #expect(made["data"]?["monitorsBySlug"]?["items"]?.arrayValue == [expected], "\(made)")
        #expect(try await service.bearer(ofKey: "aaaabbbbccccddddeeeeffffgggghhhh") == nil)
    }

    @Test("alerts of a watchdog are pings and never incidents; one whose monitor is not the owner's counts for nothing")
    func watchdogs() async throws {
        let scene = try await Scene()
        let intake = WatchdogIntake(scene.api.services.incidents, monitors: try scene.service)
        var integration = Integration(
            id: "am",
            owner: "sub-alice::alice",
            name: "Alertmanager",
            kind: .alertmanager,
            topicID: TopicID(scene.topic)
        )
        integration.watchdogs = [Watchdog(labels: ["alertname": "Watchdog"], monitorID: scene.monitor)]
        func alert(_ name: String, isFiring: Bool = true) -> SenderEvent.Alert {
            SenderEvent.Alert(fingerprint: name, isFiring: isFiring, title: name, labels: ["alertname": name])
        }
        var event = SenderEvent(.trigger, key: "group", title: "group")
        event.alerts = [alert("Watchdog")]
        let alone = try await intake.take([event], from: integration)
        #expect(alone.count == 1 && alone[0].incidentID == nil)
        #expect(try await scene.state() == "UP")
        #expect(try await scene.incidents() == [])
        event.alerts = [alert("Watchdog"), alert("DiskFull")]
        let mixed = try await intake.take([event], from: integration)
        #expect(mixed[0].change == .opened)
        let shown = try await scene.api.run("{ listIncidents { items { alerts { items { fingerprint } } } } }")
        let items = shown["data"]?["listIncidents"]?["items"]?[0]?["alerts"]?["items"]?.arrayValue
        #expect(items == [["fingerprint": "DiskFull"]], "\(shown)")
        integration.owner = "sub-bob::bob"
        event.alerts = [alert("Watchdog")]
        await #expect(throws: ServiceError.self) { try await intake.take([event], from: integration) }
    }

    @Test("a topic that is gone lets the monitor go on, and nobody is told")
    func noTopic() async throws {
        let scene = try await Scene()
        #expect(try await scene.ping() == "UP")
        let gone = try await scene.api.run(
            "mutation { deleteTopic(input: { id: \"\(scene.topic)\", _version: 1 }) { id } }"
        )
        #expect(gone["errors"] == nil, "\(gone)")
        try await scene.pass(seconds: 200)
        #expect(try await scene.state() == "DOWN")
        #expect(try await scene.ping() == "UP")
    }
}
