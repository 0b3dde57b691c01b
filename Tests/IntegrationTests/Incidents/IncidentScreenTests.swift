import Foundation
import JSON
import Testing
import TocsinClient

@Suite("What phones show of incidents", .timeLimit(.minutes(5)))
struct IncidentScreenTests {
    /// Ada, her phones and a way in, in front of the simulator.
    private struct Stage {
        let scene: ReceiverScene
        let way: ReceiverScene.Way
        var installation: Installation { scene.installation }

        init(_ installation: Installation, _ phones: [String], _ more: JSONObject = [:]) async throws {
            scene = try await ReceiverScene(installation)
            way = try await scene.way("EVENT", more)
            let client = try installation.makeClient(token: scene.ada)
            for phone in phones { try await PushScene.register(phone, client, name: "iPhone") }
        }

        func say(
            _ action: String,
            _ title: String = "Disk full",
            key: String = "db-1",
            severity: String = "critical"
        ) async throws {
            let body =
                #"{"action":"\#(action)","key":"\#(key)","title":"\#(title)","body":"91 %","severity":"\#(severity)"}"#
            let answer = try await scene.post("/in/\(way.key)", body)
            guard (200..<300).contains(answer.status) else { throw HarnessFailure(answer.body) }
        }

        func act(_ arguments: String...) async throws {
            let answer = try await installation.tocsin(arguments, token: scene.ada)
            guard answer.status == 0 else { throw HarnessFailure(answer.errors) }
        }

        /// What a phone shows: titles and bodies.
        func shown(_ phone: String) async throws -> [String] {
            let screen = try await installation.simulator?.get("/_screen?token=\(phone)")
            return (screen?["shown"]?.arrayValue ?? []).map {
                "\($0["title"]?.stringValue ?? "") | \($0["body"]?.stringValue ?? "")"
            }
        }

        func untilShown(_ phone: String, _ text: String) async throws {
            var seen: [String] = []
            do {
                try await eventually("the phone shows \(text)") {
                    seen = (try? await shown(phone)) ?? []
                    return seen.contains { $0.contains(text) }
                }
            } catch {
                throw HarnessFailure("\(error) It shows \(seen).")
            }
        }

        /// Why bob's phone did what it did with a message.
        func why(_ message: String) async throws -> String {
            let me = try await installation.curl("{ me { userId } }", token: scene.bob)
            let query = "query($m: ID!, $u: ID!) { explainDelivery(messageId: $m, userId: $u) { gates { sentence } } }"
            let variables: JSONObject = ["m": .string(message), "u": me["data"]?["me"]?["userId"] ?? .null]
            let answer = try await installation.curl(query, variables, token: scene.bob)
            return answer.serializedString()
        }

        /// The accepted pushes to a phone of Apple's, in the order of sending.
        func pushes(to phone: String) async throws -> [JSONValue] {
            let pushes = try await installation.simulator?.pushes() ?? []
            return pushes.filter { $0.isAccepted && $0.token == phone }.map(\.record)
        }

        /// The deliveries of the messages of a change, as `status reason`.
        func deliveries(_ change: String) async throws -> [String] {
            let query = """
                query($id: ID!) { getMessageByTopicIdAndCreatedAt(topicId: $id, limit: 100) {
                    items { incidentChange deliveries(limit: 100) { items { status reason } } } } }
                """
            let answer = try await installation.curl(query, ["id": .string(scene.topicID)], token: scene.ada)
            let items = answer["data"]?["getMessageByTopicIdAndCreatedAt"]?["items"]?.arrayValue ?? []
            return items.filter { $0["incidentChange"]?.stringValue == change }
                .flatMap { $0["deliveries"]?["items"]?.arrayValue ?? [] }
                .map { "\($0["status"]?.stringValue ?? "") \($0["reason"]?.stringValue ?? "-")" }
        }
    }

    private static func aps(_ push: JSONValue?) -> JSONValue? { push?["payload"]?["aps"] }

