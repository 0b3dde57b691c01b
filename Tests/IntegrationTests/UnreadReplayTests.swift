import Foundation
import JSON
import Testing
import TocsinClient

@Suite("Replays that nobody reads", .timeLimit(.minutes(10)))
struct UnreadReplayTests {
    private static let sockets = 48
    private static let messages = 40
    private static let bodyBytes = 250_000

    @Test("keep a page for some of their owner's sockets each, and nothing for the others, until they are cut")
    func memory() async throws {
        try await Installation.run { installation in
            installation.environment["TOCSIN_SOCKET_WRITE_SECONDS"] = "2"
        } _: { installation in
            let token = try await installation.addUser("ada")
            let client = try installation.makeClient(token: token)
            let topic = try await client.makeTopic(named: "alerts")
            let body = String(repeating: "x", count: Self.bodyBytes)
            for number in 1...Self.messages {
                _ = try await client.publish(topic: .id(topic), title: "\(number)", body: body)
            }
            var sleepers: [RawSocket] = []
            for _ in 0..<Self.sockets {
                let socket = try await RawSocket(
                    port: installation.server?.port ?? 0,
                    path: "/graphql",
                    subprotocols: "graphql-transport-ws",
                    hasSmallWindow: true
                )
                try socket.send(["type": "connection_init", "payload": ["Authorization": .string("Bearer \(token)")]])
                sleepers.append(socket)
            }
            for socket in sleepers { try await socket.untilReady() }
            let before = try Self.memory("VmRSS", of: installation)
            let document = "subscription { onCreateMessage(topicId: \"\(topic)\", after: \"\") { number body } }"
            for socket in sleepers {
                try socket.send(["id": "1", "type": "subscribe", "payload": ["query": .string(document)]])
            }
            // Those that have taken nothing for two seconds are cut, until none is left.
            let watchers = "query($i: ID!) { getTopic(id: $i) { watchers } }"
            for isSubscribed in [true, false] {
                try await eventually("there are\(isSubscribed ? "" : " no") subscribers", withinSeconds: 240) {
                    let answer = try await client.query(watchers, variables: ["i": .string(topic)])
                    return ((answer["getTopic"]?["watchers"]?.intValue ?? 0) > 0) == isSubscribed
                }
            }
            let growth = try Self.memory("VmHWM", of: installation) - before
            print("\(Self.sockets) unread replays: the server grew by \(growth >> 20) MiB at most")
            // One page of 32 messages for each socket would be 380 MiB.
            #expect(growth < 150 << 20, "grew by \(growth >> 20) MiB")
            withExtendedLifetime(sleepers) {}
        }
    }

    /// A line of the server's memory, in bytes.
    private static func memory(_ name: String, of installation: Installation) throws -> Int {
        let processID = try #require(installation.server?.process.processID)
        let status = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        return try #require(kilobytes) * 1024
    }
}
