import JSON
import TestDatabases
import Testing
import TocsinClient
import TocsinPostgres
import TocsinStore

/// The database is there and does not write.
@Suite("PostgreSQL refuses writes", .enabled(if: PostgresServer.named != nil), .serialized, .timeLimit(.minutes(10)))
struct RefusedWriteTests {
    private func connection(_ scene: FaultScene, _ server: PostgresServer) throws -> any SQLConnection {
        try PostgresDatabase(url: server.url(of: scene.cluster.database.name)).connect(.tool)
    }

    private func reads(_ scene: FaultScene) async throws -> JSONValue? {
        let query = "query($id: ID!) { getTopic(id: $id) { name } }"
        return try await scene.cluster.client(0, scene.token)
            .query(query, variables: ["id": .string(scene.topicID)])["getTopic"]?["name"]
    }

    /// What the server says to every write of a message, and what publishers are told.
    static let refusals = [
        ("53100", "the disk is full"), ("25006", "the database is read-only"), ("53200", "there is no memory left"),
    ]

    @Test("writes are refused with the reason, reads go on, and writing resumes by itself", arguments: refusals)
    func refused(code: String, reason: String) async throws {
        let server = try #require(PostgresServer.named)
        try await FaultScene.run(on: server) { scene in
            let connection = try connection(scene, server)
            defer { connection.close() }
            try connection.execute(
                script: """
                    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                        $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '\(code)'; END $$;
                    CREATE TRIGGER refusal BEFORE INSERT ON messages EXECUTE FUNCTION refuse();
                    """
            )
            try await scene.untilRefused(10)
            guard case .refused(let words)? = scene.load.sent.last?.outcome else {
                throw HarnessFailure("The last was not refused: \(scene.load.sent.suffix(1))")
            }
            #expect(words.contains(reason) && words.contains("UNAVAILABLE"), "\(words)")
            #expect(try await reads(scene) == "calls")
            #expect(try await scene.cluster.report(0)["status"] == "ok")
            try connection.execute(script: "DROP TRIGGER refusal ON messages")
        }
    }

    @Test("while another session locks the table every write is answered, and goes on when it has ended")
    func locked() async throws {
        let server = try #require(PostgresServer.named)
        try await FaultScene.run(on: server) { scene in
            let connection = try connection(scene, server)
            defer { connection.close() }
            try connection.run("BEGIN")
            try connection.run("LOCK TABLE messages IN ACCESS EXCLUSIVE MODE")
            try await scene.untilRefused(6)
            #expect(try await reads(scene) == "calls")
            _ = try? connection.run("ROLLBACK")
        }
    }
}
