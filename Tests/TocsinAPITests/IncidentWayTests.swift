import GraphQLTransport
import JSON
import Testing
import TocsinAPI
import TocsinCore

/// What acts on incidents leave behind: by what way they came, what counts as read, and what
/// pushes say.
@Suite("Ways to answer incidents")
struct IncidentWayTests {
    private static let alice = APIHarness.identity("alice")

    private static func raise(_ api: APIHarness, _ topic: String, _ key: String = "db-1") async throws -> JSONValue {
        let raise = """
            mutation($t: ID!, $k: String!) { raiseIncident(input: {topicId: $t, title: "disk", key: $k}) {
                id timeline { items { via on } } messages { items { id number data } } } }
            """
        let raised = try await api.run(raise, ["t": .string(topic), "k": .string(key)])
        return try #require(raised["data"]?["raiseIncident"], "\(raised)")
    }

    /// Runs a mutation of a request that came from there.
    private func run(_ document: String, from source: RequestSource, _ api: APIHarness) async throws -> JSONValue {
        let lookup = api.service.operation(
            of: GraphQLRequest(query: document),
            caller: Self.alice,
            style: .standard,
            from: source
        )
        guard case .mutation(let run) = lookup else { throw CancellationError() }
        return try JSONParser.parse(await run().body)
    }

