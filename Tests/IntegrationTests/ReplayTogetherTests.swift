import JSON
import Testing
import TocsinClient

@Suite("Many replays on one socket", .timeLimit(.minutes(10)))
struct ReplayTogetherTests {
    /// What is replayed at once: each many times what may wait for a connection.
    struct Load: Sendable, CustomTestStringConvertible {
        var subscriptions: Int
        var messages: Int
        var bodyBytes: Int
        var isAppSync = false
        var queueBytes = 1_048_576

        var testDescription: String {
            "\(subscriptions) × \(messages) of \(bodyBytes) bytes" + (isAppSync ? ", AppSync" : "")
        }

        static let all = [
            Load(subscriptions: 60, messages: 40, bodyBytes: 20),
            Load(subscriptions: 60, messages: 40, bodyBytes: 2_000),
            Load(subscriptions: 60, messages: 40, bodyBytes: 2_000, isAppSync: true),
            Load(subscriptions: 10, messages: 12, bodyBytes: 100_000),
            Load(subscriptions: 10, messages: 12, bodyBytes: 100_000, isAppSync: true),
            // One response alone is more than may wait.
            Load(subscriptions: 4, messages: 3, bodyBytes: 200_000, queueBytes: 65_536),
        ]
    }

    @Test("a reader that reads gets each of them whole, once and in order, and then what is live", arguments: Load.all)
    func together(_ load: Load) async throws {
        try await Installation.run {
            $0.environment["TOCSIN_SOCKET_QUEUE_BYTES"] = "\(load.queueBytes)"
        } _: { installation in
            let token = try await installation.addUser("ada")
            let client = try installation.makeClient(token: token)
            let topic = try await client.makeTopic(named: "alerts")
            let body = String(repeating: "x", count: load.bodyBytes)
            for number in 1...load.messages {
                _ = try await client.publish(topic: .id(topic), title: "\(number)", body: body)
            }
            let socket = try await Self.open(installation, token, load)
            let document = "subscription { onCreateMessage(topicId: \"\(topic)\", after: \"\") { number body } }"
            for id in 1...load.subscriptions {
                let request: JSONValue = ["query": .string(document)]
                try socket.send(
                    load.isAppSync
                        ? AppSyncWords.start("\(id)", document, token: token)
                        : ["id": .string("\(id)"), "type": "subscribe", "payload": request]
                )
            }
            var numbers: [String: Int64] = [:]
            try await Self.read(load.subscriptions * load.messages, from: socket, into: &numbers)
            _ = try await client.publish(topic: .id(topic), title: "live")
            try await Self.read(load.subscriptions, from: socket, into: &numbers)
            #expect(numbers.count == load.subscriptions)
            #expect(numbers.values.allSatisfy { $0 == Int64(load.messages + 1) })
        }
    }

    private static func open(_ installation: Installation, _ token: String, _ load: Load) async throws -> RawSocket {
        let socket: RawSocket
        if load.isAppSync {
            socket = try await RawSocket(installation, path: AppSyncWords.path(token), subprotocols: "graphql-ws")
            try socket.send(["type": "connection_init"])
        } else {
            socket = try await RawSocket(installation, token: token)
        }
        try await socket.untilReady()
        return socket
    }

    /// Reads so many events, each the next of its subscription.
    private static func read(
        _ count: Int,
        from socket: RawSocket,
        into numbers: inout [String: Int64]
    ) async throws {
        var left = count
        while left > 0 {
            let event = try await socket.next()
            guard case .message(let message) = event else {
                throw HarnessFailure("The socket ended with \(left) of \(count) to come: \(event)")
            }
            guard message["type"] == "next" || message["type"] == "data" else { continue }
            let id = try #require(message["id"]?.stringValue)
            let number = try #require(message["payload"]?["data"]?["onCreateMessage"]?["number"]?.intValue)
            #expect(number == numbers[id, default: 0] + 1)
            numbers[id] = number
            left -= 1
        }
    }
}
