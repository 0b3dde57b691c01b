import GraphQLTransport
import JSON
import Testing
import TocsinAPI
import TocsinCore

/// `createMessage(input: { incident: … })`: one message, one event.
@Suite("Messages that are events")
struct MessageIncidentTests {
    private static let fields = """
        id number title body priority data incidentChange
        incident { number state occurrences priority title acknowledgedBy resolvedBy resolvedVia }
        """

    private struct Scene {
        let api: APIHarness
        let topic: String

        init() async throws {
            api = try await APIHarness()
            topic = try await api.makeTopic()
        }

        /// What publishing answers: the message, or the whole response where there is none.
        func publish(
            _ title: String,
            _ action: String? = nil,
            _ more: JSONObject = [:],
            key: String = "backup",
            as caller: Identity = APIHarness.identity("alice")
        ) async throws -> JSONValue {
            var incident: JSONObject = ["key": .string(key)]
            if let action { incident["action"] = .string(action) }
            var input: JSONObject = [
                "topicId": .string(topic), "type": 7, "title": .string(title), "body": "b",
                "incident": .object(incident),
            ]
            for member in more { input[member.key] = member.value }
            let answer = try await api.run(
                "mutation($i: CreateMessageInput!) { createMessage(input: $i) { \(fields) } }",
                ["i": .object(input)],
                as: caller
            )
            guard let message = answer["data"]?["createMessage"], !message.isNull else { return answer }
            return message
        }

        func count() async throws -> Int? {
            try await api.run("{ listMessages(limit: 100) { items { id } } }")["data"]?["listMessages"]?["items"]?
                .arrayValue?.count
        }
    }

