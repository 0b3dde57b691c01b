import JSON
import TestDatabases
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("Sync of shared topics", .timeLimit(.minutes(5)))
struct SharedSyncTests {
    private static let bob = APIHarness.identity("bob")
    private static let subject = GrantSubject.user(bob.userID)

    /// A client's store, which is brought up to date by syncs.
    private struct Client {
        let api: APIHarness
        var records: [String: JSONValue] = [:]
        var lastSync: Int64?
        /// What the last sync told of, in order.
        var told: [JSONValue] = []

        var caller: Identity

        init(_ api: APIHarness, as caller: Identity = SharedSyncTests.bob) { (self.api, self.caller) = (api, caller) }

        /// Everything that changed, page by page.
        mutating func sync(_ field: String = "syncMessages", limit: Int = 3) async throws {
            let shown = field == "syncTopics" ? "name" : "title number topicId"
            var (token, startedAt): (JSONValue, Int64?) = (.null, nil)
            told = []
            repeat {
                var variables: JSONObject = ["n": token, "l": .int(Int64(limit))]
                if let lastSync { variables["s"] = .int(lastSync) }
                let response = try await api.run(
                    """
                    query($s: AWSTimestamp, $n: String, $l: Int) { \(field)(lastSync: $s, nextToken: $n, limit: $l) {
                        items { id \(shown) _version _deleted _lastChangedAt createdAt owner } nextToken startedAt } }
                    """,
                    variables,
                    as: caller
                )
                #expect(response["errors"] == nil, "\(response.serializedString())")
                let page = try #require(response["data"]?[field])
                told += page["items"]?.arrayValue ?? []
                startedAt = page["startedAt"]?.intValue
                token = page["nextToken"] ?? .null
            } while !token.isNull
            lastSync = startedAt
            for record in told {
                let id = record["id"]?.stringValue ?? ""
                if record["_deleted"] == true {
                    records.removeValue(forKey: id)
                } else {
                    records[id] = record
                }
            }
        }
    }

