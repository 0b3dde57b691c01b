import GraphQLTransport
import JSON
import Synchronization
import Testing
import TocsinAPI
import TocsinCore

@Suite("Subscriptions while tokens and rights change", .timeLimit(.minutes(5)))
struct AccessOverTimeTests {
    private static let follow = "subscription($t: ID) { onCreateMessage(topicId: $t) { title } }"
    private static let model = """
        type Topic @model @auth(rules: [{ allow: owner }, { allow: groups, groupsField: "readers", operations: [read] }]) {
          id: ID!
          name: String!
          arn: String!
          readers: [String]
        }
        type Message @model @auth(rules: [{ allow: owner }, { allow: private, operations: [read] }]) {
          id: ID!
          type: Int!
          title: String!
          body: String!
          createdAt: AWSDateTime!
          topicId: ID!
        }
        """

    private static func caller(_ name: String, token: String = "t1", groups: [String] = []) -> Identity {
        var caller = APIHarness.identity(name)
        caller.tokenID = TokenID(token)
        if !groups.isEmpty { caller.claims[AccessRule.groupClaim] = groups }
        return caller
    }

    private static func stream(_ outcome: SubscribeOutcome) throws -> any StreamHandle {
        guard case .stream(let stream) = outcome else {
            Issue.record("refused")
            throw CancellationError()
        }
        return stream
    }

    private func titles(_ responses: [JSONValue]) -> [String] {
        responses.compactMap { $0["data"]?["onCreateMessage"]?["title"]?.stringValue }
    }

    private func code(_ sink: CollectingSink) throws -> String? {
        let endings = sink.endings.withLock { $0 }
        #expect(endings.count == 1)
        guard case .failed(let errors)? = endings.first else { return endings.first.map { "\($0)" } }
        return try JSONParser.parse(errors).arrayValue?.first?["extensions"]?["code"]?.stringValue
    }

