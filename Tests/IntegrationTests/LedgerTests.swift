import Foundation
import JSON
import Testing
import TocsinClient

@Suite("Asking what became of a push", .timeLimit(.minutes(5)))
struct LedgerTests {
    @Test("deliveries, explain and redrive answer the owner, tell others nothing, and each outcome is heard live")
    func commands() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.ada)
            let live = Listener(client, "subscription { onDelivery { status reason platform } }", field: "onDelivery")
            try await live.untilLive()
            _ = try await client.mutate("mutation { setNotifications(enabled: false) { userId } }")
            let id = try await client.publish(topic: "alerts", title: "Quiet").id
            try await eventually("each phone's outcome on the socket") {
                live.events.count { $0["status"] == "SKIPPED" && $0["reason"] == "NOTIFICATIONS_OFF" } == 3
            }
            let skipped = try await installation.tocsin(["deliveries", id], token: scene.ada)
            #expect(skipped.output.split(separator: "\n").count { $0.hasPrefix("SKIPPED\t") } == 3, "\(skipped)")
            #expect(skipped.output.hasSuffix("expired 0, skipped 3\n"))
            let silent = try await installation.tocsin(["explain", id, "ada"], token: scene.ada)
            #expect(silent.output.contains("NO  The user has switched all pushes off"), "\(silent)")
            #expect(silent.output.contains("→ Call setNotifications(enabled: true) as this user."))
            #expect(try await installation.simulator?.pushes().isEmpty == true)

            _ = try await client.mutate("mutation { setNotifications(enabled: true) { userId } }")
            let redriven = try await installation.tocsin(["redrive", id, "--status", "skipped"], token: scene.ada)
            #expect(redriven.status == 0 && redriven.output.hasSuffix("skipped 0\n"), "\(redriven)")
            _ = try await scene.untilDelivered(1)
            try await eventually("each phone's acceptance on the socket") {
                live.events.count { $0["status"] == "ACCEPTED" } == 3
            }
            live.stop()
            let accepted = try await installation.tocsin(
                ["deliveries", id, "--status", "accepted", "--json"],
                token: scene.ada
            )
            let rows = try accepted.output.split(separator: "\n").map { try JSONParser.parse(String($0)) }
            #expect(rows.map { $0["status"] } == ["ACCEPTED", "ACCEPTED", "ACCEPTED"])
            #expect(rows.allSatisfy { $0["providerId"] != .null && $0["attempts"] == 1 })
            let explained = try await installation.tocsin(["explain", id, "ada"], token: scene.ada)
            #expect(
                !explained.output.contains("NO  ") && explained.output.contains("accepted for 3 of 3"),
                "\(explained)"
            )
            try await expectSilence(installation, scene, id, accepted.output + explained.output)
        }
    }

    /// Bob learns nothing, a wrong state is wrong use, and no whole token stands anywhere.
    private func expectSilence(_ installation: Installation, _ scene: Scene, _ id: String, _ seen: String) async throws
    {
        let wrong = try await installation.tocsin(["redrive", id, "--status", "ACCEPTED"], token: scene.ada)
        #expect(wrong.status == 2 && wrong.errors.contains("FAILED, SKIPPED"))
        let foreign = try await installation.tocsin(["deliveries", id], token: scene.bob)
        #expect(foreign.status == 1 && foreign.output.isEmpty && foreign.errors.contains("not yours"))
        for arguments in [["explain", id, "ada"], ["explain", id, "bob"], ["redrive", id]] {
            let answer = try await installation.tocsin(arguments, token: scene.bob)
            #expect(answer.status == 1 && answer.output.isEmpty, "\(arguments): \(answer)")
        }
        let stranger = try await installation.tocsin(["explain", id, "bob"], token: scene.ada)
        #expect(stranger.output.contains("NO  The user is not a member of the topic."), "\(stranger)")
        for token in Phone.ofAda { #expect(!installation.log.contains(token) && !seen.contains(token)) }
    }

    @Test("a member without a phone has a row that says so, and a muted topic too")
    func withoutPhone() async throws {
        try await Installation.run { installation in
            let ada = try await installation.addUser("ada")
            let client = try installation.makeClient(token: ada)
            let topic = try await client.makeTopic(named: "alerts")
            let id = try await client.publish(topic: .id(topic), title: "Nobody hears").id
            let row = try await untilFinal(id, client)
            #expect(row["status"] == "SKIPPED" && row["reason"] == "NO_DEVICE" && row["platform"] == "none")
            #expect(row["userId"] != .null && row["device"] == .null)
            let explained = try await installation.tocsin(["explain", id, "ada"], token: ada)
            #expect(explained.output.contains("NO  The user has no device (NO_DEVICE)."), "\(explained)")

            _ = try await client.registerPushToken(DeviceRegistration(token: Phone.firstIOS, platform: "ios"))
            _ = try await client.mutate(
                "mutation { subscribeToTopic(topicId: \"\(topic)\", push: false) { push } }"
            )
            let muted = try await untilFinal(try await client.publish(topic: .id(topic), title: "Muted").id, client)
            #expect(muted["reason"] == "TOPIC_MUTED" && muted["device"] != .null)
            #expect(try await installation.simulator?.pushes().isEmpty == true)
        }
    }

    /// The only delivery of a message, once it is final.
    private func untilFinal(_ id: String, _ client: TocsinClient) async throws -> JSONValue {
        let query = """
            query($id: ID!) { getMessage(id: $id) { deliveries { items { status reason platform userId device { id } } } } }
            """
        return try await eventually("the delivery is final") { () -> JSONValue? in
            let page = try await client.query(query, variables: ["id": .string(id)])["getMessage"]?["deliveries"]
            let row = page?["items"]?[0]
            return row?["status"] == "WAITING" || row?["status"] == "SENDING" ? nil : row
        }
    }
}
