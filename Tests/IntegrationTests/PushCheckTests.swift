import Foundation
import JSON
import Testing
import TocsinClient

@Suite("What a sender must never do", .timeLimit(.minutes(10)))
struct PushCheckTests {
    /// Retries come quickly, so that tests see their end.
    private static func quickRetries(_ installation: Installation) {
        installation.environment["TOCSIN_PUSH_RETRY_SECONDS"] = "0.2,0.2,0.5,0.5,0.5,0.5,1,1,1,1,1,1,1,1,1,1,1,1,1,1"
    }

    @Test("no connection sees a second provider token inside 20 minutes, whatever ends connections and tokens")
    func providerTokens() async throws {
        try await Installation.run(prepare: { Self.quickRetries($0) }) { installation in
            let phones = (0..<20).map { PushScene.phone("a1", $0) }
            let scene = try await PushScene(installation, phones: phones)
            let simulator = try #require(installation.simulator)
            for round in 0..<4 {
                let id = try await scene.publish("Round \(round)")
                try await scene.untilStatuses(id, ["ACCEPTED": 20])
                try await Self.disturb(simulator, round)
            }
            let updates = try await scene.stat("apns", "refused", "TooManyProviderTokenUpdates")
            #expect(updates == 0)
            let expired = try await scene.stat("apns", "refused", "ExpiredProviderToken")
            #expect(expired >= 1)
            // The first, and one that took the place of that which Apple called expired.
            let tokens = try await scene.stat("apns", "providerTokens")
            #expect((1...2).contains(tokens), "\(tokens)")
        }
    }

