import JSON
import TestDatabases
import Testing
import TocsinClient

/// What was read at one device, told to another over a socket.
@Suite("Following what was read, over sockets", .timeLimit(.minutes(5)))
struct ReadStateSocketTests {
    private static let document = "subscription { onReadState { unread topics { number } } }"
    private static let mark = "mutation($t: ID!, $n: Int!) { markRead(topicId: $t, number: $n) { unread } }"

    private func unread(_ socket: RawSocket) async throws -> Int64? {
        guard case .message(let message) = try await socket.next() else {
            throw HarnessFailure("The socket has ended.")
        }
        return message["payload"]?["data"]?["onReadState"]?["unread"]?.intValue
    }

    @Test("another device of the person hears of it; a revoked token ends it with the socket")
    func oneServer() async throws {
        try await Installation.run { installation in
            let token = try await installation.addUser("ada")
            let client = try installation.makeClient(token: token)
            let topic = try await client.makeTopic(named: "alerts")
            for title in ["a", "b"] { _ = try await client.publish(topic: .id(topic), title: title) }
            let socket = try await RawSocket(installation, token: token)
            try await socket.subscribe(Self.document)
            for number in [1, 2] as [Int64] {
                _ = try await client.mutate(Self.mark, variables: ["t": .string(topic), "n": .int(number)])
                #expect(try await unread(socket) == 2 - number)
            }
            try await installation.administer(["user", "disable", "ada"])
            #expect(try await socket.untilClosed() == 4403)
        }
    }

    @Test("a device on another node hears of it", .enabled(if: PostgresServer.named != nil))
    func twoNodes() async throws {
        try await Cluster.run(2) { cluster in
            let token = try await cluster.addUser("ada")
            let client = try cluster.client(0, token)
            let topic = try await client.makeTopic(named: "alerts")
            for title in ["a", "b"] { _ = try await client.publish(topic: .id(topic), title: title) }
            let socket = try await RawSocket(port: cluster.port(1), token: token)
            try await socket.subscribe(Self.document)
            for (node, number) in [(0, 1), (1, 2)] as [(Int, Int64)] {
                let variables: JSONObject = ["t": .string(topic), "n": .int(number)]
                _ = try await cluster.client(node, token).mutate(Self.mark, variables: variables)
                #expect(try await unread(socket) == 2 - number)
            }
            try await cluster.administer(["user", "disable", "ada"])
            #expect(try await socket.untilClosed() == 4403)
        }
    }
}
