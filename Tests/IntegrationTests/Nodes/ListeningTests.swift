import JSON
import TestDatabases
import Testing
import TocsinClient
import TocsinStore

/// A node that nobody listens to looks at the journal seldom, and one that is alone rings nobody:
/// what comes to whoever begins to listen, or joins.
@Suite("Nodes that begin to listen", .enabled(if: PostgresServer.named != nil), .timeLimit(.minutes(10)))
struct ListeningTests {
    @Test("who listens first on a node, while that commits, misses nothing from then on")
    func border() async throws {
        try await Cluster.run(1) { cluster in
            let token = try await cluster.addUser("ada")
            let client = try cluster.client(0, token)
            let topicID = try await client.makeTopic(named: "hot")
            let publishers = try (0..<4).map { _ in try cluster.client(0, token) }
            let publishing = Task { try await Self.publish(by: publishers, topicID) }
            for _ in 0..<15 {
                try await eventually("nobody listens") { try await watchers(client, topicID) == 0 }
                let socket = try await RawSocket(port: cluster.port(0), token: token)
                try await listen(socket, topicID, client)
            }
            publishing.cancel()
            _ = try? await publishing.value
        }
    }

    /// Publishes until the task is cancelled.
    private static func publish(by publishers: [TocsinClient], _ topicID: String) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for publisher in publishers {
                group.addTask {
                    while !Task.isCancelled { _ = try await publisher.publish(topic: .id(topicID), title: "on and on") }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Subscribes, and checks that what comes has no gap and begins no later than behind what was
    /// there when the subscription was live.
    private func listen(_ socket: RawSocket, _ topicID: String, _ client: TocsinClient) async throws {
        try await socket.untilReady()
        let document = "subscription($t: ID) { onCreateMessage(topicId: $t) { number } }"
        let payload: JSONValue = ["query": .string(document), "variables": ["t": .string(topicID)]]
        try socket.send(["id": "1", "type": "subscribe", "payload": payload])
        try socket.send(["type": "ping"])
        var numbers: [Int64] = []
        var known: Int64?
        while numbers.last ?? 0 < (known ?? .max - 5) + 5 {
            let event = try await socket.next()
            guard case .message(let message) = event else { throw HarnessFailure("The socket has ended: \(event)") }
            if message["type"] == "pong" { known = try await lastNumber(client, topicID) }
            let number = message["payload"]?["data"]?["onCreateMessage"]?["number"]?.intValue
            if let number { numbers.append(number) }
        }
        let first = try #require(numbers.first)
        #expect(first <= (known ?? 0) + 1)
        #expect(numbers == Array(first..<first + Int64(numbers.count)))
    }

    private func watchers(_ client: TocsinClient, _ topicID: String) async throws -> Int64? {
        try await topic(client, topicID)?["watchers"]?.intValue
    }

    private func lastNumber(_ client: TocsinClient, _ topicID: String) async throws -> Int64? {
        try await topic(client, topicID)?["lastNumber"]?.intValue
    }

    private func topic(_ client: TocsinClient, _ topicID: String) async throws -> JSONValue? {
        let query = "query($id: ID!) { getTopic(id: $id) { lastNumber watchers } }"
        return try await client.query(query, variables: ["id": .string(topicID)])["getTopic"]
    }

    @Test("a node that is alone rings nobody, one that joins is rung for, and when it has gone there is silence again")
    func company() async throws {
        try await Cluster.run(1) { cluster in
            let token = try await cluster.addUser("ada")
            let client = try cluster.client(0, token)
            let topicID = try await client.makeTopic(named: "hot")
            // Beside rings it greets, every five seconds.
            func rings(_ count: Int) async throws -> Int64 {
                let before = try await sent(cluster)
                for number in 0..<count { _ = try await client.publish(topic: .id(topicID), title: "\(number)") }
                return try await sent(cluster) - before
            }
            try await eventually("it rings nobody") { try await rings(20) < 5 }
            try await cluster.startAnother()
            let follower = Follower(try cluster.client(1, token), topicID: topicID)
            try await follower.untilLive()
            let known = try await lastNumber(client, topicID) ?? 0
            try await eventually("it rings") { try await rings(20) >= 10 }
            let last = try await lastNumber(client, topicID) ?? 0
            try await eventually("all is heard") { follower.messages.last?.number == last }
            let heard = follower.messages.map(\.number)
            #expect(heard == Array((heard.first ?? 0)...last))
            #expect(heard.first ?? .max <= known + 1)
            follower.stop()
            #expect(try await cluster.stop(1) == 0)
            try await eventually("it rings nobody again", withinSeconds: 180) { try await rings(20) < 5 }
        }
    }

    private func sent(_ cluster: Cluster) async throws -> Int64 {
        try await cluster.report(0)["node"]?["ringsSent"]?.intValue ?? 0
    }
}
