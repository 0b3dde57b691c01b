import Foundation
import JSON
import TestDatabases
import Testing
import TocsinClient
import TocsinPostgres
import TocsinStore

@Suite("Schedules on two nodes", .enabled(if: PostgresServer.named != nil), .timeLimit(.minutes(5)))
struct NodeScheduleTests {
    private static let count = 100
    private static let create = """
        mutation($t: ID!) { createScheduledMessage(input: {topicId: $t, cron: "0 0 1 1 *",
            input: "{\\"title\\": \\"due\\", \\"body\\": \\"\\", \\"type\\": 0}"}) { id } }
        """

    @Test("what is due while one of two nodes is killed is made once each")
    func killed() async throws {
        try await Cluster.run(2) { cluster in
            let token = try await cluster.addUser("ada")
            let client = try cluster.client(1, token)
            let topicID = try await client.makeTopic(named: "chores")
            _ = try await client.mutate(Self.create, variables: ["t": .string(topicID)])
            let connection = try cluster.database.connect(.tool)
            defer { connection.close() }
            try Self.makeDue("a", connection)
            func made() throws -> (count: Int64, keys: Int64) {
                let counts = try connection.first("SELECT count(*), count(DISTINCT key) FROM messages") {
                    ($0.int(0), $0.int(1))
                }
                return counts ?? (0, 0)
            }
            try await eventually("the first ones are made") { try made().count > 0 }
            try await cluster.kill(0)
            try Self.makeDue("b", connection)
            // The lease of a dead node runs out after 2 seconds.
            try await eventually("all are made") { try made().count >= 2 * Self.count }
            try await cluster.start(0)
            try await eventually("nothing is due any more") {
                try connection.first("SELECT count(*) FROM timers WHERE subject LIKE '_-%' AND generation = 1") {
                    $0.int(0)
                } == 0
            }
            let total = try made()
            #expect(total.count == Int64(2 * Self.count))
            #expect(total.keys == Int64(2 * Self.count))
            client.close()
        }
    }

    /// Copies the schedule, and lets all copies be due now.
    private static func makeDue(_ prefix: String, _ connection: any SQLConnection) throws {
        let now = SQLValue.int(Int64(Date().timeIntervalSince1970 * 1000))
        let copied = """
            user_id, username, provider, name, topic_id, input, due_at, cron, time_zone, until_at, webhook, enabled,
            disabled_reason, last_message_id, last_at, missed, generation, created_at, updated_at
            """
        try connection.run(
            """
            INSERT INTO scheduled_messages (id, next_at, \(copied))
            SELECT '\(prefix)-' || n, $1::bigint, \(copied)
            FROM scheduled_messages, generate_series(1, \(count)) AS n WHERE id NOT LIKE '_-%'
            """,
            [now]
        )
        try connection.run(
            """
            INSERT INTO timers (kind, subject, due_at, generation, payload, attempts)
            SELECT 'RECURRING', id, $1::bigint, generation, '', 0 FROM scheduled_messages WHERE id LIKE '\(prefix)-%'
            """,
            [now]
        )
    }
}
