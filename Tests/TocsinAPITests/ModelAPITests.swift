import GraphQLTransport
import JSON
import Testing
import TocsinCore

@Suite("Topics and messages through the API")
struct ModelAPITests {
    private let bob = APIHarness.identity("bob")

    @Test("operations written for an Amplify backend run as they stand")
    func amplifyOperations() async throws {
        let api = try await APIHarness()
        let registered = try await api.run(
            "mutation RegisterPushToken($token: String!, $platform: String!) "
                + "{ registerPushToken(token: $token, platform: $platform) { userId pushTokens } }",
            ["token": "abcdef0123456789", "platform": "ios"]
        )
        #expect(registered["data"]?["registerPushToken"]?["userId"] == "sub-alice")
        #expect(registered["data"]?["registerPushToken"]?["pushTokens"] == ["abcdef0123456789"])
        let gone = try await api.run(
            "mutation UnregisterPushToken($token: String!) { unregisterPushToken(token: $token) { userId } }",
            ["token": "abcdef0123456789"]
        )
        #expect(gone["data"]?["unregisterPushToken"]?["userId"] == "sub-alice")
        #expect(try await api.run("{ devices { id } }")["data"]?["devices"] == [])
    }

    @Test("a topic is made with id, arn, owner, version and its creator's membership")
    func createsTopic() async throws {
        let api = try await APIHarness()
        let response = try await api.run(
            "mutation { createTopic(input: {name: \"alerts\"}) { id name arn owner _version _deleted createdAt updatedAt } }"
        )
        let topic = try #require(response["data"]?["createTopic"])
        #expect(topic["arn"] == "arn:tocsin:topic:alice:alerts")
        #expect(topic["owner"] == "alice")
        #expect(topic["_version"] == 1)
        #expect(topic["_deleted"] == .null)
        #expect(topic["createdAt"] == topic["updatedAt"])
        let memberships = try await api.run("{ memberships { topicId userId push } }")["data"]?["memberships"]
        #expect(memberships == [["topicId": topic["id"] ?? .null, "userId": "sub-alice", "push": true]])
    }

