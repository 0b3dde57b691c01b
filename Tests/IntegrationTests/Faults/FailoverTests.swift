import Synchronization
import TestDatabases
import Testing
import TocsinCore
import TocsinPostgres
import TocsinStore

/// A synchronous standby takes the place of the server.
@Suite("PostgreSQL fails over", .enabled(if: PostgresServer.named != nil), .serialized, .timeLimit(.minutes(10)))
struct FailoverTests {
    /// Runs the body with a server, its standby and what connects the two.
    private func withStandby(
        _ body: (_ first: PostgresInstance, _ second: PostgresInstance, _ line: PostgresProxy) async throws -> Void
    ) async throws {
        try await PostgresInstance.run { first in
            let line = try PostgresProxy(to: first.url)
            defer { line.close() }
            try await first.withStandby(line) { second in try await body(first, second, line) }
        }
    }

    /// The URL that names both and leads to the one that writes.
    private func both(_ first: PostgresInstance, _ second: PostgresInstance) -> PostgresServer {
        PostgresServer(
            url:
                "postgres://tocsin@127.0.0.1:\(first.port),127.0.0.1:\(second.port)/postgres?target_session_attrs=read-write"
        )
    }

    @Test("what was answered is on the promoted standby, which the nodes find by themselves")
    func promoted() async throws {
        try await withStandby { first, second, _ in
            let direct = { second.server }
            try await FaultScene.run(2, on: both(first, second), direct: direct) { scene in
                try await first.stop(.immediate)
                try await scene.untilAway()
                try await second.promote()
            }
        }
    }

    @Test("a standby that is not promoted yet is read, writes are refused as read-only, and resume when it is promoted")
    func readsStandby() async throws {
        try await withStandby { first, second, _ in
            let any = "postgres://tocsin@127.0.0.1:\(first.port),127.0.0.1:\(second.port)/postgres"
            try await FaultScene.run(on: PostgresServer(url: any), direct: { second.server }) { scene in
                try await first.stop(.immediate)
                try await scene.expectReadOnly()
                try await second.promote()
            }
        }
    }

    @Test("while the standby does not follow nothing is answered as stored, whoever ends the wait for it")
    func stalledStandby() async throws {
        try await withStandby { first, second, line in
            let direct = { second.server }
            // The ended wait makes its messages visible, and the standby has not got them.
            let props = FaultScene.Props(mayLoseSeen: true)
            try await FaultScene.run(on: both(first, second), direct: direct, props: props) { scene in
                line.stall()
                let reader = try PostgresDatabase(url: first.url).connect(.reader)
                defer { reader.close() }
                // The first wait is ended as an operator may do; others the node itself gives up.
                try await eventually("a commit waits for the standby, and is ended") {
                    let ended = try reader.count(
                        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
                    )
                    return ended > 0
                }
                try await scene.untilRefused(12)
                try await first.stop(.immediate)
                line.cutAll()
                try await second.promote()
            }
        }
    }

    @Test("a session whose commit waits for the standby is not ended to find out what became of it")
    func askedWhileStalled() async throws {
        try await withStandby { first, _, line in
            try first.server.run("CREATE TABLE proofs (node text, xid xid8 DEFAULT pg_current_xact_id())")
            let database = PostgresDatabase(url: first.url)
            let begun = Mutex<TransactionMark?>(nil)
            let committed = Mutex<Bool?>(nil)
            line.stall()
            _ = startThread("committer") {
                let mark = try? Self.commitProof(database) { mark in begun.withLock { $0 = mark } }
                committed.withLock { $0 = mark != nil }
            }
            let reader = try database.connect(.reader)
            defer { reader.close() }
            try await eventually("the commit waits for the standby") {
                try reader.count("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == 1
            }
            let mark = try #require(begun.withLock { $0 })
            for _ in 0..<3 { #expect(try database.askedOutcome(of: mark) == nil) }
            #expect(try reader.count("SELECT 1 FROM proofs") == 0)
            #expect(try reader.count("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == 1)
            line.accept()
            let isCommitted = try await eventually("the commit is done") { committed.withLock { $0 } }
            #expect(isCommitted)
            #expect(try database.askedOutcome(of: mark) == .committed)
        }
    }

    /// Commits a proof; tells its mark before.
    private static func commitProof(
        _ database: PostgresDatabase,
        _ begun: (TransactionMark) -> Void
    ) throws -> TransactionMark? {
        let writer = try database.connect(.writer)
        defer { writer.close() }
        let proof = TransactionProof(
            sql: "SELECT 1 FROM proofs WHERE node = $1 AND xid >= $2::text::xid8 AND xid <= $3::text::xid8",
            bindings: [.text("a")]
        )
        let mark = try TransactionMark.unnumbered(of: writer, proof: proof)
        if let mark { begun(mark) }
        try writer.run("BEGIN")
        try writer.run("INSERT INTO proofs (node) VALUES ('a')")
        try writer.run("COMMIT")
        return mark
    }
}

extension SQLConnection {
    /// How many rows a selection has.
    fileprivate func count(_ sql: String) throws(StoreError) -> Int {
        var count = 0
        _ = try run(sql, []) { _ in count += 1 }
        return count
    }
}