    @Test("one notification an incident: it rings when it opens, and is replaced quietly when it is answered and over")
    func oneNotification() async throws {
        try await Installation.run { installation in
            let stage = try await Stage(installation, [Phone.firstIOS, Phone.android])
            try await stage.say("trigger")
            for phone in [Phone.firstIOS, Phone.android] { try await stage.untilShown(phone, "Disk full | 91 %") }
            try await stage.act("ack", "alerts#1", "--on", "laptop")
            for phone in [Phone.firstIOS, Phone.android] {
                try await stage.untilShown(phone, "Acknowledged by ada (laptop)")
            }
            try await stage.say("resolve")
            for phone in [Phone.firstIOS, Phone.android] {
                try await stage.untilShown(phone, "Resolved after")
                #expect(try await stage.shown(phone).count == 1, "one notification on \(phone)")
            }
            let pushes = try await stage.pushes(to: Phone.firstIOS)
            #expect(pushes.count == 3, "\(pushes)")
            let keys = Set(pushes.map { $0["headers"]?["apns-collapse-id"]?.stringValue ?? "none" })
            #expect(keys.count == 1 && !keys.contains("none"), "\(keys)")
            let levels = pushes.map { Self.aps($0)?["interruption-level"]?.stringValue ?? "" }
            #expect(levels.dropFirst() == ["passive", "passive"] && levels.first != "passive", "\(levels)")
            let sounds = pushes.map { Self.aps($0)?["sound"] ?? .null }
            #expect(sounds[0] != .null && sounds[1] == .null && sounds[2] == .null, "\(sounds)")
            let categories = pushes.map { Self.aps($0)?["category"]?.stringValue ?? "-" }
            #expect(categories == ["INCIDENT", "INCIDENT_ACKNOWLEDGED", "-"], "\(categories)")
            let states = pushes.map { "\($0)".contains("incidentState") }
            #expect(states == [true, true, true], "data says where it stands")
        }
    }

    @Test("two incidents are two notifications, and a second phone that came later hears of the next one only")
    func apart() async throws {
        try await Installation.run { installation in
            let stage = try await Stage(installation, [Phone.firstIOS])
            try await stage.say("trigger", "Disk full", key: "db-1")
            try await stage.untilShown(Phone.firstIOS, "Disk full")
            try await PushScene.register(Phone.secondIOS, try installation.makeClient(token: stage.scene.ada))
            try await stage.say("trigger", "Disk slow", key: "db-2")
            try await stage.untilShown(Phone.secondIOS, "Disk slow")
            try await stage.act("ack", "alerts#1")
            try await stage.untilShown(Phone.firstIOS, "Acknowledged by ada")
            try await stage.act("resolve", "alerts#2")
            try await stage.untilShown(Phone.secondIOS, "Resolved after")
            #expect(try await stage.shown(Phone.firstIOS).count == 2)
            #expect(try await stage.shown(Phone.secondIOS).count == 1)
            let left = try await stage.deliveries("ACKNOWLEDGED")
            #expect(left.sorted() == ["ACCEPTED -", "SKIPPED INCIDENT_UNSEEN"], "\(left)")
        }
    }

    @Test("how the end is told follows the integration: aloud, quietly, or not at all", arguments: ["LOUD", "NONE"])
    func ends(_ loudness: String) async throws {
        try await Installation.run { installation in
            let more: JSONObject = ["notifyResolved": .string(loudness)]
            let stage = try await Stage(installation, [Phone.firstIOS], more)
            try await stage.say("trigger")
            try await stage.untilShown(Phone.firstIOS, "91 %")
            try await stage.say("resolve")
            if loudness == "LOUD" {
                try await stage.untilShown(Phone.firstIOS, "Resolved after")
                let last = try await stage.pushes(to: Phone.firstIOS).last
                #expect(Self.aps(last)?["sound"] != nil, "\(last ?? .null)")
            } else {
                // What comes after it has come, so it would have.
                try await stage.say("trigger", "Next", key: "db-2")
                try await stage.untilShown(Phone.firstIOS, "Next")
                #expect(try await stage.pushes(to: Phone.firstIOS).count == 2)
                #expect(try await stage.shown(Phone.firstIOS).contains("Disk full | 91 %"))
            }
        }
    }

    @Test("what waits to tell of a change ends when the next one comes, so that phones show the last")
    func overtaken() async throws {
        try await Installation.run { installation in
            let stage = try await Stage(installation, [Phone.firstIOS])
            try await stage.say("trigger")
            try await stage.untilShown(Phone.firstIOS, "91 %")
            try await installation.simulator?.post("/_outage?provider=apns&kind=unavailable")
            try await stage.act("ack", "alerts#1")
            try await eventually("the acknowledgement waits for another attempt") {
                try await stage.deliveries("ACKNOWLEDGED").first?.hasPrefix("WAITING") == true
            }
            try await stage.say("resolve")
            try await installation.simulator?.post("/_outage?provider=apns&kind=none")
            try await stage.untilShown(Phone.firstIOS, "Resolved after")
            try await eventually("the acknowledgement has ended") {
                try await stage.deliveries("ACKNOWLEDGED") == ["ENDED INCIDENT_ANSWERED"]
            }
            #expect(try await stage.shown(Phone.firstIOS).count == 1)
        }
    }

