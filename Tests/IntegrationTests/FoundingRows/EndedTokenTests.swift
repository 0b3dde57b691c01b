import Foundation
import JSON
import Testing
import TocsinClient

@Suite("What is told of tokens and deliveries", .timeLimit(.minutes(5)))
struct EndedTokenTests {
    private static let good = PushScene.phone("aa")
    private static let dead = PushScene.phone("dead")

    @Test(
        "A11, B16, B20: a token that a provider ends is told to webhooks, the message's state and the log say the rest"
    )
    func told() async throws {
        let receiver = try Receiver { _, _ in 200 }
        try await Installation.run { installation in
            let file = installation.folder + "/tocsin.toml"
            let secret = Data(repeating: 7, count: 32).base64EncodedString()
            let table = """
                [[webhooks]]
                name = "crm"
                url = "http://127.0.0.1:\(receiver.port)/crm"
                secret = "whsec_\(secret)"
                events = ["unregister_push_token"]
                include-tokens = true
                """
            try table.write(toFile: file, atomically: true, encoding: .utf8)
            installation.options += ["--config", file]
            installation.environment["TOCSIN_WEBHOOKS_ALLOW_LOOPBACK"] = "true"
            installation.environment["TOCSIN_LOG_LEVEL"] = "debug"
            installation.environment["TOCSIN_LOG_DELIVERIES"] = "true"
        } _: { installation in
            let scene = try await PushScene(installation, phones: [Self.good, Self.dead])
            #expect(try await state(of: "Both", scene) == "PARTLY")
            #expect(try await state(of: "One left", scene) == "ALL_ACCEPTED")
            let mute = "mutation { setNotifications(enabled: false) { notifications } }"
            _ = try await scene.client.query(mute)
            #expect(try await state(of: "Nobody", scene) == "NONE")

            try await eventually("the webhook is told") { !receiver.requests("/crm").isEmpty }
            let event = try JSONParser.parse(receiver.requests("/crm")[0].body)
            #expect(event["type"] == "unregister_push_token", "\(event)")
            #expect(event["data"]?["token"] == .string(Self.dead) && event["data"]?["reason"] == "Unregistered")
            let me = try await scene.client.query("{ me { userId } }")["me"]?["userId"]
            #expect(event["data"]?["userId"] == me && receiver.requests("/crm").count == 1)

            let lines = installation.logLines.filter { $0["message"] == "delivery" }
            #expect(
                lines.compactMap { $0["outcome"]?.stringValue }.sorted() == [
                    "accepted", "accepted", "ended", "skipped",
                ]
            )
            let hashes = Set(lines.compactMap { $0["token_hash"]?.stringValue })
            #expect(hashes.count == 2 && hashes.allSatisfy { $0.count == 16 }, "\(lines)")
            #expect(!installation.log.contains(Self.dead) && !installation.log.contains("One left"))
        }
    }

    /// Publishes, and answers the state once all is settled.
    private func state(of title: String, _ scene: PushScene) async throws -> String {
        let id = try await scene.publish(title)
        let query = "query($id: ID!) { getMessage(id: $id) { deliverySummary { state } } }"
        return try await eventually("it is settled") {
            let answer = try await scene.client.query(query, variables: ["id": .string(id)])
            let state = answer["getMessage"]?["deliverySummary"]?["state"]?.stringValue
            return state == "PENDING" ? nil : state
        }
    }
}
