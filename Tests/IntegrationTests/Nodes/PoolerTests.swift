import JSON
import TestDatabases
import Testing

/// Nodes with the settings that `docs/postgresql.md` gives for PgBouncer in transaction mode.
@Suite(
    "Behind PgBouncer in transaction mode",
    .enabled(if: PostgresServer.named != nil),
    .enabled(if: PgBouncerProcess.isWanted, "pgbouncer is not installed"),
    .serialized,
    .timeLimit(.minutes(10))
)
struct PoolerTests {
    private static let props = FaultScene.Props(
        environment: ["TOCSIN_DATABASE_PREPARED": "false"],
        simulator: ["--quiet"],
        phones: [PushScene.phone("ab", 0)]
    )

    @Test("nodes publish, follow and push, and go on by themselves when it has been restarted")
    func restarted() async throws {
        try await PgBouncerProcess.run(before: try #require(PostgresServer.named)) { bouncer, server in
            try await FaultScene.run(2, on: server, props: Self.props) { scene in
                try await eventually("the node says that notifications do not come through") {
                    let words = try await scene.cluster.report(0)["node"]?["doorbell"]?.stringValue
                    return words?.contains("notifications do not come through") ?? false
                }
                try await bouncer.stop()
                try await scene.untilAway()
                try await bouncer.start()
            }
        }
    }

    @Test("when PostgreSQL behind it goes, the nodes say that they are not ready, and work goes on when it comes")
    func serverGone() async throws {
        try await PostgresInstance.run { instance in
            try await PgBouncerProcess.run(before: instance.server) { _, server in
                try await FaultScene.run(2, on: server, props: Self.props) { scene in
                    try await instance.stop(.immediate)
                    try await scene.untilAway(0)
                    try await scene.untilAway(1)
                    try await scene.untilRefused(6)
                    try await instance.start()
                }
            }
        }
    }
}
