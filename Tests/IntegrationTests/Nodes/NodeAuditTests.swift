import JSON
import TestDatabases
import Testing
import TocsinClient

/// The audit of several nodes, followed on one of them.
@Suite("The audit on several nodes", .enabled(if: PostgresServer.named != nil), .timeLimit(.minutes(5)))
struct NodeAuditTests {
    @Test(
        "what several nodes write beside each other is heard once, also what one wrote that was killed",
        arguments: ["postgres", "off"]
    )
    func killed(doorbell: String) async throws {
        try await Cluster.run(3, environment: ["TOCSIN_DOORBELL": doorbell]) { cluster in
            let token = try await cluster.addUser("ada")
            try await cluster.administer(["user", "admin", "ada"])
            let socket = try await RawSocket(port: cluster.port(2), token: token)
            try await socket.subscribe("subscription { onAuditEvent { id action } }")
            var heard: [String] = []
            func look() throws {
                while let event = try socket.look() {
                    guard case .message(let message) = event else {
                        throw HarnessFailure("The socket has ended: \(event)")
                    }
                    guard let row = message["payload"]?["data"]?["onAuditEvent"], row["action"] == "topic.create" else {
                        continue
                    }
                    heard.append(row["id"]?.stringValue ?? "\(message)")
                }
            }
            let makers = try (0..<2).map { node in
                let client = try cluster.impatientClient(node, token)
                return Task {
                    for number in 0... where (try? await client.makeTopic(named: "\(node).\(number)")) == nil { return }
                }
            }
            try await eventually("some topics are heard of") {
                try look()
                return heard.count >= 30
            }
            try await cluster.kill(0)
            makers[1].cancel()
            for maker in makers { await maker.value }
            try await cluster.start(0)
            _ = try await cluster.client(0, token).makeTopic(named: "the last one")
            let written = try await Self.written(try cluster.client(2, token))
            #expect(written.count > 30)
            try await eventually("as many are heard of as were written") {
                try look()
                return heard.count >= written.count
            }
            #expect(heard.sorted() == written.sorted())
        }
    }

    /// The ids of all rows of topics that were made.
    private static func written(_ client: TocsinClient) async throws -> [String] {
        let document = """
            query($n: String) { auditEvents(filter: { action: "topic.create" }, limit: 100, nextToken: $n) {
              items { id } nextToken } }
            """
        var (ids, next): ([String], JSONValue) = ([], .null)
        repeat {
            let page = try await client.query(document, variables: ["n": next])["auditEvents"]
            ids += (page?["items"]?.arrayValue ?? []).compactMap { $0["id"]?.stringValue }
            next = page?["nextToken"] ?? .null
        } while next != .null
        return ids
    }
}