    @Test("a message opens an incident, raises it, counts in it and ends it, and is each time the only message")
    func life() async throws {
        let scene = try await Scene()
        let opened = try await scene.publish("backup failed", nil, ["priority": 3, "data": #"{"host":"db-3"}"#])
        #expect(opened["number"] == 1 && opened["incidentChange"] == "OPENED" && opened["priority"] == 3, "\(opened)")
        #expect(opened["incident"]?["number"] == 1 && opened["incident"]?["state"] == "OPEN", "\(opened)")
        let data = try JSONParser.parse(opened["data"]?.stringValue ?? "")
        #expect(data["host"] == "db-3" && data["incidentState"] == "OPEN", "\(opened)")
        let counted = try await scene.publish("backup failed", "TRIGGER", ["priority": 3])
        #expect(counted["number"] == 2 && counted["incidentChange"] == "UPDATED", "\(counted)")
        #expect(counted["priority"] == 2, "\(counted)")
        #expect(counted["incident"]?["occurrences"] == 2, "\(counted)")
        let raised = try await scene.publish("backup failed again", nil, ["priority": 5])
        #expect(raised["incidentChange"] == "RAISED" && raised["priority"] == 5, "\(raised)")
        let taken = try await scene.publish("on it", "ACKNOWLEDGE")
        #expect(taken["incidentChange"] == "ACKNOWLEDGED" && taken["body"] == "b", "\(taken)")
        #expect(taken["incident"]?["acknowledgedBy"] == "alice" && taken["incident"]?["title"] == "backup failed again")
        let ended = try await scene.publish("backup done", "RESOLVE")
        #expect(ended["incidentChange"] == "RESOLVED" && ended["title"] == "backup done", "\(ended)")
        #expect(ended["incident"]?["resolvedBy"] == "alice" && ended["incident"]?["resolvedVia"] == "API", "\(ended)")
        let unknown = try await scene.publish("all well", "RESOLVE", key: "other")
        #expect(unknown["number"] == 6 && unknown["incident"] == .null, "\(unknown)")
        #expect(unknown["incidentChange"] == .null, "\(unknown)")
        #expect(try await scene.count() == 6)
    }

    @Test("a message that is repeated by its key or id is answered as it is, and is no second event")
    func repeats() async throws {
        let scene = try await Scene()
        for more in [["key": "once", "priority": 5] as JSONObject, ["id": "given"]] {
            let first = try await scene.publish("failed", nil, more)
            #expect(first["incidentChange"] != nil, "\(first)")
            let again = try await scene.publish("failed", nil, more)
            #expect(again == first, "\(again)")
            let other = try await scene.publish("another text", nil, more)
            #expect(other["errors"]?[0]?["extensions"]?["code"] == "CONFLICT", "\(other)")
        }
        #expect(try await scene.count() == 2)
        let listed = try await scene.api.run("{ listIncidents { items { occurrences } } }")
        #expect(listed["data"]?["listIncidents"]?["items"] == [["occurrences": 2]], "\(listed)")
    }

    @Test("a message that raised an incident which somebody has taken on stays that message when it is repeated")
    func repeatedRaise() async throws {
        let scene = try await Scene()
        _ = try await scene.publish("failed", nil, ["priority": 3])
        _ = try await scene.publish("on it", "ACKNOWLEDGE")
        let more: JSONObject = ["key": "once", "priority": 5, "push": ["sound": "siren.caf"]]
        let raised = try await scene.publish("failed again", nil, more)
        #expect(raised["incidentChange"] == "RAISED" && raised["incident"]?["state"] == "ACKNOWLEDGED", "\(raised)")
        #expect(try await scene.publish("failed again", nil, more) == raised)
        let other = try await scene.publish("failed again", nil, ["key": "once", "priority": 5])
        #expect(other["errors"]?[0]?["extensions"]?["code"] == "CONFLICT", "\(other)")
        #expect(try await scene.count() == 3)
    }

    @Test("messages are found, and heard of, by incident and by what has happened to it")
    func filters() async throws {
        let scene = try await Scene()
        let (live, outcome) = await scene.api.subscribe(
            "subscription { onCreateMessage(filter: { incidentChange: { eq: \"RESOLVED\" } }) { title } }"
        )
        guard case .stream = outcome else {
            Issue.record("the filter is not taken")
            return
        }
        try await scene.api.publish("plain", to: scene.topic)
        _ = try await scene.publish("one", key: "a")
        _ = try await scene.publish("two", key: "b")
        _ = try await scene.publish("one is over", "RESOLVE", key: "a")
        let listed = try await scene.api.run("{ listIncidents { items { id key } } }")
        let incidents = listed["data"]?["listIncidents"]?["items"]?.arrayValue ?? []
        let id = incidents.first { $0["key"] == "a" }?["id"]?.stringValue ?? "\(listed)"
        func titles(_ filter: String) async throws -> Set<String> {
            let found = try await scene.api.run("{ listMessages(filter: \(filter)) { items { title } } }")
            #expect(found["errors"] == nil, "\(found)")
            let items = found["data"]?["listMessages"]?["items"]?.arrayValue ?? []
            return Set(items.compactMap { $0["title"]?.stringValue })
        }
        #expect(try await titles("{ incidentId: { eq: \"\(id)\" } }") == ["one", "one is over"])
        #expect(try await titles("{ incidentChange: { eq: OPENED } }") == ["one", "two"])
        #expect(try await titles("{ incidentId: { attributeExists: false } }") == ["plain"])
        #expect(try await live.take(1).first?["data"]?["onCreateMessage"]?["title"] == "one is over")
    }

    @Test("a token for publishing is a sender; who may not publish changes nothing; wrong input is named")
    func rights() async throws {
        let scene = try await Scene()
        var publisher = APIHarness.identity("alice")
        publisher.scope = .publish(topic: scene.topic)
        let opened = try await scene.publish("failed", as: publisher)
        #expect(opened["id"] != nil && opened["errors"] == nil, "\(opened)")
        _ = try await scene.publish("on it", "ACKNOWLEDGE", as: publisher)
        let listed = try await scene.api.run(
            "{ listIncidents { items { state acknowledgedBy acknowledgedVia timeline { items { via } } } } }"
        )
        let incident = listed["data"]?["listIncidents"]?["items"]?[0]
        #expect(incident?["state"] == "ACKNOWLEDGED" && incident?["acknowledgedBy"] == .null, "\(listed)")
        #expect(incident?["timeline"]?["items"] == [["via": "SENDER"], ["via": "SENDER"]], "\(listed)")
        let refused = try await scene.publish("done", "RESOLVE", as: APIHarness.identity("bob"))
        #expect(refused["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED", "\(refused)")
        #expect(try await scene.count() == 2)
        for (key, more) in [("", [:] as JSONObject), (String(repeating: "k", count: 513), [:]), ("k", ["priority": 9])]
        {
            let wrong = try await scene.publish("failed", nil, more, key: key)
            let code = wrong["errors"]?[0]?["extensions"]?["code"]?.stringValue
            #expect(["BAD_USER_INPUT", "BAD_REQUEST"].contains(code), "\(wrong)")
        }
        let later = try await scene.api.run(
            "mutation($t: ID!, $i: AWSJSON!) { createScheduledMessage(input: { topicId: $t, input: $i, "
                + "cron: \"0 0 1 1 *\" }) { id } }",
            ["t": .string(scene.topic), "i": #"{"type":1,"title":"t","body":"b","incident":{"key":"k"}}"#]
        )
        #expect(later["errors"]?[0]?["message"]?.stringValue?.contains("input.incident") == true, "\(later)")
        #expect(try await scene.count() == 2)
    }
}
