import Foundation
import JSON
import Testing
import TocsinClient

/// Browsers on the built server; the simulator is their push service and decrypts for them.
///
/// No real browser: one that runs without a network cannot subscribe, because its vendor's push
/// service makes subscriptions.
@Suite("Pushes to browsers, on the built server", .timeLimit(.minutes(5)))
struct WebPushTests {
    private static let register = """
        mutation R($token: String!) { registerPushToken(token: $token, platform: "web") { device { id active } pushTokens } }
        """
    private static let create = """
        mutation C($input: CreateMessageInput!) { createMessage(input: $input) { id } }
        """
    private static let deliveries = """
        query D($id: ID!) { getMessage(id: $id) { deliveries { items { status reason platform providerId } } } }
        """

    private func register(_ installation: Installation, _ subscription: JSONValue, _ token: String) async throws
        -> JSONValue
    {
        let text = JSONValue.string(subscription.serializedString())
        return try await installation.curl(Self.register, ["token": text], token: token)
    }

    private func publish(_ installation: Installation, _ topic: String, _ title: String, _ token: String) async throws
        -> String
    {
        let input: JSONValue = ["topicId": .string(topic), "type": 1, "title": .string(title), "body": "Grüße"]
        let answer = try await installation.curl(Self.create, ["input": input], token: token)
        return try #require(answer["data"]?["createMessage"]?["id"]?.stringValue, "\(answer)")
    }

    /// The only delivery of a message, once it is final.
    private func outcome(_ installation: Installation, _ message: String, _ token: String) async throws -> JSONValue {
        try await eventually("the push of \(message) has an outcome") { () -> JSONValue? in
            let answer = try await installation.curl(Self.deliveries, ["id": .string(message)], token: token)
            let items = answer["data"]?["getMessage"]?["deliveries"]?["items"]?.arrayValue ?? []
            let isFinal = items.count == 1 && items[0]["status"] != "WAITING" && items[0]["status"] != "SENDING"
            // A bare nil would be JSON's null.
            return isFinal ? items[0] : Optional.none
        }
    }

    @Test("a browser that registered decrypts its owner's messages, and nobody else's come")
    func wholeWay() async throws {
        try await Installation.run { installation in
            let (ada, bob) = (try await installation.addUser("ada"), try await installation.addUser("bob"))
            let key = try await installation.curl("{ webPushKey }", token: ada)["data"]?["webPushKey"]?.stringValue
            #expect(key == installation.environmentKey)
            let simulator = try #require(installation.simulator)
            let (adas, bobs) = (try await simulator.subscribe(), try await simulator.subscribe())
            let first = try await register(installation, adas, ada)
            let second = try await register(installation, adas, ada)
            #expect(first["data"]?["registerPushToken"]?["device"] == second["data"]?["registerPushToken"]?["device"])
            #expect(second["data"]?["registerPushToken"]?["pushTokens"]?.arrayValue?.count == 1)
            _ = try await register(installation, bobs, bob)

            let topic = try await installation.makeClient(token: ada).makeTopic(named: "alerts")
            let message = try await publish(installation, topic, "Disk full", ada)
            let outcome = try await outcome(installation, message, ada)
            #expect(outcome["status"] == "ACCEPTED" && outcome["platform"] == "web", "\(outcome)")
            let pushes = try await simulator.pushes()
            #expect(pushes.count == 1)
            let endpoint = try #require(adas["endpoint"]?.stringValue)
            #expect(try endpoint.hasSuffix(#require(pushes.first).token))
            let notification = pushes.first?.record["payload"]?["notification"]
            #expect(notification?["title"] == "Disk full" && notification?["body"] == "Grüße")
            #expect(notification?["data"]?["messageId"] == .string(message))
            #expect(!installation.log.contains("Disk full") && !installation.log.contains(endpoint))
        }
    }

