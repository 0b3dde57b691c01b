import GraphQL
import JSON
import Synchronization
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("Digests that people make for themselves")
struct DigestTests {
    private static let fields =
        "id name topicIds at days timeZone minPriority skipEmpty url lastMessageId lastAt missed nextAt owner"

    /// The server, and all that makes digests there.
    private struct Scene {
        let api: APIHarness
        let runner: TimerRunner

        init() async throws {
            let api = try await APIHarness()
            let rights = PushRights(topics: api.schema.topics, messages: api.schema.messages)
            let (environment, messages) = (api.environment, api.services.messages)
            let ofServer = DigestEffect(
                environment: environment,
                messages: messages,
                rights: rights,
                cron: "0 11 * * *"
            )
            let own = OwnDigestEffect(environment: environment, messages: messages, rights: rights)
            try await ofServer.prepare()
            self.api = api
            runner = TimerRunner(environment: environment, effects: [ofServer, own]) { Issue.record("\($0): \($1)") }
        }

        func topic(_ name: String, delivery: String? = "DIGEST") async throws -> String {
            let topic = try await api.makeTopic(name)
            guard let delivery else { return topic }
            _ = try await api.run(
                "mutation($t: ID!) { subscribeToTopic(topicId: $t, delivery: \(delivery)) { delivery } }",
                ["t": .string(topic)]
            )
            return topic
        }

        @discardableResult
        func create(_ input: JSONObject) async throws -> JSONValue {
            var whole: JSONObject = ["name": "Mine", "at": "18:00", "timeZone": "Europe/Berlin"]
            for member in input { whole[member.key] = member.value }
            let mutation = "mutation($i: CreateDigestInput!) { createDigest(input: $i) { \(DigestTests.fields) } }"
            let response = try await api.run(mutation, ["i": .object(whole)])
            guard let made = response["data"]?["createDigest"], !made.isNull else { return response }
            return made
        }

        /// Lets a day pass, and all that comes in it.
        func day() async throws {
            for _ in 1...4 {
                api.time.advance(seconds: 6 * 3600)
                while try await runner.fireDue() > 0 { api.time.advance(seconds: 1) }
            }
        }

        /// All digests so far, the oldest first.
        func told() async throws -> [JSONValue] {
            let topics = try await api.run("{ getTopicByName(name: \"digests\") { items { id } } }")
            let id = topics["data"]?["getTopicByName"]?["items"]?[0]?["id"] ?? .null
            let query = """
                query($id: ID!) { getMessageByTopicIdAndCreatedAt(topicId: $id, limit: 100) {
                    items { title body url data number } } }
                """
            let found = try await api.run(query, ["id": id])["data"]?["getMessageByTopicIdAndCreatedAt"]?["items"]
            return (found?.arrayValue ?? []).sorted { ($0["number"]?.intValue ?? 0) < ($1["number"]?.intValue ?? 0) }
        }

        func titles() async throws -> [String] { try await told().compactMap { $0["title"]?.stringValue } }
    }

    @Test("a person's own digest comes at its time, tells of all topics with DIGEST, and takes the server's place")
    func own() async throws {
        let scene = try await Scene()
        let topic = try await scene.topic("alerts")
        let made = try await scene.create(["url": "https://app.example/feed#list"])
        // The harness begins on 1 July 2026 at 12:00 UTC.
        #expect(made["nextAt"] == "2026-07-01T16:00:00.000Z", "\(made)")
        for number in 1...7 {
            try await scene.api.publish("m\(number)", to: topic, with: ["priority": .int(number == 2 ? 5 : 3)])
        }
        try await scene.day()
        let first = try #require(try await scene.told().first)
        #expect(first["title"] == "Mine: 7 new messages in 1 topic")
        let body = first["body"]?.stringValue ?? ""
        #expect(body.hasPrefix("alerts: 7\n– m2 (alerts)\n– m7 (alerts)") && body.split(separator: "\n").count == 6)
        #expect(first["url"]?.stringValue?.hasPrefix("https://app.example/feed?since=2026-07-01T12:00") == true)
        #expect(first["url"]?.stringValue?.hasSuffix("Z#list") == true)
        #expect(first["data"]?.stringValue?.hasPrefix("{\"summary\":\"digest\",\"since\":\"2026-07-01T12:00") == true)
        try await scene.day()
        try await scene.api.publish("m8", to: topic)
        try await scene.day()
        #expect(try await scene.titles() == ["Mine: 7 new messages in 1 topic", "Mine: 1 new message in 1 topic"])
    }

