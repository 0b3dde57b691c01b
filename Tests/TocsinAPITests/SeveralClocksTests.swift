import JSON
import TestDatabases
import Testing
import TocsinCore
import TocsinStore

@Suite("Times of several nodes", .enabled(if: PostgresServer.named != nil))
struct SeveralClocksTests {
    @Test("a topic's times never go back, though the next node's clock is behind; a time that the client gives stays")
    func topicTime() async throws {
        let database = try #require(PostgresServer.named).makeDatabase()
        let ahead = try await APIHarness(database: database)
        let behind = try await APIHarness(database: database)
        ahead.time.advance(seconds: 60)
        let topic = try await ahead.makeTopic()
        var times: [String] = []
        for index in 0..<6 {
            let node = index % 2 == 0 ? ahead : behind
            let message = try await node.publish("m\(index)", to: topic, with: ["id": .string("m\(index)")])
            #expect(message["number"]?.intValue == Int64(index + 1))
            times.append(message["createdAt"]?.stringValue ?? "")
        }
        #expect(times == times.sorted())
        let given: JSONValue = "2020-01-01T00:00:00.000Z"
        let own = try await behind.publish("own", to: topic, with: ["id": "own", "createdAt": given])
        #expect(own["createdAt"] == given)
        let stored = try await ahead.run("query { getMessage(id: \"m5\") { createdAt _lastChangedAt } }")
        #expect(stored["data"]?["getMessage"]?["createdAt"]?.stringValue == times.last)
        await ahead.store.close()
        await behind.store.close()
    }
}
