import JSON
import Testing
import TocsinClient

@Suite("Many filters over long messages", .timeLimit(.minutes(5)))
struct ManyFiltersTests {
    private static let follow = """
        subscription($f: ModelSubscriptionMessageFilterInput) { onCreateMessage(filter: $f) { id } }
        """

    /// Ten searches of the body, no two subscriptions' alike.
    private static func filter(_ number: Int) -> JSONValue {
        let parts = (0..<10).map { part -> JSONValue in ["body": ["contains": .string("no \(number)-\(part)")]] }
        return ["or": .array(parts)]
    }

    @Test("of one owner keep no event of another's waiting; those that search too much are told so")
    func attack() async throws {
        try await Installation.run { installation in
            let (eve, ada) = (try await installation.addUser("eve"), try await installation.addUser("ada"))
            let (attacker, client) = (try installation.makeClient(token: eve), try installation.makeClient(token: ada))
            let topics = (try await attacker.makeTopic(named: "floods"), try await client.makeTopic(named: "alerts"))
            let filters = try await RawSocket(installation, token: eve)
            try await filters.untilReady()
            for number in 1...100 {
                let variables: JSONObject = ["f": Self.filter(number)]
                let payload: JSONValue = ["query": .string(Self.follow), "variables": .object(variables)]
                try filters.send(["id": .string("\(number)"), "type": "subscribe", "payload": payload])
            }
            let listener = try await RawSocket(installation, token: ada)
            try await listener.untilReady()
            let document = "subscription { onCreateMessage { title } }"
            try listener.send(["id": "1", "type": "subscribe", "payload": ["query": .string(document)]])
            for socket in [filters, listener] {
                try socket.send(["type": "ping"])
                guard case .message(["type": "pong"]) = try await socket.next() else {
                    throw HarnessFailure("Not all subscriptions have begun.")
                }
            }
            let body = String(repeating: "no ", count: 87_000)
            _ = try await attacker.publish(topic: .id(topics.0), title: "long", body: body)
            _ = try await client.publish(topic: .id(topics.1), title: "alert")
            // Half a minute late when filters were judged before owners took turns.
            guard case .message(let event) = try await listener.next() else {
                throw HarnessFailure("The listener's socket has closed.")
            }
            #expect(event["payload"]?["data"]?["onCreateMessage"]?["title"] == "alert")
            guard case .message(let refusal) = try await filters.next() else {
                throw HarnessFailure("The socket of the filters has closed.")
            }
            #expect(refusal["type"] == "error")
            #expect(refusal["payload"]?[0]?["extensions"]?["code"] == "LIMIT", "\(refusal)")
        }
    }
}
