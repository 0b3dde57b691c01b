import Foundation
import JSON
import TestDatabases
import Testing
import TocsinClient

@Suite("Sessions on three nodes", .enabled(if: PostgresServer.named != nil), .timeLimit(.minutes(5)))
struct SessionNodesTests {
    @Test("a session that begins on one node counts on all, and its end holds on all")
    func threeNodes() async throws {
        try await Cluster.run(3, environment: ["TOCSIN_DOORBELL": "off"]) { cluster in
            let bob = try await cluster.addUser("bob")
            let password = try await cluster.administer(["user", "password", "bob", "--generate"])
                .trimmingCharacters(in: .whitespacesAndNewlines)
            for round in 0..<3 {
                let signedIn = try await cluster.client(round, bob).mutate(
                    "mutation($p: String!) { signIn(username: \"bob\", password: $p) { token sessionId } }",
                    variables: ["p": .string(password)]
                )["signIn"]
                let token = try #require(signedIn?["token"]?.stringValue, "\(String(describing: signedIn))")
                var sockets: [RawSocket] = []
                for node in 0..<3 {
                    let me = try await cluster.impatientClient(node, token).query("{ me { username } }")
                    #expect(me["me"]?["username"] == "bob", "round \(round), node \(node)")
                    let socket = try await RawSocket(port: cluster.port(node), token: token)
                    try await socket.untilReady()
                    sockets.append(socket)
                }
                _ = try await cluster.client((round + 1) % 3, token).mutate("mutation { signOut }")
                for socket in sockets { #expect(try await socket.untilClosed() == 4403) }
                for node in 0..<3 {
                    await #expect(throws: ClientError.self) {
                        try await cluster.impatientClient(node, token).query("{ me { username } }")
                    }
                }
            }
        }
    }
}