    @Test("what was shared since the last sync comes in full, whenever it was made")
    func gained() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        for number in 1...7 { try await api.publish("\(number)", to: topic) }
        var (messages, topics) = (Client(api), Client(api))
        try await messages.sync()
        try await topics.sync("syncTopics")
        #expect(messages.records.isEmpty && topics.records.isEmpty)
        try await api.share(topic, with: Self.subject)
        try await api.publish("8", to: topic)
        try await messages.sync()
        try await topics.sync("syncTopics")
        let titles = messages.records.values.compactMap { $0["title"]?.stringValue }
        #expect(Set(titles) == Set((1...8).map { "\($0)" }))
        #expect(topics.records.values.compactMap { $0["name"] } == ["alerts"])
    }

    @Test("what is shared no more comes as a tombstone that says nothing else, and nothing that was made later")
    func lost() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        for number in 1...7 { try await api.publish("\(number)", to: topic) }
        try await api.share(topic, with: Self.subject)
        var (messages, topics) = (Client(api), Client(api))
        try await messages.sync()
        try await topics.sync("syncTopics")
        let known = Set(messages.records.keys)
        #expect(known.count == 7 && topics.records.count == 1)
        try await api.unshare(topic, with: Self.subject)
        try await api.publish("secret", to: topic)
        try await messages.sync()
        try await topics.sync("syncTopics")
        #expect(messages.records.isEmpty && topics.records.isEmpty)
        let tombstones = messages.told.filter { $0["_deleted"] == true }
        #expect(Set(tombstones.compactMap { $0["id"]?.stringValue }) == known)
        for record in tombstones + topics.told {
            #expect(record["title"] == nil || record["title"] == "")
            #expect(record["name"] == nil || record["name"] == "")
            #expect(record["number"] == nil || record["number"] == 0)
            #expect(record["topicId"] == nil || record["topicId"] == "")
            #expect(record["owner"] == .null)
        }
    }

    @Test("owners are told of no loss of their own, whomever they share with")
    func ownersLoseNothing() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        for number in 1...3 { try await api.publish("\(number)", to: topic) }
        try await api.share(topic, with: .signedIn)
        let alice = APIHarness.identity("alice")
        var (messages, topics) = (Client(api, as: alice), Client(api, as: alice))
        try await messages.sync()
        try await topics.sync("syncTopics")
        try await api.unshare(topic, with: .signedIn)
        try await messages.sync()
        try await topics.sync("syncTopics")
        #expect(messages.records.count == 3 && topics.records.count == 1)
        #expect(!(messages.told + topics.told).contains { $0["_deleted"] == true })
    }

    @Test("a publisher's sync has of a topic what it sees of it, and nothing of its messages")
    func publishers() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        try await api.publish("1", to: topic)
        var (messages, topics) = (Client(api), Client(api))
        try await messages.sync()
        try await topics.sync("syncTopics")
        try await api.share(topic, with: Self.subject, roles: .publisher)
        try await topics.sync("syncTopics")
        #expect(topics.told.count == 1 && topics.told.first?["name"] == "alerts")
        #expect(topics.told.first?["owner"] == .null, "\(topics.told)")
        try await api.unshare(topic, with: Self.subject)
        try await messages.sync()
        #expect(messages.told.isEmpty)
    }

    @Test("a token for one topic is told of no loss of another")
    func narrowTokens() async throws {
        let api = try await APIHarness()
        let (topic, other) = (try await api.makeTopic(), try await api.makeTopic("other"))
        try await api.publish("1", to: other)
        for shared in [topic, other] { try await api.share(shared, with: Self.subject) }
        var narrow = Self.bob
        narrow.scope = try #require(Identity.Scope(words: ["read:" + topic]))
        var (messages, topics) = (Client(api, as: narrow), Client(api, as: narrow))
        try await messages.sync()
        try await topics.sync("syncTopics")
        try await api.unshare(other, with: Self.subject)
        try await messages.sync()
        try await topics.sync("syncTopics")
        #expect((messages.told + topics.told).allSatisfy { $0["_deleted"] != true })
        #expect(topics.records.keys.sorted() == [topic])
    }

    @Test("whoever still reads a topic by another grant is told of no loss")
    func otherGrant() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        try await api.publish("1", to: topic)
        try await api.share(topic, with: Self.subject)
        try await api.share(topic, with: .signedIn)
        var client = Client(api)
        try await client.sync()
        try await api.unshare(topic, with: Self.subject)
        try await client.sync()
        #expect(client.records.count == 1)
    }

    @Test("a client that syncs now and then has what a new one gets, whatever was shared and taken back")
    func converges() async throws {
        let api = try await APIHarness()
        var topics: [String] = []
        for number in 0..<4 { topics.append(try await api.makeTopic("t\(number)")) }
        let own = try await api.makeTopic("own", as: Self.bob)
        var client = Client(api)
        var shared: Set<String> = []
        var random = SplitMix(seed: 26)
        for step in 0..<120 {
            let topic = topics[random.next(topics.count)]
            switch random.next(4) {
            case 0 where shared.insert(topic).inserted: try await api.share(topic, with: Self.subject)
            case 1 where shared.remove(topic) != nil: try await api.unshare(topic, with: Self.subject)
            case 2: try await client.sync(limit: 1 + random.next(5))
            default:
                try await api.publish("\(step)", to: topic)
                if step % 5 == 0 { try await api.publish("own \(step)", to: own, as: Self.bob) }
            }
        }
        try await client.sync()
        var fresh = Client(api)
        try await fresh.sync(limit: 100)
        #expect(Set(client.records.keys) == Set(fresh.records.keys))
        let isSame = client.records == fresh.records
        #expect(isSame)
        #expect(!fresh.records.isEmpty)
    }

    private static let member = bob.with(groups: ["ops"], isAdmin: false, asOf: nil)
    private static let ops = GroupReference(name: "ops")

    /// A harness with Bob's account and a group `ops` without members.
    private func groupHarness() async throws -> APIHarness {
        let api = try await APIHarness()
        try await SharingScene.add("bob", to: api)
        _ = try await api.services.groups.add(name: "ops", description: nil, by: .shell)
        return api
    }

    private func setMember(_ isMember: Bool, _ api: APIHarness) async throws {
        if isMember {
            _ = try await api.services.groups.add(UserReference("bob"), to: Self.ops, by: .shell)
        } else {
            _ = try await api.services.groups.remove(UserReference("bob"), from: Self.ops, by: .shell)
        }
    }

    @Test("who comes into a group is told of all its topics, and who leaves it is told of the loss")
    func comingAndGoing() async throws {
        let api = try await groupHarness()
        let topic = try await api.makeTopic()
        for number in 1...4 { try await api.publish("\(number)", to: topic) }
        try await api.share(topic, with: .group("ops"))
        var (messages, topics) = (Client(api), Client(api))
        try await messages.sync()
        try await topics.sync("syncTopics")
        #expect(messages.records.isEmpty && topics.records.isEmpty)
        try await setMember(true, api)
        messages.caller = Self.member
        topics.caller = Self.member
        try await messages.sync()
        try await topics.sync("syncTopics")
        #expect(messages.records.count == 4 && topics.records.count == 1)
        try await setMember(false, api)
        try await api.publish("secret", to: topic)
        messages.caller = Self.bob
        topics.caller = Self.bob
        try await messages.sync()
        try await topics.sync("syncTopics")
        #expect(messages.records.isEmpty && topics.records.isEmpty)
        #expect(messages.told.count == 4 && topics.told.count == 1)
    }

    @Test("the loss of each topic is kept for the syncs of who leaves a group, be they thousands")
    func leavingMany() async throws {
        let api = try await groupHarness()
        let (count, now) = (5601, api.time.now())
        try await api.makeTopics(count, sharedWith: "ops")
        try await setMember(true, api)
        try await setMember(false, api)
        let lost = try await api.store.read { reader throws(StoreError) in
            try reader.lostTopics([Self.subject], since: now)
        }
        #expect(lost.count == count)
    }

    @Test("who comes into a group after its grant has ended is told of nothing that was never theirs")
    func endedBefore() async throws {
        let api = try await groupHarness()
        let topic = try await api.makeTopic()
        try await api.publish("1", to: topic)
        try await api.share(topic, with: .group("ops"))
        var (messages, topics) = (Client(api, as: Self.bob), Client(api, as: Self.bob))
        try await messages.sync()
        try await topics.sync("syncTopics")
        try await api.unshare(topic, with: .group("ops"))
        try await setMember(true, api)
        messages.caller = Self.member
        topics.caller = Self.member
        try await messages.sync()
        try await topics.sync("syncTopics")
        #expect(messages.told.isEmpty && topics.told.isEmpty)
    }

    @Test("who was in a group is told of what it lost before they left, and of all when it goes")
    func goneGroup() async throws {
        let api = try await groupHarness()
        let (first, second) = (try await api.makeTopic("first"), try await api.makeTopic("second"))
        for topic in [first, second] {
            try await api.publish("1", to: topic)
            try await api.share(topic, with: .group("ops"))
        }
        try await setMember(true, api)
        var messages = Client(api, as: Self.member)
        try await messages.sync()
        #expect(messages.records.count == 2)
        try await api.unshare(first, with: .group("ops"))
        _ = try await api.services.groups.remove(Self.ops, by: .shell)
        messages.caller = Self.bob
        try await messages.sync()
        #expect(messages.records.isEmpty && messages.told.count == 2)
    }

    @Test("a grant that ended by its time is removed with the membership, and sync tells of the loss")
    func expired() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        try await api.publish("1", to: topic)
        try await api.share(topic, with: Self.subject)
        try await api.join(Self.bob.userID, topic)
        var client = Client(api)
        try await client.sync()
        #expect(client.records.count == 1)
        // The database goes by its own clock, which is behind this moment; the test's is before it.
        try await api.share(topic, with: Self.subject, expiresAt: api.time.now())
        let rights = PushRights(topics: api.schema.topics, messages: api.schema.messages)
        let reaper = GrantReaper(environment: api.environment, rights: rights)
        #expect(try await reaper.runOnce() == 1)
        #expect(try await reaper.runOnce() == 0)
        let membership = try await api.store.read { reader throws(StoreError) in
            try reader.membership(of: Self.bob.userID, in: TopicID(topic))
        }
        #expect(membership == nil)
        try await client.sync()
        #expect(client.records.isEmpty)
    }
}

/// Numbers that look like chance and are the same each time.
private struct SplitMix {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// A number below a bound.
    mutating func next(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }
}

extension APIHarness {
    /// Topics `t0`, `t1` … as rows alone, each shared with a group.
    func makeTopics(_ count: Int, sharedWith group: String) async throws {
        let (first, model, now) = (try await makeTopic(), schema.topics, time.now())
        try await store.write { writer throws(StoreError) in
            guard var topic = try writer.records(model, ids: [first], where: .always).first else { return }
            for number in 0..<count {
                topic["id"] = .text("t\(number)")
                topic["name"] = .text("t\(number)")
                _ = try writer.insert(topic)
                let grant = TopicGrant(
                    id: GrantID("g\(number)"),
                    topicID: TopicID(topic.id),
                    subject: .group(group),
                    roles: .reader,
                    createdAt: now,
                    createdBy: UserID("sub-alice")
                )
                try writer.save(grant, replacing: nil)
            }
        }
    }
}
