import JSON
import Testing
import TocsinCore
import TocsinStore

@Suite("Members of a topic, seen by its owner")
struct MemberTests {
    private static let bob = APIHarness.identity("bob")
    private static let members = """
        query($id: ID!, $limit: Int, $next: String) { getTopic(id: $id) {
            members(limit: $limit, nextToken: $next) { items { topicId userId push createdAt } nextToken } } }
        """
    private static let remove = """
        mutation($topic: ID!, $user: ID!) { removeMember(topicId: $topic, userId: $user) { topicId userId push } }
        """

    /// A topic of alice's with these members beside her.
    private func topic(_ api: APIHarness, with members: [String]) async throws -> JSONValue {
        let id = try await api.makeTopic()
        for name in members {
            let join = "mutation($id: ID!) { subscribeToTopic(topicId: $id) { userId } }"
            let answer = try await api.run(join, ["id": .string(id)], as: APIHarness.identity(name))
            #expect(answer["errors"] == nil, "\(answer)")
        }
        return .string(id)
    }

    private func names(_ answer: JSONValue) -> [JSONValue?] {
        answer["data"]?["getTopic"]?["members"]?["items"]?.arrayValue?.map { $0["userId"] } ?? []
    }

    @Test("the owner sees them page by page, each with whether they want pushes")
    func pages() async throws {
        let api = try await APIHarness(model: DeliveryAPITests.shared)
        let id = try await topic(api, with: ["bob", "carol", "dave"])
        let first = try await api.run(Self.members, ["id": id, "limit": 2])
        #expect(names(first) == ["sub-alice", "sub-bob"], "\(first)")
        let connection = first["data"]?["getTopic"]?["members"]
        #expect(connection?["items"]?.arrayValue?.first?["push"] == true)
        let token = try #require(connection?["nextToken"]?.stringValue)
        let second = try await api.run(Self.members, ["id": id, "limit": 2, "next": .string(token)])
        #expect(names(second) == ["sub-carol", "sub-dave"], "\(second)")
        #expect(second["data"]?["getTopic"]?["members"]?["nextToken"] == .null)
    }

    @Test("whoever may only read the topic sees none")
    func readers() async throws {
        let api = try await APIHarness(model: DeliveryAPITests.shared)
        let id = try await topic(api, with: ["bob", "carol"])
        let seen = try await api.run(Self.members, ["id": id], as: Self.bob)
        #expect(seen["data"]?["getTopic"] == ["members": nil], "\(seen)")
    }

    @Test("a read-only token of the owner's sees them and removes nobody; a narrower one does neither")
    func scopes() async throws {
        let api = try await APIHarness(model: DeliveryAPITests.shared)
        let id = try await topic(api, with: ["bob"])
        var alice = APIHarness.identity("alice")
        alice.scope = .readOnly
        #expect(names(try await api.run(Self.members, ["id": id], as: alice)) == ["sub-alice", "sub-bob"])
        let refused = try await api.run(Self.remove, ["topic": id, "user": "sub-bob"], as: alice)
        #expect(refused["errors"]?.arrayValue?.first?["extensions"]?["code"] == "UNAUTHORIZED", "\(refused)")
        alice.scope = .publish(topic: id.stringValue ?? "")
        #expect(try await api.run(Self.members, ["id": id], as: alice)["data"]?["getTopic"] == ["members": nil])
    }

    @Test("the owner removes a member, once; what waits for them ends, and they may join again")
    func remove() async throws {
        let api = try await APIHarness(model: DeliveryAPITests.shared)
        let id = try await topic(api, with: ["bob", "carol"])
        let message = try await wait(api, for: Self.bob, in: id)
        let removed = try await api.run(Self.remove, ["topic": id, "user": "sub-bob"])
        #expect(removed["data"]?["removeMember"] == ["topicId": id, "userId": "sub-bob", "push": false], "\(removed)")
        let rows = try await api.store.read { reader throws(StoreError) in
            try reader.deliveries(of: message, to: [DeviceID("d1")])
        }
        #expect(rows.map(\.reason) == ["LEFT_TOPIC"] && rows.map(\.status) == [.ended])
        #expect(names(try await api.run(Self.members, ["id": id])) == ["sub-alice", "sub-carol"])
        let again = try await api.run(Self.remove, ["topic": id, "user": "sub-bob"])
        #expect(again == ["data": ["removeMember": nil]], "\(again)")
        let join = "mutation($id: ID!) { subscribeToTopic(topicId: $id) { push } }"
        let joined = try await api.run(join, ["id": id], as: Self.bob)
        #expect(joined["data"]?["subscribeToTopic"]?["push"] == true, "\(joined)")
    }

    @Test("a topic of somebody else's and one that is not there are refused in the same words")
    func others() async throws {
        let api = try await APIHarness(model: DeliveryAPITests.shared)
        let id = try await topic(api, with: ["bob"])
        let theirs = try await api.run(Self.remove, ["topic": id, "user": "sub-bob"], as: Self.bob)
        let nowhere = try await api.run(Self.remove, ["topic": "nowhere", "user": "sub-bob"], as: Self.bob)
        #expect(theirs == nowhere)
        #expect(theirs["errors"]?.arrayValue?.first?["extensions"]?["code"] == "UNAUTHORIZED", "\(theirs)")
        #expect(names(try await api.run(Self.members, ["id": id])) == ["sub-alice", "sub-bob"])
    }

    /// A message with a delivery that waits for a device of the user.
    private func wait(_ api: APIHarness, for user: Identity, in topic: JSONValue) async throws -> MessageID {
        let device = Device(
            id: DeviceID("d1"),
            userID: user.userID,
            platform: .ios,
            environment: nil,
            appID: "",
            token: "aa",
            name: nil,
            registeredAt: api.time.now(),
            lastSeenAt: api.time.now()
        )
        let published = try await api.publish("Hello", to: topic.stringValue ?? "")
        let message = MessageID(published["id"]?.stringValue ?? "")
        let delivery = Delivery(
            id: DeliveryID("x"),
            messageID: message,
            deviceID: device.id,
            platform: .ios,
            status: .waiting,
            nextAttemptAt: api.time.now(),
            updatedAt: api.time.now()
        )
        try await api.store.write { writer throws(StoreError) in
            try writer.save(device)
            try writer.save([delivery])
        }
        return message
    }
}
