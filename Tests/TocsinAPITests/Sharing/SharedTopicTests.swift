import JSON
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("Shared topics")
struct SharedTopicTests {
    private static let (alice, bob, carol) = (SharingScene.alice, SharingScene.bob, SharingScene.carol)

    @Test("a reader sees the topic and its messages in every list, and the owner's are as before")
    func reading() async throws {
        let scene = try await SharingScene()
        try await scene.api.publish("first", to: scene.topic)
        #expect(try await scene.titles(as: Self.bob).isEmpty)
        try await scene.granted(["READER"])
        _ = try await scene.api.makeTopic("bobs", as: Self.bob)
        let topics = try await scene.api.run(
            "{ listTopics { items { name owner roles } } byName: getTopicByName(name: \"alerts\") { items { name } } }",
            as: Self.bob
        )
        #expect(
            topics["data"]?["listTopics"]?["items"] == [
                ["name": "alerts", "owner": "alice", "roles": ["READER"]],
                ["name": "bobs", "owner": "bob", "roles": ["OWNER"]],
            ],
            "\(topics)"
        )
        #expect(topics["data"]?["byName"]?["items"] == [["name": "alerts"]], "\(topics)")
        #expect(try await scene.titles(as: Self.bob) == ["first"])
        let paths = """
            query($t: ID!) {
              history { items { title } } syncMessages { items { title } } syncTopics { items { name } }
              getMessageByTopicIdAndCreatedAt(topicId: $t) { items { title topic { name } author } }
            }
            """
        let all = try await scene.api.run(paths, ["t": .string(scene.topic)], as: Self.bob)
        let data = try #require(all["data"], "\(all)")
        #expect(data["history"]?["items"] == [["title": "first"]], "\(all)")
        #expect(data["syncMessages"]?["items"] == [["title": "first"]], "\(all)")
        #expect(data["syncTopics"]?["items"] == [["name": "alerts"], ["name": "bobs"]], "\(all)")
        #expect(
            data["getMessageByTopicIdAndCreatedAt"]?["items"]
                == [["title": "first", "topic": ["name": "alerts"], "author": "sub-alice"]],
            "\(all)"
        )
        #expect(try await scene.titles(as: Self.alice) == ["first"])
        #expect(try await scene.titles(as: Self.carol).isEmpty)
    }

    @Test("history is searched by its texts, in what is shared too, and in nothing else")
    func searching() async throws {
        let scene = try await SharingScene()
        try await scene.api.publish("first", to: scene.topic)
        try await scene.granted(["READER"], to: ["user": "bob"])
        let search = """
            query($t: String!) {
              history(filter: { or: [{ title: { contains: $t } }, { body: { contains: $t } }] }) { items { title } }
            }
            """
        let found = { (text: JSONValue, caller: Identity) in
            try await scene.api.run(search, ["t": text], as: caller)["data"]?["history"]?["items"]
        }
        #expect(try await found("irs", Self.alice) == [["title": "first"]])
        #expect(try await found("irs", Self.bob) == [["title": "first"]])
        #expect(try await found("second", Self.bob) == [])
        #expect(try await found("irs", Self.carol) == [])
        let long = JSONValue.string(String(repeating: "x", count: 300))
        let refused = try await scene.api.run(search, ["t": long], as: Self.alice)
        #expect(refused["errors"]?[0]?["extensions"]?["code"] == "BAD_REQUEST", "\(refused)")
    }

    @Test("roles by name, by group and for everybody add up, and one that has ended gives nothing")
    func addingUp() async throws {
        let scene = try await SharingScene()
        let bob = SharingScene.member("bob", of: "ops")
        try await scene.granted(["READER"], to: ["everybody": true])
        #expect(try await scene.look("roles", as: bob) == ["roles": ["READER"]])
        try await scene.granted(["PUBLISHER"], to: ["group": "ops"])
        #expect(try await scene.look("roles", as: bob) == ["roles": ["PUBLISHER", "READER"]])
        #expect(try await scene.look("roles", as: Self.bob) == ["roles": ["READER"]])
        // The harness's clock is behind the database's, which decides.
        try await scene.granted(["OWNER"], to: ["user": "bob"], ["expiresAt": "2026-08-01T00:00:00Z"])
        #expect(try await scene.look("roles", as: bob) == ["roles": ["PUBLISHER", "READER"]])
        try await scene.granted(["OWNER"], to: ["user": "bob"], ["expiresAt": "2126-08-01T00:00:00Z"])
        #expect(try await scene.look("roles", as: bob) == ["roles": ["OWNER", "PUBLISHER", "READER"]])
    }

    @Test("who may only publish sees the topic's name, and learns nothing else by asking for it")
    func publishersSight() async throws {
        let scene = try await SharingScene()
        try await scene.granted(["PUBLISHER"])
        let seen = try await scene.look(
            "id name arn owner watchers cursor lastNumber channelId members { items { userId } } grants { items { id } } roles",
            as: Self.bob
        )
        #expect(
            seen == [
                "id": .string(scene.topic), "name": "alerts", "arn": "arn:tocsin:topic:alice:alerts", "owner": nil,
                "watchers": 0, "cursor": nil, "lastNumber": nil, "channelId": nil, "members": nil, "grants": nil,
                "roles": ["PUBLISHER"],
            ],
            "\(seen)"
        )
        func found(_ filter: String) async throws -> Int? {
            let answer = try await scene.api.run("{ listTopics(filter: \(filter)) { items { id } } }", as: Self.bob)
            return answer["data"]?["listTopics"]?["items"]?.arrayValue?.count
        }
        #expect(try await found("{ name: { eq: \"alerts\" } }") == 1)
        #expect(try await found("{ createdAt: { gt: \"2000\" } }") == 0)
        #expect(try await found("{ or: [{ name: { eq: \"alerts\" } }, { owner: { eq: \"alice\" } }] }") == 0)
        let join = "mutation($t: ID!) { subscribeToTopic(topicId: $t) { push } }"
        #expect(try await scene.api.run(join, ["t": .string(scene.topic)], as: Self.bob).code == "UNAUTHORIZED")
    }

    @Test("what a publisher publishes is the owner's, in the owner's feed, and names its author")
    func publishing() async throws {
        let scene = try await SharingScene()
        try await scene.granted(["PUBLISHER"])
        let cursor = "{ me { cursor } }"
        let before = try await scene.api.run(cursor)
        let message = try await scene.api.publish("from bob", to: scene.topic, as: Self.bob)
        #expect(message["number"] == 1 && message["title"] == "from bob", "\(message)")
        #expect(try await scene.titles(as: Self.bob).isEmpty)
        let rows = try await scene.api.run("{ listMessages { items { title owner author } } me { cursor } }")
        #expect(
            rows["data"]?["listMessages"]?["items"]
                == [["title": "from bob", "owner": "alice", "author": "sub-bob"]],
            "\(rows)"
        )
        #expect(rows["data"]?["me"] != before["data"]?["me"])
        try await scene.api.publish("from alice", to: scene.topic)
        #expect(try await scene.titles(as: Self.alice) == ["from bob", "from alice"])
        let stranger = try await scene.api.publish("x", to: scene.topic, as: Self.carol)
        let nowhere = try await scene.api.publish("x", to: "nowhere", as: Self.carol)
        #expect(stranger == nowhere && stranger.code == "UNAUTHORIZED", "\(stranger)")
    }

    @Test("a token that publishes to one shared topic learns nothing of another's keys")
    func narrowPublishers() async throws {
        let scene = try await SharingScene()
        try await scene.granted(["PUBLISHER"])
        _ = try await scene.api.publish("same", to: scene.topic, as: Self.bob, with: ["key": "k1"])
        var narrow = Self.bob
        narrow.scope = .publish(topic: "another")
        for key in ["k1", "k2"] {
            let answer = try await scene.api.publish("other", to: scene.topic, as: narrow, with: ["key": .string(key)])
            #expect(answer.code == "UNAUTHORIZED", "\(answer)")
        }
    }

    @Test("a repeated key answers its author and readers, and is a conflict without data to other publishers")
    func repeating() async throws {
        let scene = try await SharingScene()
        try await scene.granted(["PUBLISHER"])
        try await scene.granted(["PUBLISHER"], to: ["user": "carol"])
        let key: JSONObject = ["key": "k1"]
        let first = try await scene.api.publish("same", to: scene.topic, as: Self.bob, with: key)
        #expect(try await scene.api.publish("same", to: scene.topic, as: Self.bob, with: key) == first)
        let owners = try await scene.api.publish("same", to: scene.topic, as: Self.alice, with: key)
        #expect(owners["id"] == first["id"] && owners["number"] == 1, "\(owners)")
        let other = try await scene.api.publish("same", to: scene.topic, as: Self.carol, with: key)
        #expect(other.code == "CONFLICT", "\(other)")
        #expect(other["errors"]?[0]?["extensions"]?["data"].map(\.isNull) ?? true, "\(other)")
        #expect(!other.serializedString().contains(first["id"]?.stringValue ?? "?"), "\(other)")
        try await scene.granted(["PUBLISHER", "READER"], to: ["user": "carol"])
        #expect(try await scene.api.publish("same", to: scene.topic, as: Self.carol, with: key)["id"] == first["id"])
        #expect(try await scene.titles(as: Self.alice) == ["same"])
    }

    @Test("OWNER renames the topic and shares it, but gives and takes no OWNER, and deletes nothing")
    func ownersByGrant() async throws {
        let scene = try await SharingScene()
        let owner = try await scene.granted(["OWNER"])
        let reader = try await scene.grant(["READER"], to: ["user": "carol"], as: Self.bob)
        #expect(reader["data"]?["grantTopic"]?["subjectName"] == "carol", "\(reader)")
        #expect(try await scene.grant(["OWNER"], to: ["user": "carol"], as: Self.bob).code == "UNAUTHORIZED")
        #expect(try await scene.grant(["READER"], to: ["user": "bob"], as: Self.bob).code == "UNAUTHORIZED")
        #expect(try await scene.revoke(owner, as: Self.bob).code == "UNAUTHORIZED")
        let change = "mutation($i: UpdateTopicInput!) { updateTopic(input: $i) { name owner } }"
        let renamed = try await scene.api.run(
            change,
            ["i": ["id": .string(scene.topic), "name": "news", "_version": 1]],
            as: Self.bob
        )
        #expect(renamed["data"]?["updateTopic"] == ["name": "news", "owner": "alice"], "\(renamed)")
        let delete = "mutation($i: DeleteTopicInput!) { deleteTopic(input: $i) { id } }"
        let gone = try await scene.api.run(delete, ["i": ["id": .string(scene.topic), "_version": 2]], as: Self.bob)
        #expect(gone.code == "UNAUTHORIZED", "\(gone)")
        let listed = try await scene.look("grants { items { subjectName roles } }", as: Self.bob)
        #expect(
            listed["grants"]?["items"]
                == [["subjectName": "bob", "roles": ["OWNER"]], ["subjectName": "carol", "roles": ["READER"]]],
            "\(listed)"
        )
        #expect(try await scene.look("grants { items { id } }", as: Self.carol) == ["grants": nil])
    }

    @Test("members have names where one is known, for who may change the topic and nobody else")
    func namesOfMembers() async throws {
        let scene = try await SharingScene()
        try await scene.granted(["READER"], ["push": true])
        let topic = TopicID(scene.topic)
        try await scene.api.store.write { writer throws(StoreError) in
            let now = Timestamp(milliseconds: 1)
            try writer.save(Membership(topicID: topic, userID: UserID("unknown"), push: true, createdAt: now))
        }
        let asked = "members { items { userId userName } }"
        let seen = try await scene.look(asked, as: Self.alice)["members"]?["items"]?.arrayValue ?? []
        #expect(seen.contains(["userId": "sub-bob", "userName": "bob"]), "\(seen)")
        #expect(seen.contains(["userId": "unknown", "userName": nil]), "\(seen)")
        #expect(try await scene.look(asked, as: Self.bob) == ["members": nil])
    }

    @Test("a rename by OWNER tells nothing of the names of topics that the caller does not see")
    func namesOfOthers() async throws {
        let scene = try await SharingScene()
        try await scene.granted(["OWNER"])
        let (secret, shown) = (try await scene.api.makeTopic("secret"), try await scene.api.makeTopic("shown"))
        try await scene.api.share(shown, with: .user(Self.bob.userID))
        func rename(_ name: String, _ version: Int64) async throws -> JSONValue {
            try await scene.api.run(
                "mutation($i: UpdateTopicInput!) { updateTopic(input: $i) { name } }",
                ["i": ["id": .string(scene.topic), "name": .string(name), "_version": .int(version)]],
                as: Self.bob
            )
        }
        #expect(try await rename("shown", 1).code == "CONFLICT")
        #expect(try await rename("free", 1)["data"]?["updateTopic"] == ["name": "free"])
        let taken = try await rename("secret", 2)
        #expect(taken["data"]?["updateTopic"] == ["name": "secret"], "\(taken)")
        let both = try await scene.api.run("{ getTopicByName(name: \"secret\") { items { id } } }")
        let ids = both["data"]?["getTopicByName"]?["items"]?.arrayValue?.compactMap { $0["id"]?.stringValue }
        #expect(Set(ids ?? []) == [secret, scene.topic], "\(both)")
    }

    @Test("a token for managing topics reaches its user's own, and none that are shared with them")
    func topicTokens() async throws {
        let scene = try await SharingScene()
        try await scene.granted(["OWNER"])
        let own = try await scene.api.makeTopic("bobs", as: Self.bob)
        var narrow = Self.bob
        narrow.scope = try #require(Identity.Scope(words: ["topics"]))
        let listed = try await scene.api.run("{ listTopics { items { id } } }", as: narrow)
        #expect(listed["data"]?["listTopics"]?["items"] == [["id": .string(own)]], "\(listed)")
        let update = "mutation($i: UpdateTopicInput!) { updateTopic(input: $i) { name } }"
        func rename(_ topic: String) async throws -> JSONValue {
            let input: JSONValue = ["id": .string(topic), "name": "mine", "_version": 1]
            return try await scene.api.run(update, ["i": input], as: narrow)
        }
        #expect(try await rename(scene.topic).code == "UNAUTHORIZED")
        #expect(try await rename(own)["data"]?["updateTopic"] == ["name": "mine"])
        #expect(try await scene.api.makeTopic("new", as: narrow).hasPrefix("id-"))
    }

    @Test("a model that lets nobody delete messages lets no OWNER either; one that does, does")
    func operations() async throws {
        let delete = "mutation($i: DeleteMessageInput!) { deleteMessage(input: $i) { id } }"
        let scene = try await SharingScene(model: Self.deletingModel)
        try await scene.granted(["READER"])
        let id = try await scene.api.publish("x", to: scene.topic)["id"] ?? .null
        let variables: JSONObject = ["i": ["id": id, "_version": 1]]
        #expect(try await scene.api.run(delete, variables, as: Self.bob).code == "UNAUTHORIZED")
        try await scene.granted(["OWNER"])
        let deleted = try await scene.api.run(delete, variables, as: Self.bob)
        #expect(deleted["data"]?["deleteMessage"]?["id"] == id, "\(deleted)")
    }

    private static let deletingModel = """
        type Topic @model @auth(rules: [{ allow: owner }]) {
          id: ID!
          name: String! @index(name: "byName", queryField: "getTopicByName")
          arn: String!
        }
        type Message @model @auth(rules: [{ allow: owner }]) {
          id: ID!
          type: Int!
          title: String!
          body: String!
          createdAt: AWSDateTime!
          topicId: ID! @index(name: "byTopicIdAndCreatedAt", sortKeyFields: ["createdAt"], queryField: "byTopic")
          topic: Topic @hasOne(fields: ["topicId"])
        }
        """

    @Test("where sharing is off, or no rule speaks of owners, no predicate asks for grants")
    func switchedOff() throws {
        let off = try APISchema(isSharingAllowed: false)
        let open = try APISchema(
            modelText: Self.deletingModel.replacing("{ allow: owner }", with: "{ allow: private }")
        )
        let on = try APISchema()
        for (schema, isShared) in [(off, false), (open, false), (on, true)] {
            for model in [schema.topics, schema.messages] {
                guard case .allow(let visible) = AccessPolicy.decision(.read, on: model, for: Self.bob) else {
                    continue
                }
                #expect(visible.grantQuestions.isEmpty == !isShared)
            }
        }
    }

    @Test("narrow tokens narrow what is shared: one that reads only reads, one that publishes publishes there alone")
    func scopes() async throws {
        let scene = try await SharingScene()
        let other = try await scene.api.makeTopic("other")
        try await scene.granted(["OWNER"])
        var bob = Self.bob
        bob.scope = .readOnly
        try await scene.api.publish("x", to: scene.topic)
        #expect(try await scene.titles(as: bob) == ["x"])
        #expect(try await scene.api.publish("y", to: scene.topic, as: bob).code == "UNAUTHORIZED")
        #expect(try await scene.grant(["READER"], to: ["user": "carol"], as: bob).code == "UNAUTHORIZED")
        bob.scope = .publish(topic: scene.topic)
        #expect(try await scene.api.publish("z", to: scene.topic, as: bob)["number"] == 2)
        #expect(try await scene.titles(as: bob).isEmpty)
        bob.scope = .publish(topic: other)
        #expect(try await scene.api.publish("z", to: scene.topic, as: bob).code == "UNAUTHORIZED")
    }
}
