import Foundation
import JSON
import Testing
import TocsinClient

@Suite("What a topic says of its pushes, end to end", .timeLimit(.minutes(5)))
struct TopicPushDefaultsTests {
    private static let iPhone = PushScene.phone("ab")
    private static let android = "phone-of-ada:APA91b"

    @Test("A17, S12, C8, C9, C10, C11: a topic's channel, level, placeholder and wallet payload reach both phones")
    func topics() async throws {
        try await Installation.run { installation in
            let scene = try await PushScene(installation, phones: [Self.iPhone, Self.android])
            let alarms = try await make(scene, ["channelId": "alarms", "interruptionLevel": "time-sensitive"])
            let (apple, google) = try await pushed(scene, ["topicId": alarms, "title": "Fire", "type": 0])
            #expect(google?["android"]?["notification"]?["channel_id"] == "alarms", "\(google ?? .null)")
            #expect(apple?["aps"]?["interruption-level"] == "time-sensitive", "\(apple ?? .null)")
            let own: JSONValue = ["channelId": "calm", "interruptionLevel": "passive"]
            let (appleOwn, googleOwn) = try await pushed(
                scene,
                ["topicId": alarms, "title": "Tea", "type": 0, "push": own]
            )
            #expect(googleOwn?["android"]?["notification"]?["channel_id"] == "calm")
            #expect(appleOwn?["aps"]?["interruption-level"] == "passive")

            let wallet = try await make(
                scene,
                [
                    "pushPlaceholder": "{owner} has sent you a message!", "pushPayload": "EPNS", "pushApp": "Wallet",
                    "pushIcon": "https://w.example/i.png", "pushUrl": "https://w.example",
                ]
            )
            let cipher = "{\"secret\":\"0a1b\",\"asub\":\"U2Fs+sub\",\"amsg\":\"U2Fs+msg\"}"
            let (appleSecret, googleSecret) = try await pushed(
                scene,
                ["topicId": wallet, "title": "U2Fs+title", "body": "U2Fs+body", "type": 2, "data": .string(cipher)]
            )
            #expect(appleSecret?["aps"]?["alert"]?["title"] == "ada has sent you a message!")
            #expect(appleSecret?["aps"]?["mutable-content"] == 1)
            #expect(googleSecret?["notification"]?["title"] == "ada has sent you a message!")
            for keys in [appleSecret, googleSecret?["data"]] { Self.expectWallet(keys) }
        }
    }

    /// The eleven keys of the wallet's app.
    private static func expectWallet(_ keys: JSONValue?) {
        let expected: JSONObject = [
            "app": "Wallet", "icon": "https://w.example/i.png", "url": "https://w.example", "type": "2",
            "secret": "0a1b", "asub": "U2Fs+sub", "amsg": "U2Fs+msg", "acta": "", "aimg": "",
        ]
        for member in expected { #expect(keys?[member.key] == member.value, "\(member.key): \(keys ?? .null)") }
        #expect(keys?["sid"]?.stringValue == keys?["messageId"]?.stringValue)
        let epoch = keys?["epoch"]?.stringValue.flatMap { Double($0) } ?? 0
        #expect(abs(epoch - Date().timeIntervalSince1970) < 600, "\(epoch)")
    }

    private func make(_ scene: PushScene, _ members: JSONObject) async throws -> JSONValue {
        var input: JSONObject = ["name": .string("topic \(members.count)")]
        for member in members { input[member.key] = member.value }
        let create = "mutation($i: CreateTopicInput!) { createTopic(input: $i) { id } }"
        return try await scene.client.query(create, variables: ["i": .object(input)])["createTopic"]?["id"] ?? .null
    }

    /// Publishes, and answers Apple's payload and Firebase's message of it.
    private func pushed(
        _ scene: PushScene,
        _ input: JSONObject
    ) async throws -> (apple: JSONValue?, google: JSONValue?) {
        var input = input
        input["body"] = input["body"] ?? ""
        let create = "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }"
        let made = try await scene.client.query(create, variables: ["i": .object(input)])["createMessage"]
        try await scene.untilStatuses(made?["id"]?.stringValue ?? "", ["ACCEPTED": 2])
        let pushes = try await scene.installation.simulator?.pushes() ?? []
        func last(_ token: String) -> JSONValue? { pushes.last { $0.token == token }?.record["payload"] }
        return (last(Self.iPhone), last(Self.android)?["message"])
    }
}
