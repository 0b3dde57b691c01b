import JSON
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("Grants")
struct GrantTests {
    private static let (alice, bob, carol) = (SharingScene.alice, SharingScene.bob, SharingScene.carol)

    @Test("what ends with a grant: reading, publishing, membership and the pushes that wait")
    func revoking() async throws {
        let scene = try await SharingScene()
        let id = try await scene.granted(["READER", "PUBLISHER"], to: ["user": "bob"], ["push": true])
        let message = try await scene.api.publish("x", to: scene.topic, as: Self.bob)
        #expect(try await scene.memberships(of: Self.bob) == [["topicId": .string(scene.topic), "push": true]])
        let mark = "mutation($t: ID!) { markRead(topicId: $t) { topics { topicId } } }"
        _ = try await scene.api.run(mark, ["t": .string(scene.topic)], as: Self.bob)
        #expect(try await scene.revoke(id)["data"]?["revokeGrant"]?["id"] == .string(id))
        #expect(try await scene.memberships(of: Self.bob).isEmpty)
        let read = "query($id: ID!) { getMessage(id: $id) { title } }"
        let gone = try await scene.api.run(read, ["id": message["id"] ?? .null], as: Self.bob)
        let absent = try await scene.api.run(read, ["id": "nothing"], as: Self.bob)
        #expect(gone == absent && gone["data"]?["getMessage"]?.isNull == true, "\(gone)")
        #expect(try await scene.api.publish("y", to: scene.topic, as: Self.bob).code == "UNAUTHORIZED")
        let state = try await scene.api.run("{ readState { unread topics { topicId } } }", as: Self.bob)
        #expect(state["data"]?["readState"] == ["unread": 0, "topics": []], "\(state)")
        #expect(try await scene.revoke(id) == scene.revoke("nothing"))
    }

    @Test("a reader counts what they have not read of a shared topic, from their first mark until it is taken back")
    func counting() async throws {
        let scene = try await SharingScene()
        let id = try await scene.granted(["READER"], to: ["user": "bob"])
        func unread() async throws -> JSONValue? {
            try await scene.api.run("{ readState { unread } }", as: Self.bob)["data"]?["readState"]?["unread"]
        }
        let mark = "mutation($t: ID) { markRead(topicId: $t) { unread } }"
        try await scene.api.publish("one", to: scene.topic)
        #expect(try await unread() == 0)
        _ = try await scene.api.run(mark, ["t": .string(scene.topic)], as: Self.bob)
        for title in ["two", "three"] { try await scene.api.publish(title, to: scene.topic) }
        #expect(try await unread() == 2)
        _ = try await scene.api.run(mark, as: Self.bob)
        #expect(try await unread() == 0)
        try await scene.api.publish("four", to: scene.topic)
        #expect(try await unread() == 1)
        _ = try await scene.revoke(id)
        #expect(try await unread() == 0)
    }

    @Test("a grant with pushes makes a member once: who mutes or leaves is not joined again by it")
    func joining() async throws {
        let scene = try await SharingScene()
        let leave = "mutation($t: ID!) { unsubscribeFromTopic(topicId: $t) { push } }"
        let join = "mutation($t: ID!) { subscribeToTopic(topicId: $t, push: false) { push } }"
        let topic: JSONObject = ["t": .string(scene.topic)]
        let id = try await scene.granted(["READER"], to: ["user": "bob"], ["push": true])
        _ = try await scene.api.run(leave, topic, as: Self.bob)
        try await scene.granted(["READER"], to: ["user": "bob"], ["push": true])
        #expect(try await scene.memberships(of: Self.bob).isEmpty)
        _ = try await scene.api.run(join, topic, as: Self.bob)
        try await scene.granted(["READER"], to: ["user": "bob"], ["push": true])
        #expect(try await scene.memberships(of: Self.bob) == [["topicId": .string(scene.topic), "push": false]])
        _ = try await scene.api.run(leave, topic, as: Self.bob)
        _ = try await scene.revoke(id)
        // Another grant is another invitation.
        try await scene.granted(["READER"], to: ["user": "bob"], ["push": true])
        #expect(try await scene.memberships(of: Self.bob) == [["topicId": .string(scene.topic), "push": true]])
    }

