import GraphQLTransport
import Testing
import TocsinHTTP

@Suite("What one client may ask of its sockets", .timeLimit(.minutes(5)))
struct SocketLimitTests {
    private static let ping = #"{"type":"ping"}"#

    @Test(
        "who sends more messages or pieces of one than the rate allows is closed with 4429 and not waited for",
        arguments: ["text", "ping", "pong", "piece"]
    )
    func messageRate(kind: String) async throws {
        let change = { (settings: inout HTTPServerSettings) in
            settings.messagesPerSecond = 0.001
            settings.messageBurst = 4
            // So long that a server that waits for the peer's goodbye is found
            // out by the suite's limit.
            settings.lingerMilliseconds = 3_600_000
        }
        try await TestServer.with(settings: change) { server in
            let client = try await server.connect()
            try await client.openSession()
            for number in 0..<4 {
                switch kind {
                case "piece": client.sendFrame(number == 0 ? 0x01 : 0x00, [])
                case "text": client.sendText(Self.ping)
                case "ping": client.sendFrame(0x89, [1])
                default: client.sendFrame(0x8A, [1])
                }
            }
            let close = try await client.closeFrame()
            #expect(close.closeCode == 4429)
            #expect(close.closeReason == "Too many messages; send fewer a second")
            #expect(await client.readToEnd() == "")
        }
    }

