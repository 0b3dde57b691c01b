import JSON
import TestDatabases
import Testing

/// Connections end, are cut and fall silent while the database's server is well.
@Suite(
    "Connections to PostgreSQL fail",
    .enabled(if: PostgresServer.named != nil),
    .serialized,
    .timeLimit(.minutes(10))
)
struct ConnectionFaultTests {
    @Test("backends killed at random cost nobody an answer that was given")
    func killedBackends() async throws {
        let server = try #require(PostgresServer.named)
        try await FaultScene.run(2, on: server) { scene in
            for round in 0..<12 {
                try await scene.untilAnswered(10)
                // All of them now and then; else about one in three.
                let share = round % 4 == 0 ? 1.0 : 0.3
                try server.run(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = '\(scene.cluster.database.name)' AND random() < \(share)
                    """
                )
            }
        }
    }

    @Test("all connections cut in the middle, again and again, lose nothing")
    func cutConnections() async throws {
        try await withProxy { proxy, server in
            try await FaultScene.run(2, on: PostgresServer(url: proxy.url), direct: { server }) { scene in
                for _ in 0..<8 {
                    try await scene.untilAnswered(10)
                    proxy.cutAll()
                }
                proxy.refuse()
                proxy.cutAll()
                try await scene.untilAway()
                proxy.accept()
            }
        }
    }

    @Test("a network that swallows everything is given up in time, and every request is answered meanwhile")
    func stalled() async throws {
        try await withProxy { proxy, server in
            try await FaultScene.run(on: PostgresServer(url: proxy.url), direct: { server }) { scene in
                proxy.stall()
                try await scene.untilRefused(12)
                try await scene.untilAway()
                // What the stalled connections held arrives late, or never.
                proxy.cutAll()
                proxy.accept()
            }
        }
    }

    @Test("of several servers a silent one is passed over, and when all are silent that is said and waited for")
    func silentServers() async throws {
        try await withProxy { first, server in
            try await withProxy { second, _ in
                let ports = try [first, second].map { "127.0.0.1:\(try PostgresProxy.port(in: $0.url))" }
                let url = "postgres://tocsin@\(ports.joined(separator: ","))/postgres?sslmode=disable"
                try await FaultScene.run(on: PostgresServer(url: url), direct: { server }) { scene in
                    for proxy in [first, second] { proxy.stall() }
                    try await scene.untilAway()
                    try await eventually("the node says that both are silent") {
                        let reason = try await scene.cluster.report(0)["connection"]?["reason"]?.stringValue
                        return reason?.contains("2 of its 2 servers did not answer in time") ?? false
                    }
                    second.cutAll()
                    second.accept()
                    try await scene.untilAnswered(20)
                    #expect(scene.cluster.log(0).contains("did not answer in time; trying another"))
                    first.cutAll()
                    first.accept()
                }
            }
        }
    }

    @Test("SIGTERM ends a node with 0 while the network swallows everything")
    func stoppedWhileStalled() async throws {
        try await withProxy { proxy, server in
            try await FaultScene.run(on: PostgresServer(url: proxy.url), direct: { server }) { scene in
                proxy.stall()
                let start = ContinuousClock.now
                #expect(try await scene.cluster.stop(0) == 0, "\(scene.cluster.log(0).suffix(2000))")
                print("Ended \(ContinuousClock.now - start) after SIGTERM.")
                proxy.cutAll()
                proxy.accept()
                try await scene.cluster.start(0)
            }
        }
    }

    @Test(
        "whatever becomes of COMMIT and its answer, the truth is told",
        arguments: [true, false],
        [true, false]
    )
    func lostCommits(afterServer: Bool, isPrepared: Bool) async throws {
        // Statements are sent with their words only where they are not prepared; before a commit
        // goes what other nodes are told of new messages.
        let word = isPrepared ? "c\tMessage\t" : "\0COMMIT\0"
        try await withProxy { proxy, server in
            let props = FaultScene.Props(environment: ["TOCSIN_DATABASE_PREPARED": "\(isPrepared)"])
            let proxied = PostgresServer(url: proxy.url)
            try await FaultScene.run(on: proxied, direct: { server }, props: props) { scene in
                proxy.cut(at: word, oneIn: 5, afterServer: afterServer)
                try await eventually("30 commits are cut") { proxy.cuts >= 30 }
                proxy.accept()
                // Where nobody can be asked what became of it, the answer says so.
                guard afterServer else { return }
                proxy.cut(at: word, afterServer: true, thenRefuses: true)
                let unknown = scene.load.unknownCount
                try await eventually("somebody is told that the outcome is unknown") {
                    scene.load.unknownCount > unknown
                }
                proxy.accept()
            }
        }
    }

    private func withProxy(_ body: (PostgresProxy, PostgresServer) async throws -> Void) async throws {
        let server = try #require(PostgresServer.named)
        let proxy = try PostgresProxy(to: server.url)
        do {
            try await body(proxy, server)
        } catch {
            proxy.close()
            throw error
        }
        proxy.close()
    }
}
