import Foundation
import JSON
import Testing
import TocsinCore
import TocsinPush

@Suite("Payloads")
struct PayloadTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var fields: [String: FieldValue]
        var platform: PushPlatform = .ios
        var badge: Int64?
        var appID = ""
        var mayBeCritical = false
        /// The device's token; an iPhone's decides which service carries the push.
        var token = "abcd1234"
        /// What the topic says of pushes; nil: there is no topic.
        var topic: [String: FieldValue]?

        /// For an iPhone whose token is Firebase's.
        static func firebase(_ name: String, _ fields: [String: FieldValue], badge: Int64? = nil) -> Sample {
            Sample(testDescription: name + "-firebase-ios", fields: fields, badge: badge, token: "inst1:APA91b")
        }

        /// In a topic that says something of its pushes.
        static func topic(
            _ name: String,
            _ topic: [String: FieldValue],
            _ fields: [String: FieldValue],
            _ platform: PushPlatform,
            token: String = "abcd1234"
        ) -> Sample {
            let way = token.contains(":") ? "firebase-" : ""
            return Sample(
                testDescription: "topic-\(name)-\(way)\(platform)",
                fields: fields,
                platform: platform,
                token: token,
                topic: topic
            )
        }
    }

    private static let full: [String: FieldValue] = [
        "priority": .int(4), "url": .text("https://ci.example/42"),
        "data": .json("{\"branch\":\"main\",\"from\":\"x\",\"n\":7,\"type\":\"ci\"}"),
        "category": .text("BUILD"), "key": .text("build-42"), "expiresAt": .text("2026-07-25T17:30:00Z"),
        "push": .json(
            "{\"sound\":\"bell.caf\",\"badge\":3,\"mutableContent\":true,\"threadId\":\"ci\",\"channelId\":\"builds\"}"
        ),
    ]
    private static let rich: [String: FieldValue] = [
        "category": .text("ALERT"),
        "push": .json(
            """
            {"subtitle":"on main","image":"https://ci.example/42.png","relevanceScore":0.5,"interruptionLevel":"passive"}
            """
        ),
    ]
    private static let buttons: [String: FieldValue] = [
        "category": .text("ALERT"), "key": .text("k"),
        "push": .json(
            """
            {"collapse":false,"sound":"none","actions":[{"id":"OPEN","title":"Open","url":"https://ci.example/42"}]}
            """
        ),
    ]
    private static let secret: [String: FieldValue] = [
        "type": .int(2), "title": .text("U2FsdGVkX1+title"), "body": .text("U2FsdGVkX1+body"),
        "data": .json("{\"secret\":\"BEp0\",\"asub\":\"U2Fs+sub\",\"amsg\":\"U2Fs+msg\"}"),
    ]
    private static let channel: [String: FieldValue] = [
        "channelId": .text("alarms"), "interruptionLevel": .text("time-sensitive"),
    ]
    private static let placeholder: [String: FieldValue] = ["pushPlaceholder": .text("{owner} has sent you a message!")]
    private static let epns: [String: FieldValue] = [
        "pushPayload": .text("EPNS"), "pushApp": .text("Wallet"), "pushIcon": .text("https://w.example/i.png"),
        "pushUrl": .text("https://w.example"),
    ]
    private static let epnsMessage: [String: FieldValue] = [
        "type": .int(1), "url": .text("https://ci.example/42"),
        "data": .json("{\"asub\":\"Own subject\",\"branch\":\"main\"}"),
        "push": .json("{\"image\":\"https://ci.example/42.png\"}"),
    ]
    private static let siren: [String: FieldValue] = [
        "priority": .int(5), "push": .json("{\"sound\":\"siren.caf\",\"volume\":0.8}"),
    ]

    static let samples: [Sample] =
        [PushPlatform.ios, .android, .web].flatMap { platform in
            let cases: [(String, [String: FieldValue], Int64?)] = [
                ("plain", [:], nil), ("full", full, 9), ("quiet", ["priority": .int(1)], nil), ("unread", [:], 12),
                ("rich", rich, nil), ("buttons", buttons, nil), ("secret", secret, 2),
                ("silent-badge", ["push": .json("{\"silent\":true,\"badge\":0}")], 4),
                ("silent-unread", ["push": .json("{\"silent\":true}")], 4),
                ("silent", ["push": .json("{\"silent\":true}")], nil),
            ]
            return cases.map { name, fields, badge in
                Sample(testDescription: "\(name)-\(platform)", fields: fields, platform: platform, badge: badge)
            }
        } + [
            Sample(testDescription: "critical-ios", fields: siren, mayBeCritical: true),
            Sample(testDescription: "not-critical-ios", fields: siren),
            Sample(testDescription: "voip-ios", fields: full, badge: 3, appID: "com.example.app.voip"),
            .firebase("plain", [:]), .firebase("full", full, badge: 9), .firebase("unread", [:], badge: 12),
            .firebase("rich", rich), .firebase("secret", secret), .firebase("buttons", buttons),
            .firebase("silent", ["push": .json("{\"silent\":true}")]),
            .topic("channel", channel, [:], .android), .topic("channel", channel, [:], .ios),
            .topic("own-level", channel, rich, .ios),
            .topic("placeholder", placeholder, secret, .android), .topic("placeholder", placeholder, secret, .ios),
            .topic("epns", epns, epnsMessage, .android), .topic("epns", epns, epnsMessage, .ios),
            .topic("epns", epns, epnsMessage, .ios, token: "inst1:APA91b"),
            .topic("epns-secret", ["pushPayload": .text("EPNS")], secret, .android),
            .topic("epns-secret", ["pushPayload": .text("EPNS")], secret, .web),
            .firebase("silent-unread", ["push": .json("{\"silent\":true}")], badge: 4),
        ]

    private static let content = PushContent(
        categories: [
            NotificationCategory(
                id: "ALERT",
                actions: [
                    NotificationAction(id: "ACK", title: "Acknowledge", options: [.authenticationRequired]),
                    NotificationAction(
                        id: "REPLY",
                        title: "Reply",
                        textInput: NotificationAction.TextInput(buttonTitle: "Send", placeholder: "Message")
                    ),
                ]
            )
        ],
        cursor: { "cursor-of-\($0["topicId"].text ?? "")-\($0["number"].int ?? 0)" }
    )

    private func sent(_ fields: [String: FieldValue], _ platform: PushPlatform) async throws -> ScriptedTransport.Sent {
        try await sent(Sample(testDescription: "", fields: fields, platform: platform))
    }

    private func sent(_ sample: Sample) async throws -> ScriptedTransport.Sent {
        let providers = TestProviders(mayBeCritical: sample.mayBeCritical)
        let payload = PushPayload(
            message: TestModels().message("m1", sample.fields),
            topic: sample.topic.map { TestModels().topic("topic-1", $0) },
            content: sample.testDescription.isEmpty ? PushContent() : Self.content
        )
        let device = Device.sample("d", token: sample.token, platform: sample.platform)
        _ = await providers.provider(PushService(reaching: device)).results(
            payload,
            to: [sample.token],
            platform: sample.platform,
            appID: sample.appID,
            badges: sample.badge.map { [sample.token: $0] } ?? [:]
        )
        return try #require(providers.transport.sent.first)
    }

    @Test("requests are what the providers' documents ask for", arguments: samples)
    func golden(_ sample: Sample) async throws {
        let sent = try await sent(sample)
        var lines = ["POST \(sent.batch.pool.origin)\(sent.request.path)"]
        for header in (sent.batch.sharedHeaders + sent.request.headers).sorted(by: { $0.name < $1.name }) {
            lines.append("\(header.name): \(header.name == "authorization" ? "…" : header.value)")
        }
        let body = try JSONSerialization.jsonObject(with: Data(sent.request.body))
        let pretty = try JSONSerialization.data(
            withJSONObject: body,
            options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        )
        lines += ["", String(decoding: pretty, as: UTF8.self), ""]
        try expectGolden(lines.joined(separator: "\n"), sample.testDescription + ".txt")
    }

    @Test(
        "a long body is cut at a character's border with an ellipsis and fills the payload",
        arguments: [PushPlatform.ios, .android],
        ["x", "é", "👩‍👩‍👧‍👦", "\"", "\n", "漢"]
    )
    func longBody(_ platform: PushPlatform, _ unit: String) async throws {
        let body = String(repeating: unit, count: 8000)
        let sent = try await sent(["body": .text(body)], platform)
        #expect(sent.request.body.count <= 4096 + "abcd1234".count + 2)
        #expect(sent.request.body.count > 4096 - 60)
        let kept = try #require(Self.shown(sent, platform))
        #expect(kept.body.last == "…")
        #expect(kept.body.dropLast().allSatisfy { $0 == Character(unit) })
        #expect(kept.title == "Build failed")
    }

    @Test(
        "when the rest leaves no room the title is cut, and at last only ids and texts go",
        arguments: [PushPlatform.ios, .android]
    )
    func longTitle(_ platform: PushPlatform) async throws {
        let sent = try await sent(["title": .text(String(repeating: "t", count: 5000))], platform)
        let kept = try #require(Self.shown(sent, platform))
        #expect(kept.title.hasSuffix("t…") && kept.body.isEmpty)
        let large = "{\"k\":\"" + String(repeating: "v", count: 6000) + "\"}"
        let idsOnly = try await self.sent(["data": .json(large)], platform)
        #expect(!idsOnly.text.contains("vvv"))
        #expect(idsOnly.text.contains("\"messageId\":\"m1\"") && idsOnly.text.contains("main is red"))
    }

    private static func shown(_ sent: ScriptedTransport.Sent, _ platform: PushPlatform) -> (
        title: String, body: String
    )? {
        guard let body = try? JSONParser.parse(sent.request.body) else { return nil }
        let shown = platform == .ios ? body["aps"]?["alert"] : body["message"]?["notification"]
        return (shown?["title"]?.stringValue ?? "", shown?["body"]?.stringValue ?? "")
    }

    @Test("a character of absurd length is cut inside, and quickly")
    func absurdCharacter() async throws {
        let body = "e" + String(repeating: "\u{301}", count: 4000)
        let clock = ContinuousClock()
        let start = clock.now
        let sent = try await sent(["body": .text(body)], .ios)
        #expect(clock.now - start < .seconds(2))
        #expect(sent.request.body.count <= 4096)
        #expect(Self.shown(sent, .ios)?.body.hasSuffix("…") == true)
    }

    @Test("the provider forgets a push when the message expires, or six hours after it")
    func expiry() async throws {
        let usual = try await sent([:], .ios)
        #expect(usual.header("apns-expiration") == String(1_785_000_000 + 21_600))
        let early = try await sent(["expiresAt": .text("2026-07-25T19:30:00+02:00")], .ios)
        #expect(early.header("apns-expiration") == "1785000600")
        let android = try await sent(["expiresAt": .text("2026-07-25T17:30:00.5Z")], .android)
        #expect(android.text.contains("\"ttl\":\"600s\""))
    }
}
