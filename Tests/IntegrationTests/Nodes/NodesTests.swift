import JSON
import TestDatabases
import Testing
import TocsinClient
import TocsinStore

@Suite("Nodes on one PostgreSQL", .enabled(if: PostgresServer.named != nil), .timeLimit(.minutes(10)))
struct NodesTests {
    private static let each = 40

    /// Publishes to the topic from every node at once.
    private func publish(_ cluster: Cluster, _ nodes: Range<Int>, _ token: String, topicID: String) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in nodes {
                let client = try cluster.client(node, token)
                for index in 0..<Self.each {
                    group.addTask {
                        // The key lets an answer that was lost be asked for again.
                        var draft = MessageDraft(title: "\(node).\(index)")
                        draft.key = "\(node).\(index)"
                        _ = try await client.publish(topic: .id(topicID), draft)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Waits until each follower has heard so many, and checks that it has them in order and once.
    private func expectAll(_ followers: [Follower], _ count: Int) async throws {
        for follower in followers {
            try await eventually("\(count) messages are heard") {
                if let failure = follower.failure { throw failure }
                return follower.messages.count >= count
            }
            #expect(follower.messages.map(\.number) == Array(1...Int64(count)))
        }
    }

    @Test(
        "subscribers of every node hear what all publish, in order, once and without a gap",
        arguments: ["postgres", "off"]
    )
    func order(doorbell: String) async throws {
        try await Cluster.run(3, environment: ["TOCSIN_DOORBELL": doorbell]) { cluster in
            let token = try await cluster.addUser("ada")
            let topicID = try await cluster.client(0, token).makeTopic(named: "hot")
            let followers = try (0..<3).map { Follower(try cluster.client($0, token), topicID: topicID) }
            for follower in followers { try await follower.untilLive() }
            try await publish(cluster, 0..<3, token, topicID: topicID)
            try await expectAll(followers, 3 * Self.each)
            for follower in followers { follower.stop() }
            let state = try await cluster.report(1)["node"]
            #expect(state?["name"] == "node1")
            #expect(state?["doorbell"] == .string(doorbell == "off" ? "off" : "postgres: connected"))
        }
    }

    @Test("nothing is missed while the lines that listen and read are cut again and again")
    func cutLines() async throws {
        try await Cluster.run(2) { cluster in
            let token = try await cluster.addUser("ada")
            let topicID = try await cluster.client(0, token).makeTopic(named: "hot")
            let follower = Follower(try cluster.client(1, token), topicID: topicID)
            try await follower.untilLive()
            let publisher = try cluster.client(0, token)
            for round in 0..<3 {
                async let publishing: Void = Self.publishSome(publisher, round, topicID)
                for pattern in ["LISTEN%", "NOTIFY%", "%node_events AS e%", "LISTEN%"] {
                    try cluster.cut(statementsLike: pattern)
                    try await Task.sleep(for: .milliseconds(50))
                }
                try await publishing
            }
            try await expectAll([follower], 3 * 20)
            follower.stop()
        }
    }

    private static func publishSome(_ client: TocsinClient, _ round: Int, _ topicID: String) async throws {
        for index in 0..<20 {
            var draft = MessageDraft(title: "\(round).\(index)")
            draft.key = "\(round).\(index)"
            _ = try await client.publish(topic: .id(topicID), draft)
        }
    }

    @Test("a change on one node reaches the subscribers of another, as does a user's disabling")
    func changes() async throws {
        try await Cluster.run(2) { cluster in
            let token = try await cluster.addUser("ada")
            let client = try cluster.client(0, token)
            let topicID = try await client.makeTopic(named: "first name")
            let socket = try await RawSocket(port: cluster.port(1), token: token)
            try await socket.subscribe("subscription { onUpdateTopic { id name } }")
            _ = try await client.query(
                "mutation($id: ID!) { updateTopic(input: {id: $id, name: \"second name\", _version: 1}) { id } }",
                variables: ["id": .string(topicID)]
            )
            guard case .message(let event) = try await socket.next() else {
                throw HarnessFailure("The socket has ended.")
            }
            #expect(event["payload"]?["data"]?["onUpdateTopic"]?["name"] == "second name")
            try await cluster.administer(["user", "disable", "ada"])
            #expect(try await socket.untilClosed() == 4403)
        }
    }

    @Test("who listens to deliveries on one node hears of pushes that another sends")
    func deliveries() async throws {
        try await Cluster.run(2) { cluster in
            let token = try await cluster.addUser("ada")
            let client = try cluster.client(0, token)
            try await PushScene.register(PushScene.phone("aa"), client)
            let topicID = try await client.makeTopic(named: "alerts")
            let socket = try await RawSocket(port: cluster.port(1), token: token)
            try await socket.subscribe("subscription { onDelivery { status } }")
            var heard: [String] = []
            for attempt in 0..<200 where !heard.contains("ACCEPTED") {
                // Which node sends is left to chance; the other must hear of it once it
                // knows that somebody listens.
                _ = try await client.publish(topic: .id(topicID), title: "push \(attempt)")
                try await Task.sleep(for: .milliseconds(200))
                while case .message(let event)? = try socket.look() {
                    heard.append(event["payload"]?["data"]?["onDelivery"]?["status"]?.stringValue ?? "")
                }
            }
            #expect(heard.contains("ACCEPTED"))
        }
    }

    @Test("what a killed node had in hand another brings to the phones when its leases have run out")
    func takeover() async throws {
        let environment = [
            "TOCSIN_PUSH_REQUEST_TIMEOUT_SECONDS": "1", "TOCSIN_PUSH_LEASE_SECONDS": "3", "TOCSIN_PUSH_IN_FLIGHT": "5",
        ]
        let slow = ["--quiet", "--late-seconds", "0.2", "--rate", "apns:slow=1"]
        try await Cluster.run(2, environment: environment, simulator: slow) { cluster in
            let token = try await cluster.addUser("ada")
            let client = try cluster.client(1, token)
            let phones = (0..<40).map { PushScene.phone("ab", $0) }
            for phone in phones { try await PushScene.register(phone, client) }
            let topicID = try await client.makeTopic(named: "alerts")
            // Several, so that both nodes have some in hand.
            let publisher = try cluster.client(0, token)
            var messages: [String] = []
            for number in 1...4 {
                messages.append(try await publisher.publish(topic: .id(topicID), title: "To all \(number)").id)
            }
            try await eventually("some pushes are accepted") {
                try await cluster.simulator.pushes().contains(where: \.isAccepted)
            }
            try await cluster.kill(0)
            let query = "query($id: ID!) { getMessage(id: $id) { deliverySummary { accepted } } }"
            for message in messages {
                try await eventually("all deliveries are accepted", withinSeconds: 180) {
                    let answer = try await client.query(query, variables: ["id": .string(message)])
                    return answer["getMessage"]?["deliverySummary"]?["accepted"]?.intValue == Int64(phones.count)
                }
            }
            let reached = Set(try await cluster.simulator.pushes().filter(\.isAccepted).map(\.token))
            #expect(reached.count == phones.count)
        }
    }

    @Test("a node that is stopped leaves the upkeep to others at once")
    func upkeep() async throws {
        try await Cluster.run(1) { cluster in
            let connection = try cluster.database.connect(.tool)
            defer { connection.close() }
            func holders() throws -> Int64? { try connection.first("SELECT count(*) FROM duties") { $0.int(0) } }
            // One of upkeep, and one of timers.
            try await eventually("the node has its leases") { try holders() == 2 }
            #expect(try await cluster.stop(0) == 0)
            #expect(try holders() == 0)
        }
    }

    @Test("a node with another server key is refused, and says what to do")
    func otherKey() async throws {
        try await Cluster.run(1) { cluster in
            let other = ["TOCSIN_SERVER_KEY": "VGhpcyBpcyBhbm90aGVyIGtleSBvZiBhdCBsZWFzdCAzMiBieXRlcy4="]
            let failure = await #expect(throws: HarnessFailure.self) {
                try await cluster.startAnother(other)
            }
            #expect(failure?.description.contains("TOCSIN_SERVER_KEY") == true)
        }
    }

    @Test("NATS rings too, and nothing is missed when a server of its is gone", .enabled(if: NATSProcess.isThere))
    func nats() async throws {
        let server = try NATSProcess()
        let environment = ["TOCSIN_DOORBELL": server.url]
        try await Cluster.run(2, environment: environment) { cluster in
            let token = try await cluster.addUser("ada")
            let topicID = try await cluster.client(0, token).makeTopic(named: "hot")
            let follower = Follower(try cluster.client(1, token), topicID: topicID)
            try await follower.untilLive()
            try await publish(cluster, 0..<1, token, topicID: topicID)
            try await eventually("a ring is heard") {
                try await cluster.report(1)["node"]?["ringsHeard"]?.intValue ?? 0 > 0
            }
            #expect(try await cluster.report(1)["node"]?["doorbell"] == "nats: connected")
            server.end()
            try await publish(cluster, 1..<2, token, topicID: topicID)
            try await expectAll([follower], 2 * Self.each)
            follower.stop()
        }
        server.end()
    }
}
