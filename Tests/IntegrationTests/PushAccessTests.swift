import Glibc
import JSON
import Testing
import TocsinClient

/// A push is judged like a read, when it is sent: whoever made somebody a member long ago.
@Suite("Pushes follow access", .timeLimit(.minutes(10)))
struct PushAccessTests {
    private static let both = ["ada's": "ACCEPTED", "bob's": "ACCEPTED"]
    private static let withoutBob = ["ada's": "ACCEPTED", "bob's": "ENDED ACCESS_ENDED"]

    @Test("a disabled user's phone gets nothing more, not even what waits; others' get all of it")
    func disabled() async throws {
        try await AccessScene.run(topic: AccessScene.forAll, message: AccessScene.forAll) { scene in
            _ = try await scene.addBob()
            try await scene.until(try await scene.publish("before"), Self.both)
            let simulator = try #require(scene.installation.simulator)
            try await simulator.post("/_outage?provider=apns&kind=unavailable")
            let waiting = try await scene.publish("waiting")
            try await eventually("both wait") {
                let outcomes = try await scene.outcomes(waiting).values
                return outcomes.count == 2 && outcomes.allSatisfy { $0.hasPrefix("WAITING") }
            }
            try await scene.installation.administer(["user", "disable", "bob"])
            #expect(try await scene.outcomes(waiting)["bob's"] == "ENDED ACCESS_ENDED")
            try await simulator.post("/_outage?provider=apns&kind=none")
            try await scene.until(waiting, Self.withoutBob)
            try await scene.until(try await scene.publish("after"), Self.withoutBob)
            #expect(try await scene.titles(on: AccessScene.phoneOfAda) == ["before", "waiting", "after"])
            // Enabled again, he gets what comes later.
            try await scene.installation.administer(["user", "enable", "bob"])
            try await scene.until(try await scene.publish("enabled"), Self.both)
            #expect(try await scene.titles(on: AccessScene.phoneOfBob) == ["before", "enabled"])
        }
    }

    @Test("what a server has in hand for a user who is disabled is not sent")
    func disabledInHand() async throws {
        try await AccessScene.run(topic: AccessScene.forAll, message: AccessScene.forAll) { scene in
            let bob = try scene.installation.makeClient(token: try await scene.installation.addUser("bob"))
            // Android: whoever has claimed a push waits for an access token first.
            try await scene.join(bob, phone: Phone.android, name: "bob's")
            let listener = Listener(bob, "subscription { onCreateMessage { title } }", field: "onCreateMessage")
            try await listener.untilLive()
            let simulator = try #require(scene.installation.simulator)
            simulator.process.signal(SIGSTOP)
            let message = try await scene.publish("claimed")
            try await eventually("bob's push is in hand") {
                try await scene.outcomes(message)["bob's"] == "SENDING"
            }
            try await scene.installation.administer(["user", "disable", "bob"])
            // His socket is sent away after all else in the server has heard of it.
            try await listener.untilEnded()
            simulator.process.signal(SIGCONT)
            try await scene.until(message, Self.withoutBob)
            // Ada's second push comes after what was in hand.
            try await scene.until(try await scene.publish("later"), Self.withoutBob)
            #expect(try await scene.titles(on: Phone.android) == [])
        }
    }

    @Test(
        "who is taken from the list that let them read a topic gets no more of its pushes",
        arguments: [
            ("{ allow: owner, ownerField: \"editors\", operations: [read] }", "editors: [String]"),
            ("{ allow: groups, groupsField: \"editors\", operations: [read] }", "editors: [String]"),
        ]
    )
    func takenFromList(rule: String, field: String) async throws {
        let topic = AccessScene.Declaration(rules: rule, fields: field)
        try await AccessScene.run(topic: topic, message: AccessScene.forAll) { scene in
            try await scene.update(["editors": ["bob", "ops"]])
            let bob = try scene.installation.makeClient(token: try await scene.token(of: "bob", groups: ["ops"]))
            try await scene.join(bob, phone: AccessScene.phoneOfBob, name: "bob's")
            try await scene.until(try await scene.publish("before"), Self.both)
            try await scene.update(["editors": ["carol"]])
            try await scene.until(try await scene.publish("after"), Self.withoutBob)
            try await scene.update(["editors": ["carol", "bob", "ops"]])
            try await scene.until(try await scene.publish("again"), Self.both)
            #expect(try await scene.titles(on: AccessScene.phoneOfBob) == ["before", "again"])
        }
    }

    @Test("a group that a newer token does not name any more ends the pushes it gave")
    func lostGroup() async throws {
        let ops = AccessScene.Declaration(rules: "{ allow: groups, groups: [\"ops\"], operations: [read] }")
        try await AccessScene.run(topic: ops, message: ops) { scene in
            let member = try await scene.token(of: "bob", groups: ["dev", "ops"])
            let bob = try scene.installation.makeClient(token: member)
            try await scene.join(bob, phone: AccessScene.phoneOfBob, name: "bob's")
            try await scene.until(try await scene.publish("before"), Self.both)
            let later = try scene.installation.makeClient(token: try await scene.token(of: "bob", groups: ["dev"]))
            _ = try await later.query("{ me { userId } }")
            try await scene.untilNew(Self.withoutBob)
            // What is known outlives the process.
            try await scene.installation.restartServer()
            try await scene.until(try await scene.publish("after the start"), Self.withoutBob)
        }
    }

