import Foundation
import JSON
import Testing
import TocsinClient

/// The phones of the tests; tokens of the simulator's that meet no scripted fault.
enum Phone {
    static let firstIOS = String(repeating: "a1", count: 32)
    static let secondIOS = String(repeating: "a2", count: 32)
    static let android = "phone-of-ada:APA91b-0123456789"
    static let ofBob = String(repeating: "b1", count: 32)
    static let ofAda = [firstIOS, secondIOS, android]
}

@Suite("A message's way from request to phone", .timeLimit(.minutes(5)))
struct DeliveryTests {
    private static let create = """
        mutation Create($input: CreateMessageInput!) { createMessage(input: $input) { id number cursor } }
        """

    @Test("two publishers, two subscribers, three phones: everything arrives once, where it belongs")
    func arrivesOnce() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let adas = Follower(try installation.makeClient(token: scene.ada), topicID: scene.topicID)
            let bobsClient = try installation.makeClient(token: scene.bob)
            let bobsTopic = try await bobsClient.makeTopic(named: "bobs")
            let all = "subscription { onCreateMessage { title } }"
            let bobs = Listener(bobsClient, all, field: "onCreateMessage")
            try await adas.untilLive()
            try await bobs.untilLive()

            let input: JSONValue = ["topicId": .string(scene.topicID), "type": 1, "title": "By curl", "body": "One"]
            let answer = try await installation.curl(Self.create, ["input": input], token: scene.ada)
            #expect(answer["data"]?["createMessage"]?["number"] == 1)
            let published = try await installation.tocsin(
                ["publish", "alerts", "--title", "By command", "--body", "Two"],
                token: scene.ada
            )
            #expect(published.status == 0, "\(published.errors)")
            #expect(published.output.hasSuffix(" 2\n"))

            try await eventually("both messages on ada's socket") { adas.messages.count == 2 }
            #expect(adas.messages.map(\.title) == ["By curl", "By command"])
            #expect(adas.messages.map(\.number) == [1, 2])

            let pushes = try await scene.untilDelivered(2)
            let seen = pushes.map { [$0.token, $0.title, $0.body] }
            let expected = Phone.ofAda.flatMap { [[$0, "By curl", "One"], [$0, "By command", "Two"]] }
            #expect(Set(seen) == Set(expected))
            #expect(seen.count == expected.count, "\(pushes)")
            // Bob's own message comes after ada's in the server's order: when it
            // is there, hers would be.
            _ = try await bobsClient.publish(topic: .id(bobsTopic), title: "Bob's own")
            try await eventually("bob's own message on his socket") { !bobs.events.isEmpty }
            #expect(bobs.events == [["title": "Bob's own"]])
            adas.stop()
            bobs.stop()
        }
    }

    @Test("what was answered survives a kill -9 at once: message, push and live feed")
    func survivesKill() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let follower = Follower(try installation.makeClient(token: scene.ada), topicID: scene.topicID)
            try await follower.untilLive()
            for round in 1...3 {
                let input: JSONValue = [
                    "id": .string("message-\(round)"), "topicId": .string(scene.topicID), "type": 1,
                    "title": .string("Round \(round)"), "body": "Kept",
                ]
                let answer = try await installation.curl(Self.create, ["input": input], token: scene.ada)
                #expect(answer["data"]?["createMessage"]?["number"] == .int(Int64(round)), "\(answer)")
                try await installation.killAndRestartServer()
                // A publisher that did not see the answer sends the same again.
                let repeated = try await installation.curl(Self.create, ["input": input], token: scene.ada)
                #expect(repeated["data"]?["createMessage"] == answer["data"]?["createMessage"], "\(repeated)")
            }
            try await eventually("all messages on the socket") { follower.messages.count == 3 }
            #expect(follower.messages.map(\.number) == [1, 2, 3])
            follower.stop()

            let pushes = try await scene.untilDelivered(3)
            for phone in Phone.ofAda {
                let titles = pushes.filter { $0.token == phone }.map(\.title)
                // A push may be doubled when the server died between the provider's
                // answer and our record of it.
                #expect(Set(titles) == ["Round 1", "Round 2", "Round 3"], "\(phone): \(titles)")
                #expect(titles.count <= 6)
            }
            #expect(!pushes.contains { $0.token == Phone.ofBob })
        }
    }

    @Test("SIGTERM ends the server with status 0, and its subscribers come back")
    func stopsPolitely() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.ada)
            let follower = Follower(client, topicID: scene.topicID)
            try await follower.untilLive()
            _ = try await client.publish(topic: .id(scene.topicID), title: "before")
            try await eventually("the message before the stop") { follower.messages.map(\.title) == ["before"] }
            #expect(try await installation.stopServer() == 0, "\(installation.log)")
            try await installation.startServerAgain()
            _ = try await client.publish(topic: .id(scene.topicID), title: "after")
            try await eventually("the message after it") { follower.messages.map(\.title) == ["before", "after"] }
            follower.stop()
        }
    }
}

/// Two users, four phones, and ada's topic "alerts".
struct Scene {
    let installation: Installation
    let ada: String
    let bob: String
    let topicID: String

    init(_ installation: Installation) async throws {
        self.installation = installation
        ada = try await installation.addUser("ada")
        bob = try await installation.addUser("bob")
        let adas = try installation.makeClient(token: ada)
        let bobs = try installation.makeClient(token: bob)
        for token in Phone.ofAda {
            var device = DeviceRegistration(token: token, platform: token == Phone.android ? "android" : "ios")
            if device.platform == "ios" { device.environment = "sandbox" }
            _ = try await adas.registerPushToken(device)
        }
        _ = try await bobs.registerPushToken(DeviceRegistration(token: Phone.ofBob, platform: "ios"))
        topicID = try await adas.makeTopic(named: "alerts")
    }

    /// Waits until all deliveries of so many messages are final, and gives the accepted pushes.
    func untilDelivered(_ count: Int) async throws -> [SeenPush] {
        let client = try installation.makeClient(token: ada)
        let query = """
            { listMessages { items { title deliverySummary { waiting accepted failed ended expired skipped } } } }
            """
        try await eventually("\(count) messages are delivered to every phone") {
            let items = try await client.query(query)["listMessages"]?["items"]?.arrayValue ?? []
            let accepted = items.compactMap { $0["deliverySummary"]?["accepted"]?.intValue }
            return accepted == [Int64](repeating: Int64(Phone.ofAda.count), count: count)
        }
        return try await installation.simulator?.pushes().filter(\.isAccepted) ?? []
    }
}
