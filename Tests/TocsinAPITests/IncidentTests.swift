import GraphQL
import JSON
import TestDatabases
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("Incidents")
struct IncidentTests {
    /// An API with a topic of alice's and an integration into it.
    private struct Scene {
        let api: APIHarness
        let topic: String
        var integration: Integration

        init(_ kind: Integration.Kind = .event) async throws {
            let api = try await APIHarness()
            self.api = api
            topic = try await api.makeTopic()
            let facts = ["alice", "bob", "carol"].compactMap {
                UserFacts(of: APIHarness.identity($0), naming: [], at: api.time.now())
            }
            try await api.store.write { writer throws(StoreError) in for facts in facts { try writer.save(facts) } }
            integration = Integration(
                id: "integration",
                owner: "sub-alice::alice",
                name: "Prometheus",
                kind: kind,
                topicID: TopicID(topic)
            )
        }

        func take(_ events: SenderEvent...) async throws -> [EventOutcome] {
            try await api.services.incidents.take(events, from: integration)
        }

        func fire() async throws -> Int {
            let runner = TimerRunner(environment: api.environment, effects: [IncidentEffect(api.services.incidents)]) {
                Issue.record("\($0.kind): \($1)")
            }
            return try await runner.fireDue()
        }

        /// Titles and changes of the topic's messages, by number.
        func messages() async throws -> [String] {
            let query = """
                query($t: ID!) { getMessageByTopicIdAndCreatedAt(topicId: $t, limit: 1000) {
                    items { number title incidentChange priority } } }
                """
            let found = try await api.run(query, ["t": .string(topic)])
            let items = found["data"]?["getMessageByTopicIdAndCreatedAt"]?["items"]?.arrayValue ?? []
            return items.map {
                "\($0["incidentChange"]?.stringValue ?? "-") \($0["title"]?.stringValue ?? "") \($0["priority"]?.intValue ?? 0)"
            }
        }

        func incident(_ id: String?, as caller: Identity = APIHarness.identity("alice")) async throws -> JSONValue {
            let query = """
                query($id: ID!) { getIncident(id: $id) { id number state key title priority occurrences acknowledgedBy
                    acknowledgedOn acknowledgedVia resolvedBy resolvedVia snoozedUntil senderResolvedAt alertCount
                    firingCount flapping integrationId topicId _version topic { name }
                    alerts { items { fingerprint state title } }
                    timeline { items { number change by via on text messageId } }
                    messages { items { title incidentChange incident { state } } } } }
                """
            let found = try await api.run(query, ["id": .string(id ?? "")], as: caller)
            return found["data"]?["getIncident"] ?? found
        }

        func act(
            _ mutation: String,
            as caller: Identity = APIHarness.identity("alice")
        ) async throws -> JSONValue {
            try await api.run("mutation { \(mutation) { state acknowledgedBy _version } }", as: caller)
        }
    }

    private static func trigger(_ key: String = "db-1", _ title: String = "disk", priority: Int? = nil) -> SenderEvent {
        var event = SenderEvent(.trigger, key: key, title: title, body: "91 %")
        event.priority = priority
        return event
    }

    private static func alert(_ fingerprint: String, firing: Bool = true, at start: Timestamp? = nil)
        -> SenderEvent.Alert
    {
        var alert = SenderEvent.Alert(
            fingerprint: fingerprint,
            isFiring: firing,
            title: "disk of \(fingerprint)",
            labels: [:]
        )
        alert.startsAt = start
        return alert
    }

    private static func changes(_ incident: JSONValue) -> [String] {
        (incident["timeline"]?["items"]?.arrayValue ?? []).compactMap { $0["change"]?.stringValue }
    }

    @Test("a long list of levels is taken in several transactions, and its repeat changes nothing")
    func longList() async throws {
        let scene = try await Scene()
        let levels = (0..<100).map { Self.trigger("host-\($0)", "down") }
        let intake = scene.api.services.incidents
        let before = scene.api.store.statistics.commits
        let opened = try await intake.take(levels, from: scene.integration)
        #expect(scene.api.store.statistics.commits - before >= 4)
        #expect(opened.map(\.key) == levels.map(\.key) && opened.allSatisfy { $0.change == .opened })
        let messages = try await scene.messages()
        #expect(messages.count == 100)
        let again = try await intake.take(levels, from: scene.integration)
        #expect(again.map(\.incidentID) == opened.map(\.incidentID) && again.allSatisfy { $0.change == nil })
        #expect(try await scene.messages() == messages)
    }