    @Test("who may read a topic and not its messages can be its member, and gets none of their texts")
    func topicAlone() async throws {
        let nobody = AccessScene.Declaration(rules: "{ allow: groups, groups: [\"ops\"], operations: [read] }")
        try await AccessScene.run(topic: AccessScene.forAll, message: nobody) { scene in
            _ = try await scene.addBob()
            let message = try await scene.publish("secret")
            try await scene.until(message, Self.withoutBob)
            #expect(try await scene.titles(on: AccessScene.phoneOfBob) == [])
            let explain = """
                query($id: ID!) { explainDelivery(messageId: $id, userId: "bob") { gates { name passed } } }
                """
            let answer = try await scene.ada.query(explain, variables: ["id": .string(message)])
            let gates = answer["explainDelivery"]?["gates"]?.arrayValue ?? []
            #expect(gates.contains(["name": "ACCESS", "passed": false]), "\(gates)")
        }
    }

    @Test("a member who may not read a message's text does not get it by push")
    func hiddenText() async throws {
        let hidden = AccessScene.Declaration(
            rules: "{ allow: private, operations: [read] }",
            body: "String @auth(rules: [{ allow: owner }])"
        )
        try await AccessScene.run(topic: AccessScene.forAll, message: hidden) { scene in
            _ = try await scene.addBob()
            try await scene.until(try await scene.publish("secret"), Self.withoutBob)
            #expect(try await scene.titles(on: AccessScene.phoneOfBob) == [])
        }
    }

    @Test(
        "revoked tokens end pushes where they need a sign-in, and leave the phone its pushes elsewhere",
        arguments: [true, false]
    )
    func revoked(requiresSignIn: Bool) async throws {
        try await AccessScene.run(
            topic: AccessScene.forAll,
            message: AccessScene.forAll,
            environment: ["TOCSIN_PUSH_REQUIRES_SIGN_IN": "\(requiresSignIn)"]
        ) { scene in
            _ = try await scene.addBob()
            try await scene.until(try await scene.publish("before"), Self.both)
            let tokens = try await scene.installation.administer(["token", "list", "--user", "bob", "--json"])
            for line in tokens.split(separator: "\n") {
                let id = try #require(JSONParser.parse(String(line))["id"]?.stringValue)
                try await scene.installation.administer(["token", "revoke", id])
            }
            let expected = requiresSignIn ? Self.withoutBob : Self.both
            try await scene.until(try await scene.publish("after"), expected)
            // A new token brings them back.
            _ = try await scene.installation.makeToken(user: "bob")
            try await scene.until(try await scene.publish("again"), Self.both)
        }
    }

    @Test("people of a provider's group get the pushes shared with it: once their app registers")
    func claimedGroups() async throws {
        let owned = AccessScene.Declaration(rules: "{ allow: groups, groups: [\"admins\"], operations: [read] }")
        try await AccessScene.run(topic: owned, message: owned) { scene in
            func share(_ group: String) async throws {
                let grant = "mutation($i: GrantInput!) { grantTopic(input: $i) { id } }"
                let input: JSONObject = [
                    "topicId": .string(scene.topicID), "group": .string("oidc:" + group), "roles": ["READER"],
                    "push": true,
                ]
                _ = try await scene.ada.query(grant, variables: ["i": .object(input)])
            }
            try await share("ops")
            let bob = try scene.installation.makeClient(token: try await scene.token(of: "bob", groups: ["ops"]))
            try await PushScene.register(AccessScene.phoneOfBob, bob, name: "bob's")
            try await scene.until(try await scene.publish("registered"), Self.both)
            // Carol is known before anything is shared with her group.
            let carol = try scene.installation.makeClient(token: try await scene.token(of: "carol", groups: ["dev"]))
            try await PushScene.register(PushScene.phone("ca"), carol, name: "carol's")
            try await scene.until(try await scene.publish("not yet"), Self.both)
            try await share("dev")
            let three = Self.both.merging(["carol's": "ACCEPTED"]) { $1 }
            // Her app registers again when it starts.
            try await PushScene.register(PushScene.phone("ca"), carol, name: "carol's")
            try await scene.until(try await scene.publish("to three"), three)
            // Who has left is not joined again by the same grant.
            let leave = "mutation($id: ID!) { unsubscribeFromTopic(topicId: $id) { push } }"
            _ = try await bob.query(leave, variables: ["id": .string(scene.topicID)])
            try await PushScene.register(AccessScene.phoneOfBob, bob, name: "bob's")
            try await scene.until(
                try await scene.publish("without bob"),
                ["ada's": "ACCEPTED", "carol's": "ACCEPTED"]
            )
        }
    }

    @Test("a direct push to a disabled user ends, whoever may push")
    func direct() async throws {
        try await AccessScene.run(topic: AccessScene.forAll, message: AccessScene.forAll) { scene in
            let bob = try await scene.addBob()
            let me = try await scene.installation.makeClient(token: bob).query("{ me { userId } }")
            let backend = try scene.installation.makeClient(
                token: try await scene.installation.makeToken(user: "ada", ["--push"])
            )
            func push() async throws -> JSONValue {
                let send = "mutation($u: ID!) { sendPush(userId: $u, title: \"direct\") { messageId } }"
                let user = me["me"]?["userId"] ?? .null
                let id = try await backend.query(send, variables: ["u": user])["sendPush"]?["messageId"] ?? .null
                let query = "query($id: ID!) { getMessage(id: $id) { deliveries { items { status reason } } } }"
                return try await eventually("it is settled") {
                    let answer = try await backend.query(query, variables: ["id": id])
                    let row = answer["getMessage"]?["deliveries"]?["items"]?.arrayValue?.first
                    return ["WAITING", "SENDING", nil].contains(row?["status"]?.stringValue) ? nil : row
                }
            }
            let accepted = try await push()
            #expect(accepted["status"] == "ACCEPTED", "\(accepted)")
            try await scene.installation.administer(["user", "disable", "bob"])
            let ended = try await push()
            #expect(ended == ["status": "ENDED", "reason": "ACCESS_ENDED"], "\(ended)")
        }
    }
}