    @Test("a renewed subscription goes on without a gap when the old token ends, and ends with the newer one")
    func renewed() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let (sink, outcome) = await api.subscribe(Self.follow, ["t": .string(topic)], as: Self.caller("alice"))
        try await api.publish("before", to: topic)
        let newer = Self.caller("alice", token: "t2")
        #expect(api.service.isSameUser(newer, as: Self.caller("alice")))
        #expect(!api.service.isSameUser(newer, as: Self.caller("bob")))
        api.service.renew(try Self.stream(outcome), caller: newer)
        api.hub.publish([.accessEnded(newer.userID, TokenID("t1"))])
        try await api.publish("after", to: topic)
        #expect(titles(try await sink.take(2)) == ["before", "after"])
        api.hub.publish([.accessEnded(newer.userID, TokenID("t2"))])
        #expect(try await sink.take(1) == [])
        #expect(sink.endings.withLock { $0 } == [.unauthorized])
    }

    @Test("the same holds for subscriptions to deliveries")
    func renewedDeliveries() async throws {
        let api = try await APIHarness()
        let document = "subscription { onDelivery { status } }"
        let (sink, outcome) = await api.subscribe(document, as: Self.caller("alice"))
        let (old, _) = await api.subscribe(document, as: Self.caller("alice"))
        let newer = Self.caller("alice", token: "t2")
        api.service.renew(try Self.stream(outcome), caller: newer)
        api.hub.publish([.accessEnded(newer.userID, TokenID("t1"))])
        #expect(try await old.take(1) == [], "who still goes by the old token is ended")
        #expect(sink.endings.withLock { $0 } == [])
        api.hub.publish([.accessEnded(newer.userID, TokenID("t2"))])
        #expect(try await sink.take(1) == [])
        #expect(sink.endings.withLock { $0 } == [.unauthorized])
    }

    @Test("a newer token of other rights ends what began with the old one's")
    func otherRights() async throws {
        let api = try await APIHarness(model: Self.model)
        let newer = [Self.caller("alice", token: "t2", groups: ["red"]), Self.readOnly]
        for newer in newer {
            let (sink, outcome) = await api.subscribe(
                "subscription { onCreateMessage { title } }",
                as: Self.caller("alice")
            )
            api.service.renew(try Self.stream(outcome), caller: newer)
            #expect(try await sink.take(1) == [])
            #expect(try code(sink) == "UNAUTHORIZED")
        }
    }

    private static var readOnly: Identity {
        var caller = caller("alice", token: "t2")
        caller.scope = .readOnly
        return caller
    }

    @Test("a newer token that was revoked before the subscription went by it ends it")
    func revokedNewer() async throws {
        let api = try await APIHarness()
        let (sink, outcome) = await api.subscribe(
            "subscription { onCreateMessage { title } }",
            as: Self.caller("alice")
        )
        let newer = Self.caller("alice", token: "t2")
        let now = api.time.now()
        var token = IssuedToken(
            id: TokenID("t2"),
            userID: newer.userID,
            scope: .full,
            createdAt: now,
            expiresAt: now.adding(seconds: 60)
        )
        token.revokedAt = now
        _ = api.revoked.replace(tokens: [token], accounts: [])
        api.service.renew(try Self.stream(outcome), caller: newer)
        #expect(try await sink.take(1) == [])
        #expect(sink.endings.withLock { $0 } == [.unauthorized])
    }

    @Test("a topic that is deleted ends the subscriptions that name it, and no others")
    func deletedTopic() async throws {
        let api = try await APIHarness()
        let (gone, kept) = (try await api.makeTopic("gone"), try await api.makeTopic("kept"))
        let (ended, _) = await api.subscribe(Self.follow, ["t": .string(gone)])
        let (other, _) = await api.subscribe(Self.follow, ["t": .string(kept)])
        let (all, _) = await api.subscribe("subscription { onCreateMessage { title } }")
        try await api.publish("last", to: gone)
        #expect(titles(try await ended.take(1)) == ["last"])
        _ = try await api.run(
            "mutation($i: ID!) { deleteTopic(input: {id: $i, _version: 1}) { id } }",
            ["i": .string(gone)]
        )
        try await api.publish("next", to: kept)
        #expect(titles(try await other.take(1)) == ["next"])
        #expect(titles(try await all.take(2)) == ["last", "next"])
        #expect(try await ended.take(1) == [])
        #expect(try code(ended) == "UNAUTHORIZED")
    }

    @Test("a topic that its reader's groups may no longer read ends their subscriptions, and its owner's goes on")
    func topicTakenAway() async throws {
        let api = try await APIHarness(model: Self.model)
        let response = try await api.run(
            #"mutation { createTopic(input: {name: "n", readers: ["red", "blue"]}) { id } }"#
        )
        let topic = try #require(response["data"]?["createTopic"]?["id"]?.stringValue)
        let variables: JSONObject = ["t": .string(topic)]
        let (owner, _) = await api.subscribe(Self.follow, variables)
        let (red, _) = await api.subscribe(Self.follow, variables, as: Self.caller("bob", groups: ["red"]))
        let (blue, _) = await api.subscribe(Self.follow, variables, as: Self.caller("eve", groups: ["blue"]))
        try await api.publish("one", to: topic)
        #expect(titles(try await red.take(1)) == ["one"])
        let update = try await api.run(
            #"mutation($i: ID!) { updateTopic(input: {id: $i, readers: ["blue"], _version: 1}) { readers } }"#,
            ["i": .string(topic)]
        )
        #expect(update["errors"] == nil, "\(update.serializedString())")
        try await api.publish("two", to: topic)
        #expect(titles(try await owner.take(2)) == ["one", "two"])
        #expect(titles(try await blue.take(2)) == ["one", "two"])
        #expect(try await red.take(1) == [])
        #expect(try code(red) == "UNAUTHORIZED")
    }

    @Test("a topic's watchers are the subscriptions that name it, counted until they end")
    func watchers() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        func watchers() async throws -> JSONValue? {
            let query = "query($i: ID!) { getTopic(id: $i) { watchers } }"
            return try await api.run(query, ["i": .string(topic)])["data"]?["getTopic"]?["watchers"]
        }
        #expect(try await watchers() == 0)
        let (_, first) = await api.subscribe(Self.follow, ["t": .string(topic)])
        let (_, second) = await api.subscribe(Self.follow, ["t": .string(topic)], as: Self.caller("alice"))
        _ = await api.subscribe("subscription { onCreateMessage { title } }")
        #expect(try await watchers() == 2)
        try Self.stream(first).cancel()
        try Self.stream(first).cancel()
        #expect(try await watchers() == 1, "cancelled twice, counted once")
        try Self.stream(second).cancel()
        #expect(try await watchers() == 0)
        let bob = APIHarness.identity("bob")
        let foreign = try await api.run(
            "query($i: ID!) { getTopic(id: $i) { watchers } }",
            ["i": .string(topic)],
            as: bob
        )
        #expect(foreign["data"]?["getTopic"] == .null, "who may not read the topic may not count its readers")
    }
}
