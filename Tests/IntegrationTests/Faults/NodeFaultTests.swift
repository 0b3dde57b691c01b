import TestDatabases
import Testing
import TocsinClient

/// One of several nodes dies.
@Suite("A node of several dies", .enabled(if: PostgresServer.named != nil), .serialized, .timeLimit(.minutes(10)))
struct NodeFaultTests {
    private static let props = FaultScene.Props(
        environment: [
            "TOCSIN_PUSH_REQUEST_TIMEOUT_SECONDS": "2", "TOCSIN_PUSH_LEASE_SECONDS": "4", "TOCSIN_PUSH_IN_FLIGHT": "20",
        ],
        simulator: ["--quiet", "--late-seconds", "0.1", "--rate", "apns:slow=1"],
        phones: (0..<3).map { PushScene.phone("ab", $0) }
    )

    @Test("its subscriber goes on at another node where it was, and every push is sent")
    func killed() async throws {
        let server = try #require(PostgresServer.named)
        try await FaultScene.run(3, on: server, props: Self.props) { scene in
            let cluster = scene.cluster
            let first = Follower(try cluster.client(2, scene.token), topicID: scene.topicID)
            try await first.untilLive()
            try await scene.untilAnswered(20)
            try await eventually("the subscriber has heard something") { !first.messages.isEmpty }
            try await cluster.kill(2)
            first.stop()
            let heard = first.messages
            let second = Follower(
                try cluster.client(0, scene.token),
                topicID: scene.topicID,
                after: heard.last?.cursor
            )
            try await scene.untilAnswered(20)
            let goal = scene.load.lastNumber
            try await eventually("the subscriber has heard what was published meanwhile") {
                if let failure = second.failure { throw failure }
                return (second.messages.last?.number ?? 0) >= goal
            }
            second.stop()
            let numbers = (heard + second.messages).map(\.number)
            #expect(numbers == (0..<numbers.count).map { (numbers.first ?? 0) + Int64($0) })
            // Its own subscriber, made before the load, finds it again.
            try await cluster.start(2)
        }
    }
}
