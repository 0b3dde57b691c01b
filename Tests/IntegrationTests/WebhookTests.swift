import Foundation
import JSON
import Testing
import TocsinClient

/// Webhooks of the built server at a receiver of ours, whose signatures openssl checks.
@Suite("Webhooks, on the built server", .timeLimit(.minutes(5)))
struct WebhookTests {
    private static let secret = Data((0..<32).map { UInt8($0 * 7 % 256) })
    private static let phone = String(repeating: "c3", count: 32)

    /// Runs with a settings file of webhooks at these paths of the receiver.
    private func run(
        _ receiver: Receiver,
        _ paths: [String],
        retries: String = "0.2",
        _ body: (Installation) async throws -> Void
    ) async throws {
        try await Installation.run { installation in
            let tables = paths.map { path in
                """
                [[webhooks]]
                name = "\(path.dropFirst())"
                url = "http://127.0.0.1:\(receiver.port)\(path)"
                secret = "whsec_\(Self.secret.base64EncodedString())"

                """
            }
            let file = installation.folder + "/tocsin.toml"
            try tables.joined().write(toFile: file, atomically: true, encoding: .utf8)
            installation.options += ["--config", file]
            installation.environment["TOCSIN_WEBHOOKS_ALLOW_LOOPBACK"] = "true"
            installation.environment["TOCSIN_PUSH_RETRY_SECONDS"] = retries
        } _: { installation in
            try await body(installation)
        }
    }

    /// The signature that openssl makes.
    private func signature(of request: Receiver.Request, _ installation: Installation) async throws -> String {
        let head = "\(request.headers["webhook-id"] ?? "").\(request.headers["webhook-timestamp"] ?? "")."
        let file = installation.folder + "/" + UUID().uuidString
        try (Data(head.utf8) + Data(request.body)).write(to: URL(fileURLWithPath: file))
        let key = Self.secret.map { String(format: "%02x", $0) }.joined()
        let result = try await ChildProcess.run(
            "/bin/sh",
            [
                "-c",
                "openssl dgst -sha256 -mac HMAC -macopt hexkey:\(key) -binary '\(file)' | openssl base64 -A",
            ],
            environment: ["PATH": "/usr/bin:/bin"],
            folder: installation.folder
        )
        return "v1," + result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test(
        "registrations, messages and sign-outs are told, signed, after failures too; a receiver that hangs delays none"
    )
    func tells() async throws {
        let receiver = try Receiver { path, earlier in
            switch path {
            case "/hangs": nil
            case "/fails": earlier < 2 ? 500 : 204
            default: 200
            }
        }
        try await run(receiver, ["/works", "/fails", "/hangs"], retries: "0.2,0.2,0.2,0.2") { installation in
            let ada = try await installation.addUser("ada")
            let client = try installation.makeClient(token: ada)
            _ = try await client.registerPushToken(DeviceRegistration(token: Self.phone, platform: "ios"))
            let topic = try await client.makeTopic(named: "alerts")
            let message = try await client.publish(topic: .id(topic), title: "Top secret title")
            _ = try await installation.curl(
                "mutation($t: String!) { unregisterPushToken(token: $t) { userId } }",
                ["t": .string(Self.phone)],
                token: ada
            )
            try await eventually("three events at the receiver that works") { receiver.requests("/works").count == 3 }
            // Two failed attempts, of whichever events, are made again.
            try await eventually("all events at the one that fails at first") { receiver.requests("/fails").count == 5 }
            let bodies = try receiver.requests("/works").map { try JSONParser.parse($0.body) }
            let data = Dictionary(uniqueKeysWithValues: bodies.map { ($0["type"]?.stringValue ?? "", $0["data"]) })
            #expect(data["register_push_token"]??["token"] == .string(Self.phone.prefix(8) + "…"))
            #expect(data["send_push_notification"]??["messageId"] == .string(message.id))
            #expect(data["unregister_push_token"]??["reason"] == "UNREGISTERED")
            for request in receiver.requests("/works") + receiver.requests("/fails") {
                let expected = try await signature(of: request, installation)
                #expect(request.headers["webhook-signature"] == expected)
                #expect(!String(decoding: request.body, as: UTF8.self).contains("secret title"))
            }
            let ids = receiver.requests("/fails").compactMap { $0.headers["webhook-id"] }
            #expect(Set(ids).count == 3)
            #expect(!installation.log.contains("secret title") && !installation.log.contains(Self.phone))
        }
    }

    @Test("an event that was not heard survives kill -9 and is told by the next process")
    func survives() async throws {
        let receiver = try Receiver { _, earlier in earlier < 1 ? 503 : 200 }
        try await run(receiver, ["/hook"], retries: "3,3,3") { installation in
            let client = try installation.makeClient(token: try await installation.addUser("ada"))
            _ = try await client.registerPushToken(DeviceRegistration(token: Self.phone, platform: "ios"))
            try await eventually("the first attempt") { receiver.requests("/hook").count == 1 }
            try await installation.killAndRestartServer()
            // On PostgreSQL a dead process's lease runs out first, after a minute.
            try await eventually("the second attempt", withinSeconds: 150) { receiver.requests("/hook").count == 2 }
            let ids = receiver.requests("/hook").map { $0.headers["webhook-id"] }
            #expect(ids[0] == ids[1])
        }
    }

    @Test("what is given up is listed, and sent again when asked for")
    func redrives() async throws {
        let receiver = try Receiver { _, earlier in earlier < 2 ? 500 : 200 }
        try await run(receiver, ["/hook"], retries: "0.1") { installation in
            let client = try installation.makeClient(token: try await installation.addUser("ada"))
            _ = try await client.registerPushToken(DeviceRegistration(token: Self.phone, platform: "ios"))
            try await eventually("the event is dead") {
                try await installation.administer(["webhooks", "list", "--dead"]).contains(
                    "\tregister_push_token\tdead\t2\t"
                )
            }
            let answer = try await installation.administer(["webhooks", "retry", "hook"])
            #expect(answer == "1 event is due again.\n")
            try await eventually("the third attempt") { receiver.requests("/hook").count == 3 }
            try await eventually("nothing waits") { try await installation.administer(["webhooks", "list"]).isEmpty }
        }
    }
}
