import JSON
import Testing
import TocsinAPI
import TocsinCore

@Suite("What a topic says of its pushes")
struct TopicPushTests {
    private static let fields =
        "channelId interruptionLevel pushPlaceholder pushPayload pushApp pushIcon pushUrl _version"

    private static let values: JSONObject = [
        "channelId": "alarms", "interruptionLevel": "time-sensitive",
        "pushPlaceholder": "{owner} has sent you a message!", "pushPayload": "EPNS", "pushApp": "Wallet",
        "pushIcon": "https://w.example/i.png", "pushUrl": "https://w.example",
    ]

    private func create(_ api: APIHarness, _ members: JSONObject) async throws -> JSONValue {
        var input: JSONObject = ["name": "alerts"]
        for member in members { input[member.key] = member.value }
        let document = "mutation($i: CreateTopicInput!) { createTopic(input: $i) { id \(Self.fields) } }"
        return try await api.run(document, ["i": .object(input)])
    }

    @Test("it is given with the topic, changed with it, and read again")
    func roundTrip() async throws {
        let api = try await APIHarness()
        let made = try await create(api, Self.values)["data"]?["createTopic"]
        for member in Self.values { #expect(made?[member.key] == member.value, "\(member.key): \(made ?? .null)") }
        let update = "mutation($i: UpdateTopicInput!) { updateTopic(input: $i) { \(Self.fields) } }"
        let change: JSONValue = [
            "id": made?["id"] ?? .null, "_version": 1, "channelId": "calm", "pushPayload": "TOCSIN", "pushUrl": .null,
        ]
        let changed = try await api.run(update, ["i": change])["data"]?["updateTopic"]
        #expect(changed?["channelId"] == "calm" && changed?["pushPayload"] == "TOCSIN", "\(changed ?? .null)")
        #expect(changed?["pushUrl"] == .null && changed?["pushApp"] == "Wallet")
        let list = try await api.run("{ listTopics { items { channelId pushPlaceholder } } }")
        let expected: JSONValue = [["channelId": "calm", "pushPlaceholder": "{owner} has sent you a message!"]]
        #expect(list["data"]?["listTopics"]?["items"] == expected, "\(list)")
        let plain = try await api.makeTopic("plain")
        let query = "query($id: ID!) { getTopic(id: $id) { channelId pushPayload } }"
        let found = try await api.run(query, ["id": .string(plain)])
        #expect(found["data"]?["getTopic"] == ["channelId": nil, "pushPayload": nil])
    }

    @Test(
        "what no phone could use is refused, when it is made and when it is changed",
        arguments: [
            ("interruptionLevel", "loud"), ("channelId", ""), ("pushPayload", "WALLET"), ("pushIcon", "no address"),
            ("pushPlaceholder", String(repeating: "x", count: 257)),
        ] as [(String, String)]
    )
    func refused(field: String, value: String) async throws {
        let api = try await APIHarness()
        let made = try await create(api, [field: .string(value)])
        #expect(
            made["errors"]?.arrayValue?.isEmpty == false && made["data"]?["createTopic"] != nil || made["data"] == nil
        )
        #expect(try await api.run("{ listTopics { items { id } } }")["data"]?["listTopics"]?["items"] == [])
        let topic = try await api.makeTopic()
        let update = "mutation($i: UpdateTopicInput!) { updateTopic(input: $i) { id } }"
        let change: JSONObject = ["id": .string(topic), "_version": 1, field: .string(value)]
        let changed = try await api.run(update, ["i": .object(change)])
        #expect(changed["errors"]?.arrayValue?.isEmpty == false, "\(changed)")
    }
}
