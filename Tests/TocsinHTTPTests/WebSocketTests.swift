import GraphQLTransport
import Testing
import TocsinHTTP

@Suite("WebSockets", .timeLimit(.minutes(5)))
struct WebSocketTests {
    @Test("the handshake is answered as RFC 6455 shows")
    func handshake() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            let response = try await client.upgrade(subprotocol: "other, graphql-transport-ws")
            #expect(response.status == 101)
            #expect(response.fields["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
            #expect(response.fields["sec-websocket-protocol"] == "graphql-transport-ws")
        }
    }

    @Test("queries, mutations and subscriptions run over one socket")
    func operations() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            try await client.openSession()
            client.subscribe("1", "q")
            #expect(try await client.frame().text.hasPrefix(#"{"id":"1","type":"next","payload":{"data":{"echo":"q""#))
            #expect(try await client.frame().text == #"{"id":"1","type":"complete"}"#)
            client.subscribe("2", "subscription three")
            for number in 1...3 {
                let expected = "{\"id\":\"2\",\"type\":\"next\",\"payload\":{\"data\":\(number)}}"
                #expect(try await client.frame().text == expected)
            }
            #expect(try await client.frame().text == #"{"id":"2","type":"complete"}"#)
            client.subscribe("3", "bad")
            #expect(try await client.frame().text == #"{"id":"3","type":"error","payload":[{"message":"bad"}]}"#)
            client.subscribe("4", "subscription refused")
            #expect(try await client.frame().text == #"{"id":"4","type":"error","payload":[{"message":"no"}]}"#)
        }
    }

    @Test("a message sent right behind the handshake is not lost")
    func eager() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.requestUpgrade()
            client.sendText(RawClient.initMessage)
            #expect(try await client.response().status == 101)
            #expect(try await client.frame().text == #"{"type":"connection_ack"}"#)
        }
    }

    @Test("a ping after a subscribe is answered when the subscription is live")
    func order() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            try await client.openSession()
            client.subscribe("1", "subscription gate")
            client.sendText(#"{"type":"ping"}"#)
            client.sendFrame(0x89, [7])
            client.subscribe("2", "q")
            #expect(try await client.frame().text.contains("\"echo\""), "the query does not wait")
            #expect(try await client.frame().text.contains("complete"))
            #expect(await server.service.wait(for: .gateReached))
            server.service.openGates()
            #expect(try await client.frame().text == #"{"type":"pong"}"#)
            #expect(try await client.frame() == RawFrame(opcode: 10, payload: [7]))
            server.service.publish(Array("{}".utf8))
            #expect(try await client.frame().text == #"{"id":"1","type":"next","payload":{}}"#)
        }
    }

    @Test("a completed subscription is cancelled, and a closed socket's too")
    func cancellation() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            try await client.openSession()
            client.subscribe("1", "subscription live")
            #expect(await server.service.wait(for: .subscribed))
            client.sendText(#"{"id":"1","type":"complete"}"#)
            #expect(await server.service.wait(for: .unsubscribed))
            client.subscribe("2", "subscription live")
            #expect(await server.service.wait(for: .subscribed))
            client.close()
            #expect(await server.service.wait(for: .unsubscribed))
        }
    }

    @Test(
        "each fault of a message has its close code",
        arguments: [
            ([#"{"type":"subscribe","id":"1","payload":{"query":"q"}}"#], 4401, "Unauthorized"),
            ([#"{"type":"connection_init"}"#], 4401, "Unauthorized"),
            ([#"{"type":"connection_init","payload":{"Authorization":"wrong"}}"#], 4403, "Forbidden"),
            ([#"{"type":"connection_init","payload":{"authorization":"busy"}}"#], 1013, "keys"),
            ([RawClient.initMessage, RawClient.initMessage], 4429, "Too many initialisation requests"),
            (["nonsense"], 4400, "Invalid message"),
            ([#"{"type":"hello"}"#], 4400, "hello"),
        ]
    )
    func closeCodes(messages: [String], code: Int, reason: String) async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            _ = try await client.upgrade()
            for message in messages { client.sendText(message) }
            let frame = try await client.closeFrame()
            #expect(frame.closeCode == code)
            #expect(frame.closeReason.contains(reason))
            #expect(await client.readToEnd() == "")
        }
    }

    @Test("two subscriptions of one id end the connection")
    func duplicate() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            try await client.openSession()
            client.subscribe("x", "subscription live")
            client.subscribe("x", "subscription live")
            let frame = try await client.closeFrame()
            #expect(frame.closeCode == 4409)
            #expect(frame.closeReason == "Subscriber for x already exists")
        }
    }

    @Test("who does not introduce itself is closed in time")
    func initialisation() async throws {
        try await TestServer.with(settings: { $0.session.initialisationMilliseconds = 50 }) { server in
            let client = try await server.connect()
            _ = try await client.upgrade()
            #expect(try await client.closeFrame().closeCode == 4408)
        }
    }

    @Test("without a subprotocol of ours the socket is closed")
    func subprotocol() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            let response = try await client.upgrade(subprotocol: "graphql-other")
            #expect(response.fields["sec-websocket-protocol"] == nil)
            #expect(try await client.closeFrame().closeCode == 4406)
        }
    }

    @Test("the token's end, at once or later, ends the socket", arguments: ["brief", "good"])
    func expiry(token: String) async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            _ = try await client.upgrade()
            client.sendText("{\"type\":\"connection_init\",\"payload\":{\"Authorization\":\"\(token)\"}}")
            #expect(try await client.frame().text.contains("connection_ack"))
            if token == "good" { client.subscribe("1", "subscription revoked") }
            #expect(try await client.closeFrame().closeCode == 4403)
        }
    }

    @Test(
        "the upgrade's own credentials count",
        arguments: ["Authorization: Bearer good\r\n", "X-Api-Key: good\r\n"]
    )
    func upgradeCredentials(field: String) async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            _ = try await client.upgrade(fields: field)
            client.sendText(#"{"type":"connection_init"}"#)
            #expect(try await client.frame().text == #"{"type":"connection_ack"}"#)
        }
    }

    @Test(
        "a page of another origin may not open a socket on either path, by any protocol, not even with credentials",
        arguments: [
            ("https://evil.example", 403), ("https://a", 101), ("http://a", 101), ("https://good.example", 101),
            ("null", 403), ("https://good.example.evil.example", 403), ("http://good.example", 403),
        ],
        [
            ("/graphql", "graphql-transport-ws"), ("/graphql", "graphql-ws"), ("/graphql/realtime", "graphql-ws"),
            ("/graphql/realtime?header=eyJBdXRob3JpemF0aW9uIjoiZ29vZCJ9&payload=e30=", "graphql-ws"),
            ("/graphql/realtime", "graphql-transport-ws"), ("/graphql/realtime", "none-of-ours"),
        ]
    )
    func origin(_ origin: (String, status: Int), target: (path: String, subprotocol: String)) async throws {
        try await TestServer.with(settings: { $0.crossOrigin.allowedOrigins = ["https://good.example"] }) { server in
            let client = try await server.connect()
            let fields = "Origin: \(origin.0)\r\nAuthorization: Bearer good\r\n"
            let answer = try await client.upgrade(path: target.path, subprotocol: target.subprotocol, fields: fields)
            #expect(answer.status == origin.status)
        }
    }

    @Test(
        "a broken handshake is refused",
        arguments: [
            ("Sec-WebSocket-Version: 12", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", 426),
            ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: short", 400),
            ("Sec-WebSocket-Version: 13", "X: y", 400),
            ("X: y", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", 426),
        ]
    )
    func handshakeFaults(version: String, key: String, status: Int) async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.send(
                "GET /graphql HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    + "\(version)\r\n\(key)\r\n\r\n"
            )
            #expect(await client.readToEnd().hasPrefix("HTTP/1.1 \(status) "))
        }
    }
}

