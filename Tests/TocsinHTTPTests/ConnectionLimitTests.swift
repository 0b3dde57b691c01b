import Encodings
import Testing
import TocsinHTTP

@Suite("Connections that run short", .timeLimit(.minutes(5)))
struct ConnectionLimitTests {
    private static let hang = "GET /graphql?query=hang HTTP/1.1\r\nHost: a\r\nAuthorization: good\r\n"

    @Test("one address has its share, and other addresses theirs")
    func share() async throws {
        try await TestServer.with(settings: { $0.maximumConnectionsOfAddress = 2 }) { server in
            for _ in 1...2 {
                let client = try await server.connect()
                client.send(Self.hang + "\r\n")
                #expect(await server.service.wait(for: .hanging))
            }
            let third = try await server.connect()
            let refused = await third.readToEnd()
            #expect(refused.hasPrefix("HTTP/1.1 503 "))
            #expect(refused.contains("retry-after: "))
            let other = try await RawClient.connect(port: server.port, from: "127.0.0.2")
            other.post("a")
            #expect(try await other.response().status == 200)
        }
    }

    @Test("idle strangers go first, then idle clients that were let in, and nobody who is served")
    func standing() async throws {
        try await TestServer.with(settings: { $0.maximumConnections = 3 }) { server in
            let stranger = try await server.connect()
            stranger.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await stranger.response().status == 200)
            let known = try await server.connect()
            known.post("a")
            #expect(try await known.response().status == 200)
            let busy = try await server.connect()
            busy.send(Self.hang + "\r\n")
            #expect(await server.service.wait(for: .hanging))

            let first = try await server.connect()
            first.send(Self.hang + "\r\n")
            #expect(await server.service.wait(for: .hanging))
            #expect(await stranger.readToEnd() == "", "the stranger has gone")
            known.post("a")
            #expect(try await known.response().status == 200, "the one that was let in has not")

            let second = try await server.connect()
            second.send(Self.hang + "\r\n")
            #expect(await server.service.wait(for: .hanging))
            #expect(await known.readToEnd() == "")
            #expect(await (try server.connect()).readToEnd().hasPrefix("HTTP/1.1 503 "), "nobody is idle")
        }
    }

    @Test("sockets without a word keep nobody out")
    func idleSockets() async throws {
        try await TestServer.with(settings: { $0.maximumConnections = 20 }) { server in
            var idle: [RawClient] = []
            for _ in 1...60 { idle.append(try await server.connect()) }
            let client = try await RawClient.connect(port: server.port, from: "127.0.0.2")
            client.post("a")
            #expect(try await client.response().status == 200)
            #expect(idle.count == 60)
        }
    }

    @Test("a proxy is not counted: the clients that it names are")
    func proxy() async throws {
        try await TestServer.with(settings: {
            $0.maximumConnectionsOfAddress = 1
            $0.trustedProxies = [AddressNetwork("127.0.0.1")].compactMap(\.self)
        }) { server in
            for client in ["192.0.2.1", "192.0.2.2", "2001:db8:1::1"] {
                let connection = try await server.connect()
                connection.send(Self.hang + "X-Forwarded-For: \(client)\r\n\r\n")
                #expect(await server.service.wait(for: .hanging))
            }
            for client in ["192.0.2.1", "2001:db8:1::2"] {
                let connection = try await server.connect()
                connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: \(client)\r\n\r\n")
                #expect(await connection.readToEnd().hasPrefix("HTTP/1.1 503 "), "\(client) has its share")
            }
            for fields in ["", "X-Forwarded-For: 2001:db8:1:1::1\r\n"] {
                let connection = try await server.connect()
                connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
                #expect(try await connection.response().status == 200)
            }
        }
    }

    @Test("a socket takes only short messages until its peer has shown who it is")
    func longGreeting() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            _ = try await client.upgrade()
            let padding = String(repeating: "x", count: 20_000)
            client.sendText(#"{"type":"connection_init","payload":{"Authorization":"good","x":"\#(padding)"}}"#)
            #expect(try await client.frame().closeCode == 1009)
        }
    }
}
