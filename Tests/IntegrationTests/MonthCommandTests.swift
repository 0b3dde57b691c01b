import JSON
import TestDatabases
import Testing
import TocsinClient

/// `tocsin migrate --messages-by-month`, beside a server that runs.
@Suite("Messages in months, by command", .timeLimit(.minutes(5)))
struct MonthCommandTests {
    private func numbers(_ installation: Installation, _ scene: Scene) async throws -> [Int64?] {
        let query = """
            query($id: ID!) { getMessageByTopicIdAndCreatedAt(topicId: $id, limit: 1000) { items { number } } }
            """
        let answer = try await installation.curl(query, ["id": .string(scene.topicID)], token: scene.ada)
        let items = answer["data"]?["getMessageByTopicIdAndCreatedAt"]?["items"]?.arrayValue
        guard let items else { throw HarnessFailure("No messages: \(answer.serializedString())") }
        return items.map { $0["number"]?.intValue }.sorted { ($0 ?? 0) < ($1 ?? 0) }
    }

    @Test("PostgreSQL is told once, under a server that goes on; SQLite says that it cannot")
    func command() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.ada)
            var cursors: [String] = []
            for number in 1...20 {
                cursors.append(try await client.publish(topic: "alerts", title: "\(number)", key: "k\(number)").cursor)
            }
            guard AnyDatabase.isPostgres else {
                await #expect {
                    try await installation.administer(["migrate", "--messages-by-month"])
                } throws: { "\($0)".contains("SQLite keeps messages in one table") }
                return
            }
            async let publishing = publish(21...60, client)
            let said = try await installation.administer(["migrate", "--messages-by-month"])
            #expect(said.contains("stand in months; those before, in messages_rest"))
            let again = try await installation.administer(["migrate", "--messages-by-month"])
            #expect(again.contains("Messages stand in months already."))
            try await publishing
            #expect(try await client.publish(topic: "alerts", title: "7", key: "k7").number == 7)
            #expect(try await numbers(installation, scene) == (1...60).map { $0 })
            let rest = try await installation.tocsin(
                ["subscribe", "alerts", "--after", cursors[17], "--count", "42", "--json"],
                token: scene.ada
            )
            let followed = try rest.output.split(separator: "\n").map { try JSONParser.parse(String($0))["number"] }
            #expect(followed == (19...60).map { .int($0) }, "\(rest.errors)")
            try await installation.restartServer()
            #expect(try await client.publish(topic: "alerts", title: "next").number == 61)
            #expect(!installation.log.contains("could not be kept"))
        }
    }

    private func publish(_ numbers: ClosedRange<Int>, _ client: TocsinClient) async throws {
        for number in numbers {
            _ = try await client.publish(topic: "alerts", title: "\(number)", key: "k\(number)")
        }
    }
}
