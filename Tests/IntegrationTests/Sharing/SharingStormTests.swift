import JSON
import Testing
import TocsinClient

@Suite("Grants that come and go", .timeLimit(.minutes(5)))
struct SharingStormTests {
    private static let readers = ["bob", "eve", "joe", "zoe"]
    private static let topics = 4
    private static let messages = 50

    @Test("while topics are published to, each reader hears exactly what was committed while it was shared with them")
    func storm() async throws {
        try await Installation.run { installation in
            var listeners: [String: Listener] = [:]
            for reader in Self.readers {
                let client = try installation.makeClient(token: try await installation.addUser(reader))
                let document = "subscription { onCreateMessage { title } }"
                let listener = Listener(client, document, field: "onCreateMessage")
                try await listener.untilLive()
                listeners[reader] = listener
            }
            var expected: [String: [String]] = [:]
            try await withThrowingTaskGroup(of: [String: [String]].self) { group in
                for topic in 0..<Self.topics {
                    // Each has an owner, who may name so many people a minute.
                    let token = try await installation.addUser("ada\(topic)")
                    let scene = GrantingScene(ada: try installation.makeClient(token: token))
                    let topicID = try await scene.ada.makeTopic(named: "topic \(topic)")
                    group.addTask { try await Self.publish(topic, topicID, scene) }
                }
                for try await heard in group { expected.merge(heard) { $0 + $1 } }
            }
            for reader in Self.readers {
                let wanted = expected[reader] ?? []
                let listener = try #require(listeners[reader])
                try await eventually("\(reader) hears as much") {
                    listener.events.count >= wanted.count
                }
                let seen = listener.events.compactMap { $0["title"]?.stringValue }
                listener.stop()
                for topic in 0..<Self.topics {
                    // In each topic in order; between topics in any.
                    let isOfTopic = { (title: String) in title.hasPrefix("\(topic).") }
                    #expect(seen.filter(isOfTopic) == wanted.filter(isOfTopic), "\(reader) in topic \(topic)")
                }
            }
        }
    }

    /// Publishes to a topic while it is shared with readers and taken from them; answers what each
    /// is to hear.
    private static func publish(_ topic: Int, _ topicID: String, _ scene: GrantingScene) async throws -> [String:
        [String]]
    {
        var (grants, heard): ([String: String], [String: [String]]) = ([:], [:])
        for number in 0..<messages {
            // Each message one reader's grant changes, another each time.
            let reader = readers[(number + topic) % readers.count]
            if let grant = grants.removeValue(forKey: reader) {
                try await scene.revoke(grant)
            } else {
                grants[reader] = try await scene.share(topicID, with: ["user": .string(reader)])
            }
            let title = "\(topic).\(number)"
            _ = try await scene.ada.publish(topic: .id(topicID), title: title)
            for reader in grants.keys { heard[reader, default: []].append(title) }
        }
        return heard
    }
}
