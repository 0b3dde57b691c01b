import JSON
import TestDatabases
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("Names of topics")
struct TopicNameTests {
    private static let bob = APIHarness.identity("bob")

    private static func create(
        _ api: APIHarness,
        _ name: String,
        id: String? = nil,
        as caller: Identity = APIHarness.identity("alice")
    ) async throws -> JSONValue {
        var input: JSONObject = ["name": .string(name)]
        input["id"] = id.map { .string($0) }
        let document = "mutation($i: CreateTopicInput!) { createTopic(input: $i) { id name } }"
        return try await api.run(document, ["i": .object(input)], as: caller)
    }

    private static func error(_ answer: JSONValue) -> JSONValue? { answer["errors"]?[0] }

    @Test("a name that is there answers with the id of the topic that has it")
    func taken() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic("alerts")
        let error = Self.error(try await Self.create(api, "alerts"))
        #expect(error?["extensions"]?["code"] == "CONFLICT")
        #expect(error?["extensions"]?["topicId"] == .string(topic))
        #expect(error?["message"]?.stringValue?.contains(topic) == true)
        #expect(try await Self.create(api, "Alerts")["errors"] == nil, "names are told apart by their bytes")
        #expect(try await Self.create(api, "alerts", as: Self.bob)["errors"] == nil, "each owner has their own")
    }

    @Test("a create that is repeated with its id answers what it made, as before")
    func repeated() async throws {
        let api = try await APIHarness()
        let first = try await Self.create(api, "alerts", id: "one")
        #expect(first["data"]?["createTopic"]?["id"] == "one")
        #expect(try await Self.create(api, "alerts", id: "one") == first)
        let other = Self.error(try await Self.create(api, "others", id: "one"))
        #expect(other?["extensions"]?["code"] == "CONFLICT")
        #expect(other?["extensions"]?["topicId"] == nil)
    }

    @Test("a topic takes no name of another one by being renamed, and keeps its own")
    func renamed() async throws {
        let api = try await APIHarness()
        let (alerts, builds) = try await (api.makeTopic("alerts"), api.makeTopic("builds"))
        let rename = """
            mutation($i: UpdateTopicInput!) { updateTopic(input: $i) { name _version } }
            """
        let refused = try await api.run(rename, ["i": ["id": .string(builds), "name": "alerts", "_version": 1]])
        #expect(Self.error(refused)?["extensions"]?["topicId"] == .string(alerts))
        let same = try await api.run(rename, ["i": ["id": .string(builds), "name": "builds", "_version": 1]])
        #expect(same["data"]?["updateTopic"]?["_version"] == 2)
        let other = try await api.run(rename, ["i": ["id": .string(builds), "name": "jobs", "_version": 2]])
        #expect(other["data"]?["updateTopic"]?["name"] == "jobs")
        #expect(try await Self.create(api, "builds")["errors"] == nil, "the name it had is free")
    }

    @Test("the name of a deleted topic is free")
    func deleted() async throws {
        let api = try await APIHarness()
        for _ in 0..<4 {
            let topic = try await api.makeTopic("alerts")
            let gone = try await api.run("mutation { deleteTopic(input: {id: \"\(topic)\", _version: 1}) { id } }")
            #expect(gone["errors"] == nil)
        }
        #expect(try await Self.create(api, "alerts")["errors"] == nil)
    }

    @Test("topics that have one name since before are told of, and go on by their ids")
    func doubles() async throws {
        let api = try await APIHarness()
        let first = try await api.makeTopic("alerts")
        let topics = api.schema.topics
        try await api.store.write { writer throws(StoreError) in
            for id in ["old-1", "old-2"] {
                var record = Record(model: topics)
                record["id"] = .text(id)
                record["name"] = .text(id == "old-1" ? "alerts" : "alone")
                record["owner"] = .text("sub-alice::alice")
                (record["createdAt"], record["updatedAt"]) = (.text("2020-01-01T00:00:00.000Z"), .text(""))
                record["_version"] = .int(1)
                _ = try writer.insert(record)
            }
        }
        let told = try await api.store.read { reader throws(StoreError) in try reader.doubledTopicNames(limit: 9) }
        #expect(told == [DoubledTopicName(owner: "sub-alice::alice", name: "alerts", count: 2)])
        for topic in [first, "old-1"] { #expect(try await api.publish("Hello", to: topic)["number"] == 1) }
        let update = try await api.run(
            "mutation { updateTopic(input: {id: \"old-1\", arn: \"arn:mine\", _version: 1}) { id } }"
        )
        #expect(update["errors"] == nil, "what keeps its name may be changed: \(update)")
        #expect(Self.error(try await Self.create(api, "alerts"))?["extensions"]?["code"] == "CONFLICT")
    }

    @Test("many who make one topic at once make one", .timeLimit(.minutes(5)))
    func race() async throws {
        let database = try AnyDatabase.make()
        let one = try await APIHarness(database: database)
        let isShared = database.isShared
        let other =
            isShared
            ? try await APIHarness(database: database, identifiers: CountingIdentifiers(prefix: "other")) : one
        let answers = try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for number in 0..<20 {
                group.addTask { try await Self.create(number % 2 == 0 ? one : other, "alerts") }
            }
            return try await group.reduce(into: [JSONValue]()) { $0.append($1) }
        }
        let made = answers.compactMap { $0["data"]?["createTopic"]?["id"] }
        #expect(made.count == 1)
        let refused = answers.compactMap { Self.error($0)?["extensions"]?["topicId"] }
        #expect(refused.count == 19)
        #expect(Set(refused) == Set(made))
    }
}