    @Test("leaving gives up what was granted by name, and of groups the membership alone")
    func leaving() async throws {
        let scene = try await SharingScene()
        let leave = "mutation($t: ID!) { leaveTopic(topicId: $t) { topicId push } }"
        let topic: JSONObject = ["t": .string(scene.topic)]
        try await scene.granted(["READER"], to: ["user": "bob"], ["push": true])
        let left = try await scene.api.run(leave, topic, as: Self.bob)
        #expect(left["data"]?["leaveTopic"] == ["topicId": .string(scene.topic), "push": false], "\(left)")
        #expect(try await scene.look("id", as: Self.bob)["data"]?["getTopic"]?.isNull ?? true)
        let again = try await scene.api.run(leave, topic, as: Self.bob)
        let nowhere = try await scene.api.run(leave, ["t": "nowhere"], as: Self.bob)
        #expect(again == nowhere && again.code == "UNAUTHORIZED", "\(again)")
        try await scene.granted(["READER"], to: ["group": "ops"])
        let carol = SharingScene.member("carol", of: "ops")
        #expect(try await scene.api.run(leave, topic, as: carol) == ["data": ["leaveTopic": nil]])
        #expect(try await scene.look("roles", as: carol) == ["roles": ["READER"]])
    }

    static let mistakes: [(JSONObject, String, String)] = [
        (["user": "bob", "everybody": true, "roles": ["READER"]], "BAD_USER_INPUT", "one at a time"),
        (["roles": ["READER"]], "BAD_USER_INPUT", "one at a time"),
        (["user": "bob", "roles": []], "BAD_USER_INPUT", "roles is empty"),
        (["user": "bob", "roles": ["READER"], "expiresAt": "2001-01-01T00:00:00Z"], "BAD_USER_INPUT", "in the past"),
        (["user": "bob", "roles": ["PUBLISHER"], "push": true], "BAD_USER_INPUT", "push needs the role"),
        (["everybody": true, "roles": ["READER"], "push": true], "BAD_USER_INPUT", "not with everybody"),
        (["user": "nobody", "roles": ["READER"]], "BAD_USER_INPUT", "There is no user nobody"),
        (["user": "alice", "roles": ["READER"]], "BAD_USER_INPUT", "owns the topic"),
        (["group": "", "roles": ["READER"]], "BAD_USER_INPUT", "group must be"),
        (["group": "a\u{7}b", "roles": ["READER"]], "BAD_USER_INPUT", "group must be"),
        (
            ["group": .string(String(repeating: "é", count: 129)), "roles": ["READER"]], "BAD_USER_INPUT",
            "group must be"
        ),
    ]

    @Test("a grant that means nothing is refused, and says what to write", arguments: mistakes)
    func badInput(input: JSONObject, code: String, words: String) async throws {
        let scene = try await SharingScene()
        var input = input
        input["topicId"] = .string(scene.topic)
        let document = "mutation($i: GrantInput!) { grantTopic(input: $i) { id } }"
        let refused = try await scene.api.run(document, ["i": .object(input)])
        #expect(refused.code == code && refused.words.contains(words), "\(refused)")
        // A stranger learns nothing of what else is wrong where the topic is not theirs.
        input["topicId"] = "nowhere"
        let absent = try await scene.api.run(document, ["i": .object(input)], as: Self.carol)
        input["topicId"] = .string(scene.topic)
        #expect(try await scene.api.run(document, ["i": .object(input)], as: Self.carol) == absent)
    }

    @Test("a topic has so many grants and no more; the same subject again is none more")
    func limit() async throws {
        var limits = ServiceLimits()
        limits.grantsPerTopic = 2
        let scene = try await SharingScene(limits: limits)
        try await scene.granted(["READER"])
        try await scene.granted(["READER"], to: ["group": "ops"])
        let refused = try await scene.grant(["READER"], to: ["everybody": true])
        #expect(refused.code == "LIMIT" && refused.words.contains("at most 2 grants"), "\(refused)")
        try await scene.granted(["PUBLISHER"])
    }

