import Testing
import TocsinHTTP

@Suite("Answers that nobody reads", .timeLimit(.minutes(5)))
struct UnreadAnswerTests {
    private static let query = "GET /graphql?query=large HTTP/1.1\r\nHost: a\r\nAuthorization: good\r\n\r\n"

    @Test("a request is begun only when its client has taken the answers before it, and all are answered in the end")
    func pipelined() async throws {
        // Who does not read is not to be cut here, however slow the machine is.
        try await TestServer.with(settings: { $0.writeMilliseconds = 600_000 }) { server in
            let client = try await RawClient.connect(port: server.port, reads: false, receiveBuffer: 4096)
            client.send(String(repeating: Self.query, count: 5))
            let witness = try await server.connect()
            for _ in 1...50 {
                witness.post("a")
                #expect(try await witness.response().status == 200, "others do not feel it")
            }
            #expect(server.service.executions - 50 <= 2, "of 8 MB each")
            try await client.startReading()
            for _ in 1...5 { #expect(try await client.response().body.utf8.count == EchoService.large.count) }
        }
    }

    @Test("what waits is given back when the client goes, and is the bound of all its owner's connections")
    func budget() async throws {
        try await TestServer.with(settings: {
            // An answer of 8 MB fits, but not beside the rest of another: the system takes at most
            // 4 MB of one.
            $0.maximumMemoryOfOwner = 9 << 20
            $0.writeMilliseconds = 600_000
        }) { server in
            let slow = try await RawClient.connect(port: server.port, reads: false, receiveBuffer: 4096)
            let client = try await server.connect()
            // Until the first has its share the second may have the same, and the first be refused.
            var refused: RawResponse?
            for _ in 1...100 where refused == nil {
                slow.send(Self.query)
                client.send(Self.query)
                let response = try await client.response()
                if response.status != 200 { refused = response }
            }
            let answer = try #require(refused)
            #expect(answer.status == 429)
            #expect(answer.fields["retry-after"] == "1")
            #expect(answer.body.contains("LIMIT"))
            client.send(Self.query.replacing("good", with: "other"))
            #expect(try await client.response().status == 200, "another owner has a share of its own")
            slow.close()
            try await client.untilAlone(on: server)
            client.send(Self.query)
            #expect(try await client.response().status == 200)
        }
    }

    @Test("requests that are sent ahead are all answered, also to a client that ends its output")
    func ahead() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            let request = "GET /graphql?query=a HTTP/1.1\r\nHost: a\r\nAuthorization: good\r\n\r\n"
            let body = #"{"query":"last"}"#
            client.send(
                String(repeating: request, count: 200)
                    + "POST /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: good\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
            for _ in 1...200 { #expect(try await client.response().status == 200) }
            #expect(try await client.response().body.contains("last"))
        }
    }
}
