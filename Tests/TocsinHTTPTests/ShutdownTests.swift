import Testing
import TocsinHTTP

@Suite("Stopping", .timeLimit(.minutes(5)))
struct ShutdownTests {
    @Test("a request under way is answered, as the last of its connection")
    func requestInFlight() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.post("gate")
            #expect(await server.service.wait(for: .gateReached))
            async let stopped: Void = server.server.shutdown()
            let idle = try await server.connectIfListening()
            idle?.close()
            server.service.openGates()
            let answer = await client.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            await stopped
        }
    }

    @Test("idle connections are closed, sockets are told with 1001, and nobody can connect")
    func idle() async throws {
        // An address that no other test has: its servers might be given the
        // port as soon as it is free.
        try await TestServer.with(settings: { $0.host = "127.0.0.2" }) { server in
            let idle = try await server.connect()
            idle.post("a")
            #expect(try await idle.response().status == 200)
            let socket = try await server.connect()
            try await socket.openSession()
            async let stopped: Void = server.server.shutdown()
            #expect(await idle.readToEnd() == "")
            #expect(try await socket.closeFrame().closeCode == 1001)
            await stopped
            // A process that another suite forks may hold the socket for a moment
            // more; nobody answers on it.
            let late = try await server.connectIfListening()
            late?.post("a")
            #expect(await late?.readToEnd() ?? "" == "")
        }
    }

    @Test("what does not end in the grace time is cut")
    func grace() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.post("hang")
            #expect(await server.service.wait(for: .hanging))
            await server.server.shutdown(graceSeconds: 0)
            #expect(await client.readToEnd() == "")
            #expect(await server.service.wait(for: .cancelled))
        }
    }

    @Test("a cancelled run stops the server")
    func run() async throws {
        let server = TestServer.make()
        let (addresses, continuation) = AsyncStream<Int>.makeStream()
        let run = Task { try await server.run(graceSeconds: 1) { continuation.yield($0.port) } }
        var ports = addresses.makeAsyncIterator()
        let port = try #require(await ports.next())
        let client = try await RawClient.connect(port: port)
        client.post("a")
        #expect(try await client.response().status == 200)
        run.cancel()
        try await run.value
        #expect(await client.readToEnd() == "")
    }

    @Test("a hundred sockets may be open and all are told to go")
    func manySockets() async throws {
        try await TestServer.with { server in
            var clients: [RawClient] = []
            for _ in 1...100 {
                let client = try await server.connect()
                try await client.openSession()
                clients.append(client)
            }
            #expect(server.server.connectionCount == 100)
            async let stopped: Void = server.server.shutdown()
            for client in clients { #expect(try await client.closeFrame().closeCode == 1001) }
            for client in clients { client.close() }
            await stopped
            #expect(server.server.connectionCount == 0)
        }
    }

    @Test("more than a hundred sockets are told one after the other over the grace time")
    func spread() async throws {
        try await TestServer.with { server in
            var clients: [RawClient] = []
            for _ in 1...120 {
                let client = try await server.connect()
                try await client.openSession()
                clients.append(client)
            }
            async let stopped: Void = server.server.shutdown(graceSeconds: 6)
            var told: [ContinuousClock.Instant] = []
            for client in clients {
                #expect(try await client.closeFrame().closeCode == 1001)
                told.append(.now)
                client.close()
            }
            await stopped
            let first = try #require(told.first)
            // The last one is told after 4.8 seconds; those before it at their share of that.
            #expect(told[119] - first > .seconds(1), "\(told[119] - first)")
            #expect(told[59] - first > .milliseconds(400), "\(told[59] - first)")
        }
    }

    @Test("a server that drains takes connections, says that it is not ready, and each answer is a connection's last")
    func drain() async throws {
        try await TestServer.with { server in
            let before = try await server.connect()
            before.post("a")
            #expect(try await before.response().fields["connection"] == nil)
            server.server.drain()
            before.post("a")
            #expect(try await before.response().fields["connection"] == "close")
            #expect(await before.readToEnd() == "")
            let later = try await server.connect()
            later.post("a")
            let answer = try await later.response()
            #expect(answer.status == 200 && answer.fields["connection"] == "close")
            for (path, status) in [("/readyz", 503), ("/livez", 200), ("/healthz", 200)] {
                let probe = try await server.connect()
                probe.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await probe.response().status == status, "\(path)")
            }
        }
    }

    @Test("a taken port is said in a sentence")
    func taken() async throws {
        try await TestServer.with { first in
            var settings = HTTPServerSettings()
            settings.port = first.port
            let second = TestServer.make(settings: settings)
            await #expect {
                _ = try await second.start()
            } throws: { error in
                "\(error)".hasPrefix("Cannot listen on 127.0.0.1 port \(first.port)")
            }
        }
    }

    @Test("a missing certificate is said in a sentence")
    func certificate() async throws {
        var settings = HTTPServerSettings()
        settings.tls = .init(certificateFile: "/nowhere.pem", keyFile: "/nowhere.key")
        let server = TestServer.make(settings: settings)
        await #expect {
            _ = try await server.start()
        } throws: { error in
            "\(error)".hasPrefix("Cannot use the TLS file /nowhere.pem")
        }
    }
}
