import JSON
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("Pushes to users and devices")
struct DirectPushTests {
    private static let phones = (alice: "a1a1", aliceAndroid: "alice:APA91", bob: "b0b0")

    private static var service: Identity {
        var identity = APIHarness.identity("backend")
        identity.scope = .push
        return identity
    }

    private func harness() async throws -> APIHarness {
        let api = try await APIHarness()
        for (name, token, platform) in [
            ("alice", Self.phones.alice, "ios"), ("alice", Self.phones.aliceAndroid, "android"),
            ("bob", Self.phones.bob, "ios"),
        ] {
            let registration =
                "mutation($t: String!, $p: String!) { registerPushToken(token: $t, platform: $p) { userId } }"
            _ = try await api.run(
                registration,
                ["t": .string(token), "p": .string(platform)],
                as: APIHarness.identity(name)
            )
        }
        return api
    }

    private func push(
        _ api: APIHarness,
        _ arguments: String,
        as caller: Identity = DirectPushTests.service
    ) async throws -> JSONValue {
        try await api.run(
            """
            mutation { sendPush(\(arguments)) { messageId devices unknownTokens
              message { title deliverySummary { waiting skipped } deliveries { items { platform status reason } } } } }
            """,
            as: caller
        )
    }

    private func code(_ answer: JSONValue) -> String? { answer["errors"]?[0]?["extensions"]?["code"]?.stringValue }