    @Test("a browser that has unsubscribed is retired at the first push; registering again revives it")
    func retires() async throws {
        try await Installation.run { installation in
            let ada = try await installation.addUser("ada")
            let simulator = try #require(installation.simulator)
            let gone = try await simulator.subscribe(script: "gone-1")
            _ = try await register(installation, gone, ada)
            let topic = try await installation.makeClient(token: ada).makeTopic(named: "alerts")
            let first = try await outcome(installation, publish(installation, topic, "One", ada), ada)
            #expect(first["status"] == "ENDED" && first["reason"] == "HTTP 410 Unsubscribed", "\(first)")
            let devices = try await installation.curl("{ devices { active disabledReason } }", token: ada)
            #expect(devices["data"]?["devices"] == [["active": false, "disabledReason": "HTTP 410 Unsubscribed"]])
            _ = try await register(installation, gone, ada)
            let second = try await outcome(installation, publish(installation, topic, "Two", ada), ada)
            #expect(second["status"] == "ACCEPTED", "\(second)")
        }
    }

    @Test("signing out by the subscription stops its pushes")
    func unregisters() async throws {
        try await Installation.run { installation in
            let ada = try await installation.addUser("ada")
            let browser = try await #require(installation.simulator).subscribe()
            _ = try await register(installation, browser, ada)
            let spaced = browser.serializedString().replacingOccurrences(of: ",", with: " , ")
            let answer = try await installation.curl(
                "mutation U($t: String!) { unregisterPushToken(token: $t) { pushTokens } }",
                ["t": .string(spaced)],
                token: ada
            )
            #expect(answer["data"]?["unregisterPushToken"]?["pushTokens"] == [], "\(answer)")
        }
    }

    @Test("without leave for private addresses a browser there cannot register; the answer says why")
    func refusesLoopback() async throws {
        try await Installation.run { installation in
            installation.environment["WEBPUSH_ALLOW_PRIVATE_ADDRESSES"] = nil
        } _: { installation in
            let ada = try await installation.addUser("ada")
            let browser = try await #require(installation.simulator).subscribe()
            let answer = try await register(installation, browser, ada)
            let error = answer["errors"]?.arrayValue?.first
            #expect(error?["extensions"]?["code"] == "BAD_USER_INPUT", "\(answer)")
            #expect(error?["message"]?.stringValue?.contains("public host") == true, "\(answer)")
        }
    }

    @Test("without keys a browser may register, and its pushes are skipped with the reason")
    func withoutKeys() async throws {
        try await Installation.run { installation in
            for name in ["VAPID_PRIVATE_KEY_FILE", "VAPID_SUBJECT"] { installation.environment[name] = nil }
        } _: { installation in
            let ada = try await installation.addUser("ada")
            #expect(try await installation.curl("{ webPushKey }", token: ada)["data"]?["webPushKey"] == .null)
            _ = try await register(installation, try await #require(installation.simulator).subscribe(), ada)
            let topic = try await installation.makeClient(token: ada).makeTopic(named: "alerts")
            let outcome = try await outcome(installation, publish(installation, topic, "One", ada), ada)
            #expect(outcome["status"] == "SKIPPED" && outcome["reason"] == "PROVIDER_NOT_CONFIGURED", "\(outcome)")
        }
    }

    @Test("keys that the command makes are taken as settings")
    func createdKeys() async throws {
        let made = try await TestBinary.run(["vapid", "create"], folder: NSTemporaryDirectory())
        let lines = made.output.split(separator: "\n").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        #expect(lines.map { $0.first } == ["VAPID_PUBLIC_KEY", "VAPID_PRIVATE_KEY"])
        try await Installation.run { installation in
            installation.environment["VAPID_PRIVATE_KEY_FILE"] = nil
            for line in lines { installation.environment[line[0]] = line[1] }
        } _: { installation in
            let ada = try await installation.addUser("ada")
            let answer = try await installation.curl("{ webPushKey }", token: ada)
            #expect(answer["data"]?["webPushKey"] == .string(lines[0][1]))
            let report = try await installation.tocsin(["settings"], token: ada)
            #expect(!report.output.contains(lines[1][1]))
        }
    }
}

extension Installation {
    /// The public half of the simulator's VAPID key.
    fileprivate var environmentKey: String? { simulator?.vapidKey }
}
