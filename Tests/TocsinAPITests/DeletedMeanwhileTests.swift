import JSON
import TestDatabases
import Testing
import TocsinStore

@Suite("A message to a topic that another node changes", .serialized, .enabled(if: PostgresServer.named != nil))
struct DeletedMeanwhileTests {
    /// Waits until a session of this database waits for another's row, on its thread: so one test of these after the other.
    private func waitForWaiter(_ connection: any SQLConnection) throws {
        let waiters = """
            SELECT count(*) FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
            WHERE NOT l.granted AND a.datname = current_database()
            """
        for _ in 0..<6000 {
            if try connection.first(waiters, [], { $0.int(0) }) ?? 0 > 0 { return }
            _ = try connection.first("SELECT pg_sleep(0.01)::text") { $0.text(0) }
        }
        Issue.record("nobody waits for the topic's row")
    }

    @Test(
        "or gives to another owner is refused, though it might have been made when the topic was looked at",
        .timeLimit(.minutes(5)),
        arguments: ["deleted = 1", "owner = 'u::bob'"]
    )
    func changedMeanwhile(change: String) async throws {
        let database = try #require(PostgresServer.named).makeDatabase()
        let api = try await APIHarness(database: database)
        let topic = try await api.makeTopic()
        let (other, watch) = (try database.connect(.tool), try database.connect(.tool))
        defer {
            other.close()
            watch.close()
        }
        try other.run("BEGIN")
        try other.run("UPDATE topics SET \(change) WHERE id = $1", [.text(topic)])
        let publishing = Task { try await api.publish("late", to: topic) }
        try waitForWaiter(watch)
        try other.run("COMMIT")
        let answer = try await publishing.value
        let error = answer["errors"]?.arrayValue?.first
        let code = error?["errorType"]?.stringValue ?? error?["extensions"]?["code"]?.stringValue
        #expect(code?.lowercased() == "unauthorized", "\(answer.serializedString())")
        #expect(try watch.first("SELECT count(*) FROM messages") { $0.int(0) } == 0)
        await api.store.close()
    }
}
