import JSON
import TestDatabases
import Testing
import TocsinClient

@Suite("Shared topics on three nodes", .enabled(if: PostgresServer.named != nil), .timeLimit(.minutes(5)))
struct SharedFeedNodesTests {
    @Test("a grant that is taken back on one node ends reading on all of them, without a doorbell")
    func revoked() async throws {
        try await Cluster.run(3, environment: ["TOCSIN_DOORBELL": "off"]) { cluster in
            let (ada, bob) = (try await cluster.addUser("ada"), try await cluster.addUser("bob"))
            let scene = GrantingScene(ada: try cluster.client(0, ada))
            let topicID = try await scene.ada.makeTopic(named: "shared")
            let bobs = try cluster.client(2, bob)
            try await PushScene.register(PushScene.phone("b0"), bobs)
            for round in 0..<3 {
                // Who listens before anything is shared hears it from the grant on.
                let early = try await RawSocket(port: cluster.port(1), token: bob)
                try await early.subscribe("subscription { onCreateMessage { title } }")
                let grant = try await scene.share(topicID, with: ["user": "bob", "push": true])
                let named = try await RawSocket(port: cluster.port(1), token: bob)
                try await named.subscribe("subscription { onCreateMessage(topicId: \"\(topicID)\") { title } }")
                let all = try await RawSocket(port: cluster.port(2), token: bob)
                try await all.subscribe("subscription { onCreateMessage { title } }")
                let message = try await scene.ada.publish(topic: .id(topicID), title: "shown \(round)").id
                for socket in [early, named, all] {
                    #expect(try await socket.messages { $0.count == 1 }.titles == ["shown \(round)"])
                }
                // Ada, who has no phone, is a member of her own topic.
                try await eventually("bob's phone has it") {
                    try await pushes(message, scene) == ["ACCEPTED", "SKIPPED"]
                }
                try await scene.revoke(grant)
                let last = try await named.messages { $0.errorCode != nil }
                #expect(last.errorCode == "UNAUTHORIZED")
                let query = "query($i: ID!) { getTopic(id: $i) { id } getMessage(id: $m) { id } }"
                let answer = try await bobs.query(
                    query.replacing("$i: ID!)", with: "$i: ID!, $m: ID!)"),
                    variables: ["i": .string(topicID), "m": .string(message)]
                )
                #expect(answer["getTopic"] == .null && answer["getMessage"] == .null)
                let hidden = try await scene.ada.publish(topic: .id(topicID), title: "hidden \(round)").id
                let own = try await bobs.makeTopic(named: "own \(round)")
                _ = try await bobs.publish(topic: .id(own), title: "own \(round)")
                #expect(try await all.messages { !$0.isEmpty }.titles == ["own \(round)"])
                try await eventually("it is pushed to members alone") {
                    try await pushes(hidden, scene) == ["SKIPPED"]
                }
            }
        }
    }

    /// What became of the pushes of a message.
    private func pushes(_ message: String, _ scene: GrantingScene) async throws -> [String] {
        let answer = try await scene.ada.query(
            "query($i: ID!) { getMessage(id: $i) { deliveries { items { status } } } }",
            variables: ["i": .string(message)]
        )
        let items = answer["getMessage"]?["deliveries"]?["items"]?.arrayValue ?? []
        return items.compactMap { $0["status"]?.stringValue }.sorted()
    }
}
