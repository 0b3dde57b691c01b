import JSON
import TestDatabases
import Testing
import TocsinCore
import TocsinStore

/// PostgreSQL keeps no text with a zero byte, and refuses to look for one.
@Suite("A zero byte in what is asked for", .enabled(if: PostgresServer.named != nil), .timeLimit(.minutes(5)))
struct ZeroByteTests {
    @Test(
        "is the client's mistake, and no failure of the server's",
        arguments: [
            "{ getMessage(id: $id) { id } }", "{ getTopic(id: $id) { id } }",
            "mutation { subscribeToTopic(topicId: $id) { topicId } }", "mutation { revokeGrant(id: $id) { id } }",
            "mutation { revokeToken(id: $id) { id } }", "mutation { unlinkIdentity(id: $id) { id } }",
        ]
    )
    func refused(document: String) async throws {
        let api = try await APIHarness(database: try #require(PostgresServer.named).makeDatabase())
        let answer = try await api.run(document.replacing("$id", with: #""a\u0000b""#))
        let code = answer["errors"]?[0]?["extensions"]?["code"]?.stringValue
        #expect(code == "BAD_REQUEST" || code == "UNAUTHORIZED", "\(answer)")
        // The same database answers what comes next.
        #expect(!(try await api.makeTopic()).isEmpty)
        await api.store.close()
    }
}
