import JSON
import TestDatabases
import Testing
import TocsinClient

/// A timeline that is followed on one node and grows on another.
@Suite("Timelines on several nodes", .enabled(if: PostgresServer.named != nil), .timeLimit(.minutes(5)))
struct NodeTimelineTests {
    @Test("who follows an incident on one node hears of what is done on the other, notes too, once and in order")
    func follows() async throws {
        try await Cluster.run(2) { cluster in
            let token = try await cluster.addUser("ada")
            let here = try cluster.client(0, token)
            let topic = try await here.makeTopic(named: "alerts")
            let raise = "mutation($t: ID!) { raiseIncident(input: { topicId: $t, title: \"disk\" }) { id } }"
            let raised = try await here.mutate(raise, variables: ["t": .string(topic)])
            let incident = try #require(raised["raiseIncident"]?["id"]?.stringValue, "\(raised)")

            let socket = try await RawSocket(port: cluster.port(1), token: token)
            try await socket.untilReady()
            let document = "subscription($i: ID!) { onIncidentEntry(incidentId: $i, after: 0) { number change } }"
            let payload: JSONValue = ["query": .string(document), "variables": ["i": .string(incident)]]
            try socket.send(["id": "1", "type": "subscribe", "payload": payload])
            var told: [String] = []
            func wait(for count: Int) async throws {
                while told.count < count {
                    guard case .message(let message) = try await socket.next() else {
                        throw HarnessFailure("The socket has ended after \(told).")
                    }
                    guard let entry = message["payload"]?["data"]?["onIncidentEntry"] else { continue }
                    told.append("\(entry["number"]?.intValue ?? 0) \(entry["change"]?.stringValue ?? "\(message)")")
                }
            }
            try await wait(for: 1)
            let variables: JSONObject = ["i": .string(incident)]
            for act in ["addIncidentNote(id: $i, text: \"looking\") { number }", "acknowledgeIncident(id: $i) { id }"] {
                _ = try await here.mutate("mutation($i: ID!) { \(act) }", variables: variables)
            }
            try await wait(for: 3)
            _ = try await cluster.client(1, token).mutate(
                "mutation($i: ID!) { resolveIncident(id: $i) { id } }",
                variables: variables
            )
            try await wait(for: 4)
            #expect(told == ["1 OPENED", "2 NOTED", "3 ACKNOWLEDGED", "4 RESOLVED"])
        }
    }
}
