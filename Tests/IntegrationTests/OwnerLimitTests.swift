import JSON
import Testing

@Suite("Limits of what an owner may have, as set", .timeLimit(.minutes(5)))
struct OwnerLimitTests {
    private static func make(
        _ name: String,
        id: String? = nil,
        _ token: String,
        _ installation: Installation
    ) async throws -> JSONValue {
        var input: JSONObject = ["name": .string(name)]
        if let id { input["id"] = .string(id) }
        let document = "mutation($i: CreateTopicInput!) { createTopic(input: $i) { id name _version } }"
        return try await installation.curl(document, ["i": .object(input)], token: token)
    }

    private static func names(_ token: String, _ installation: Installation) async throws -> [JSONValue] {
        let answer = try await installation.curl("{ listTopics { items { name _deleted } } }", token: token)
        let topics = answer["data"]?["listTopics"]?["items"]?.arrayValue ?? []
        return topics.filter { $0["_deleted"] != true }.compactMap { $0["name"] }
    }

    @Test("more topics than set are refused with LIMIT, for each owner alone, until one is deleted")
    func topics() async throws {
        let limit = { (installation: Installation) in installation.environment["TOCSIN_TOPICS_PER_OWNER"] = "2" }
        try await Installation.run(prepare: limit) { installation in
            let ada = try await installation.addUser("ada")
            let bob = try await installation.addUser("bob")
            let first = try await Self.make("one", ada, installation)
            let id = try #require(first["data"]?["createTopic"]?["id"]?.stringValue)
            _ = try await Self.make("two", ada, installation)

            let refused = try await Self.make("three", ada, installation)
            #expect(refused.errorCode == "LIMIT", "\(refused)")
            let message = refused["errors"]?[0]?["message"]
            #expect(message == "You may have at most 2 topics; delete one first.", "\(refused)")
            #expect(try await Self.names(ada, installation) == ["one", "two"])
            #expect(try await Self.make("one", id: id, ada, installation) == first, "a repeat makes nothing")
            #expect(try await Self.make("bob's", bob, installation).errorCode == nil)

            let delete = "mutation { deleteTopic(input: {id: \"\(id)\", _version: 1}) { id } }"
            #expect(try await installation.curl(delete, token: ada).errorCode == nil)
            #expect(try await Self.make("three", ada, installation).errorCode == nil)
            #expect(try await Self.names(ada, installation) == ["two", "three"])
            #expect(try await Self.make("four", ada, installation).errorCode == "LIMIT")
        }
    }

    @Test("more devices than set are refused with LIMIT; one that is registered again is not more")
    func devices() async throws {
        let limit = { (installation: Installation) in installation.environment["TOCSIN_DEVICES_PER_OWNER"] = "1" }
        try await Installation.run(prepare: limit) { installation in
            let ada = try await installation.addUser("ada")
            for (token, code) in [("aa", nil), ("bb", "LIMIT"), ("AA", nil)] as [(String, String?)] {
                let answer = try await installation.curl(
                    "mutation { registerPushToken(token: \"\(token)\", platform: \"ios\") { device { id } } }",
                    token: ada
                )
                #expect(answer.errorCode == code, "\(token): \(answer)")
            }
        }
    }
}