    private static func disturb(_ simulator: SimulatorProcess, _ round: Int) async throws {
        if round == 0 { try await simulator.post("/_connections?provider=apns&do=goaway") }
        if round == 1 { try await simulator.post("/_connections?provider=apns&do=cut") }
        if round >= 2 { try await simulator.post("/_script", rule("ExpiredProviderToken", #""times":1"#)) }
    }

    @Test("a server killed between Apple's answer and its record sends again, and the phone shows it once")
    func killedBetween() async throws {
        try await Installation.run(prepare: { Self.quickRetries($0) }) { installation in
            let phone = PushScene.phone("510e")
            let scene = try await PushScene(installation, phones: [phone])
            // Late enough for any machine to end the server before.
            try await installation.simulator?.post("/_script", ["lateSeconds": 15])
            let id = try await scene.publish("Once")
            try await eventually("Apple has accepted it") { try await scene.stat("apns", "accepted") == 1 }
            try await installation.killAndRestartServer {
                try await installation.simulator?.post("/_script", ["lateSeconds": 0.1])
            }
            try await scene.untilStatuses(id, ["ACCEPTED": 1])
            let screen = try await installation.simulator?.get("/_screen?token=\(phone)")
            #expect(screen?["alerts"] == 2)
            #expect(screen?["shown"]?.arrayValue?.map { $0["title"] } == ["Once"])
        }
    }

    @Test("a phone that registers again while its 410 is on the way stays, and gets its message")
    func registeredMeanwhile() async throws {
        try await Installation.run(prepare: { Self.quickRetries($0) }) { installation in
            let phone = PushScene.phone("a1")
            let scene = try await PushScene(installation, phones: [phone])
            let rule = Self.rule("Unregistered", #""times":1,"lateSeconds":3"#)
            try await installation.simulator?.post("/_script", rule)
            let id = try await scene.publish("Reinstalled")
            try await eventually("Apple has refused it") {
                try await scene.stat("apns", "refused", "Unregistered") == 1
            }
            try await PushScene.register(phone, scene.client)
            try await scene.untilStatuses(id, ["ACCEPTED": 1])
            #expect(try await scene.activePhones() == 1)
        }
    }

    @Test("a phone that was dead since before it registered stays; one that died since goes")
    func deadSince() async throws {
        try await Installation.run(prepare: { Self.quickRetries($0) }) { installation in
            let scene = try await PushScene(installation, phones: [PushScene.phone("a1"), PushScene.phone("dead")])
            let rule = Self.rule("Unregistered", #""times":1,"token":"a1","agoSeconds":86400"#)
            try await installation.simulator?.post("/_script", rule)
            let id = try await scene.publish("Dead or not")
            try await scene.untilStatuses(id, ["ACCEPTED": 1, "ENDED": 1])
            #expect(try await scene.activePhones() == 1)
        }
    }

    @Test("a wrong bundle id costs no device; the backlog goes out when it is mended")
    func wrongBundle() async throws {
        let prepare = { (installation: Installation) in
            Self.quickRetries(installation)
            installation.environment["APNS_BUNDLE_ID"] = "com.example.wrong"
        }
        try await Installation.run(prepare: prepare) { installation in
            let scene = try await PushScene(installation, phones: (0..<20).map { PushScene.phone("a1", $0) })
            let id = try await scene.publish("Wrong app")
            try await eventually("Apple has refused some") {
                try await scene.stat("apns", "refused", "TopicDisallowed") >= 1
            }
            #expect(try await scene.statuses(id)["ACCEPTED"] == nil)
            #expect(try await scene.activePhones() == 20)
            installation.environment["APNS_BUNDLE_ID"] = "com.example.tocsin"
            try await installation.restartServer()
            try await scene.untilStatuses(id, ["ACCEPTED": 20])
        }
    }

    @Test("when Apple says of every phone that it is another app's, none is lost, and all get the message later")
    func foreignPhones() async throws {
        try await Installation.run(prepare: { Self.quickRetries($0) }) { installation in
            let scene = try await PushScene(installation, phones: (0..<20).map { PushScene.phone("a1", $0) })
            let simulator = try #require(installation.simulator)
            try await simulator.post("/_script", Self.rule("DeviceTokenNotForTopic", #""share":1"#))
            let id = try await scene.publish("Whose?")
            try await eventually("Apple has refused all") {
                try await scene.stat("apns", "refused", "DeviceTokenNotForTopic") >= 20
            }
            try await simulator.post("/_script", ["rules": []])
            try await scene.untilStatuses(id, ["ACCEPTED": 20])
            #expect(try await scene.activePhones() == 20)
        }
    }

    @Test("of 1,000 phones with 300 dead each dead one is asked once and goes, and the others get everything")
    func manyDead() async throws {
        let prepare = { (installation: Installation) in
            installation.environment["TOCSIN_DEVICES_PER_OWNER"] = "1000"
        }
        try await Installation.run(prepare: prepare) { installation in
            let phones = (0..<1000).map { PushScene.phone($0 % 10 < 3 ? "dead" : "a1", $0) }
            let scene = try await PushScene(installation, phones: [])
            try await withThrowingTaskGroup { group in
                for lane in 0..<8 {
                    let client = scene.client
                    group.addTask {
                        for index in stride(from: lane, to: 1000, by: 8) {
                            try await PushScene.register(phones[index], client)
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await scene.untilStatuses(try await scene.publish("First"), ["ACCEPTED": 700, "ENDED": 300])
            #expect(try await scene.activePhones() == 700)
            try await scene.untilStatuses(try await scene.publish("Second"), ["ACCEPTED": 700])
            #expect(try await scene.stat("apns", "refused", "Unregistered") == 300)
            let screens = try await installation.simulator?.get("/_screens")
            #expect(screens?["byShown"] == ["2": 700])
        }
    }

    @Test("one phone's 429 delays no other phone, nor its own next message to others")
    func tooManyRequests() async throws {
        try await Installation.run { installation in
            let busy = PushScene.phone("429")
            let scene = try await PushScene(installation, phones: [busy, PushScene.phone("a1"), PushScene.phone("a2")])
            for title in ["First", "Second"] {
                let id = try await scene.publish(title)
                try await scene.untilStatuses(id, ["ACCEPTED": 2, "WAITING": 1])
                // Of the second the phone's rate limit says nothing: it has not been tried.
                let waiting = try await scene.deliveries(id).first { $0["status"] == "WAITING" }
                if title == "First" { #expect(waiting?["reason"] == "TooManyRequests") }
            }
        }
    }

    @Test("what has expired in the queue is never sent")
    func expired() async throws {
        try await Installation.run(prepare: { Self.quickRetries($0) }) { installation in
            let scene = try await PushScene(installation, phones: [PushScene.phone("a1")])
            let simulator = try #require(installation.simulator)
            try await simulator.post("/_outage?provider=apns&kind=unavailable")
            let end = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 4))
            let create = """
                mutation($input: CreateMessageInput!) { createMessage(input: $input) { id } }
                """
            let input: JSONValue = [
                "topicId": .string(scene.topicID), "type": 1, "title": "Stale", "body": "", "expiresAt": .string(end),
            ]
            let answer = try await scene.client.mutate(create, variables: ["input": input])
            let id = try #require(answer["createMessage"]?["id"]?.stringValue)
            try await eventually("it was tried") { try await scene.stat("apns", "refused", "ServiceUnavailable") >= 1 }
            try await scene.untilStatuses(id, ["EXPIRED": 1])
            try await simulator.post("/_outage?provider=apns&kind=none")
            // A later message goes out when the provider is asked again; the stale one
            // would have gone before it.
            try await scene.untilStatuses(try await scene.publish("Fresh"), ["ACCEPTED": 1])
            let screen = try await simulator.get("/_screen?token=\(PushScene.phone("a1"))")
            #expect(screen["shown"]?.arrayValue?.map { $0["title"] } == ["Fresh"])
        }
    }

    private static func rule(_ fault: String, _ rest: String) -> JSONValue {
        let text = #"{"rules":[{"provider":"apns","fault":"\#(fault)",\#(rest)}]}"#
        // What is wrong with it, the simulator says.
        return (try? JSONParser.parse(text)) ?? .null
    }
}
