import GraphQLTransport
import Testing
import TocsinHTTP

@Suite("Server-sent events", .timeLimit(.minutes(5)))
struct EventStreamTests {
    private static let complete = "event: complete\ndata:\n\n"

    private func get(_ query: String, fields: String = "", version: String = "1.1") -> String {
        "GET /graphql?query=\(query.replacing(" ", with: "+")) HTTP/\(version)\r\nHost: a\r\nAuthorization: good\r\n"
            + "Accept: text/event-stream\r\n\(fields)\r\n"
    }

    @Test("a subscription over GET is a chunked stream of events, and the connection goes on")
    func subscription() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.send(get("subscription three"))
            let head = try await client.response()
            #expect(head.status == 200)
            #expect(head.fields["content-type"] == "text/event-stream; charset=utf-8")
            #expect(head.fields["transfer-encoding"] == "chunked")
            #expect(head.fields["content-length"] == nil)
            #expect(try await client.anyChunk() == ": live\n\n", "it comes once the subscription is registered")
            for number in 1...3 {
                #expect(try await client.chunk() == "event: next\ndata: {\"data\":\(number)}\n\n")
            }
            #expect(try await client.chunk() == Self.complete)
            #expect(try await client.chunk() == "")
            client.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await client.response().status == 200)
        }
    }

    @Test("POST streams too: subscriptions, and queries and mutations as one event", arguments: ["q", "mutation m"])
    func replies(query: String) async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.post(query, fields: "Accept: text/event-stream\r\n")
            #expect(try await client.response().status == 200)
            let event = "event: next\ndata: {\"data\":{\"echo\":\"\(query)\",\"variables\":{}}}\n\n"
            #expect(try await client.chunk() == event)
            #expect(try await client.chunk() == Self.complete)
            #expect(try await client.chunk() == "")
        }
    }

    @Test("who takes JSON as well gets it for queries, and events for subscriptions")
    func both() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            let fields = "Accept: application/graphql-response+json, text/event-stream\r\n"
            client.post("q", fields: fields)
            #expect(try await client.response().fields["content-type"]?.contains("graphql-response") == true)
            client.post("subscription three", fields: fields)
            #expect(try await client.response().fields["content-type"]?.contains("event-stream") == true)
        }
    }

    @Test("an event names its cursor, and a client that comes again names it back")
    func cursors() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.send(get("subscription cursors"))
            _ = try await client.response()
            #expect(try await client.chunk() == "event: next\nid: c1\ndata: {\"data\":1}\n\n")
            #expect(try await client.chunk() == "event: next\nid: c2\ndata: {\"data\":2}\n\n")
            let again = try await server.connect()
            again.send(get("subscription from", fields: "Last-Event-ID: c2\r\n"))
            _ = try await again.response()
            #expect(try await again.chunk() == "event: next\ndata: \"c2\"\n\n")
        }
    }

    @Test("what cannot run is told in the stream, what cannot be read or is not allowed by the status")
    func faults() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.send(get("bad"))
            #expect(try await client.response().status == 200)
            #expect(try await client.chunk() == "event: next\ndata: {\"errors\":[{\"message\":\"bad\"}]}\n\n")
            #expect(try await client.chunk() == Self.complete)
            #expect(try await client.chunk() == "")
            client.send(get("subscription refused"))
            _ = try await client.response()
            #expect(try await client.chunk() == "event: next\ndata: {\"errors\":[{\"message\":\"no\"}]}\n\n")
            #expect(try await client.chunk() == Self.complete)
            #expect(try await client.chunk() == "")
            client.send(get("mutation m"))
            #expect(try await client.response().status == 405)
            client.send("GET /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: good\r\nAccept: text/event-stream\r\n\r\n")
            #expect(try await client.response().status == 400)
            client.send("GET /graphql?query=q HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n")
            #expect(try await client.response().status == 401)
        }
    }

    @Test("HTTP/1.0 gets no chunks: the stream ends with the connection")
    func oldVersion() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.send(get("subscription cursors", version: "1.0"))
            let text = await client.readToEnd()
            #expect(!text.lowercased().contains("transfer-encoding"))
            #expect(
                text.hasSuffix(
                    "\r\n\r\n: live\n\nevent: next\nid: c1\ndata: {\"data\":1}\n\n"
                        + "event: next\nid: c2\ndata: {\"data\":2}\n\n"
                        + Self.complete
                )
            )
        }
    }

    @Test("over HTTP/1.0 a stream that ends without a word ends its connection")
    func oldVersionLifetime() async throws {
        let clock = TestClock()
        try await TestServer.with(clock: clock, settings: { $0.lifetimeMilliseconds = 100 }) { server in
            let client = try await server.connect()
            client.send(get("subscription live", version: "1.0"))
            _ = try await client.read(through: ": live\n\n")
            clock.advance(milliseconds: 111)
            #expect(await server.service.wait(for: .unsubscribed))
            #expect(await client.readToEnd() == "")
        }
    }

    @Test("HEAD tells of the stream without beginning it")
    func head() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.send(get("subscription live").replacing("GET", with: "HEAD"))
            #expect(try await client.response(hasBody: false).fields["content-type"]?.contains("event-stream") == true)
            client.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await client.response().status == 200)
            #expect(server.service.subscriberCount == 0)
        }
    }

    @Test("a quiet stream shows signs of life")
    func comments() async throws {
        try await TestServer.with(settings: { $0.session.commentMilliseconds = 20 }) { server in
            let client = try await server.connect()
            client.send(get("subscription live"))
            _ = try await client.response()
            for _ in 1...3 { #expect(try await client.chunk() == ":\n\n") }
        }
    }

    @Test(
        "a client that goes ends its subscription, and so does one that only ends its side",
        arguments: [true, false]
    )
    func goes(closes: Bool) async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.post("subscription live", fields: "Accept: text/event-stream\r\n")
            #expect(await server.service.wait(for: .subscribed))
            if closes { client.close() } else { try await client.endOutput() }
            #expect(await server.service.wait(for: .unsubscribed))
        }
    }

    @Test("requests behind a stream wait for its end")
    func pipelined() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.send(get("subscription gate") + "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await client.response()
            #expect(await server.service.wait(for: .gateReached))
            server.service.openGates()
            #expect(await server.service.wait(for: .subscribed))
            server.service.publish(Array("{}".utf8))
            #expect(try await client.chunk() == "event: next\ndata: {}\n\n")
            server.service.endAll(.completed)
            #expect(try await client.chunk() == Self.complete)
            #expect(try await client.chunk() == "")
            #expect(try await client.response().status == 200)
        }
    }

    @Test("the token's end ends the stream and says why", arguments: ["brief", "good"])
    func expiry(token: String) async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            let query = token == "good" ? "subscription revoked" : "subscription live"
            client.send(get(query).replacing("Authorization: good", with: "Authorization: \(token)"))
            _ = try await client.response()
            #expect(try await client.chunk().contains("UNAUTHENTICATED"))
            #expect(try await client.chunk() == Self.complete)
            #expect(try await client.chunk() == "")
        }
    }

    @Test("sockets and streams of one owner are counted together")
    func groups() async throws {
        try await TestServer.with(settings: { $0.maximumSocketsOfGroup = 2 }) { server in
            let socket = try await server.connect()
            try await socket.openSession()
            let stream = try await server.connect()
            stream.send(get("subscription live"))
            #expect(try await stream.response().status == 200)
            let third = try await server.connect()
            third.send(get("subscription live"))
            #expect(try await third.response().status == 429)
            stream.close()
            #expect(await server.service.wait(for: .unsubscribed))
            let fourth = try await server.connect()
            fourth.send(get("subscription live"))
            #expect(try await fourth.response().status == 200)
        }
    }

    @Test("a replay far larger than the queue arrives whole when it waits for room")
    func replay() async throws {
        // The echo replays before it answers that it is live: a busy machine
        // may take its time for that.
        try await TestServer.with(settings: { $0.answerMilliseconds = 60_000 }) { server in
            let client = try await server.connect()
            client.send(get("subscription replay"))
            _ = try await client.response()
            for _ in 0..<40 { #expect(try await Self.event(client).utf8.count > 100_000) }
            #expect(try await Self.event(client) == Self.complete)
        }
    }

    /// The next chunk that is no comment: a busy machine may give the server time to send some.
    private static func event(_ client: RawClient) async throws -> String {
        while true {
            let chunk = try await client.chunk()
            if !chunk.hasPrefix(":") { return chunk }
        }
    }

    @Test("a peer that does not read is told its last cursor and sent away, and its subscription is cancelled")
    func slowReader() async throws {
        try await TestServer.with { server in
            let client = try await RawClient.connect(port: server.port, receiveBuffer: 4096)
            client.send(get("subscription live", fields: "Connection: close\r\n"))
            #expect(await server.service.wait(for: .subscribed))
            try await client.stopReading()
            let filler = Array(repeating: UInt8(ascii: "6"), count: 900_000)
            let witness = try await server.connect()
            var last = 0
            for number in 1...200 where server.service.subscriberCount > 0 {
                last = number
                server.service.publish(filler, cursor: "c\(number)")
                witness.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try await witness.response()
            }
            #expect(await server.service.wait(for: .unsubscribed))
            try await client.startReading()
            let text = await client.readToEnd()
            let cursors = (1...last).filter { text.contains("id: c\($0)\n") }
            #expect(cursors == Array(1...(cursors.last ?? 0)), "what came has no hole")
            #expect(text.contains(#""extensions":{"code":"UNAVAILABLE","cursor":"c\#(cursors.last ?? 0)"}"#))
            #expect(text.hasSuffix("\n\r\n0\r\n\r\n") && !text.contains("event: complete"))
        }
    }

    @Test("a server that stops ends the stream without calling the subscription complete")
    func shutdown() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.send(get("subscription live"))
            #expect(await server.service.wait(for: .subscribed))
            await server.server.shutdown(graceSeconds: 5)
            let text = await client.readToEnd()
            #expect(text.hasSuffix("\r\n0\r\n\r\n") && !text.contains("event:"), "\(text)")
        }
    }
}

extension RawClient {
    /// The next chunk after the one that says that the stream is live; empty for the last.
    func chunk() async throws -> String {
        let chunk = try await anyChunk()
        return chunk == ": live\n\n" ? try await anyChunk() : chunk
    }

    /// The next chunk; empty for the last.
    func anyChunk() async throws -> String {
        let size = try await read(through: "\r\n").dropLast()
        let count = Int(size, radix: 16) ?? 0
        let bytes = try await read(count + 2)
        return String(decoding: bytes.dropLast(2), as: UTF8.self)
    }
}
