import JSON
import TestDatabases
import Testing

/// The database's server goes and comes again.
@Suite("PostgreSQL goes away", .enabled(if: PostgresServer.named != nil), .serialized, .timeLimit(.minutes(10)))
struct PostgresFaultTests {
    @Test(
        "after a restart what was answered is there, what was refused is not, and work goes on by itself",
        arguments: PostgresInstance.Ending.allCases
    )
    func restarted(ending: PostgresInstance.Ending) async throws {
        try await PostgresInstance.run { instance in
            try await FaultScene.run(on: instance.server) { scene in
                try await instance.stop(ending)
                try await scene.untilAway()
                try await instance.start()
                try await scene.untilReady()
                let log = scene.cluster.log(0)
                for words in [
                    "connection to the database was lost", "cannot be reached; trying again", "reached again",
                ] {
                    #expect(log.contains(words), "the log does not say \(words)")
                }
            }
        }
    }

    @Test("a database that is away for long is waited for, and every request meanwhile is answered with a refusal")
    func awayForLong() async throws {
        try await PostgresInstance.run { instance in
            try await FaultScene.run(on: instance.server) { scene in
                try await instance.stop(.immediate)
                // The time between attempts has reached its longest.
                try await eventually("eight attempts have failed") {
                    let trouble = try await scene.cluster.report(0)["connection"]
                    return (trouble?["failedAttempts"]?.intValue ?? 0) >= 12
                        && (trouble?["awayMilliseconds"]?.intValue ?? 0) > 10_000
                }
                try await scene.untilRefused(10)
                try await instance.start()
            }
        }
    }

    @Test("a node starts while its database is away, says so, and serves when it comes")
    func awayAtStart() async throws {
        try await PostgresInstance.run { instance in
            try await FaultScene.run(2, on: instance.server) { scene in
                #expect(try await scene.cluster.stop(1) == 0)
                try await instance.stop(.fast)
                try await scene.cluster.start(1)
                try await scene.untilAway(1)
                try await scene.untilRefused(10)
                try await instance.start()
            }
        }
    }

    @Test("SIGTERM ends a node with 0 while its database is away")
    func stoppedWhileAway() async throws {
        try await PostgresInstance.run { instance in
            try await FaultScene.run(on: instance.server) { scene in
                try await instance.stop(.immediate)
                try await scene.untilAway()
                let start = ContinuousClock.now
                #expect(try await scene.cluster.stop(0) == 0, "\(scene.cluster.log(0).suffix(2000))")
                print("Ended \(ContinuousClock.now - start) after SIGTERM.")
                try await instance.start()
                try await scene.cluster.start(0)
            }
        }
    }
}
