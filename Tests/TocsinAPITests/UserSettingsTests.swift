import GraphQL
import JSON
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("What people want of their pushes")
struct UserSettingsTests {
    private static let fields = """
        timeZone quietHours { days from to } quietBreakThrough quietMode doNotDisturbUntil maxSingles
        """

    @Test("members that are left out of the settings stay, and those of others are their own")
    func settings() async throws {
        let api = try await APIHarness()
        let set = "mutation($i: MySettingsInput!) { setMySettings(input: $i) { \(Self.fields) } }"
        _ = try await api.run(
            set,
            [
                "i": [
                    "timeZone": "Europe/Berlin",
                    "quietHours": [["days": ["MO", "SU"], "from": "22:00", "to": "07:00:00"]],
                ]
            ]
        )
        let response = try await api.run(set, ["i": ["quietMode": "FEED", "maxSingles": 3]])
        #expect(
            response["data"]?["setMySettings"] == [
                "timeZone": "Europe/Berlin", "quietHours": [["days": ["SU", "MO"], "from": "22:00", "to": "07:00"]],
                "quietBreakThrough": 5, "quietMode": "FEED", "doNotDisturbUntil": nil, "maxSingles": 3,
            ],
            "\(response)"
        )
        let bobs = try await api.run("{ mySettings { \(Self.fields) } }", as: APIHarness.identity("bob"))
        #expect(bobs["data"]?["mySettings"]?["timeZone"] == "UTC", "\(bobs)")
        #expect(bobs["data"]?["mySettings"]?["maxSingles"] == 5)
    }

    @Test(
        "what means nothing is refused in words",
        arguments: [
            ("setMySettings(input: {timeZone: \"Mars\"}) { timeZone }", "no time zone"),
            ("setMySettings(input: {quietBreakThrough: 6}) { timeZone }", "quietBreakThrough must be 1 to 5"),
            ("setMySettings(input: {maxSingles: -1}) { timeZone }", "maxSingles must be 0 to 50"),
            (
                "setMySettings(input: {quietHours: [{days: [], from: \"22:00\", to: \"07:00\"}]}) { timeZone }",
                "must name days"
            ),
            (
                "setMySettings(input: {quietHours: [{days: [MO], from: \"22:00Z\", to: \"07:00\"}]}) { timeZone }",
                "without an offset"
            ),
            (
                "setMySettings(input: {quietHours: [{days: [MO, TU, WE, TH, FR, SA, SU], from: \"00:00\", to: \"00:00\"}]}) "
                    + "{ timeZone }",
                "leave no time of the week"
            ),
            ("doNotDisturb { timeZone }", "either minutes or until"),
            ("doNotDisturb(minutes: 100000) { timeZone }", "minutes must be 0 to"),
            ("doNotDisturb(until: \"2027-01-01T00:00:00Z\") { timeZone }", "30 days"),
        ]
    )
    func refused(field: String, expected: String) async throws {
        let api = try await APIHarness()
        let response = try await api.run("mutation { \(field) }")
        #expect(response["errors"]?[0]?["message"]?.stringValue?.contains(expected) == true, "\(response)")
        #expect(response["errors"]?[0]?["extensions"]?["code"] == "BAD_USER_INPUT", "\(response)")
    }

    @Test("do-not-disturb lasts so many minutes, and 0 end it")
    func doNotDisturb() async throws {
        let api = try await APIHarness()
        let on = try await api.run("mutation { doNotDisturb(minutes: 90) { doNotDisturbUntil } }")
        #expect(on["data"]?["doNotDisturb"]?["doNotDisturbUntil"]?.stringValue?.hasPrefix("2026-07-01T13:30") == true)
        let off = try await api.run("mutation { doNotDisturb(minutes: 0) { doNotDisturbUntil } }")
        #expect(off["data"]?["doNotDisturb"]?["doNotDisturbUntil"] == .null, "\(off)")
    }

    @Test("how a member gets a topic stays as it was said until it is said anew")
    func membership() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        func subscribe(_ arguments: String) async throws -> JSONValue? {
            try await api.run(
                "mutation($t: ID!) { subscribeToTopic(topicId: $t\(arguments)) { delivery minPriority push } }",
                ["t": .string(topic)]
            )["data"]?["subscribeToTopic"]
        }
        #expect(try await subscribe("") == ["delivery": "NOW", "minPriority": 1, "push": true])
        #expect(
            try await subscribe(", delivery: FEED, minPriority: 4")
                == ["delivery": "FEED", "minPriority": 4, "push": true]
        )
        #expect(
            try await subscribe(", push: false") == ["delivery": "FEED", "minPriority": 4, "push": false]
        )
    }

    @Test("a digest tells once of each message since the last one, in a topic of the person's own")
    func digest() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic("alerts")
        try await api.publish("before", to: topic)
        _ = try await api.run(
            "mutation($t: ID!) { subscribeToTopic(topicId: $t, delivery: DIGEST) { delivery } }",
            ["t": .string(topic)]
        )
        let effect = DigestEffect(
            environment: api.environment,
            messages: api.services.messages,
            rights: PushRights(topics: api.schema.topics, messages: api.schema.messages),
            cron: "0 11 * * *"
        )
        try await effect.prepare()
        let runner = TimerRunner(environment: api.environment, effects: [effect]) { Issue.record("\($0): \($1)") }
        func fireAll() async throws { while try await runner.fireDue() > 0 { api.time.advance(seconds: 1) } }
        func digests() async throws -> [JSONValue] {
            let topics = try await api.run("{ getTopicByName(name: \"digests\") { items { id } } }")
            let id = topics["data"]?["getTopicByName"]?["items"]?[0]?["id"] ?? .null
            let query = "query($id: ID!) { getMessageByTopicIdAndCreatedAt(topicId: $id) { items { title body } } }"
            let found = try await api.run(query, ["id": id])["data"]?["getMessageByTopicIdAndCreatedAt"]?["items"]
            return found?.arrayValue ?? []
        }
        for number in 1...7 {
            try await api.publish("m\(number)", to: topic, with: ["priority": .int(number == 2 ? 5 : 3)])
        }
        api.time.advance(seconds: 86_400)
        try await fireAll()
        let first = try await digests()
        #expect(first.map { $0["title"] } == ["7 new messages in 1 topic"], "\(first)")
        #expect(first.first?["body"]?.stringValue?.hasPrefix("alerts: 7\n– m2 (alerts)\n") == true, "\(first)")
        #expect(first.first?["body"]?.stringValue?.contains("before") == false)
        api.time.advance(seconds: 86_400)
        try await fireAll()
        #expect(try await digests().count == 1, "nothing came, so nothing is told")
        try await api.publish("m8", to: topic)
        api.time.advance(seconds: 86_400)
        try await fireAll()
        #expect(try await digests().compactMap { $0["title"]?.stringValue }.contains("1 new message in 1 topic"))
        // Of digests nobody gets a digest.
        let own = try await api.run("{ getTopicByName(name: \"digests\") { items { id } } }")
        _ = try await api.run(
            "mutation($t: ID!) { subscribeToTopic(topicId: $t, delivery: DIGEST) { delivery } }",
            ["t": own["data"]?["getTopicByName"]?["items"]?[0]?["id"] ?? .null]
        )
        try await api.publish("m9", to: topic)
        for _ in 1...2 {
            api.time.advance(seconds: 86_400)
            try await fireAll()
        }
        #expect(try await digests().count == 3)
    }
}
