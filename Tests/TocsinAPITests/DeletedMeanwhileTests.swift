import JSON
import TestDatabases
import Testing
import TocsinStore

@Suite("A message to a topic that another node changes", .serialized, .enabled(if: PostgresServer.named != nil))
struct DeletedMeanwhileTests {
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
        try await database.waitForWaiters()
        try other.run("COMMIT")
        let answer = try await publishing.value
        let error = answer["errors"]?.arrayValue?.first
        let code = error?["errorType"]?.stringValue ?? error?["extensions"]?["code"]?.stringValue
        #expect(code?.lowercased() == "unauthorized", "\(answer.serializedString())")
        #expect(try watch.first("SELECT count(*) FROM messages") { $0.int(0) } == 0)
        await api.store.close()
    }
}
