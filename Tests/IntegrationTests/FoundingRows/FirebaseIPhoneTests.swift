import Foundation
import JSON
import Testing
import TocsinClient

@Suite("iPhones through Firebase", .timeLimit(.minutes(5)))
struct FirebaseIPhoneTests {
    /// The ways in, each with the token that it brings.
    private static let routes: [(path: String, body: JSONObject, token: String)] = [
        ("/tcm/register-device-token", ["device_token": "tcm:APA91b", "platform": "ios"], "tcm:APA91b"),
        ("/tcm/register-device-token", ["device_token": "unsaid:APA91b"], "unsaid:APA91b"),
        ("/api/notifications/register", ["fcm_token": "pong:APA91b", "platform": "ios"], "pong:APA91b"),
        ("/api/push/gcm/", ["registration_id": "gcm:APA91b", "platform": "ios"], "gcm:APA91b"),
        ("/api/push/apns/", ["registration_id": "apple:APA91b"], "apple:APA91b"),
        ("/api/push/gcm/", ["registration_id": "routed-fid", "kind": "fid", "platform": "ios"], "routed-fid"),
    ]
    private static let tokens = Set(routes.map(\.token) + ["graphql:APA91b", "cQ9x-installation"])

    @Test("E5, E14: an iPhone registered with an FCM token gets a message with an apns part")
    func iPhones() async throws {
        try await Installation.run { installation in
            let scene = try await PushScene(installation, phones: [])
            try await Self.register(scene, token: try await installation.makeToken(user: "ada"))
            let push: JSONValue = ["sound": "bell.caf", "badge": 3, "threadId": "ci", "interruptionLevel": "passive"]
            let input: JSONValue = [
                "topicId": .string(scene.topicID), "type": 7, "title": "Build failed", "body": "main is red",
                "category": "BUILD", "key": "build-42", "data": "{\"branch\":\"main\"}", "push": push,
            ]
            let create = "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }"
            let made = try await scene.client.query(create, variables: ["i": input])["createMessage"]
            let id = made?["id"]?.stringValue ?? ""
            try await scene.untilStatuses(id, ["ACCEPTED": Self.tokens.count + 1])
            let pushes = try await installation.simulator?.pushes() ?? []
            let apple = pushes.filter { $0.record["provider"] == "apns" }
            #expect(apple.map(\.token) == [PushScene.phone("ab")], "Apple's own token goes to Apple")
            let google = pushes.filter { $0.record["provider"] == "fcm" }
            #expect(Set(google.map(\.token)) == Self.tokens, "\(google)")
            for push in google { Self.expectContent(push.record["payload"]?["message"]) }
            let screen = try await installation.simulator?.get("/_screen?token=graphql:APA91b")
            #expect(screen?["shown"]?[0]?["title"] == "Build failed" && screen?["badge"] == 3, "\(screen ?? .null)")
        }
    }

    private static func register(_ scene: PushScene, token: String) async throws {
        _ = try await scene.client.registerPushToken(DeviceRegistration(token: "graphql:APA91b", platform: "ios"))
        let byID = try await scene.client.query(
            "mutation { registerPushToken(token: \"cQ9x-installation\", platform: \"ios\", kind: \"fid\") { userId } }"
        )
        #expect(byID["registerPushToken"]?["userId"] != nil)
        for route in routes {
            let json = ["--header", "Content-Type: application/json"]
            let body = ["--data-binary", JSONValue.object(route.body).serializedString()]
            let answer = try await scene.installation.http(route.path, token: token, json + body)
            #expect([200, 201].contains(answer.status), "\(route.path): \(answer.body)")
        }
        try await PushScene.register(PushScene.phone("ab"), scene.client)
    }

    private static func expectContent(_ message: JSONValue?) {
        let apple = message?["apns"]
        let headers = apple?["headers"]
        #expect(headers?["apns-push-type"] == "alert" && headers?["apns-priority"] == "10", "\(message ?? .null)")
        #expect(headers?["apns-collapse-id"] != nil && headers?["apns-expiration"] != nil)
        let aps = apple?["payload"]?["aps"]
        #expect(aps?["alert"] == ["title": "Build failed", "body": "main is red"])
        #expect(aps?["sound"] == "bell.caf" && aps?["badge"] == 3 && aps?["category"] == "BUILD")
        #expect(aps?["thread-id"] == "ci" && aps?["interruption-level"] == "passive")
        #expect(apple?["payload"]?["type"] == 7 && apple?["payload"]?["data"] == ["branch": "main"])
        #expect(message?["data"]?["branch"] == "main" && message?["data"]?["type"] == "7")
        // What an Android shows that did not say what it is.
        #expect(message?["notification"] == ["title": "Build failed", "body": "main is red"])
        #expect(message?["android"]?["notification"]?["tag"] == headers?["apns-collapse-id"])
        #expect(message?["android"]?["notification"]?["sound"] == "bell.caf")
    }
}
