import Foundation
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
            #expect(try await scene.readName() == "calls")
            #expect(try await scene.cluster.report(0)["status"] == "ok")
            try connection.execute(script: "DROP TRIGGER refusal ON messages")
        }
    }

    @Test("a database made read-only by its operator is told as that, read all the while, and written again by itself")
    func madeReadOnly() async throws {
        let server = try #require(PostgresServer.named)
        try await FaultScene.run(on: server) { scene in
            let name = scene.cluster.database.name
            try server.run("ALTER DATABASE \(name) SET default_transaction_read_only = on")
            // The setting is that of new sessions.
            try server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
            try await scene.expectReadOnly()
            // A start finds it so too.
            #expect(try await scene.cluster.stop(0) == 0)
            try await scene.cluster.start(0)
            try await scene.expectReadOnly()
            try server.run("ALTER DATABASE \(name) RESET default_transaction_read_only")
            try await eventually("the node says no more that writes are refused") {
                try await scene.cluster.report(0)["writes"] == nil
            }
            let log = scene.cluster.log(0)
            for words in ["takes no writes; trying again", "takes writes again"] {
                #expect(log.contains(words), "\(log)")
            }
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
            let words = "something else has locked what this write needs). Nothing was changed; try again"
            try await eventually("publishers are told what is in the way") {
                let told = scene.load.sent.count {
                    guard case .refused(let told) = $0.outcome else { return false }
                    return told.contains(words) && told.contains("UNAVAILABLE")
                }
                return told >= 6
            }
            #expect(try await scene.readName() == "calls")
            _ = try? connection.run("ROLLBACK")
        }
    }

    /// Nobody can take back what PostgreSQL may be about to commit: so the answer promises neither,
    /// and says how to find out.
    @Test("a write that the database is slow over may be stored after its answer, which says so; sent again it is one")
    func slow() async throws {
        try await Cluster.run(1, environment: ["TOCSIN_EXECUTION_SECONDS": "3"]) { cluster in
            let token = try await cluster.addUser("ada")
            let topicID = try await cluster.client(0, token).makeTopic(named: "calls")
            let connection = try cluster.database.connect(.tool)
            defer { connection.close() }
            // Slow, and not locked: it ends when the test says so.
            try connection.execute(
                script: """
                    CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                        WHILE NOT pg_try_advisory_xact_lock_shared(4711) LOOP PERFORM pg_sleep(0.02); END LOOP;
                        RETURN NULL;
                    END $$;
                    CREATE TRIGGER slowness BEFORE INSERT ON messages EXECUTE FUNCTION dawdle();
                    """
            )
            func count() throws -> Int64? { try connection.first("SELECT count(*) FROM messages") { $0.int(0) } }
            try connection.run("SELECT pg_advisory_lock(4711)")
            let client = try cluster.impatientClient(0, token)
            var draft = MessageDraft(title: "late", body: "but once")
            draft.id = UUID().uuidString.lowercased()
            do throws(ClientError) {
                let published = try await client.publish(topic: .id(topicID), draft)
                Issue.record("It was answered: \(published).")
            } catch {
                let words = "may be carried out all the same: repeat it with the same id"
                #expect(error.code == .timeout && error.message.contains(words), "\(error)")
            }
            #expect(try count() == 0)
            try connection.run("SELECT pg_advisory_unlock(4711)")
            try await eventually("what took too long is stored all the same") { try count() == 1 }
            for _ in 0..<2 {
                let again = try await client.publish(topic: .id(topicID), draft)
                #expect(again.number == 1)
            }
            #expect(try count() == 1)
        }
    }
}