    @Test("an act says by what way it came: a browser's session, the command line, an own device, else the API")
    func ways() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let registered = try await api.run(
            "mutation { registerPushToken(token: \"\(String(repeating: "ab", count: 32))\", platform: \"ios\", "
                + "name: \"Alice's phone\") { device { id } } }"
        )
        let device = try #require(registered["data"]?["registerPushToken"]?["device"]?["id"]?.stringValue)
        var (browser, shell, phone) = (
            RequestSource(remoteAddress: nil, id: "1"), RequestSource(remoteAddress: nil, id: "2"),
            RequestSource(remoteAddress: nil, id: "3")
        )
        (browser.isOfBrowserSession, browser.userAgent) = (true, "tocsin/0.1.0 (Linux)")
        (shell.userAgent, phone.deviceID) = ("tocsin/0.1.0 (Linux)", device)
        var stranger = RequestSource(remoteAddress: nil, id: "4")
        var library = RequestSource(remoteAddress: nil, id: "5")
        (stranger.deviceID, library.userAgent) = ("no-device-of-hers", "tocsin-client/0.1.0 (Linux)")
        let expected: [(RequestSource, String, JSONValue)] = [
            (browser, "CONSOLE", .null), (shell, "CLI", .null), (phone, "APP", "Alice's phone"),
            (stranger, "API", .null), (library, "API", .null),
        ]
        for (index, (source, via, place)) in expected.enumerated() {
            let id = try await Self.raise(api, topic, "key-\(index)")["id"]?.stringValue ?? ""
            let act = "{ acknowledgedVia acknowledgedOn timeline { items { via } } }"
            let taken = try await run("mutation { acknowledgeIncident(id: \"\(id)\") \(act) }", from: source, api)
            let answer = taken["data"]?["acknowledgeIncident"]
            #expect(answer?["acknowledgedVia"]?.stringValue == via, "\(taken)")
            #expect(answer?["acknowledgedOn"] == place, "\(taken)")
            #expect(answer?["timeline"]?["items"]?[1]?["via"]?.stringValue == via, "\(taken)")
            let ended = try await run("mutation { resolveIncident(id: \"\(id)\") { resolvedVia } }", from: source, api)
            #expect(ended["data"]?["resolveIncident"]?["resolvedVia"]?.stringValue == via, "\(ended)")
        }
    }

    @Test("who answers has read the incident's messages, as far as no other message comes between")
    func reading() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        func marks() async throws -> JSONValue? {
            try await api.run("{ readState { topics { number unread } } }")["data"]?["readState"]?["topics"]
        }
        try await api.publish("before", to: topic)
        let first = try await Self.raise(api, topic, "a")["id"]?.stringValue ?? ""
        _ = try await api.run("mutation { acknowledgeIncident(id: \"\(first)\") { state } }")
        #expect(try await marks() == [], "who does not count begins with no count")
        let all = "mutation { markRead(topicId: \"\(topic)\") { unread } }"
        _ = try await api.run(all)
        let second = try await Self.raise(api, topic, "b")["id"]?.stringValue ?? ""
        #expect(try await marks() == [["number": 3, "unread": 1]])
        _ = try await api.run("mutation { acknowledgeIncident(id: \"\(second)\") { state } }")
        #expect(try await marks() == [["number": 5, "unread": 0]], "the message that tells of it too")
        try await api.publish("between", to: topic)
        _ = try await api.run("mutation { resolveIncident(id: \"\(second)\") { state } }")
        #expect(try await marks() == [["number": 5, "unread": 2]], "what is not the incident's stays unread")
    }

    @Test("the messages of incidents say how many are open in their topic")
    func openIncidents() async throws {
        let api = try await APIHarness()
        let (topic, other) = (try await api.makeTopic(), try await api.makeTopic("other"))
        _ = try await Self.raise(api, other, "elsewhere")
        let first = try await Self.raise(api, topic, "a")["id"]?.stringValue ?? ""
        _ = try await Self.raise(api, topic, "b")
        _ = try await api.run("mutation { resolveIncident(id: \"\(first)\") { state } }")
        _ = try await api.run("mutation { reopenIncident(id: \"\(first)\") { state } }")
        let found = try await api.run(
            "query($t: ID!) { getMessageByTopicIdAndCreatedAt(topicId: $t, limit: 10) { items { data } } }",
            ["t": .string(topic)]
        )
        let counts = try (found["data"]?["getMessageByTopicIdAndCreatedAt"]?["items"]?.arrayValue ?? []).map {
            try JSONParser.parse($0["data"]?.stringValue ?? "")["openIncidents"]?.stringValue
        }
        #expect(counts == ["1", "2", "1", "2"], "\(found)")
    }

    @Test("explainDelivery says that an incident was answered, and that a change goes where the incident is shown")
    func gates() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        _ = try await api.run("mutation { subscribeToTopic(topicId: \"\(topic)\") { push } }")
        let phone = String(repeating: "cd", count: 32)
        _ = try await api.run("mutation { registerPushToken(token: \"\(phone)\", platform: \"ios\") { userId } }")
        let id = try await Self.raise(api, topic)["id"]?.stringValue ?? ""
        func gate(_ index: Int) async throws -> JSONValue? {
            let messages = "{ getIncident(id: \"\(id)\") { messages { items { id } } } }"
            let found = try await api.run(messages)["data"]?["getIncident"]?["messages"]?["items"]?[index]?["id"]
            let explained = try await api.run(
                "query($m: ID!) { explainDelivery(messageId: $m, userId: \"alice\") { gates { name passed sentence } } }",
                ["m": found ?? .null]
            )
            return explained["data"]?["explainDelivery"]?["gates"]?.arrayValue?.first { $0["name"] == "INCIDENT" }
        }
        #expect(try await gate(0)?["passed"] == true)
        _ = try await api.run("mutation { acknowledgeIncident(id: \"\(id)\") { state } }")
        let answered = try await gate(0)
        #expect(answered?["passed"] == false, "\(answered ?? .null)")
        #expect(answered?["sentence"]?.stringValue?.contains("INCIDENT_ANSWERED") == true, "\(answered ?? .null)")
        let plain = try await api.publish("plain", to: topic)["id"]?.stringValue ?? ""
        let explained = try await api.run(
            "{ explainDelivery(messageId: \"\(plain)\", userId: \"alice\") { gates { name } } }"
        )
        let names = explained["data"]?["explainDelivery"]?["gates"]?.arrayValue ?? []
        #expect(!names.isEmpty && !names.contains(["name": "INCIDENT"]), "\(explained)")
    }
}