    @Test("a long list in which a repeat would double something is taken as a whole")
    func longListOfMessages() async throws {
        let scene = try await Scene()
        let before = scene.api.store.statistics.commits
        let events = (0..<100).map { SenderEvent(.log, key: nil, title: "line \($0)", body: "") }
        _ = try await scene.api.services.incidents.take(events, from: scene.integration)
        #expect(scene.api.store.statistics.commits - before == 1)
    }

    @Test("a trigger opens an incident with its message, repeats count, and the end is told quietly")
    func life() async throws {
        let scene = try await Scene()
        let opened = try await scene.take(Self.trigger())[0]
        #expect(opened.change == .opened && opened.incidentNumber == 1 && opened.messageNumber == 1)
        let repeated = try await scene.take(Self.trigger())[0]
        #expect(repeated.incidentID == opened.incidentID && repeated.change == nil && repeated.messageID == nil)
        let resolved = try await scene.take(SenderEvent(.resolve, key: "db-1"))[0]
        #expect(resolved.change == .resolved && resolved.state == .resolved)
        #expect(try await scene.take(SenderEvent(.resolve, key: "db-1"))[0].change == nil)
        let incident = try await scene.incident(opened.incidentID)
        #expect(incident["occurrences"] == 2 && incident["state"] == "RESOLVED", "\(incident)")
        #expect(incident["resolvedVia"] == "SENDER" && incident["topic"]?["name"] == "alerts")
        #expect(Self.changes(incident) == ["OPENED", "RESOLVED"])
        #expect(incident["messages"]?["items"]?[1]?["incident"]?["state"] == "RESOLVED")
        #expect(try await scene.messages() == ["OPENED disk 4", "RESOLVED disk 2"])
    }

    @Test("an end for an unknown key makes nothing")
    func unmatched() async throws {
        let scene = try await Scene()
        let outcome = try await scene.take(SenderEvent(.resolve, key: "db-9"))[0]
        #expect(outcome.incidentID == nil && outcome.change == nil)
        #expect(try await scene.messages().isEmpty)
    }

