import JSON
import Testing

@Suite("Grants that end, over every live transport", .timeLimit(.minutes(5)))
struct EndedGrantTests {
    /// What ends Bob's reading of a topic.
    private enum Ending: CaseIterable {
        case revoked, left, narrowed
    }

    @Test("who named the topic is sent away as if it were not there, who named none hears no more of it and goes on")
    func ended() async throws {
        try await SharedScene.run { scene in
            let bob = try await scene.installation.addUser("bob")
            let (open, _) = try await scene.makeTopic("open")
            try await scene.share(open, with: ["everybody": true], as: ["READER"])
            for ending in Ending.allCases {
                let (topic, _) = try await scene.makeTopic("\(ending)")
                let grant = try await scene.share(topic, with: ["user": "bob"], as: ["READER"])
                var listening: [LiveStreams] = []
                for transport in LiveTransport.allCases {
                    let streams = try await LiveStreams(transport, scene.installation, token: bob)
                    try streams.subscribe("named", "subscription { onCreateMessage(topicId: \"\(topic)\") { title } }")
                    try streams.subscribe("all", "subscription { onCreateMessage { title } }")
                    try await streams.untilSettled()
                    listening.append(streams)
                }
                try await publish("before", topic, scene)
                for streams in listening {
                    for id in ["named", "all"] { #expect(try await titles(id, before: "before", streams) == []) }
                }
                try await end(ending, topic, grant, bob, scene)
                for streams in listening {
                    let refusal = try await streams.untilRefused("named")
                    #expect(refusal.serializedString().contains("Unauthorized"), "\(ending), \(streams.transport)")
                }
                try await publish("hidden", topic, scene)
                try await publish("after", open, scene)
                for streams in listening {
                    let heard = try await titles("all", before: "after", streams)
                    #expect(heard == ["before"], "\(ending), \(streams.transport)")
                    #expect(try streams.events(of: "named").count == 1, "\(ending), \(streams.transport)")
                }
            }
        }
    }

    private func end(_ ending: Ending, _ topic: String, _ grant: String, _ bob: String, _ scene: SharedScene)
        async throws
    {
        switch ending {
        case .revoked:
            let revoke = "mutation { revokeGrant(id: \"\(grant)\") { id } }"
            #expect(try await scene.installation.curl(revoke, token: scene.ada)["errors"] == nil)
        case .left:
            let leave = "mutation { leaveTopic(topicId: \"\(topic)\") { topicId } }"
            #expect(try await scene.installation.curl(leave, token: bob)["errors"] == nil)
        case .narrowed: try await scene.share(topic, with: ["user": "bob"], as: ["PUBLISHER"])
        }
    }

    private func publish(_ title: String, _ topic: String, _ scene: SharedScene) async throws {
        let answer = try await scene.installation.curl(
            "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }",
            ["i": ["topicId": .string(topic), "type": 1, "title": .string(title), "body": "b"]],
            token: scene.ada
        )
        #expect(answer["errors"] == nil, "\(answer)")
    }

    /// What a subscription heard before a message of this title.
    private func titles(_ id: String, before last: String, _ streams: LiveStreams) async throws -> [String?] {
        let title = { (event: JSONValue) in event["onCreateMessage"]?["title"]?.stringValue }
        return try await streams.events(of: id) { title($0) == last }.map(title)
    }
}