    @Test("what waits to tell of an answer does not come over the ring of a raised priority")
    func raised() async throws {
        try await Installation.run { installation in
            let stage = try await Stage(installation, [Phone.firstIOS])
            try await stage.say("trigger", severity: "warning")
            try await stage.untilShown(Phone.firstIOS, "91 %")
            try await installation.simulator?.post("/_outage?provider=apns&kind=unavailable")
            try await stage.act("snooze", "alerts#1", "1h")
            try await eventually("the word of the snooze waits for another attempt") {
                try await stage.deliveries("SNOOZED").first?.hasPrefix("WAITING") == true
            }
            try await stage.say("trigger", severity: "critical")
            try await installation.simulator?.post("/_outage?provider=apns&kind=none")
            try await eventually("the raised priority rings") {
                try await stage.deliveries("RAISED") == ["ACCEPTED -"]
            }
            try await eventually("the snooze has ended") {
                try await stage.deliveries("SNOOZED") == ["ENDED INCIDENT_ANSWERED"]
            }
            #expect(Self.aps(try await stage.pushes(to: Phone.firstIOS).last)?["sound"] != nil)
        }
    }

    @Test("what waits to ring when somebody answers ends, and never rings")
    func withdrawn() async throws {
        try await Installation.run { installation in
            let stage = try await Stage(installation, [Phone.firstIOS, Phone.secondIOS])
            try await installation.simulator?.post("/_outage?provider=apns&kind=unavailable")
            try await stage.say("trigger")
            try await eventually("the pushes wait for another attempt") {
                let rows = try await stage.deliveries("OPENED")
                return rows.count == 2 && rows.allSatisfy { $0.hasPrefix("WAITING") }
            }
            try await stage.act("ack", "alerts#1")
            let rows = try await stage.deliveries("OPENED")
            #expect(rows == ["ENDED INCIDENT_ANSWERED", "ENDED INCIDENT_ANSWERED"], "in the acknowledge's transaction")
            try await installation.simulator?.post("/_outage?provider=apns&kind=none")
            try await stage.say("trigger", "Next", key: "db-2")
            try await stage.untilShown(Phone.firstIOS, "Next")
            #expect(try await stage.shown(Phone.firstIOS).allSatisfy { !$0.contains("Disk full") })
        }
    }

    @Test("a priority that is raised after an acknowledgement rings for who acknowledged, or for all who are left")
    func raisedAfterAnswer() async throws {
        try await Installation.run { installation in
            let stage = try await Stage(installation, [Phone.firstIOS])
            let (topic, ada) = (stage.scene.topicID, stage.scene.ada)
            try await installation.share(topic, with: ["user": "bob"], as: ["READER"], token: ada)
            let bob = try installation.makeClient(token: stage.scene.bob)
            try await PushScene.register(Phone.secondIOS, bob, name: "bob's")
            let join = "mutation($t: ID!) { subscribeToTopic(topicId: $t) { push } }"
            _ = try await bob.query(join, variables: ["t": .string(stage.scene.topicID)])
            for (number, isAway) in [false, true].enumerated() {
                let key = "db-\(number)"
                try await stage.say("trigger", "Slow", key: key, severity: "warning")
                try await stage.untilShown(Phone.secondIOS, "Slow")
                try await stage.act("ack", "alerts#\(number + 1)")
                try await eventually("all have heard of it") {
                    try await stage.deliveries("ACKNOWLEDGED").count { $0 == "ACCEPTED -" } == 2 * (number + 1)
                }
                if isAway {
                    let client = try installation.makeClient(token: stage.scene.ada)
                    let mute = "mutation($t: ID!) { subscribeToTopic(topicId: $t, push: false) { push } }"
                    _ = try await client.query(mute, variables: ["t": .string(stage.scene.topicID)])
                }
                try await stage.say("trigger", "Full", key: key, severity: "critical")
                try await eventually("all have it") {
                    try await stage.deliveries("RAISED").count { $0 == "ACCEPTED -" } == (isAway ? 3 : 2)
                }
                let (ada, bobs) = (
                    try await stage.pushes(to: Phone.firstIOS).last, try await stage.pushes(to: Phone.secondIOS).last
                )
                if !isAway { #expect(Self.aps(ada)?["sound"] != nil, "\(ada ?? .null)") }
                let why = try await stage.why(bobs?["payload"]?["messageId"]?.stringValue ?? "")
                #expect(why.contains("shown here without a sound"), "\(why)")
                #expect((Self.aps(bobs)?["sound"] != nil) == isAway, "\(bobs ?? .null)")
                #expect((Self.aps(bobs)?["interruption-level"] != "passive") == isAway, "\(bobs ?? .null)")
            }
        }
    }
}