    @Test("somebody takes it on, another joins, it is given back, snoozed, wakes and is resolved")
    func answers() async throws {
        let scene = try await Scene()
        let id = try await scene.take(Self.trigger())[0].incidentID ?? ""
        let taken = try await scene.act("acknowledgeIncident(id: \"\(id)\", on: \"iPhone\", note: \"mine\")")
        #expect(taken["data"]?["acknowledgeIncident"]?["acknowledgedBy"] == "alice", "\(taken)")
        let again = try await scene.act("acknowledgeIncident(id: \"\(id)\", on: \"iPhone\")")
        #expect(
            again["data"]?["acknowledgeIncident"] == taken["data"]?["acknowledgeIncident"],
            "a repeat changes nothing"
        )
        _ = try await scene.act("unacknowledgeIncident(id: \"\(id)\")")
        let snoozed = try await scene.act("snoozeIncident(id: \"\(id)\", minutes: 60)")
        #expect(snoozed["data"]?["snoozeIncident"]?["state"] == "SNOOZED", "\(snoozed)")
        #expect(try await scene.fire() == 0)
        scene.api.time.advance(seconds: 3601)
        #expect(try await scene.fire() == 1)
        #expect(try await scene.fire() == 0)
        _ = try await scene.act("resolveIncident(id: \"\(id)\")")
        let refused = try await scene.act("acknowledgeIncident(id: \"\(id)\")")
        #expect(refused["errors"]?[0]?["extensions"]?["code"] == "CONFLICT", "\(refused)")
        _ = try await scene.act("reopenIncident(id: \"\(id)\")")
        let incident = try await scene.incident(id)
        #expect(
            Self.changes(incident) == [
                "OPENED", "ACKNOWLEDGED", "UNACKNOWLEDGED", "SNOOZED", "WOKEN", "RESOLVED", "REOPENED",
            ],
            "\(incident)"
        )
        let taking = incident["timeline"]?["items"]?[1]
        #expect(taking?["text"] == "Acknowledged by alice (iPhone): mine" && taking?["via"] == "API", "\(incident)")
        #expect(incident["state"] == "OPEN" && incident["acknowledgedBy"] == .null)
        #expect(
            try await scene.messages() == [
                "OPENED disk 4", "ACKNOWLEDGED disk 2", "UNACKNOWLEDGED disk 4", "SNOOZED disk 2", "WOKEN disk 4",
                "RESOLVED disk 2", "REOPENED disk 4",
            ]
        )
    }

    @Test("whoever may read the topic may answer; others find nothing, and a version that is old is refused")
    func rights() async throws {
        let scene = try await Scene()
        let id = try await scene.take(Self.trigger())[0].incidentID ?? ""
        let (bob, carol) = (APIHarness.identity("bob"), APIHarness.identity("carol"))
        #expect(try await scene.incident(id, as: bob) == .null)
        let refused = try await scene.act("acknowledgeIncident(id: \"\(id)\")", as: bob)
        #expect(refused["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED", "\(refused)")
        for (user, role) in [("sub-bob", "READER"), ("sub-carol", "PUBLISHER")] {
            let granted = try await scene.api.run(
                "mutation { grantTopic(input: {topicId: \"\(scene.topic)\", user: \"\(user)\", roles: [\(role)]}) { id } }"
            )
            #expect(granted["errors"] == nil, "\(granted)")
        }
        #expect(try await scene.incident(id, as: bob)["state"] == "OPEN")
        let listed = try await scene.api.run("{ listIncidents { items { id } } }", as: bob)
        #expect(listed["data"]?["listIncidents"]?["items"]?[0]?["id"]?.stringValue == id, "\(listed)")
        #expect(try await scene.incident(id, as: carol) == .null)
        let stale = try await scene.act("acknowledgeIncident(id: \"\(id)\", expectedVersion: 9)", as: bob)
        #expect(stale["errors"]?[0]?["extensions"]?["code"] == "VERSION_CONFLICT", "\(stale)")
        let taken = try await scene.act("acknowledgeIncident(id: \"\(id)\", expectedVersion: 1)", as: bob)
        #expect(taken["data"]?["acknowledgeIncident"]?["acknowledgedBy"] == "bob", "\(taken)")
        var reader = bob
        reader.scope = .readOnly
        #expect(try await scene.incident(id, as: reader)["state"] == "ACKNOWLEDGED")
        let silent = try await scene.act("resolveIncident(id: \"\(id)\")", as: reader)
        #expect(silent["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED", "\(silent)")
    }

    @Test("members of a group are alerts: they come, they end, and one that fires stays where it is")
    func alerts() async throws {
        let scene = try await Scene(.alertmanager)
        var group = Self.trigger("group")
        group.alerts = [Self.alert("a"), Self.alert("b")]
        let id = try await scene.take(group)[0].incidentID
        var moved = Self.trigger("another group key")
        moved.alerts = [Self.alert("b"), Self.alert("c")]
        let outcome = try await scene.take(moved)[0]
        #expect(outcome.incidentID == id && outcome.change == .updated)
        var less = Self.trigger("group")
        less.alerts = [Self.alert("a", firing: false), Self.alert("b")]
        _ = try await scene.take(less)
        let incident = try await scene.incident(id)
        #expect(incident["alertCount"] == 3 && incident["firingCount"] == 2, "\(incident)")
        #expect(
            (incident["alerts"]?["items"]?.arrayValue ?? []).map { $0["state"]?.stringValue } == [
                "RESOLVED", "FIRING", "FIRING",
            ]
        )
        let firing = try await scene.api.run(
            "query($id: ID!) { getIncident(id: $id) { alerts(state: FIRING, limit: 1) { items { fingerprint } nextToken } } }",
            ["id": .string(id ?? "")]
        )["data"]?["getIncident"]?["alerts"]
        #expect(firing?["items"]?[0]?["fingerprint"] == "b" && firing?["nextToken"]?.stringValue != nil)
    }

    @Test("where each alert is an incident, a group makes as many")
    func byAlert() async throws {
        var scene = try await Scene(.alertmanager)
        scene.integration.grouping = .alert
        var group = Self.trigger("group")
        group.alerts = [Self.alert("a"), Self.alert("b"), Self.alert("c", firing: false)]
        _ = try await scene.take(group)
        let found = try await scene.api.run("{ listIncidents { items { key title } } }")
        let keys = (found["data"]?["listIncidents"]?["items"]?.arrayValue ?? []).compactMap { $0["key"]?.stringValue }
        #expect(keys.sorted() == ["a", "b"], "\(found)")
    }

    @Test("a replica's late word pages nobody; one that stays true opens the incident after a minute")
    func lateFiring() async throws {
        let scene = try await Scene(.alertmanager)
        let start = scene.api.time.now()
        var firing = Self.trigger("group")
        firing.alerts = [Self.alert("a", at: start)]
        var over = SenderEvent(.resolve, key: "group")
        over.alerts = [Self.alert("a", firing: false, at: start)]
        let id = try await scene.take(firing)[0].incidentID
        _ = try await scene.take(over)
        let late = try await scene.take(firing)[0]
        #expect(late.change == .late && late.state == .resolved)
        scene.api.time.advance(seconds: 5)
        _ = try await scene.take(over)
        scene.api.time.advance(seconds: 70)
        #expect(try await scene.fire() == 0, "the phantom was over")
        #expect(try await scene.messages().count == 2)
        _ = try await scene.take(firing)
        scene.api.time.advance(seconds: 61)
        #expect(try await scene.fire() == 1)
        let incident = try await scene.incident(id)
        #expect(incident["state"] == "OPEN" && incident["firingCount"] == 1, "\(incident)")
        #expect(try await scene.messages().last == "REOPENED disk 4")
    }

    @Test("an incident of which nothing is heard ends by itself, and events put that off")
    func endsByTime() async throws {
        var scene = try await Scene()
        scene.integration.resolveAfterSeconds = 600
        let id = try await scene.take(Self.trigger())[0].incidentID
        scene.api.time.advance(seconds: 400)
        _ = try await scene.take(Self.trigger())
        scene.api.time.advance(seconds: 400)
        #expect(try await scene.fire() == 0)
        scene.api.time.advance(seconds: 201)
        #expect(try await scene.fire() == 1)
        let incident = try await scene.incident(id)
        #expect(incident["state"] == "RESOLVED" && incident["resolvedVia"] == "TIMEOUT", "\(incident)")
    }

    @Test("new titles are told at once, and then once in a minute with the newest")
    func titles() async throws {
        let scene = try await Scene()
        _ = try await scene.take(Self.trigger())
        scene.api.time.advance(seconds: 61)
        for title in ["two", "three", "four"] { _ = try await scene.take(Self.trigger("db-1", title)) }
        #expect(try await scene.messages() == ["OPENED disk 4", "UPDATED two 2"])
        scene.api.time.advance(seconds: 61)
        #expect(try await scene.fire() == 1)
        #expect(try await scene.messages() == ["OPENED disk 4", "UPDATED two 2", "UPDATED four 2"])
    }

    @Test("events without an incident are messages: keyed ones once, later ones when they are due")
    func logs() async throws {
        let scene = try await Scene(.ntfy)
        var log = SenderEvent(.log, title: "backup done", body: "3 GiB")
        log.messageKey = "backup/1"
        let first = try await scene.take(log)[0]
        let second = try await scene.take(log, Self.trigger())
        #expect(first.messageID != nil && second[0].messageID == first.messageID)
        #expect(second[1].incidentID == nil && second[1].messageNumber == 2, "this kind makes no incidents")
        var later = SenderEvent(.log, title: "bins", body: "")
        later.dueAt = scene.api.time.now().adding(seconds: 3600)
        later.messageKey = "bins today"
        let kept = try await scene.take(later)[0]
        #expect(kept.messageID == nil && kept.scheduledID != nil)
        #expect(try await scene.take(later)[0].scheduledID == kept.scheduledID, "sent again it waits once")
        let listed = try await scene.api.run("{ listScheduledMessages { items { topicId nextAt } } }")
        #expect(
            listed["data"]?["listScheduledMessages"]?["items"]?[0]?["topicId"]?.stringValue == scene.topic,
            "\(listed)"
        )
        #expect(try await scene.messages() == ["- backup done 4", "- disk 4"])
        scene.api.time.advance(seconds: 3601)
        let runner = TimerRunner(
            environment: scene.api.environment,
            effects: [ScheduledMessageEffect(scene.api.services.scheduledMessages) { _ in }]
        ) { timer, error in Issue.record("\(timer.subject): \(error)") }
        _ = try await runner.fireDue()
        #expect(try await scene.messages().contains("- bins 4"), "it comes when it is due")
        #expect(try await scene.take(later)[0].messageID != nil, "what is due already comes at once")
    }

    @Test("somebody raises an incident by hand; the same key counts in it")
    func byHand() async throws {
        let scene = try await Scene()
        let raise = """
            mutation { raiseIncident(input: {topicId: "\(scene.topic)", title: "shop is slow", key: "shop", priority: 5,
                labels: "{\\"team\\":\\"web\\"}", assignee: "bob"}) {
                number state title priority labels assignee integrationId occurrences timeline { items { by via } } } }
            """
        let first = try await scene.api.run(raise)["data"]?["raiseIncident"]
        #expect(first?["number"] == 1 && first?["assignee"] == "bob" && first?["integrationId"] == .null)
        #expect(first?["labels"] == "{\"team\":\"web\"}" && first?["timeline"]?["items"]?[0]?["by"] == "alice")
        #expect(try await scene.api.run(raise)["data"]?["raiseIncident"]?["occurrences"] == 2)
        let refused = try await scene.api.run(raise, as: APIHarness.identity("bob"))
        #expect(refused["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED", "\(refused)")
        let note = try await scene.api.run(
            "mutation($id: ID!) { addIncidentNote(id: $id, text: \"looking\") { number change text } }",
            [
                "id": try await scene.api.run("{ listIncidents { items { id } } }")["data"]?["listIncidents"]?[
                    "items"
                ]?[0]?["id"] ?? .null
            ]
        )
        #expect(note["data"]?["addIncidentNote"]?["change"] == "NOTED", "\(note)")
    }

    @Test("whoever follows hears of an incident when it opens and when it changes")
    func live() async throws {
        let scene = try await Scene()
        let (created, _) = await scene.api.subscribe("subscription { onCreateIncident { title state } }")
        let (updated, _) = await scene.api.subscribe("subscription { onUpdateIncident { title state } }")
        _ = try await scene.take(Self.trigger())
        #expect(try await created.take(1)[0]["data"]?["onCreateIncident"]?["state"] == "OPEN")
        _ = try await scene.take(SenderEvent(.resolve, key: "db-1"))
        #expect(try await updated.take(1)[0]["data"]?["onUpdateIncident"]?["state"] == "RESOLVED")
        let synced = try await scene.api.run("{ syncIncidents { items { title _version } startedAt } }")
        #expect(synced["data"]?["syncIncidents"]?["items"]?[0]?["_version"] == 2, "\(synced)")
    }

    @Test("many triggers of one key at once open one incident and are all counted")
    func together() async throws {
        let scene = try await Scene()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<64 { group.addTask { _ = try await scene.take(Self.trigger()) } }
            try await group.waitForAll()
        }
        let found = try await scene.api.run("{ listIncidents { items { occurrences } } }")
        #expect(found["data"]?["listIncidents"]?["items"]?.arrayValue?.count == 1)
        #expect(found["data"]?["listIncidents"]?["items"]?[0]?["occurrences"] == 64, "\(found)")
        #expect(try await scene.messages() == ["OPENED disk 4"])
    }

    /// Acts on one incident by number, of which each may be done twice.
    private static func act(_ number: Int, _ scene: Scene) async throws {
        let found = try await scene.api.run("{ listIncidents { items { id number } } }")
        let items = found["data"]?["listIncidents"]?["items"]?.arrayValue ?? []
        let newest = items.max { ($0["number"]?.intValue ?? 0) < ($1["number"]?.intValue ?? 0) }
        let id = newest?["id"]?.stringValue ?? "none"
        switch number {
        case 0, 1, 2: _ = try await scene.take(Self.trigger(priority: 3 + number))
        case 3: _ = try await scene.take(SenderEvent(.resolve, key: "db-1"))
        case 4: _ = try await scene.take(SenderEvent(.acknowledge, key: "db-1"))
        case 5: _ = try await scene.act("acknowledgeIncident(id: \"\(id)\")")
        case 6: _ = try await scene.act("acknowledgeIncident(id: \"\(id)\")", as: APIHarness.identity("bob"))
        case 7: _ = try await scene.act("unacknowledgeIncident(id: \"\(id)\")")
        case 8: _ = try await scene.act("snoozeIncident(id: \"\(id)\", until: \"2026-07-02T00:00:00Z\")")
        default: _ = try await scene.act("resolveIncident(id: \"\(id)\")")
        }
    }

    @Test("whatever comes, each of it twice leaves the same states and messages as once")
    func doubled() async throws {
        for seed in 1...6 {
            var (seen, random) = ([String](), UInt64(seed))
            let acts = (0..<12).map { _ in
                random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Int((random >> 33) % 10)
            }
            for times in 1...2 {
                let scene = try await Scene()
                for act in acts { for _ in 0..<times { try await Self.act(act, scene) } }
                let states = try await scene.api.run(
                    "{ listIncidents { items { number state priority acknowledgedBy } } }"
                )
                let messages = try await scene.messages().filter { !$0.hasPrefix("UPDATED") }
                seen.append(states.serializedString() + messages.joined(separator: "\n"))
            }
            #expect(seen[0] == seen[1], "seed \(seed): \(acts)")
        }
    }

    @Test("a team's own type Incident stays theirs, and events make plain messages")
    func ownModel() async throws {
        let model = """
            type Topic @model @auth(rules: [{ allow: owner }]) { id: ID! name: String! @index(name: "byName", queryField: "getTopicByName") arn: String! }
            type Message @model @auth(rules: [{ allow: owner, operations: [create, read] }]) {
              id: ID! type: Int! title: String! body: String! createdAt: AWSDateTime!
              topicId: ID! @index(name: "byTopicIdAndCreatedAt", sortKeyFields: ["createdAt"], queryField: "getMessageByTopicIdAndCreatedAt")
              topic: Topic @hasOne(fields: ["topicId"])
            }
            type Incident @model @auth(rules: [{ allow: owner }]) { id: ID! what: String! }
            """
        let api = try await APIHarness(model: model)
        #expect(api.schema.incidentConflict?.contains("Incident") == true)
        #expect(api.schema.peopleConflict == nil && api.schema.incidents == nil)
        let made = try await api.run("mutation { createIncident(input: {what: \"theirs\"}) { what } }")
        #expect(made["data"]?["createIncident"]?["what"] == "theirs", "\(made)")
    }

    @Test("old incidents go with their timelines; the others stay")
    func retention() async throws {
        let scene = try await Scene()
        _ = try await scene.take(Self.trigger("old"), SenderEvent(.resolve, key: "old"))
        scene.api.time.advance(seconds: 400)
        _ = try await scene.take(Self.trigger("new"), Self.trigger("open"), SenderEvent(.resolve, key: "new"))
        let reaper = IncidentReaper(store: scene.api.store, time: scene.api.time, keptSeconds: Reloadable(300))
        #expect(try await reaper.runOnce() == 1)
        let found = try await scene.api.run("{ listIncidents { items { key timeline { items { number } } } } }")
        let keys = (found["data"]?["listIncidents"]?["items"]?.arrayValue ?? []).compactMap { $0["key"]?.stringValue }
        #expect(keys.sorted() == ["new", "open"], "\(found)")
    }
}
