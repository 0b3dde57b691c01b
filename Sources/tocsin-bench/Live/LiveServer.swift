import Foundation
import JSON

/// The server under measure: it publishes to its topics and tells how long the answers took.
final class LiveServer {
    let process: ServerProcess
    private(set) var topics: [String] = []
    private var connections: [LoadConnection] = []

    init(sockets: Int) throws {
        let room = String(sockets + 1000)
        process = try ServerProcess(environment: [
            "TOCSIN_CONNECTIONS": room, "TOCSIN_SOCKETS_PER_OWNER": room, "TOCSIN_SUBSCRIPTIONS_PER_OWNER": room,
        ])
        try makeTopics(1)
    }

    func stop() {
        for connection in connections { connection.close() }
        process.stop()
    }

    func makeTopics(_ count: Int) throws {
        while topics.count < count {
            let made = try process.run("mutation { createTopic(input: {name: \"live \(topics.count)\"}) { id } }")
            topics.append(made["createTopic"]?["id"]?.stringValue ?? "")
        }
    }

    func order(_ count: Int, topics: Int = 1, slow: Int = 0) -> ReaderOrder {
        var order = ReaderOrder(.graphql, port: process.port, count: count)
        order.token = process.token
        order.topics = Array(self.topics.prefix(topics))
        order.slow = slow
        return order
    }

    func cpu() throws -> Double { try ProcessUsage.cpu(of: process.pid) }

    func memory() throws -> Int { try ProcessUsage.memory(of: process.pid) }

    /// Publishes so many messages at once, each on a connection of its own; answers how long all answers took, in
    /// nanoseconds.
    @discardableResult
    func publish(_ count: Int = 1, to topic: Int = 0) throws -> Int64 {
        let start = Monotonic.nanoseconds()
        try send(to: Array(repeating: topic, count: count))
        return Monotonic.nanoseconds() - start
    }

    /// Publishes a message to each of these topics, by index, at once, and waits for the answers.
    func send(to indices: [Int]) throws {
        while connections.count < indices.count { connections.append(try LoadConnection(port: process.port)) }
        for (connection, index) in zip(connections, indices) {
            let input: JSONValue = [
                "type": 1, "title": .string("t=\(Monotonic.nanoseconds())"), "body": .string(StoreBenchmark.body),
                "topicId": .string(topics[index]),
            ]
            try connection.send(process.request(StoreBenchmark.mutation, ["i": input]))
        }
        for connection in connections.prefix(indices.count) { _ = try connection.receive() }
    }
}
