import Foundation
import JSON
import TestDatabases
import Testing
import TocsinClient
import TocsinPostgres
import TocsinStore

/// What a user says at one node holds for pushes that another sends.
@Suite("Pushes and wishes at different nodes", .enabled(if: PostgresServer.named != nil), .timeLimit(.minutes(10)))
struct NodePushTests {
    /// The outcomes of a message's deliveries, with their reasons.
    private func outcomes(_ messageID: String, _ client: TocsinClient) async throws -> [String] {
        let query = "query($id: ID!) { getMessage(id: $id) { deliveries { items { status reason } } } }"
        let answer = try await client.query(query, variables: ["id": .string(messageID)])
        let items = answer["getMessage"]?["deliveries"]?["items"]?.arrayValue ?? []
        return items.map { "\($0["status"]?.stringValue ?? "") \($0["reason"]?.stringValue ?? "")" }.sorted()
    }

    private func untilOutcomes(_ messageID: String, _ expected: [String], _ client: TocsinClient) async throws {
        var seen: [String] = []
        do {
            try await eventually("the deliveries are \(expected)") {
                seen = try await outcomes(messageID, client)
                return seen == expected
            }
        } catch {
            throw HarnessFailure("\(error) They are \(seen).")
        }
    }

    @Test("phones signed out at either node get nothing of what one of the nodes has in hand for them")
    func signedOut() async throws {
        try await Cluster.run(2) { cluster in
            let token = try await cluster.addUser("ada")
            let clients = [try cluster.client(0, token), try cluster.client(1, token)]
            let phones = ["first", "second", "third"].map { Phone.android + $0 }
            for phone in phones { try await PushScene.register(phone, clients[0]) }
            let topicID = try await clients[0].makeTopic(named: "alerts")
            let followers = clients.map { Follower($0, topicID: topicID) }
            for follower in followers { try await follower.untilLive() }
            // Whoever claims the pushes waits for an access token.
            cluster.simulator.process.signal(SIGSTOP)
            let message = try await clients[0].publish(topic: .id(topicID), title: "claimed").id
            try await eventually("a node has the three pushes in hand") {
                try inHand(cluster) == 3
            }
            for (client, phone) in zip(clients, phones) { _ = try await client.unregisterPushToken(phone) }
            // What comes later through the same journals has been heard, so this has.
            for client in clients { _ = try await client.publish(topic: .id(topicID), title: "later") }
            try await eventually("both nodes have heard of it") { followers.allSatisfy { $0.messages.count == 3 } }
            cluster.simulator.process.signal(SIGCONT)
            let ended = "ENDED UNREGISTERED"
            try await untilOutcomes(message, ["ACCEPTED ", ended, ended], clients[1])
            let reached = try await cluster.simulator.pushes().filter(\.isAccepted).map(\.token)
            #expect(Set(reached) == [phones[2]])
            for follower in followers { follower.stop() }
        }
    }

    @Test("a user disabled beside the nodes gets nothing of what either has in hand, nor anything later")
    func disabled() async throws {
        try await Cluster.run(2) { cluster in
            let token = try await cluster.addUser("ada")
            let backend = try await cluster.addUser("backend")
            let push = try await cluster.administer(["token", "create", "--user", "backend", "--push"])
            let sender = try cluster.client(1, push.trimmingCharacters(in: .whitespacesAndNewlines))
            let clients = [try cluster.client(0, token), try cluster.client(1, token)]
            try await PushScene.register(Phone.android, clients[0])
            let me = try await clients[0].query("{ me { userId } }")
            let user = me["me"]?["userId"] ?? .null
            let listeners = clients.map {
                Listener($0, "subscription { onCreateMessage { title } }", field: "onCreateMessage")
            }
            for listener in listeners { try await listener.untilLive() }
            func send(_ title: String) async throws -> String {
                let send = "mutation($u: ID!, $t: String!) { sendPush(userId: $u, title: $t) { messageId } }"
                let answer = try await sender.mutate(send, variables: ["u": user, "t": .string(title)])
                return answer["sendPush"]?["messageId"]?.stringValue ?? ""
            }
            // Whoever claims the push waits for an access token.
            cluster.simulator.process.signal(SIGSTOP)
            let message = try await send("claimed")
            try await eventually("a node has the push in hand") { try inHand(cluster) == 1 }
            try await cluster.administer(["user", "disable", "ada"])
            // A node sends its sockets away after all else in it has heard.
            for listener in listeners { try await listener.untilEnded() }
            cluster.simulator.process.signal(SIGCONT)
            try await untilOutcomes(message, ["ENDED ACCESS_ENDED"], sender)
            try await untilOutcomes(try await send("later"), ["ENDED ACCESS_ENDED"], sender)
            let other = try cluster.client(0, backend)
            try await PushScene.register(Phone.android + "other", other)
            let topic = try await other.makeTopic(named: "alerts")
            let last = try await other.publish(topic: .id(topic), title: "of another user").id
            try await untilOutcomes(last, ["ACCEPTED "], other)
            let reached = try await cluster.simulator.pushes().filter(\.isAccepted).map(\.token)
            #expect(reached == [Phone.android + "other"])
        }
    }

    /// Pushes that a node has claimed and written down as being sent.
    private func inHand(_ cluster: Cluster) throws -> Int64? {
        let connection = try cluster.database.connect(.reader)
        defer { connection.close() }
        return try connection.first("SELECT count(*) FROM deliveries WHERE status = 'sending'") { $0.int(0) }
    }

    @Test(
        "what is muted at one node is skipped whoever sends it, and sent again when another node hears that it is wanted"
    )
    func muted() async throws {
        try await Cluster.run(2) { cluster in
            let token = try await cluster.addUser("ada")
            let clients = [try cluster.client(0, token), try cluster.client(1, token)]
            try await PushScene.register(PushScene.phone("aa"), clients[0])
            let topicID = try await clients[0].makeTopic(named: "alerts")
            let topic: JSONObject = ["id": .string(topicID)]
            let wishes: [(mutation: String, variables: JSONObject, outcome: String)] = [
                ("mutation { setNotifications(enabled: false) { notifications } }", [:], "SKIPPED NOTIFICATIONS_OFF"),
                ("mutation { setNotifications(enabled: true) { notifications } }", [:], "ACCEPTED "),
                (
                    "mutation($id: ID!) { subscribeToTopic(topicId: $id, push: false) { push } }", topic,
                    "SKIPPED TOPIC_MUTED"
                ),
                ("mutation($id: ID!) { subscribeToTopic(topicId: $id) { push } }", topic, "ACCEPTED "),
            ]
            for (number, wish) in wishes.enumerated() {
                let (here, there) = (clients[number % 2], clients[1 - number % 2])
                _ = try await here.query(wish.mutation, variables: wish.variables)
                let message = try await there.publish(topic: .id(topicID), title: "after wish \(number)").id
                try await untilOutcomes(message, [wish.outcome], here)
            }
            let titles = try await cluster.simulator.pushes().map(\.title)
            #expect(titles.sorted() == ["after wish 1", "after wish 3"])
        }
    }
}