    @Test("digests of one priority share their place; each message is in one of them, and none is left out")
    func shared() async throws {
        let scene = try await Scene()
        let topic = try await scene.topic("alerts", delivery: nil)
        let named: JSONValue = [.string(topic)]
        try await scene.create(["name": "Evening", "topicIds": named])
        try await scene.create(["name": "Night", "topicIds": named, "at": "23:30"])
        try await scene.create(["name": "Urgent", "topicIds": named, "at": "23:45", "minPriority": 4])
        try await scene.api.publish("a", to: topic, with: ["priority": 5])
        scene.api.time.advance(seconds: 5 * 3600)
        while try await scene.runner.fireDue() > 0 {}
        try await scene.api.publish("b", to: topic)
        try await scene.day()
        let expected = ["Evening", "Night", "Urgent"].map { "\($0): 1 new message in 1 topic" }
        #expect(try await scene.titles() == expected)
        try await scene.day()
        #expect(try await scene.titles() == expected, "nothing came, so nothing is told")
    }

    @Test("a digest of named topics leaves the others to the server's, which goes on where it ends")
    func handedOver() async throws {
        let scene = try await Scene()
        let (first, second) = (try await scene.topic("first"), try await scene.topic("second"))
        let made = try await scene.create(["topicIds": [.string(first)]])
        for topic in [first, second] { try await scene.api.publish("m", to: topic) }
        try await scene.day()
        #expect(
            Set(try await scene.told().compactMap { $0["body"]?.stringValue })
                == ["first: 1\n– m (first)", "second: 1\n– m (second)"]
        )
        _ = try await scene.api.run(
            "mutation($id: ID!) { deleteDigest(input: {id: $id}) { id } }",
            ["id": made["id"] ?? .null]
        )
        try await scene.api.publish("n", to: first)
        try await scene.day()
        #expect(try await scene.told().last?["body"] == "first: 1\n– n (first)")
        #expect(try await scene.told().count == 3)
    }

    @Test("a digest that may be empty comes all the same, and one that was late says how many times passed")
    func empty() async throws {
        let scene = try await Scene()
        let topic = try await scene.topic("alerts")
        let made = try await scene.create(["skipEmpty": false, "days": ["WE", "TH", "FR"]])
        scene.api.time.advance(seconds: 3 * 86_400)
        #expect(try await scene.runner.fireDue() > 0)
        let only = try await scene.told()
        #expect(only.map { $0["title"] } == ["Mine: 0 new messages in 0 topics"], "\(only)")
        #expect(only.first?["data"]?.stringValue?.hasSuffix("\"missed\":\"2\"}") == true, "\(only)")
        let query = "query($id: ID!) { getDigest(id: $id) { missed lastAt nextAt } }"
        let stored = try await scene.api.run(query, ["id": made["id"] ?? .null])["data"]?["getDigest"]
        // Wednesday's; the next one is on Wednesday, as Saturday to Tuesday have none.
        let expected: JSONValue = [
            "missed": 2, "lastAt": "2026-07-01T16:00:00.000Z", "nextAt": "2026-07-08T16:00:00.000Z",
        ]
        #expect(stored == expected, "\(topic)")
    }

    @Test("a change keeps the place and moves the time; a priority of its own begins where the old one ended")
    func changed() async throws {
        let scene = try await Scene()
        let topic = try await scene.topic("alerts")
        let made = try await scene.create([:])
        try await scene.api.publish("a", to: topic, with: ["priority": 5])
        try await scene.day()
        try await scene.api.publish("b", to: topic, with: ["priority": 5])
        let update = "mutation($i: UpdateDigestInput!) { updateDigest(input: $i) { \(Self.fields) } }"
        let input: JSONObject = ["id": made["id"] ?? .null, "minPriority": 4, "at": "20:15", "name": "Later"]
        let changed = try await scene.api.run(update, ["i": .object(input)])["data"]?["updateDigest"]
        #expect(changed?["nextAt"] == "2026-07-02T18:15:00.000Z" && changed?["at"] == "20:15", "\(changed ?? .null)")
        try await scene.api.publish("c", to: topic)
        try await scene.day()
        #expect(try await scene.titles() == ["Mine: 1 new message in 1 topic", "Later: 1 new message in 1 topic"])
        #expect(try await scene.told().last?["body"] == "alerts: 1\n– b (alerts)")
    }

    @Test(
        "what cannot be is refused in words that say what to write",
        arguments: [
            (["at": "8"], "at"), (["at": "08:00:30"], "at \"08:00:30\" must be hours and minutes"),
            (["at": "08:00Z"], "without an offset"), (["timeZone": "Mars"], "no time zone"),
            (["days": []], "days is empty"), (["minPriority": 6], "minPriority must be 1 to 5"),
            (["topicIds": []], "topicIds has 0 topics"), (["name": ""], "name is empty"),
        ] as [(JSONObject, String)]
    )
    func refused(input: JSONObject, expected: String) async throws {
        let response = try await Scene().create(input)
        #expect(response["errors"]?[0]?["message"]?.stringValue?.contains(expected) == true, "\(response)")
    }

    @Test("a topic of somebody else, and a digest of somebody else, are as if they were not there")
    func foreign() async throws {
        let scene = try await Scene()
        let bob = APIHarness.identity("bob")
        let theirs = try await scene.api.makeTopic(as: bob)
        let made = try await scene.create(["topicIds": [.string(theirs)]])
        #expect(made["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED", "\(made)")
        let own = try await scene.create(["days": ["MO"]])
        let read = "query($id: ID!) { getDigest(id: $id) { id } listDigests { items { id } nextToken } }"
        let seen = try await scene.api.run(read, ["id": own["id"] ?? .null], as: bob)
        #expect(seen["data"] == ["getDigest": nil, "listDigests": ["items": [], "nextToken": nil]])
        for name in ["updateDigest", "deleteDigest"] {
            let mutation = "mutation($id: ID!) { \(name)(input: {id: $id}) { id } }"
            let answer = try await scene.api.run(mutation, ["id": own["id"] ?? .null], as: bob)
            #expect(answer["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED", "\(answer)")
        }
        let listed = try await scene.api.run("{ listDigests(limit: 1) { items { id days } nextToken } }")
        #expect(listed["data"]?["listDigests"]?["items"] == [["id": own["id"] ?? .null, "days": ["MO"]]])
    }

    @Test("the twenty-first digest is refused, and two nodes that look at once tell of each message once")
    func many() async throws {
        let scene = try await Scene()
        let topic = try await scene.topic("alerts", delivery: nil)
        for number in 1...20 { try await scene.create(["name": .string("d\(number)"), "topicIds": [.string(topic)]]) }
        let more = try await scene.create([:])
        #expect(more["errors"]?[0]?["message"]?.stringValue?.contains("20 digests") == true, "\(more)")
        try await scene.api.publish("m", to: topic)
        scene.api.time.advance(seconds: 86_400)
        // Digests that tell of the same wait for each other.
        for _ in 1...25 {
            async let first = scene.runner.fireDue()
            async let second = scene.runner.fireDue()
            guard try await first + second > 0 else { break }
        }
        #expect(try await scene.titles().count == 1)
    }

    @Test("who has much that is due delays others by one share")
    func turns() async throws {
        let api = try await APIHarness()
        let now = api.time.now()
        try await api.store.write { writer throws(StoreError) in
            for number in 0..<1000 {
                try writer.set(
                    TimerEntry(kind: .daily, subject: "hers-\(number)", owner: UserID("alice"), dueAt: now)
                )
            }
            for name in ["bob", "carol"] {
                let later = now.adding(seconds: 1)
                try writer.set(TimerEntry(kind: .daily, subject: name, owner: UserID(name), dueAt: later))
            }
        }
        api.time.advance(seconds: 2)
        let effect = NotingEffect(store: api.store)
        let runner = TimerRunner(environment: api.environment, effects: [effect]) { Issue.record("\($0): \($1)") }
        #expect(try await runner.fireDue() == 1002)
        let order = effect.order.all
        #expect(Set(order).count == 1002)
        for name in ["bob", "carol"] {
            let place = try #require(order.firstIndex(of: name))
            #expect(place < 110, "\(name) came behind \(place) of alice's")
        }
    }
}

/// Claims timers, and notes in which order.
private struct NotingEffect: TimerEffect {
    let store: SQLStore
    let order = Noted()
    let kinds: Set<TimerEntry.Kind> = [.daily]

    func fire(_ timer: TimerEntry, now: Timestamp) async throws(ServiceError) {
        let isMine = try await store.writing { writer throws(StoreError) in .success(try writer.claim(timer)) }
        if isMine { order.add(timer.subject) }
    }
}

private final class Noted: Sendable {
    private let texts = Mutex([String]())

    func add(_ text: String) { texts.withLock { $0.append(text) } }

    var all: [String] { texts.withLock { $0 } }
}
