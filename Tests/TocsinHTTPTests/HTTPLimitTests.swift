import Testing
import TocsinHTTP

@Suite("HTTP limits", .timeLimit(.minutes(5)))
struct HTTPLimitTests {
    @Test(
        "what could be read in two ways is refused and the connection closed",
        arguments: [
            ("GET /healthz HTTP/1.1\r\n\r\n", 400),
            ("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
            ("GET /healthz HTTP/1.1\r\nHost:\r\n\r\n", 400),
            ("GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
            ("GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n", 400),
            ("GET /healthz HTTP/1.1\r\n Host: a\r\n\r\n", 400),
            ("GET /healthz HTTP/1.1\r\nHost: a\r\nX: b\r\n folded\r\n\r\n", 400),
            ("GET /healthz HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n", 400),
            ("GET /healthz HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n", 400),
            ("GET /healthz HTTP/1.1\nHost: a\n\n", 400),
            ("GET /healthz HTTP/1.1\r\nHost: a\nX: y\r\n\r\n", 400),
            ("GET /healthz HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400),
            ("GET /healthz HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", 400),
            ("GET healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET /h#z HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET /h\u{e9} HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET /healthz HTTP/2.0\r\nHost: a\r\n\r\n", 400),
            ("GET /healthz HTTP/1.2\r\nHost: a\r\n\r\n", 400),
            ("BREW /healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400),
            ("POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 2, 2\r\n\r\n{}", 400),
            ("POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\n{}", 400),
            ("POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 0x2\r\n\r\n{}", 400),
            ("POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n{}", 400),
            ("POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n{}", 400),
            (
                "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                400
            ),
            ("POST /graphql HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            ("POST /graphql HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
            ("POST /graphql HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501),
            (
                "POST /graphql HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "0\r\n\r\n", 400
            ),
            ("POST /graphql HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n", 400),
            ("POST /graphql HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n", 400),
            ("POST /graphql HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n", 400),
            ("POST /graphql HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2 \r\n{}\r\n0\r\n\r\n", 400),
            ("POST /graphql HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}0\r\n\r\n", 400),
            ("POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 1048577\r\n\r\n", 413),
            ("POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: magic\r\n\r\n", 417),
            ("GET /\(String(repeating: "a", count: 8200)) HTTP/1.1\r\nHost: a\r\n\r\n", 414),
            ("GET /\(String(repeating: "a", count: 40000)) HTTP/1.1\r\nHost: a\r\n\r\n", 414),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 33000))\r\n\r\n", 431),
            ("GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "X: y\r\n", count: 101))\r\n", 431),
            ("\u{16}\u{3}\u{1}hello", 400),
        ]
    )
    func refused(request: String, expected: Int) async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.send(request + "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = await client.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 \(expected) "), "\(answer.prefix(200))")
            #expect(answer.contains("connection: close"))
            #expect(answer.contains("\"errors\""))
            #expect(!answer.contains("\"status\":\"ok\""), "what follows is not trusted")
        }
    }

    @Test("a body in chunks that grows too large is refused")
    func chunksTooLarge() async throws {
        try await TestServer.with(settings: { $0.maximumBodyBytes = 10 }) { server in
            let client = try await server.connect()
            let fields =
                "Host: a\r\nAuthorization: good\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked"
            client.send("POST /graphql HTTP/1.1\r\n\(fields)\r\n\r\n")
            client.send("8\r\n01234567\r\n8\r\n01234567\r\n")
            #expect(await client.readToEnd().hasPrefix("HTTP/1.1 413 "))
        }
    }

    @Test("a head that does not end is refused in time")
    func slowHead() async throws {
        try await TestServer.with(settings: { $0.headMilliseconds = 3000 }) { server in
            let client = try await server.connect()
            client.send("GET /healthz HTTP/1.1\r\nHost")
            #expect(await client.readToEnd().hasPrefix("HTTP/1.1 408 "))
            #expect(await (try server.connect()).readToEnd() == "", "who says nothing gets nothing")
        }
    }

    @Test("a body that does not end is refused in time, however it trickles")
    func slowBody() async throws {
        try await TestServer.with(settings: { $0.bodyMilliseconds = 50 }) { server in
            let client = try await server.connect()
            let fields = "Host: a\r\nAuthorization: good\r\nContent-Type: application/json\r\nContent-Length: 10"
            client.send("POST /graphql HTTP/1.1\r\n\(fields)\r\n\r\n12")
            #expect(await client.readToEnd().hasPrefix("HTTP/1.1 408 "))
        }
    }

    @Test("an idle connection is closed in time")
    func idle() async throws {
        try await TestServer.with(settings: { $0.idleMilliseconds = 50 }) { server in
            let client = try await server.connect()
            client.post("a")
            #expect(try await client.response().status == 200)
            #expect(await client.readToEnd() == "")
        }
    }

    @Test("a request that takes too long is answered and cancelled")
    func slowAnswer() async throws {
        try await TestServer.with(settings: { $0.answerMilliseconds = 50 }) { server in
            let client = try await server.connect()
            client.post("hang")
            #expect(await client.readToEnd().hasPrefix("HTTP/1.1 503 "))
            #expect(await server.service.wait(for: .cancelled))
        }
    }

    @Test("a client that takes nothing is cut")
    func slowReader() async throws {
        try await TestServer.with(settings: { $0.writeMilliseconds = 100 }) { server in
            let client = try await RawClient.connect(port: server.port, reads: false, receiveBuffer: 4096)
            client.post("large")
            let witness = try await server.connect()
            witness.post("a")
            #expect(try await witness.response().status == 200, "others do not feel it")
            try await witness.untilAlone(on: server)
            try await client.startReading()
            #expect(await client.readToEnd().utf8.count < EchoService.large.count)
        }
    }

    @Test("one connection too many is refused politely, and welcome when another has gone")
    func connections() async throws {
        try await TestServer.with(settings: { $0.maximumConnections = 2 }) { server in
            let first = try await server.connect()
            let second = try await server.connect()
            for client in [first, second] {
                client.post("gate")
                #expect(await server.service.wait(for: .gateReached))
            }
            let third = try await server.connect()
            #expect(await third.readToEnd().hasPrefix("HTTP/1.1 503 "))
            server.service.openGates()
            for client in [first, second] { #expect(try await client.response().status == 200) }
            first.close()
            second.post("a")
            #expect(try await second.response().status == 200)
            try await second.untilAlone(on: server)
            let fourth = try await server.connect()
            fourth.post("a")
            #expect(try await fourth.response().status == 200)
        }
    }
}

extension RawClient {
    /// Asks until this is the server's only connection; bounded by the client's own time limit.
    func untilAlone(on server: TestServer) async throws {
        while server.server.connectionCount > 1 {
            send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await response()
        }
    }
}
