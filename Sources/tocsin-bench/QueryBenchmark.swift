import Foundation
import JSON

/// A cached query of 20 messages over HTTP, beside the same server's `/healthz`: what the query costs above HTTP alone.
struct QueryBenchmark {
    let options: BenchOptions
    private static let query = """
        query($t: ID!) {
          getMessageByTopicIdAndCreatedAt(topicId: $t, sortDirection: DESC, limit: 20) {
            items { id number type title body createdAt }
            nextToken
          }
        }
        """

    func run() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let topic =
            try server.run("mutation { createTopic(input: {name: \"bench\"}) { id } }")["createTopic"]?["id"] ?? .null
        for number in 1...40 {
            _ = try server.run(
                "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }",
                [
                    "i": [
                        "type": 1, "title": .string("Message \(number)"), "body": "The disk is full.", "topicId": topic,
                    ]
                ]
            )
        }
        let health = Array("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n".utf8)
        let floor = try await measure("floor: GET /healthz", server, health)
        tell(floor.printed())
        let request = server.request(Self.query, ["t": topic])
        tell(try await measure("query of 20 messages", server, request).printed(floor: floor))
    }

    private func measure(_ name: String, _ server: ServerProcess, _ request: [UInt8]) async throws -> Figures {
        let (start, before) = (Date(), try ProcessUsage.cpu(of: server.pid))
        let count = try await Load.run(
            port: server.port,
            connections: min(16, options.connections),
            seconds: options.seconds
        ) { _, _ in request }
        return Figures(
            name: name,
            operations: count,
            seconds: Date().timeIntervalSince(start),
            cpuSeconds: try ProcessUsage.cpu(of: server.pid) - before,
            memoryBytes: try ProcessUsage.peakMemory(of: server.pid)
        )
    }
}