    @Test("a push that is kept by its user is a message of the user's own, once however often it is asked for")
    func kept() async throws {
        let api = try await harness()
        let order = "user: \"sub-alice\", inbox: true, title: \"Yours\", typeName: \"reply\", key: \"k\""
        let first = try await push(api, order)
        #expect(first["data"]?["sendPush"]?["devices"] == 2, "\(first)")
        #expect(
            try await push(api, order)["data"]?["sendPush"]?["messageId"] == first["data"]?["sendPush"]?["messageId"]
        )
        let query = "{ history { items { title type typeName topic { name } } } }"
        let hers = try await api.run(query, as: APIHarness.identity("alice"))
        let kept: JSONValue = ["title": "Yours", "type": 7, "typeName": "reply", "topic": ["name": "direct pushes"]]
        #expect(hers["data"]?["history"]?["items"] == [kept], "\(hers)")
        let others = try await api.run(query, as: APIHarness.identity("bob"))
        #expect(others["data"]?["history"]?["items"] == [], "\(others)")
        // Nobody is known by that id, and a person reaches nobody else.
        #expect(code(try await push(api, "user: \"sub-nobody\", inbox: true, title: \"t\"")) == "BAD_USER_INPUT")
        let own = APIHarness.identity("alice")
        #expect(code(try await push(api, "user: \"sub-bob\", inbox: true, title: \"t\"", as: own)) == "UNAUTHORIZED")
        let hersAgain = try await push(api, "user: \"alice\", inbox: true, title: \"t\"", as: own)
        #expect(hersAgain["data"]?["sendPush"]?["devices"] == 2, "\(hersAgain)")
    }

    @Test("a push token reaches everybody's devices at once; other tokens do not")
    func toEverybody() async throws {
        let api = try await harness()
        // A device that is to get nothing is none of everybody's.
        let idle = "mutation { registerPushToken(token: \"dd44\", platform: \"ios\", active: false) { userId } }"
        _ = try await api.run(idle, as: APIHarness.identity("carol"))
        let answer = try await push(api, "everybody: true, platforms: [\"ios\"], title: \"All\"")
        #expect(answer["data"]?["sendPush"]?["devices"] == 2, "\(answer)")
        let each = try await push(api, "everybody: true, inbox: true, title: \"Each\", key: \"k\"")
        #expect(each["data"]?["sendPush"]?["devices"] == 3, "\(each)")
        for name in ["alice", "bob"] {
            let hers = try await api.run("{ history { items { title } } }", as: APIHarness.identity(name))
            #expect(hers["data"]?["history"]?["items"] == [["title": "Each"]], "\(hers)")
        }
        let person = APIHarness.identity("alice")
        #expect(code(try await push(api, "everybody: true, title: \"All\"", as: person)) == "UNAUTHORIZED")
        #expect(code(try await push(api, "everybody: true, userId: \"sub-bob\", title: \"t\"")) == "BAD_USER_INPUT")
        #expect(code(try await push(api, "inbox: true, tokens: [\"a1\"], title: \"t\"")) == "BAD_USER_INPUT")
    }

    @Test("a push token reaches any user's devices, and reads what became of its own pushes")
    func toUser() async throws {
        let api = try await harness()
        let answer = try await push(
            api,
            "userId: \"sub-alice\", title: \"Order sent\", data: \"{\\\"order\\\":\\\"7\\\"}\""
        )
        let receipt = answer["data"]?["sendPush"]
        #expect(receipt?["devices"] == 2 && receipt?["unknownTokens"] == 0, "\(answer)")
        #expect(receipt?["message"]?["deliverySummary"] == ["waiting": 2, "skipped": 0])
        let id = receipt?["messageId"]?.stringValue ?? ""
        let later = try await api.run(
            "{ getMessage(id: \"\(id)\") { title deliverySummary { waiting } } }",
            as: Self.service
        )
        #expect(later["data"]?["getMessage"]?["title"] == "Order sent", "\(later)")
        // It is the sender's record, not a message of the receiver's.
        for name in ["alice", "bob"] {
            let unseen = try await api.run("{ getMessage(id: \"\(id)\") { title } }", as: APIHarness.identity(name))
            #expect(unseen["data"]?["getMessage"]?.isNull != false, "\(unseen)")
        }
    }

    @Test("platforms choose among them, tokens name single ones, and one named twice gets one push")
    func chosen() async throws {
        let api = try await harness()
        let android = try await push(api, "userId: \"sub-alice\", platforms: [\"android\"], title: \"t\"")
        let rows = android["data"]?["sendPush"]?["message"]?["deliveries"]?["items"]
        #expect(rows == [["platform": "android", "status": "WAITING", "reason": .null]], "\(android)")
        let both = try await push(api, "userId: \"sub-alice\", tokens: [\"A1A1\", \"b0b0\", \"b0b0\"], title: \"t\"")
        #expect(both["data"]?["sendPush"]?["devices"] == 3, "\(both)")
    }

    @Test("a user without a device of the platforms asked for is a row, and so is the reason in the explanation")
    func noneOfThePlatforms() async throws {
        let api = try await harness()
        let bob = APIHarness.identity("bob")
        let answer = try await push(api, "userId: \"sub-bob\", platforms: [\"android\"], title: \"t\"", as: bob)
        let receipt = answer["data"]?["sendPush"]
        #expect(receipt?["devices"] == 0, "\(answer)")
        let rows = receipt?["message"]?["deliveries"]?["items"]
        #expect(rows == [["platform": "none", "status": "SKIPPED", "reason": "NO_DEVICE"]], "\(answer)")
        let id = receipt?["messageId"]?.stringValue ?? ""
        let explained = try await api.run(
            "{ explainDelivery(messageId: \"\(id)\", userId: \"sub-bob\") { accepted gates { name sentence } } }",
            as: bob
        )
        let sentence = explained["data"]?["explainDelivery"]?["gates"]?.arrayValue?
            .first { $0["name"] == "DELIVERY" }?["sentence"]?.stringValue
        #expect(sentence?.contains("not addressed to it") == true, "\(explained)")
    }

    @Test("a token that no device has is skipped with that reason, and not kept")
    func unknownToken() async throws {
        let api = try await harness()
        let answer = try await push(api, "tokens: [\"f00df00d\", \"b0b0\"], title: \"t\"")
        let receipt = answer["data"]?["sendPush"]
        #expect(receipt?["devices"] == 1 && receipt?["unknownTokens"] == 1, "\(answer)")
        let skipped = receipt?["message"]?["deliveries"]?["items"]?.arrayValue?.first { $0["status"] == "SKIPPED" }
        #expect(skipped?["reason"] == "UNKNOWN_TOKEN" && skipped?["platform"] == "none")
        let id = MessageID(receipt?["messageId"]?.stringValue ?? "")
        let rows = try await api.store.read { reader throws(StoreError) in
            try reader.deliveries(of: id, status: nil, after: nil, limit: 10)
        }
        #expect(!rows.contains { $0.deviceID.text.contains("f00d") })
    }

    @Test("a user without a device gets nothing, with a row that says so")
    func noDevice() async throws {
        let api = try await harness()
        let answer = try await push(api, "userId: \"nobody\", title: \"t\"")
        let receipt = answer["data"]?["sendPush"]
        #expect(receipt?["devices"] == 0 && receipt?["unknownTokens"] == 0, "\(answer)")
        let rows = receipt?["message"]?["deliveries"]?["items"]
        #expect(rows == [["platform": "none", "status": "SKIPPED", "reason": "NO_DEVICE"]], "\(answer)")
    }

    @Test("people reach their own devices and nobody else's")
    func ownOnly() async throws {
        let api = try await harness()
        let alice = APIHarness.identity("alice")
        let own = try await push(api, "userId: \"sub-alice\", title: \"t\"", as: alice)
        #expect(own["data"]?["sendPush"]?["devices"] == 2, "\(own)")
        #expect(code(try await push(api, "userId: \"sub-bob\", title: \"t\"", as: alice)) == "UNAUTHORIZED")
        // Bob's token looks to her like one that is not there.
        let foreign = try await push(api, "tokens: [\"b0b0\"], title: \"t\"", as: alice)
        let absent = try await push(api, "tokens: [\"b1b1\"], title: \"t\"", as: alice)
        for answer in [foreign, absent] {
            #expect(answer["data"]?["sendPush"]?["devices"] == 0 && answer["data"]?["sendPush"]?["unknownTokens"] == 1)
        }
    }

    @Test(
        "narrower tokens and API keys reach nobody",
        arguments: [Identity.Scope.readOnly, .publish(topic: "t"), .push, .full]
    )
    func refused(_ scope: Identity.Scope) async throws {
        let api = try await harness()
        var caller = APIHarness.identity("alice")
        caller.scope = scope
        if scope == .push || scope == .full { caller.provider = .apiKey }
        #expect(code(try await push(api, "userId: \"sub-alice\", title: \"t\"", as: caller)) == "UNAUTHORIZED")
    }

    @Test("a push token can do nothing else")
    func nothingElse() async throws {
        let api = try await harness()
        var caller = APIHarness.identity("alice")
        let topic = try await api.makeTopic("private")
        try await api.publish("secret", to: topic)
        caller.scope = .push
        _ = try await push(api, "userId: \"sub-alice\", title: \"mine\"", as: caller)
        let seen = try await api.run("{ listMessages { items { title } } listTopics { items { name } } }", as: caller)
        #expect(seen["data"]?["listMessages"]?["items"] == [["title": "mine"]], "\(seen)")
        #expect(seen["data"]?["listTopics"]?["items"] == [["name": "direct pushes"]], "\(seen)")
        for document in [
            "mutation { createTopic(input: { name: \"x\" }) { id } }", "{ devices { id } }", "{ readState { unread } }",
            "mutation { createMessage(input: { topicId: \"\(topic)\", type: 1, title: \"t\", body: \"b\" }) { id } }",
            "mutation { registerPushToken(token: \"aa\", platform: \"ios\") { userId } }",
            "mutation { setNotifications(enabled: false) { userId } }",
        ] {
            #expect(code(try await api.run(document, as: caller)) == "UNAUTHORIZED", "\(document)")
        }
    }

    @Test("the same key with the same content and receivers pushes once, with others it is a conflict")
    func repeated() async throws {
        let api = try await harness()
        let first = try await push(api, "userId: \"sub-bob\", title: \"t\", key: \"k\"")
        let again = try await push(api, "userId: \"sub-bob\", title: \"t\", key: \"k\"")
        #expect(first["data"] != nil && first["data"] == again["data"], "\(again)")
        #expect(code(try await push(api, "userId: \"sub-alice\", title: \"t\", key: \"k\"")) == "CONFLICT")
        #expect(code(try await push(api, "userId: \"sub-bob\", title: \"u\", key: \"k\"")) == "CONFLICT")
    }

    @Test("the topic of the pushes comes back when somebody has deleted it")
    func deletedTopic() async throws {
        let api = try await harness()
        let owner = APIHarness.identity("backend")
        _ = try await push(api, "userId: \"sub-bob\", title: \"t\"")
        let topics = try await api.run("{ listTopics { items { id _version } } }", as: owner)
        let topic = topics["data"]?["listTopics"]?["items"]?[0]
        let input: JSONValue = ["id": topic?["id"] ?? .null, "_version": topic?["_version"] ?? .null]
        let deletion = "mutation($i: DeleteTopicInput!) { deleteTopic(input: $i) { _deleted } }"
        let deleted = try await api.run(deletion, ["i": input], as: owner)
        #expect(deleted["data"]?["deleteTopic"]?["_deleted"] == true, "\(deleted)")
        let answer = try await push(api, "userId: \"sub-bob\", title: \"u\"")
        #expect(answer["data"]?["sendPush"]?["devices"] == 1, "\(answer)")
        let back = try await api.run("{ listTopics { items { name } } }", as: owner)
        #expect(back["data"]?["listTopics"]?["items"]?.arrayValue?.count == 1, "\(back)")
    }

    @Test(
        "what makes no sense is refused with a reason",
        arguments: [
            ("title: \"t\"", "Say whom to push to"),
            ("userId: \"u\", title: \"t\", platforms: []", "must not be empty"),
            ("userId: \"\", title: \"t\"", "userId, user and address must not be empty"),
            ("user: \"\", title: \"t\"", "userId, user and address must not be empty"),
            ("userId: \"u\", title: \"t\", platforms: [\"palm\"]", "it has \"palm\""),
            ("tokens: [\"\"], title: \"t\"", "must not have empty entries"),
            ("userId: \"u\", title: \"t\", data: \"{\\\"from\\\":\\\"x\\\"}\"", "data has the key"),
            ("userId: \"u\", title: \"t\", priority: 6", "priority must be"),
            ("tokens: [\(Array(repeating: "\"aa\"", count: 501).joined(separator: ","))], title: \"t\"", "at most 500"),
        ]
    )
    func mistakes(_ arguments: String, _ reason: String) async throws {
        let api = try await harness()
        let answer = try await push(api, arguments)
        #expect(answer["errors"]?[0]?["message"]?.stringValue?.contains(reason) == true, "\(answer)")
    }
}
