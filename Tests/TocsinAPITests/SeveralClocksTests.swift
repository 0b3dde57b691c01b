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

    /// Two nodes, the second a minute ahead, and topics in which the first has been alone for long.
    private func scene(
        _ database: any SQLDatabase,
        topics count: Int
    ) async throws -> (alone: APIHarness, ahead: APIHarness, topics: [String]) {
        let (alone, ahead) = (try await APIHarness(database: database), try await APIHarness(database: database))
        ahead.time.advance(seconds: 60)
        var topics: [String] = []
        for topic in 0..<count {
            topics.append(try await alone.makeTopic())
            for index in 1...12 { _ = try await publish("alone-\(topic)-\(index)", to: topics[topic], by: alone) }
        }
        return (alone, ahead, topics)
    }

    /// The ids, which are the names, are of two nodes.
    private func publish(
        _ name: String,
        to topic: String,
        by node: APIHarness
    ) async throws -> (number: Int64?, time: String) {
        let message = try await node.publish(name, to: topic, with: ["id": .string(name)])
        return (message["number"]?.intValue, message["createdAt"]?.stringValue ?? message.serializedString())
    }

    @Test("a node that was long alone in topics follows the messages that another makes there, in number and time")
    func afterLongAlone() async throws {
        let database = try #require(PostgresServer.named).makeDatabase()
        let (alone, ahead, topics) = try await scene(database, topics: 6)
        var others: [String] = []
        for (index, topic) in topics.enumerated() {
            let other = try await publish("other-\(index)", to: topic, by: ahead)
            #expect(other.number == 13)
            others.append(other.time)
        }
        for round in 1...2 {
            let made = try await withThrowingTaskGroup(of: (Int, (number: Int64?, time: String)).self) { group in
                for (index, topic) in topics.enumerated() {
                    group.addTask { (index, try await self.publish("next-\(round)-\(index)", to: topic, by: alone)) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for (index, next) in made {
                #expect(next.number == 13 + Int64(round))
                #expect(next.time >= others[index] && next.time.hasPrefix("2"), "it follows the clock ahead")
            }
        }
        await alone.store.close()
        await ahead.store.close()
    }

    @Test("a number that was given and taken back is another node's, whose message the next one follows in time")
    func takenBack() async throws {
        let database = try #require(PostgresServer.named).makeDatabase()
        let (alone, ahead, topics) = try await scene(database, topics: 1)
        let other = try database.connect(.tool)
        defer { other.close() }
        try other.run("ALTER TABLE messages ADD CONSTRAINT none CHECK (title <> 'bad')")
        #expect(try await publish("bad", to: topics[0], by: alone).number == nil)
        let made = try await publish("other", to: topics[0], by: ahead)
        let next = try await publish("next", to: topics[0], by: alone)
        #expect((made.number, next.number) == (13, 14))
        #expect(next.time >= made.time && next.time.hasPrefix("2"))
        await alone.store.close()
        await ahead.store.close()
    }
}
