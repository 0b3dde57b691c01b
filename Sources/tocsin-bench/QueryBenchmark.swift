import JSON

/// A cached query of 20 messages over HTTP, beside the same server's `/healthz`: what the
/// query costs above HTTP alone.
struct QueryBenchmark {
    let options: BenchOptions
    private static let connections = 16
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
        let topic = try server.makeTopic("bench")
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
        let clients = Array(repeating: (port: server.port, request: request), count: Self.connections)
        let load = ClientLoad(clients: clients, seconds: options.seconds)
        let pid = server.pid
        let measured = try await LoadMeasurement.run(
            name,
            load,
            parts: [("server", { (try? ProcessUsage.cpu(of: pid)) ?? 0 })]
        )
        return Figures(
            name: name,
            operations: measured.outcome.count,
            seconds: measured.outcome.seconds,
            cpuSeconds: measured.cpu[0].seconds,
            memoryBytes: try ProcessUsage.peakMemory(of: pid)
        )
    }
}
