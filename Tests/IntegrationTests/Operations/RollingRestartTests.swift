import Synchronization
import TestDatabases
import Testing
import TocsinClient

@Suite("A rolling restart", .enabled(if: PostgresServer.named != nil), .timeLimit(.minutes(5)))
struct RollingRestartTests {
    private struct Record {
        var created = 0
        var failures: [String] = []
        var isOver = false
    }

    private final class Shared: Sendable {
        let record = Mutex(Record())
    }

    @Test(
        "O9: three nodes behind a balancer restart in turn; no create fails with one retry, no event is lost or doubled"
    )
    func rolling() async throws {
        let environment = ["TOCSIN_DRAIN_SECONDS": "1", "TOCSIN_STOP_SECONDS": "5"]
        try await Cluster.run(3, environment: environment) { cluster in
            let token = try await cluster.addUser("ada")
            let topicID = try await cluster.client(0, token).makeTopic(named: "hot")
            let balancer = try Balancer((0..<3).map { cluster.port($0) })
            defer { balancer.close() }
            try await eventually("all are ready") { (0..<3).allSatisfy { balancer.isReady(cluster.port($0)) } }
            let followers = try (0..<6).map { _ in Follower(try Self.client(balancer, token), topicID: topicID) }
            for follower in followers { try await follower.untilLive() }
            let shared = Shared()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<4 {
                    let client = try Self.client(balancer, token)
                    group.addTask { await Self.publish(number, client, topicID: topicID, shared) }
                }
                for node in 0..<3 {
                    let before = shared.record.withLock { $0.created }
                    #expect(try await cluster.stop(node) == 0, "\(cluster.log(node))")
                    try await cluster.start(node)
                    try await eventually("node \(node) is ready again, and others worked meanwhile") {
                        balancer.isReady(cluster.port(node)) && shared.record.withLock { $0.created > before }
                    }
                }
                shared.record.withLock { $0.isOver = true }
                try await group.waitForAll()
            }
            let record = shared.record.withLock { $0 }
            #expect(record.failures.isEmpty, "\(record.failures)")
            for follower in followers {
                try await eventually("all is heard") { follower.messages.count >= record.created }
                #expect(follower.messages.map(\.number) == Array(1...Int64(record.created)))
                follower.stop()
            }
        }
    }

    private static func client(_ balancer: Balancer, _ token: String) throws -> TocsinClient {
        var settings = ClientSettings()
        settings.isPatientButQuick()
        settings.maximumAttempts = 2
        return try TocsinClient(url: "http://127.0.0.1:\(balancer.port)", token: token, settings: settings)
    }

    private static func publish(_ number: Int, _ client: TocsinClient, topicID: String, _ shared: Shared) async {
        var count = 0
        while !shared.record.withLock({ $0.isOver }) {
            count += 1
            var draft = MessageDraft(title: "\(number).\(count)")
            draft.key = draft.title
            do throws(ClientError) {
                _ = try await client.publish(topic: .id(topicID), draft)
                shared.record.withLock { $0.created += 1 }
            } catch {
                shared.record.withLock { $0.failures.append(error.description) }
            }
        }
    }
}