@Suite("WebSocket limits", .timeLimit(.minutes(5)))
struct WebSocketLimitTests {
    @Test("one owner's sockets are counted, also when they close")
    func groups() async throws {
        try await TestServer.with(settings: { $0.maximumSocketsOfGroup = 2 }) { server in
            let first = try await server.connect()
            try await first.openSession()
            let second = try await server.connect()
            try await second.openSession()
            let third = try await server.connect()
            _ = try await third.upgrade()
            third.sendText(RawClient.initMessage)
            #expect(try await third.closeFrame().closeCode == 1013)
            first.sendFrame(0x88, [0x03, 0xE8])
            #expect(try await first.closeFrame().closeCode == 1000)
            let fourth = try await server.connect()
            try await fourth.openSession()
        }
    }

    @Test("a replay far larger than the queue arrives whole when it waits for room")
    func replay() async throws {
        // The echo replays before it answers that it is live: a busy machine
        // may take its time for that.
        try await TestServer.with(settings: { $0.answerMilliseconds = 60_000 }) { server in
            let client = try await server.connect()
            try await client.openSession()
            client.subscribe("1", "subscription replay")
            for number in 0..<40 {
                let frame = try await client.frame()
                #expect(frame.payload.count > 100_000, "frame \(number): \(frame.text.prefix(200))")
            }
            #expect(try await client.frame().text == #"{"id":"1","type":"complete"}"#)
        }
    }

    @Test("a query over the socket is cancelled when the client has gone")
    func cancellation() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            try await client.openSession()
            client.subscribe("1", "hang")
            #expect(await server.service.wait(for: .hanging))
            client.close()
            #expect(await server.service.wait(for: .cancelled))
        }
    }

    @Test("an operation that takes too long is ended with an error, and the socket goes on")
    func timeLimit() async throws {
        try await TestServer.with(settings: { $0.answerMilliseconds = 100 }) { server in
            let client = try await server.connect()
            try await client.openSession()
            client.subscribe("1", "hang")
            client.subscribe("2", "q")
            #expect(try await client.frame().text.hasPrefix(#"{"id":"2","type":"next""#))
            #expect(try await client.frame().text == #"{"id":"2","type":"complete"}"#)
            let late = try await client.frame().text
            #expect(late.hasPrefix(#"{"id":"1","type":"error""#) && late.contains(#""code":"TIMEOUT""#))
            #expect(await server.service.wait(for: .cancelled))
            client.subscribe("3", "subscription gate")
            #expect(try await client.frame().text.hasPrefix(#"{"id":"3","type":"error""#))
            server.service.openGates()
            #expect(await server.service.wait(for: .unsubscribed), "a registration that comes too late is undone")
        }
    }

    @Test("after a subscription's task was cancelled, waiting for room does not hang")
    func cancelledReplay() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            try await client.openSession()
            try await client.stopReading()
            client.subscribe("1", "subscription replay")
            client.sendText(#"{"id":"1","type":"complete"}"#)
            #expect(await server.service.wait(for: .unsubscribed))
            client.subscribe("2", "q")
            try await client.startReading()
            var frame = try await client.frame()
            while frame.text.hasPrefix(#"{"id":"1""#) { frame = try await client.frame() }
            #expect(frame.text.hasPrefix(#"{"id":"2","type":"next""#), "the connection is still good")
        }
    }
}
