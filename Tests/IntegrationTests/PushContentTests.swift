import Foundation
import JSON
import Testing
import TocsinClient

@Suite("What phones get, end to end", .timeLimit(.minutes(5)))
struct PushContentTests {
    @Test("a service's push reaches a user's phones and nobody else's, with buttons and data; its ledger says so")
    func directPush() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            try await installation.administer(["user", "add", "backend"])
            let token = try await installation.makeToken(user: "backend", ["--push"])
            let ada = try await installation.curl("{ me { userId } }", token: scene.ada)
            let user = ada["data"]?["me"]?["userId"] ?? .null
            let push = """
                mutation($u: ID!, $d: AWSJSON) {
                  sendPush(userId: $u, tokens: ["00ff00ff"], title: "Task due", body: "Sink", category: "TASK_ACTIONABLE",
                    data: $d, push: { image: "https://img.example/sink.png" }) { messageId devices unknownTokens } }
                """
            let data: JSONValue = "{\"task\":\"7\",\"type\":\"due\"}"
            let answer = try await installation.curl(push, ["u": user, "d": data], token: token)
            #expect(answer["data"]?["sendPush"]?["devices"] == 3, "\(answer)")
            #expect(answer["data"]?["sendPush"]?["unknownTokens"] == 1, "\(answer)")
            let id = answer["data"]?["sendPush"]?["messageId"]?.stringValue ?? ""
            try await eventually("all are accepted") {
                let summary = try await installation.curl(
                    "{ getMessage(id: \"\(id)\") { deliverySummary { accepted skipped waiting } } }",
                    token: token
                )
                let counts = summary["data"]?["getMessage"]?["deliverySummary"]
                return counts == ["accepted": 3, "skipped": 1, "waiting": 0]
            }
            let pushes = try await installation.simulator?.pushes().filter(\.isAccepted) ?? []
            #expect(Set(pushes.map(\.token)) == Set(Phone.ofAda) && pushes.count == 3, "\(pushes)")
            for push in pushes { Self.expectContent(push) }
            // Bob may not do the same to ada.
            let refused = try await installation.curl(push, ["u": user, "d": data], token: scene.bob)
            #expect(refused["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED", "\(refused)")
        }
    }

    private static func expectContent(_ push: SeenPush) {
        let payload = push.record["payload"]
        if push.token == Phone.android {
            let message = payload?["message"]
            #expect(message?["android"]?["notification"]?["click_action"] == "TASK_ACTIONABLE")
            #expect(message?["notification"]?["image"] == "https://img.example/sink.png")
            #expect(message?["data"]?["task"] == "7" && message?["data"]?["data.type"] == "due", "\(push.record)")
            let actions = message?["data"]?["actions"]?.stringValue ?? ""
            #expect(actions.contains("COMPLETE") && actions.contains("\"authenticationRequired\":true"), "\(actions)")
        } else {
            #expect(payload?["aps"]?["category"] == "TASK_ACTIONABLE" && payload?["aps"]?["mutable-content"] == 1)
            #expect(payload?["image"] == "https://img.example/sink.png")
            #expect(payload?["data"] == ["task": "7", "type": "due"], "\(push.record)")
        }
    }

    @Test("ciphertext reaches the app untouched behind a placeholder, and stands in no log")
    func encrypted() async throws {
        try await Installation.run(prepare: { $0.options = ["--push-placeholder-title", "Something new"] }) {
            installation in
            let scene = try await Scene(installation)
            let secret = "U2FsdGVkX1+4aGVsbG8gd29ybGQ="
            let data = JSONValue.object(["secret": .string(secret), "amsg": .string(secret)]).serializedString()
            let create = "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }"
            let input: JSONValue = [
                "topicId": .string(scene.topicID), "type": 2, "title": .string(secret), "body": .string(secret),
                "data": .string(data),
            ]
            let answer = try await installation.curl(create, ["i": input], token: scene.ada)
            #expect(answer["errors"] == nil, "\(answer)")
            let pushes = try await scene.untilDelivered(1)
            #expect(pushes.count == 3)
            for push in pushes {
                let payload = push.record["payload"]
                let android = payload?["message"]?["data"]
                let cipher = push.token == Phone.android ? android?["amsg"] : payload?["data"]?["amsg"]
                #expect(cipher == .string(secret), "\(push.record)")
                #expect(payload?["message"]?["notification"] == nil)
                guard push.token != Phone.android else { continue }
                #expect(push.title == "Something new" && push.body == "Open the app to read it.")
            }
            #expect(!installation.log.contains("U2Fs"))
        }
    }

    @Test("badges count what is unread, and a silent correction only sets them")
    func badges() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.ada)
            let first = try await client.publish(topic: .id(scene.topicID), title: "First")
            #expect(first.number == 1)
            let mark = try await installation.curl("mutation { markRead { unread } }", token: scene.ada)
            #expect(mark["data"]?["markRead"]?["unread"] == 0, "\(mark)")
            _ = try await client.publish(topic: .id(scene.topicID), title: "Second")
            _ = try await scene.untilDelivered(2)
            let create = "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }"
            let input: JSONValue = [
                "topicId": .string(scene.topicID), "type": 1, "title": "Third", "body": "", "push": ["silent": true],
            ]
            _ = try await installation.curl(create, ["i": input], token: scene.ada)
            let pushes = try await scene.untilDelivered(3)
            let apples = pushes.filter { $0.token == Phone.firstIOS }.map { $0.record["payload"]?["aps"] }
            #expect(apples.map { $0?["badge"] } == [nil, 1, 2], "\(apples)")
            #expect(apples.last == ["badge": 2])
            let android = pushes.filter { $0.token == Phone.android }.map { $0.record["payload"]?["message"] }
            #expect(android.map { $0?["android"]?["notification"]?["notification_count"] } == [nil, 1, nil])
            #expect(android.last??["data"]?["badge"] == "2", "\(android)")
        }
    }

    @Test("a wrong categories file stops the start and says where")
    func wrongCategories() async throws {
        try await Installation.run { installation in
            let file = installation.folder + "/categories.json"
            try Data("{\"categories\":[{\"id\":\"A\",\"actions\":[]}]}".utf8).write(to: URL(filePath: file))
            let result = try await TestBinary.run(
                ["serve", "--port", "0", "--data-dir", installation.folder + "/other", "--categories", file],
                folder: installation.folder
            )
            #expect(result.status == 1)
            #expect(
                result.errors.contains("categories[0].actions must be a list of 1 to 8 buttons"),
                "\(result.errors)"
            )
        }
    }
}
