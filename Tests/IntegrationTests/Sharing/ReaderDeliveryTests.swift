import JSON
import Testing

/// What a reader hears of pushes in somebody else's topic (docs/sharing.md).
@Suite("Pushes that a reader follows, over every live transport", .timeLimit(.minutes(5)))
struct ReaderDeliveryTests {
    private static let phones = ["ada's": Phone.firstIOS, "bob's": Phone.ofBob]

    @Test("a reader hears of their own devices and of no other, until the grant ends")
    func reader() async throws {
        try await SharedScene.run { scene in
            let installation = scene.installation
            let bob = try await installation.addUser("bob")
            let (topic, _) = try await scene.makeTopic("alerts")
            let grant = try await scene.share(topic, with: ["user": "bob"], as: ["READER"])
            for (name, token) in [("ada's", scene.ada), ("bob's", bob)] {
                let join = """
                    mutation($t: ID!, $p: String!, $n: String) {
                      registerPushToken(token: $p, platform: "ios", name: $n) { userId }
                      subscribeToTopic(topicId: $t) { push }
                    }
                    """
                let phone = try #require(Self.phones[name])
                let variables: JSONObject = ["t": .string(topic), "p": .string(phone), "n": .string(name)]
                #expect(try await installation.curl(join, variables, token: token)["errors"] == nil)
            }
            // Both pushes wait until everybody listens.
            let simulator = try #require(installation.simulator)
            try await simulator.post("/_outage?provider=apns&kind=unavailable")
            let published = try await installation.curl(
                "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }",
                ["i": ["topicId": .string(topic), "type": 1, "title": "t", "body": "b"]],
                token: scene.ada
            )
            let message = try #require(published["data"]?["createMessage"]?["id"]?.stringValue, "\(published)")
            var (adas, bobs): ([LiveStreams], [LiveStreams]) = ([], [])
            for transport in LiveTransport.allCases {
                adas.append(try await Self.follow(message, transport, scene, scene.ada))
                bobs.append(try await Self.follow(message, transport, scene, bob))
            }
            try await simulator.post("/_outage?provider=apns&kind=none")
            for streams in adas {
                for name in ["ada's", "bob's"] {
                    _ = try await streams.events(of: "pushes") { Self.isAccepted($0, name) }
                }
            }
            for streams in bobs {
                _ = try await streams.events(of: "pushes") { Self.isAccepted($0, "bob's") }
                let names = try streams.events(of: "pushes").map { $0["onDelivery"]?["device"]?["name"] }
                #expect(Set(names) == ["bob's"], "\(streams.transport): what everybody hears was heard by ada")
            }
            let revoke = "mutation { revokeGrant(id: \"\(grant)\") { id } }"
            #expect(try await installation.curl(revoke, token: scene.ada)["errors"] == nil)
            for streams in bobs {
                let refusal = try await streams.untilRefused("pushes")
                #expect(refusal.serializedString().contains("Unauthorized"), "\(streams.transport): \(refusal)")
            }
            for streams in adas { #expect(streams.refusal(of: "pushes") == nil, "\(streams.transport)") }
        }
    }

    private static func follow(
        _ message: String,
        _ transport: LiveTransport,
        _ scene: SharedScene,
        _ token: String
    ) async throws -> LiveStreams {
        let streams = try await LiveStreams(transport, scene.installation, token: token)
        let document = "subscription { onDelivery(messageId: \"\(message)\") { status device { name } } }"
        try streams.subscribe("pushes", document)
        try await streams.untilSettled()
        #expect(streams.refusal(of: "pushes") == nil, "\(transport)")
        return streams
    }

    private static func isAccepted(_ event: JSONValue, _ name: String) -> Bool {
        let delivery = event["onDelivery"]
        return delivery?["status"] == "ACCEPTED" && delivery?["device"]?["name"] == .string(name)
    }
}