    @Test("messages are numbered from 1 without holes and paged both ways")
    func numbersAndPages() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        for title in ["a", "b", "c", "d", "e"] { try await api.publish(title, to: topic) }
        let query = """
            query($t: ID!, $d: ModelSortDirection, $n: String) {
              getMessageByTopicIdAndCreatedAt(topicId: $t, sortDirection: $d, limit: 2, nextToken: $n) {
                items { number title topic { name } } nextToken
              }
            }
            """
        for (direction, expected) in [("ASC", [1, 2, 3, 4, 5]), ("DESC", [5, 4, 3, 2, 1])] as [(String, [Int64])] {
            var numbers: [Int64] = []
            var token = JSONValue.null
            repeat {
                let page = try await api.run(query, ["t": .string(topic), "d": .string(direction), "n": token])
                let connection = try #require(page["data"]?["getMessageByTopicIdAndCreatedAt"])
                let items = connection["items"]?.arrayValue ?? []
                #expect(items.allSatisfy { $0["topic"]?["name"] == "alerts" })
                numbers += items.compactMap { $0["number"]?.intValue }
                token = connection["nextToken"] ?? .null
            } while !token.isNull && numbers.count < 20
            #expect(numbers == expected)
        }
    }

    @Test("a page token is refused for other arguments, another user, and when changed")
    func pageTokens() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        for title in ["a", "b"] { try await api.publish(title, to: topic) }
        let first = try await api.run("{ listMessages(limit: 1) { nextToken } }")
        let token = try #require(first["data"]?["listMessages"]?["nextToken"]?.stringValue)
        let query = "query($n: String) { listMessages(limit: 1, nextToken: $n) { items { title } } }"
        #expect(try await api.run(query, ["n": .string(token)])["errors"] == nil)
        let foreign = try await api.run(query, ["n": .string(token)], as: bob)
        #expect(message(of: foreign).contains("Invalid pagination token"))
        #expect(message(of: try await api.run(query, ["n": .string(token + "0")])).contains("Invalid pagination token"))
        let filtered =
            "query($n: String) { listMessages(filter: {title: {eq: \"a\"}}, nextToken: $n) { items { title } } }"
        #expect(message(of: try await api.run(filtered, ["n": .string(token)])).contains("Invalid pagination token"))
    }

    @Test("repeating a create answers with the first message; other content is a conflict")
    func idempotence() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let first = try await api.publish("a", to: topic, with: ["id": "m-1"])
        #expect(first["number"] == 1)
        #expect(try await api.publish("a", to: topic, with: ["id": "m-1"]) == first)
        let other = try await api.publish("b", to: topic, with: ["id": "m-1"])
        #expect(other["errors"]?[0]?["extensions"]?["code"] == "CONFLICT")
        let keyed = try await api.publish("k", to: topic, with: ["key": "disk-full"])
        #expect(try await api.publish("k", to: topic, with: ["key": "disk-full"]) == keyed)
        #expect(try await api.publish("l", to: topic)["number"] == 3)
    }

    @Test("another user sees and changes nothing by any operation")
    func isolation() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let message = try await api.publish("secret", to: topic, with: ["id": "m-1"])
        #expect(message["number"] == 1)
        let reads: [(String, JSONValue)] = [
            ("{ r: getTopic(id: \"\(topic)\") { id } }", .null), ("{ r: getMessage(id: \"m-1\") { id } }", .null),
            ("{ r: listTopics { items { id } } }", ["items": []]),
            ("{ r: listMessages { items { id } } }", ["items": []]),
            ("{ r: getTopicByName(name: \"alerts\") { items { id } } }", ["items": []]),
            ("{ r: getMessageByTopicIdAndCreatedAt(topicId: \"\(topic)\") { items { id } } }", ["items": []]),
            ("{ r: memberships { topicId } }", []), ("{ r: devices { id } }", []),
        ]
        for (query, expected) in reads {
            #expect(try await api.run(query, as: bob) == ["data": ["r": expected]], "\(query)")
        }
        let writes = [
            "mutation { r: updateTopic(input: {id: \"\(topic)\", name: \"x\"}) { id } }",
            "mutation { r: deleteTopic(input: {id: \"\(topic)\"}) { id } }",
            "mutation { r: subscribeToTopic(topicId: \"\(topic)\") { topicId } }",
            "mutation { r: unsubscribeFromTopic(topicId: \"\(topic)\") { topicId } }",
            "mutation { r: updateMessage(input: {id: \"m-1\", title: \"x\"}) { id } }",
            "mutation { r: deleteMessage(input: {id: \"m-1\"}) { id } }",
            "mutation { r: redriveDeliveries(messageId: \"m-1\") { waiting } }",
            "mutation { r: createMessage(input: {type: 1, title: \"x\", body: \"y\", topicId: \"\(topic)\"}) { id } }",
            "mutation { r: createMessage(input: {type: 1, title: \"x\", body: \"y\", topicId: \"none\"}) { id } }",
        ]
        for query in writes {
            let response = try await api.run(query, as: bob)
            #expect(response["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED", "\(query)")
        }
        let untouched = try await api.run("{ getTopic(id: \"\(topic)\") { name _version } }")
        #expect(untouched["data"]?["getTopic"] == ["name": "alerts", "_version": 1])
    }

    @Test("an update of another version that is merged is told of, with both versions, and no other is")
    func merges() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let update =
            "mutation($v: Int) { updateTopic(input: {id: \"\(topic)\", name: \"x\", _version: $v}) { _version } }"
        for version in [1, 1, nil, 4] as [Int64?] {
            let response = try await api.run(update, ["v": version.map(JSONValue.int) ?? .null])
            #expect(response["errors"] == nil, "\(response.serializedString())")
        }
        #expect(api.merges.all.map(\.namedVersion) == [1, 0])
        #expect(api.merges.all.map(\.storedVersion) == [2, 3])
        #expect(api.merges.all.allSatisfy { $0.model == "Topic" && $0.id == topic })
    }

    @Test("a token moves to who registers it last, and is masked for everything but its registration")
    func tokenMoves() async throws {
        let api = try await APIHarness()
        let register =
            "mutation { registerPushToken(token: \"abcdef0123456789\", platform: \"ios\") { device { id token } } }"
        _ = try await api.run(register)
        _ = try await api.run(register, as: bob)
        #expect(try await api.run("{ devices { token } }")["data"]?["devices"] == [])
        #expect(try await api.run("{ devices { token } }", as: bob)["data"]?["devices"] == [["token": "abcdef01…"]])
    }

    @Test(
        "bad input is refused with what is wrong",
        arguments: [
            ("mutation { registerPushToken(token: \"t\", platform: \"symbian\") { userId } }", "BAD_USER_INPUT"),
            ("mutation { registerPushToken(token: \"xyz\", platform: \"ios\") { userId } }", "BAD_USER_INPUT"),
            ("{ listTopics(limit: 0) { nextToken } }", "BAD_REQUEST"),
            ("{ getTopicByName(name: \"a\", sortDirection: ASC) { nextToken } }", "BAD_REQUEST"),
            ("mutation { createTopic(input: {id: \"a b\", name: \"x\"}) { id } }", "BAD_REQUEST"),
            ("{ listTopics(filter: {name: {between: [\"a\"]}}) { nextToken } }", "BAD_REQUEST"),
        ]
    )
    func badInput(query: String, code: String) async throws {
        let api = try await APIHarness()
        let response = try await api.run(query)
        #expect(response["errors"]?[0]?["extensions"]?["code"]?.stringValue == code, "\(response.serializedString())")
    }

    @Test("AppSync's clients find errorType, errorInfo and data at the error's root")
    func appSyncErrors() async throws {
        let api = try await APIHarness()
        let response = try await api.run(
            "mutation {\n  deleteTopic(input: {id: \"none\"}) { id }\n}",
            style: .appSync
        )
        let error = try #require(response["errors"]?[0])
        #expect(error["errorType"] == "Unauthorized")
        #expect(error["message"] == "Not Authorized to access deleteTopic on type Mutation")
        #expect(error["path"] == ["deleteTopic"])
        #expect(error["data"] == .null)
        #expect(error["errorInfo"] == .null)
        #expect(error["locations"] == [["line": 2, "column": 3, "sourceName": .null]])
        #expect(response["data"] == ["deleteTopic": .null])
    }

    @Test("filters on lists hold, and limit counts what is returned")
    func filters() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        for (title, priority) in [("disk full", 5), ("disk ok", 1), ("cpu hot", 4)] as [(String, JSONValue)] {
            let category: JSONValue = title.hasPrefix("disk") ? "DISK" : .null
            try await api.publish(title, to: topic, with: ["priority": priority, "category": category])
        }
        let query = "query($f: ModelMessageFilterInput) { listMessages(filter: $f) { items { title } } }"
        let cases: [(JSONValue, JSONValue)] = [
            (["title": ["beginsWith": "disk"]], [["title": "disk full"], ["title": "disk ok"]]),
            (["title": ["contains": "_"]], []),
            (
                ["or": [["title": ["eq": "cpu hot"]], ["title": ["eq": "disk ok"]]]],
                [["title": "disk ok"], ["title": "cpu hot"]]
            ),
            (["not": ["title": ["contains": "disk"]]], [["title": "cpu hot"]]),
            (["category": ["eq": "DISK"]], [["title": "disk full"], ["title": "disk ok"]]),
            (["category": ["attributeExists": false]], [["title": "cpu hot"]]),
            (["_deleted": ["ne": true], "type": ["eq": 2]], []),
        ]
        for (filter, expected) in cases {
            let response = try await api.run(query, ["f": filter])
            #expect(response["data"]?["listMessages"]?["items"] == expected, "\(filter.serializedString())")
        }
    }

    @Test("a model of one's own works without Swift and without a migration")
    func ownModel() async throws {
        let api = try await APIHarness(
            model: """
                type Topic @model @auth(rules: [{ allow: owner }]) { id: ID! name: String! arn: String! }
                type Message @model @auth(rules: [{ allow: owner }]) {
                  id: ID! type: Int! title: String! body: String! createdAt: AWSDateTime! topicId: ID! severity: String
                }
                type Runbook @model @auth(rules: [{ allow: owner }]) {
                  id: ID! title: String! @index(name: "byTitle", queryField: "runbookByTitle") steps: [String!] rating: Float
                }
                """
        )
        let made = try await api.run(
            "mutation { createRunbook(input: {id: \"r\", title: \"Disk\", steps: [\"a\", \"b\"], rating: 4.5}) { title steps rating } }"
        )
        #expect(made["data"]?["createRunbook"] == ["title": "Disk", "steps": ["a", "b"], "rating": 4.5])
        let found = try await api.run("{ runbookByTitle(title: \"Disk\", filter: {rating: {gt: 4}}) { items { id } } }")
        #expect(found["data"]?["runbookByTitle"] == ["items": [["id": "r"]]])
        #expect(try await api.run("{ getRunbook(id: \"r\") { id } }", as: bob)["data"]?["getRunbook"] == .null)
        let topic = try await api.makeTopic()
        try await api.publish("x", to: topic, with: ["severity": "high"])
        let severe = try await api.run(
            "{ listMessages(filter: {severity: {eq: \"high\"}}) { items { title severity } } }"
        )
        #expect(severe["data"]?["listMessages"]?["items"] == [["title": "x", "severity": "high"]])
    }

    private func message(of response: JSONValue) -> String {
        response["errors"]?[0]?["message"]?.stringValue ?? response.serializedString()
    }
}