    @Test("a caller names 30 users a minute, known or not")
    func lookUps() async throws {
        let scene = try await SharingScene()
        for number in 0..<30 {
            #expect(try await scene.grant(["READER"], to: ["user": .string("u\(number)")]).code == "BAD_USER_INPUT")
        }
        #expect(try await scene.grant(["READER"]).code == "LIMIT")
        try await scene.granted(["READER"], to: ["group": "ops"])
        scene.api.time.advance(seconds: 61)
        try await scene.granted(["READER"])
    }

    @Test("people of a sign-in provider are found by id and by name, and two of one name by id alone")
    func providersPeople() async throws {
        let scene = try await SharingScene()
        for (id, name) in [("p1", "dora"), ("p2", "eve"), ("p3", "eve")] {
            let facts = UserFacts(
                userID: UserID(id),
                username: name,
                provider: .userPools,
                claims: [:],
                seenAt: scene.api.time.now()
            )
            try await scene.api.store.write { writer throws(StoreError) in try writer.save(facts) }
        }
        let dora = try await scene.grant(["READER"], to: ["user": "dora"])
        #expect(dora["data"]?["grantTopic"]?["subject"] == "p1", "\(dora)")
        #expect(try await scene.grant(["READER"], to: ["user": "eve"]).words.contains("Several users"))
        let eve = try await scene.grant(["READER"], to: ["user": "p3"])
        #expect(eve["data"]?["grantTopic"]?["subjectName"] == "eve", "\(eve)")
    }

    @Test("the topic of direct pushes cannot be shared")
    func directPushes() async throws {
        let scene = try await SharingScene()
        let pushed = try await scene.api.run(
            "mutation { sendPush(userId: \"sub-alice\", title: \"t\") { message { topicId } } }"
        )
        let topic = try #require(pushed["data"]?["sendPush"]?["message"]?["topicId"], "\(pushed)")
        let refused = try await scene.api.run(
            "mutation($t: ID!) { grantTopic(input: {topicId: $t, user: \"bob\", roles: [READER]}) { id } }",
            ["t": topic]
        )
        #expect(refused.code == "BAD_USER_INPUT" && refused.words.contains("direct pushes"), "\(refused)")
    }

    @Test("what becomes of pushes: OWNER learns all, a publisher counts of its own, a reader of their devices")
    func deliveries() async throws {
        let scene = try await SharingScene()
        try await scene.granted(["PUBLISHER", "READER"])
        try await scene.granted(["READER"], to: ["user": "carol"])
        let own = try await scene.api.publish("bob's", to: scene.topic, as: Self.bob)
        // Alice is a member without a device.
        let ask =
            "query($id: ID!) { getMessage(id: $id) { deliverySummary { skipped } deliveries { items { userId } } } }"
        func seen(_ caller: Identity) async throws -> JSONValue? {
            try await scene.api.run(ask, ["id": own["id"] ?? .null], as: caller)["data"]?["getMessage"]
        }
        let all: JSONValue = ["deliverySummary": ["skipped": 1], "deliveries": ["items": [["userId": "sub-alice"]]]]
        #expect(try await seen(Self.alice) == all)
        #expect(try await seen(Self.bob) == ["deliverySummary": ["skipped": 1], "deliveries": ["items": []]])
        #expect(try await seen(Self.carol) == ["deliverySummary": ["skipped": 0], "deliveries": ["items": []]])
        try await scene.granted(["OWNER"], to: ["user": "carol"])
        #expect(try await seen(Self.carol) == all)
        let redrive = "mutation($id: ID!) { redriveDeliveries(messageId: $id, status: SKIPPED) { waiting } }"
        let id: JSONObject = ["id": own["id"] ?? .null]
        #expect(try await scene.api.run(redrive, id, as: Self.carol)["errors"] == nil)
        let explain = "query($id: ID!) { explainDelivery(messageId: $id, userId: \"sub-alice\") { summary } }"
        #expect(try await scene.api.run(explain, id, as: Self.bob).code == "UNAUTHORIZED")
        #expect(try await scene.api.run(explain, id, as: Self.carol)["errors"] == nil)
    }