    @Test("a socket without subscriptions is closed when its caller loses access, and no other's is")
    func lostAccess() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            try await client.openSession(token: "other")
            let witness = try await server.connect()
            try await witness.openSession()
            server.service.lose("other")
            server.server.accessHasEnded()
            #expect(try await client.closeFrame().closeCode == 4403)
            witness.sendText(Self.ping)
            #expect(try await witness.frame().text == #"{"type":"pong"}"#)
        }
    }

    @Test("a rate of 0 lets everything pass")
    func noRate() async throws {
        let change = { (settings: inout HTTPServerSettings) in
            settings.messagesPerSecond = 0
            settings.messageBurst = 1
        }
        try await TestServer.with(settings: change) { server in
            let client = try await server.connect()
            try await client.openSession()
            for _ in 0..<600 { client.sendText(Self.ping) }
            for _ in 0..<600 { #expect(try await client.frame().text == #"{"type":"pong"}"#) }
        }
    }

    @Test("one owner's subscriptions are counted over all sockets and event streams, and freed when they end")
    func subscriptions() async throws {
        try await TestServer.with(settings: { $0.maximumSubscriptionsOfGroup = 2 }) { server in
            let first = try await server.connect()
            try await first.openSession()
            let second = try await server.connect()
            try await second.openSession()
            first.subscribe("1", "subscription live")
            second.subscribe("1", "subscription live")
            for _ in 0..<2 { #expect(await server.service.wait(for: .subscribed)) }
            second.subscribe("2", "subscription live")
            let refusal = try await second.frame().text
            #expect(refusal.hasPrefix(#"{"id":"2","type":"error""#) && refusal.contains(#""code":"LIMIT""#))

            let strangers = try await server.connect()
            try await strangers.openSession(token: "other")
            strangers.subscribe("1", "subscription live")
            #expect(await server.service.wait(for: .subscribed), "another owner has slots of its own")

            second.subscribe("3", "q")
            #expect(try await second.frame().text.hasPrefix(#"{"id":"3","type":"next""#), "queries need no slot")
            #expect(try await second.frame().text.contains("complete"))
            first.sendText(#"{"id":"1","type":"complete"}"#)
            #expect(await server.service.wait(for: .unsubscribed))
            second.subscribe("4", "subscription live")
            #expect(await server.service.wait(for: .subscribed), "completed: its slot is free")
            second.close()
            for _ in 0..<2 { #expect(await server.service.wait(for: .unsubscribed)) }
            for id in ["5", "6"] {
                first.subscribe(id, "subscription live")
                #expect(await server.service.wait(for: .subscribed), "the socket has gone: its slots are free")
            }
        }
    }

    @Test("a socket and an event stream that have lived their time are ended, and can be opened again")
    func lifetime() async throws {
        let clock = TestClock()
        try await TestServer.with(clock: clock, settings: { $0.lifetimeMilliseconds = 100 }) { server in
            for _ in 0..<2 {
                let client = try await server.connect()
                try await client.openSession()
                client.subscribe("1", "subscription live")
                #expect(await server.service.wait(for: .subscribed))
                clock.advance(milliseconds: 111)
                let close = try await client.closeFrame()
                #expect(close.closeCode == 1001)
                #expect(close.closeReason == "This connection has lived its time; come again and resume")
                #expect(await server.service.wait(for: .unsubscribed))
            }
            let stream = try await server.connect()
            stream.send(
                "GET /graphql?query=subscription%20live HTTP/1.1\r\nHost: a\r\nAuthorization: good\r\n"
                    + "Accept: text/event-stream\r\nConnection: close\r\n\r\n"
            )
            #expect(await server.service.wait(for: .subscribed))
            clock.advance(milliseconds: 111)
            let text = await stream.readToEnd()
            #expect(text.hasSuffix("0\r\n\r\n") && !text.contains("complete"), "\(text)")
        }
    }

    @Test("lifetimes differ by a tenth at most, and differ")
    func spread() async throws {
        let clock = TestClock()
        try await TestServer.with(clock: clock, settings: { $0.lifetimeMilliseconds = 1000 }) { server in
            var clients: [RawClient] = []
            for _ in 0..<10 {
                let client = try await server.connect()
                try await client.openSession()
                clients.append(client)
            }
            // Nine tenths of the time have gone: nobody's is over. Then
            // eleven tenths: everybody's is.
            clock.advance(milliseconds: 899)
            for client in clients {
                client.sendText(Self.ping)
                #expect(try await client.frame().text == #"{"type":"pong"}"#)
            }
            clock.advance(milliseconds: 202)
            for client in clients { #expect(try await client.closeFrame().closeCode == 1001) }
        }
    }
}

@Suite("Newer tokens on an open socket", .timeLimit(.minutes(5)))
struct SocketRenewalTests {
    private static func ping(_ token: String) -> String {
        "{\"type\":\"ping\",\"payload\":{\"authorization\":\"Bearer \(token)\"}}"
    }

    @Test("the same user's newer token stands in place of the old one, for the socket and its subscriptions")
    func renewed() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            try await client.openSession()
            client.subscribe("1", "subscription live")
            #expect(await server.service.wait(for: .subscribed))
            client.sendText(Self.ping("newer"))
            let end = TestServer.time + 3_600_000
            #expect(
                try await client.frame().text
                    == "{\"type\":\"pong\",\"payload\":{\"authenticated\":true,\"expiresAt\":\(end)}}"
            )
            #expect(await server.service.wait(for: .renewed("newer")))
            server.service.publish(Array("{}".utf8))
            #expect(try await client.frame().text == #"{"id":"1","type":"next","payload":{}}"#, "it goes on, once")
            client.sendText(Self.ping("brief"))
            #expect(try await client.closeFrame().closeCode == 4403, "the end of the newest token counts")
        }
    }

    @Test("the old token's end no longer counts")
    func oldEnd() async throws {
        let clock = TestClock()
        try await TestServer.with(clock: clock) { server in
            let client = try await server.connect()
            try await client.openSession(token: "soon")
            client.sendText(Self.ping("good"))
            #expect(
                try await client.frame().text
                    == #"{"type":"pong","payload":{"authenticated":true,"expiresAt":null}}"#
            )
            // Opened later, so that its end comes after that of the other's old token would have.
            let witness = try await server.connect()
            try await witness.openSession(token: "soon")
            clock.advance(milliseconds: 200)
            #expect(try await witness.closeFrame().closeCode == 4403)
            client.subscribe("1", "q")
            #expect(try await client.frame().text.hasPrefix(#"{"id":"1","type":"next""#))
        }
    }

    @Test("a subscription that was registering meanwhile goes on by the newer token too")
    func whileRegistering() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            try await client.openSession()
            client.subscribe("1", "subscription gate")
            #expect(await server.service.wait(for: .gateReached))
            client.sendText(Self.ping("newer"))
            #expect(try await client.frame().text.contains(#""authenticated":true"#))
            server.service.openGates()
            #expect(await server.service.wait(for: .renewed("newer")))
        }
    }

    @Test(
        "a token that is bad or cannot be judged leaves the old one in force, and the client is told",
        arguments: [("wrong", "You are not authorized to make this call."), ("busy", "The keys cannot be fetched.")]
    )
    func refused(token: String, message: String) async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            try await client.openSession()
            client.sendText(Self.ping(token))
            #expect(
                try await client.frame().text
                    == "{\"type\":\"pong\",\"payload\":{\"authenticated\":false,\"message\":\"\(message)\"}}"
            )
            client.subscribe("1", "q")
            #expect(try await client.frame().text.hasPrefix(#"{"id":"1","type":"next""#))
        }
    }

    @Test("another user's token closes the socket with 4403")
    func otherUser() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            try await client.openSession()
            client.sendText(Self.ping("other"))
            let close = try await client.closeFrame()
            #expect(close.closeCode == 4403)
            #expect(close.closeReason == "Forbidden: the credentials are another user's")
        }
    }
}
