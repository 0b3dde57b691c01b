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

    @Test("a node that was long alone in a topic follows the message that another makes, in number and time")
    func afterLongAlone() async throws {
        let database = try #require(PostgresServer.named).makeDatabase()
        let (ahead, behind) = (try await APIHarness(database: database), try await APIHarness(database: database))
        ahead.time.advance(seconds: 60)
        let topic = try await behind.makeTopic()
        func publish(_ name: String, by node: APIHarness) async throws -> (number: Int64?, time: String) {
            let message = try await node.publish(name, to: topic, with: ["id": .string(name)])
            return (message["number"]?.intValue, message["createdAt"]?.stringValue ?? "")
        }
        var numbers: [Int64?] = []
        for round in 1...3 {
            for index in 1...12 { numbers.append(try await publish("alone-\(round)-\(index)", by: behind).number) }
            let other = try await publish("other-\(round)", by: ahead)
            let next = try await publish("next-\(round)", by: behind)
            numbers += [other.number, next.number]
            #expect(next.time >= other.time && !other.time.isEmpty, "the clock behind follows the one ahead")
            let later = try await publish("later-\(round)", by: behind)
            numbers.append(later.number)
            #expect(later.time >= next.time)
            ahead.time.advance(seconds: 60)
        }
        #expect(numbers == (1...45).map { $0 })
        // What was given and then undone is not what the next message comes after.
        let connection = try database.connect(.tool)
        defer { connection.close() }
        try connection.run("UPDATE topics SET last_number = last_number - 1 WHERE id = $1", [.text(topic)])
        try connection.run("DELETE FROM messages WHERE topic_id = $1 AND number = 45", [.text(topic)])
        #expect(try await publish("again", by: behind).number == 45)
        await ahead.store.close()
        await behind.store.close()
    }
}
