import JSON
import TestDatabases
import Testing
import TocsinCore
import TocsinStore

@Suite("What one owner may store", .timeLimit(.minutes(5)))
struct OwnerStorageTests {
    private static let bob = APIHarness.identity("bob")

    private func code(_ answer: JSONValue) -> String? {
        answer["errors"]?[0]?["extensions"]?["code"]?.stringValue
    }

    /// Publishes messages until one is refused; answers how many were stored.
    private func fill(_ topic: String, with characters: Int = 1000, on api: APIHarness) async throws -> Int {
        let body: JSONObject = ["body": .string(String(repeating: "x", count: characters))]
        var count = 0
        while count < 5000 {
            let answer = try await api.publish("m", to: topic, with: body)
            guard let code = code(answer) else {
                count += 1
                continue
            }
            #expect(code == "LIMIT", "\(answer.serializedString())")
            return count
        }
        return count
    }

    @Test("an owner who has stored as much as one may is refused more, by any create; others are not")
    func bound() async throws {
        let api = try await APIHarness(storageBytes: 100_000)
        let (topic, his) = (try await api.makeTopic(), try await api.makeTopic(as: Self.bob))
        #expect((50..<5000).contains(try await fill(topic, on: api)))
        let more = try await api.publish("m", to: topic)
        #expect(code(more) == "LIMIT")
        #expect(more["errors"]?[0]?["message"]?.stringValue?.contains("100000 bytes") == true)
        #expect(code(try await api.run("mutation { createTopic(input: { name: \"more\" }) { id } }")) == "LIMIT")
        let update = "mutation { updateTopic(input: { id: \"\(topic)\", name: \"n\", _version: 1 }) { id } }"
        #expect(code(try await api.run(update)) == "LIMIT")
        #expect(try await api.publish("m", to: his, as: Self.bob)["number"] == 1)
        #expect(try await api.run("{ listMessages(limit: 1) { items { id } } }")["errors"] == nil, "reading goes on")
    }

    @Test("an owner whose storage is full is still answered the message that a create repeats")
    func repeats() async throws {
        let api = try await APIHarness(storageBytes: 100_000)
        let topic = try await api.makeTopic()
        let first = try await api.publish("once", to: topic, with: ["key": "k"])
        #expect(first["number"] == 1)
        _ = try await fill(topic, on: api)
        #expect(try await api.publish("once", to: topic, with: ["key": "k"])["number"] == 1)
        #expect(code(try await api.publish("other", to: topic, with: ["key": "k"])) == "LIMIT")
        #expect(code(try await api.publish("once", to: topic, with: ["key": "l"])) == "LIMIT")
    }

    @Test("a publisher takes the owner's storage and none of their own")
    func publishers() async throws {
        let api = try await APIHarness(storageBytes: 100_000)
        let (topic, his) = (try await api.makeTopic(), try await api.makeTopic(as: Self.bob))
        try await api.share(topic, with: .user(Self.bob.userID), roles: .publisher)
        let body: JSONObject = ["body": .string(String(repeating: "x", count: 1000))]
        var answer = try await api.publish("m", to: topic, as: Self.bob, with: body)
        while answer["number"] != nil { answer = try await api.publish("m", to: topic, as: Self.bob, with: body) }
        #expect(code(answer) == "LIMIT", "\(answer)")
        #expect(code(try await api.publish("m", to: topic)) == "LIMIT")
        #expect(try await api.publish("m", to: his, as: Self.bob)["number"] == 1)
    }

    @Test("who may not publish to a shared topic takes nothing of its owner's storage")
    func strangers() async throws {
        let api = try await APIHarness(storageBytes: 100_000)
        let (topic, carol) = (try await api.makeTopic(), APIHarness.identity("carol"))
        try await api.share(topic, with: .user(Self.bob.userID), roles: .publisher)
        let body: JSONObject = ["body": .string(String(repeating: "x", count: 1000))]
        // Whose topic it is is known from now on.
        #expect(try await api.publish("m", to: topic, as: Self.bob)["number"] == 1)
        for _ in 0..<200 {
            #expect(code(try await api.publish("m", to: topic, as: carol, with: body)) == "UNAUTHORIZED")
        }
        for number in 2..<20 { #expect(try await api.publish("m", to: topic)["number"] == .int(Int64(number))) }
    }

    @Test("what was removed makes room again")
    func room() async throws {
        let api = try await APIHarness(storageBytes: 100_000)
        let topic = try await api.makeTopic()
        let count = try await fill(topic, on: api)
        let reaper = MessageReaper(store: api.store, time: api.time, retention: MessageRetention(keptPerTopic: 1))
        #expect(try await reaper.runOnce() == count - 1)
        // The next measure is a minute after the last one; until it is done the answer stays.
        api.time.advance(seconds: 120)
        var answer = try await api.publish("m", to: topic)
        while code(answer) == "LIMIT" { answer = try await api.publish("m", to: topic) }
        #expect(answer["number"]?.intValue == Int64(count + 1))
    }

    @Test("records of other models, topics and old messages count as well")
    func everything() async throws {
        let database = try AnyDatabase.make()
        let model =
            FieldRuleTests.shipped + """
                type Note @model @auth(rules: [{ allow: owner }]) {
                  id: ID!
                  text: String
                }
                """
        let before = try await APIHarness(model: model, database: database)
        let text = String(repeating: "é", count: 20_000)
        for _ in 0..<3 {
            let made = try await before.run(
                "mutation($t: String) { createNote(input: { text: $t }) { id } }",
                ["t": .string(text)]
            )
            #expect(made["errors"] == nil)
        }
        let topic = try await before.makeTopic()
        await before.store.close()
        let after = try await APIHarness(
            model: model,
            database: database,
            identifiers: CountingIdentifiers(prefix: "after"),
            storageBytes: 120_000
        )
        after.time.advance(seconds: 60)
        let count = try await fill(topic, with: 1, on: after)
        #expect(count < 400, "these are less than the bound, but for what was stored before this server began")
    }
}
