import Foundation
import JSON

/// The server under measure: it publishes to its topics and tells how long the answers took.
final class LiveServer {
    let process: ServerProcess
    private(set) var topics: [JSONValue] = []
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
            topics.append(try process.makeTopic("live \(topics.count)"))
        }
    }

    func order(_ count: Int, topics: Int = 1, slow: Int = 0) -> ReaderOrder {
        var order = ReaderOrder(.graphql, port: process.port, count: count)
        order.token = process.token
        order.topics = self.topics.prefix(topics).compactMap(\.stringValue)
        order.slow = slow
        return order
    }

    func memory() throws -> Int { try ProcessUsage.memory(of: process.pid) }

    /// Publishes so many messages at once, each on a connection of its own; answers how long all
    /// answers took, in nanoseconds.
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
            let title = "t=\(Monotonic.nanoseconds())"
            try connection.send(process.message(title, to: topics[index]))
        }
        for connection in connections.prefix(indices.count) { _ = try connection.receive() }
    }
}