    @Test("a reader sends failed pushes to their own devices again, OWNER all, and a publisher none")
    func redriving() async throws {
        let scene = try await SharingScene()
        let (api, redrive) = (
            scene.api, "mutation($id: ID!) { redriveDeliveries(messageId: $id) { waiting failed } }"
        )
        try await scene.granted(["READER"])
        try await scene.granted(["PUBLISHER"], to: ["user": "carol"])
        let message = try await api.publish("down", to: scene.topic)["id"]?.stringValue ?? ""
        for (caller, token) in [(Self.alice, "aa11bb22cc33dd44"), (Self.bob, "ee55ff66aa77bb88")] {
            _ = try await api.run(
                "mutation { registerPushToken(token: \"\(token)\", platform: \"ios\") { userId } }",
                as: caller
            )
        }
        try await api.store.write { writer throws(StoreError) in
            let devices = try writer.devices(of: Self.alice.userID) + writer.devices(of: Self.bob.userID)
            for device in devices {
                let failed = Delivery(
                    id: DeliveryID("failed-\(device.id)"),
                    messageID: MessageID(message),
                    deviceID: device.id,
                    platform: device.platform,
                    status: .failed,
                    reason: "BadDeviceToken",
                    attempts: 1,
                    updatedAt: api.time.now()
                )
                try writer.save([failed])
            }
        }
        let id: JSONObject = ["id": .string(message)]
        #expect(try await api.run(redrive, id, as: Self.carol).code == "UNAUTHORIZED")
        let own = try await api.run(redrive, id, as: Self.bob)
        #expect(own["data"]?["redriveDeliveries"] == ["waiting": 1, "failed": 0], "\(own)")
        let count = "query($id: ID!) { getMessage(id: $id) { deliverySummary { waiting failed } } }"
        let left = try await api.run(count, id)
        #expect(left["data"]?["getMessage"]?["deliverySummary"] == ["waiting": 1, "failed": 1], "\(left)")
        let other = "mutation($id: ID!) { redriveDeliveries(messageId: $id, reason: \"Other\") { waiting failed } }"
        let none = try await api.run(other, id)
        #expect(none["data"]?["redriveDeliveries"] == ["waiting": 1, "failed": 1], "\(none)")
        let all = try await api.run(other.replacing("Other", with: "BadDeviceToken"), id)
        #expect(all["data"]?["redriveDeliveries"] == ["waiting": 2, "failed": 0], "\(all)")
    }

    @Test("a publisher schedules messages into the topic, which are the owner's when they come")
    func schedules() async throws {
        let scene = try await SharingScene()
        let add = "mutation($i: CreateScheduledMessageInput!) { createScheduledMessage(input: $i) { id } }"
        let input: JSONObject = [
            "i": [
                "topicId": .string(scene.topic), "dueAt": "2026-07-02T00:00:00Z",
                "input": #"{"type":1,"title":"later","body":"b"}"#,
            ]
        ]
        #expect(try await scene.api.run(add, input, as: Self.bob).code == "UNAUTHORIZED")
        try await scene.granted(["PUBLISHER"])
        #expect(try await scene.api.run(add, input, as: Self.bob)["errors"] == nil)
        scene.api.time.advance(seconds: 86_400)
        let runner = TimerRunner(
            environment: scene.api.environment,
            effects: [ScheduledMessageEffect(scene.api.services.scheduledMessages) { _ in }]
        ) { timer, error in Issue.record("\(timer.subject): \(error)") }
        _ = try await runner.fireDue()
        let rows = try await scene.api.run("{ listMessages { items { title owner author } } }")
        #expect(
            rows["data"]?["listMessages"]?["items"] == [["title": "later", "owner": "alice", "author": "sub-bob"]],
            "\(rows)"
        )
    }
}
