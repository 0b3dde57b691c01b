import JSON
import Testing
import TocsinClient

@Suite("Devices that end with their sign-in", .timeLimit(.minutes(5)))
struct BoundDeviceTests {
    @Test("E1: a phone that is bound to its sign-in gets nothing once the token is revoked, not even what waits")
    func bound() async throws {
        let binding = ["TOCSIN_PUSH_BIND_DEVICES": "true"]
        try await AccessScene.run(topic: AccessScene.forAll, message: AccessScene.forAll, environment: binding) {
            scene in
            _ = try await scene.addBob()
            try await scene.until(try await scene.publish("before"), ["ada's": "ACCEPTED", "bob's": "ACCEPTED"])
            let simulator = try #require(scene.installation.simulator)
            try await simulator.post("/_outage?provider=apns&kind=unavailable")
            let waiting = try await scene.publish("waiting")
            try await eventually("both wait") {
                let outcomes = try await scene.outcomes(waiting).values
                return outcomes.count == 2 && outcomes.allSatisfy { $0.hasPrefix("WAITING") }
            }
            let tokens = try await scene.installation.administer(["token", "list", "--user", "bob", "--json"])
            for line in tokens.split(separator: "\n") {
                let id = try #require(JSONParser.parse(String(line))["id"]?.stringValue)
                try await scene.installation.administer(["token", "revoke", id])
            }
            #expect(try await scene.outcomes(waiting)["bob's"] == "ENDED ACCESS_ENDED")
            try await simulator.post("/_outage?provider=apns&kind=none")
            try await scene.until(waiting, ["ada's": "ACCEPTED", "bob's": "ENDED ACCESS_ENDED"])
            let after = try await scene.publish("after")
            try await eventually("it is settled") { try await scene.outcomes(after)["ada's"] == "ACCEPTED" }
            #expect(try await scene.titles(on: AccessScene.phoneOfBob) == ["before"])
            #expect(try await scene.titles(on: AccessScene.phoneOfAda) == ["before", "waiting", "after"])
        }
    }
}
