import Foundation
import JSON
import Testing
import TocsinClient

@Suite("Several apps on one server", .timeLimit(.minutes(5)))
struct SeveralAppsTests {
    private static let second = "com.example.second"

    /// Apple knows the second app by a key for each side.
    private static let simulator = [
        "--other-key", "SIMTEAM002/SIMSAND002/\(second)/development", "--other-key",
        "SIMTEAM002/SIMPROD002/\(second)/production",
    ]

    /// The second app's table, beside the default app's variables.
    private static func file(_ folder: String, _ endpoint: String) -> String {
        """
        [[apps]]
        id = "\(second)"
        [apps.apns]
        team_id = "SIMTEAM002"
        key_file = "\(folder)/simulator/apns.p8"
        endpoint = "\(endpoint)"
        [apps.apns_sandbox]
        key_id = "SIMSAND002"
        [apps.apns_production]
        key_id = "SIMPROD002"
        """
    }

    private static func device(_ token: String, _ side: String, app: String?) -> DeviceRegistration {
        var device = DeviceRegistration(token: token, platform: "ios")
        device.environment = side
        device.appID = app
        return device
    }

    @Test(
        "each device is pushed to with its app's key, bundle and side; one of an unknown app is skipped with the reason"
    )
    func apps() async throws {
        try await Installation.run(
            simulator: Self.simulator,
            prepare: { installation in
                let path = installation.folder + "/tocsin.toml"
                let endpoint = installation.environment["APNS_ENDPOINT"] ?? ""
                try Self.file(installation.folder, endpoint).write(toFile: path, atomically: true, encoding: .utf8)
                installation.options += ["--config", path]
            },
            { installation in
                let ada = try await installation.addUser("ada")
                let client = try installation.makeClient(token: ada)
                let devices = [
                    Self.device(Phone.firstIOS, "sandbox", app: nil),
                    Self.device(Phone.secondIOS, "sandbox", app: Self.second),
                    Self.device(Phone.ofBob, "sandbox", app: "com.example.unknown"),
                ]
                for device in devices { _ = try await client.registerPushToken(device) }
                _ = try await client.makeTopic(named: "alerts")
                let id = try await client.publish(topic: "alerts", title: "To all apps").id
                let summary = "query($id: ID!) { getMessage(id: $id) { deliverySummary { accepted skipped } } }"
                try await eventually("all are settled") {
                    let answer = try await client.query(summary, variables: ["id": .string(id)])
                    return answer["getMessage"]?["deliverySummary"] == ["accepted": 2, "skipped": 1]
                }
                let pushes = try await installation.simulator?.pushes() ?? []
                let topics = pushes.map { [$0.token, $0.record["headers"]?["apns-topic"]?.stringValue ?? ""] }
                #expect(
                    Set(topics) == [[Phone.firstIOS, "com.example.tocsin"], [Phone.secondIOS, Self.second]],
                    "\(pushes)"
                )
                #expect(pushes.allSatisfy { $0.isAccepted })
                let explained = try await installation.tocsin(["explain", id, "ada"], token: ada)
                #expect(
                    explained.output.contains("no credentials to push to the app com.example.unknown"),
                    "\(explained)"
                )
                #expect(explained.output.contains("It is reached by apns for \(Self.second), sandbox."))
                try await pausedSide(installation, client, ada)
            }
        )
    }

    /// The key for the other side is refused: that side alone is paused, and
    /// the explanation says why.
    private func pausedSide(_ installation: Installation, _ client: TocsinClient, _ ada: String) async throws {
        _ = try await client.registerPushToken(
            Self.device(String(repeating: "c3", count: 32), "production", app: Self.second)
        )
        let id = try await client.publish(topic: "alerts", title: "Again").id
        let output = try await eventually("the pause is explained") { () -> String? in
            let explained = try await installation.tocsin(["explain", id, "ada"], token: ada)
            // The other phones' pushes may be a little behind.
            let isSettled = ["NO    Pushes by apns are paused: BadEnvironmentKey", "accepted for 2 of 4"]
                .allSatisfy { explained.output.contains($0) }
            return isSettled ? explained.output : nil
        }
        #expect(output.contains("It is reached by apns for \(Self.second), production."), "\(output)")
    }

    @Test("settings check tells every mistake of every app at once, and settings shows no key")
    func settings() async throws {
        let folder = NSTemporaryDirectory() + "tocsin-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/tocsin.toml"
        let text = """
            [[apps]]
            id = "one"
            [apps.apns]
            key_id = "KEYONE1234"
            [[apps]]
            id = "two"
            [apps.fcm]
            credentials = "\(folder)/missing.json"
            [[apps]]
            id = "two"
            """
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let result = try await TestBinary.run(["settings", "check", "--config", path], folder: folder)
        #expect(result.status == 2 || result.status == 1)
        for words in [
            "apps[0] (one): apns: Apple push is set up half-way", "apps[1] (two): fcm: ", "missing.json",
            "apps[2] (two): there are no credentials", "two apps with the id two",
        ] { #expect(result.errors.contains(words), "\(words): \(result.errors)") }
    }
}
