import Testing
import TocsinHTTP

@Suite("WebSocket frames", .timeLimit(.minutes(5)))
struct WebSocketFrameTests {
    /// Frames as first byte, payload and whether they are masked.
    struct Frame: Sendable {
        var first: UInt8
        var payload: [UInt8] = []
        var isMasked = true
    }

    @Test(
        "what RFC 6455 forbids ends the connection with its code",
        arguments: [
            ([Frame(first: 0x81, payload: [0x7B], isMasked: false)], 1002),
            ([Frame(first: 0xC1, payload: [0x7B])], 1002),
            ([Frame(first: 0x83)], 1002),
            ([Frame(first: 0x8B)], 1002),
            ([Frame(first: 0x80, payload: [0x7B])], 1002),
            ([Frame(first: 0x01, payload: [0x7B]), Frame(first: 0x81, payload: [0x7D])], 1002),
            ([Frame(first: 0x09, payload: [])], 1002),
            ([Frame(first: 0x89, payload: Array(repeating: 1, count: 126))], 1002),
            ([Frame(first: 0x88, payload: [3])], 1002),
            ([Frame(first: 0x88, payload: [0x03, 0xED])], 1002),
            ([Frame(first: 0x88, payload: [0x03, 0xE8, 0xFF])], 1007),
            ([Frame(first: 0x81, payload: [0xC3, 0x28])], 1007),
            ([Frame(first: 0x01, payload: [0xC3]), Frame(first: 0x80, payload: [0x28])], 1007),
            ([Frame(first: 0x82, payload: [1])], 1003),
            ([Frame(first: 0x81, payload: Array(repeating: 0x20, count: 65537))], 1009),
            (
                [
                    Frame(first: 0x01, payload: Array(repeating: 0x20, count: 60000)),
                    Frame(first: 0x80, payload: Array(repeating: 0x20, count: 6000)),
                ], 1009
            ),
            ([Frame(first: 0x88, payload: [0x03, 0xE8])], 1000),
            ([Frame(first: 0x88, payload: [0x0F, 0xA0, 0x62])], 4000),
            ([Frame(first: 0x88)], 0),
        ]
    )
    func forbidden(frames: [Frame], code: Int) async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            _ = try await client.upgrade()
            for frame in frames { client.sendFrame(frame.first, frame.payload, isMasked: frame.isMasked) }
            #expect(try await client.closeFrame().closeCode == code)
            #expect(await client.readToEnd() == "")
        }
    }

    @Test(
        "a length that no message may have ends the connection, wherever it stands",
        arguments: [
            (65_537, 1009), (UInt64(Int64.max) - 1, 1009), (UInt64(Int64.max), 1009), (UInt64(Int64.max) + 1, 1002),
            (UInt64.max, 1002),
        ],
        [false, true]
    )
    func lengths(_ length: (UInt64, code: Int), isContinued: Bool) async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            _ = try await client.upgrade()
            if isContinued { client.sendFrame(0x01, [0x20]) }
            let (bytes, code) = length
            let head: [UInt8] = [isContinued ? 0x80 : 0x81, 0xFF]
            client.send(head + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bytes >> $0) })
            client.send([1, 2, 3, 4])
            #expect(try await client.closeFrame().closeCode == code)
        }
    }

    @Test("a message may come in pieces with pings between, even cut inside a character")
    func fragments() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            try await client.openSession()
            let message = Array("{\"id\":\"é\",\"type\":\"subscribe\",\"payload\":{\"query\":\"q\"}}".utf8)
            let cut = (message.firstIndex(of: 0xC3) ?? 0) + 1
            client.sendFrame(0x01, Array(message[..<cut]))
            client.sendFrame(0x89, [1, 2])
            client.sendFrame(0x00, [])
            client.sendFrame(0x80, Array(message[cut...]))
            #expect(try await client.frame() == RawFrame(opcode: 10, payload: [1, 2]))
            #expect(try await client.frame().text.hasPrefix("{\"id\":\"é\",\"type\":\"next\""))
        }
    }

    @Test("a silent peer is pinged, and dropped when it does not answer")
    func pings() async throws {
        try await TestServer.with(settings: {
            $0.pingMilliseconds = 30
            $0.pongMilliseconds = 5000
        }) { server in
            let client = try await server.connect()
            try await client.openSession()
            for _ in 1...3 {
                #expect(try await client.frame() == RawFrame(opcode: 9, payload: []))
                client.sendFrame(0x8A, [])
            }
            #expect(try await client.frame() == RawFrame(opcode: 9, payload: []))
            #expect(await client.readToEnd() == "", "closed without a word")
        }
    }

    @Test("large responses come whole", arguments: [100, 125, 126, 65_000, 70_000, 3_000_000])
    func sizes(count: Int) async throws {
        try await TestServer.with(settings: { $0.maximumQueueBytes = 4_000_000 }) { server in
            let client = try await server.connect()
            try await client.openSession()
            client.subscribe("1", "subscription live")
            #expect(await server.service.wait(for: .subscribed))
            let body = Array(repeating: UInt8(ascii: "5"), count: count)
            server.service.publish(body)
            let expected = #"{"id":"1","type":"next","payload":"#.utf8.count + count + 1
            #expect(try await client.frame().payload.count == expected)
        }
    }

    @Test("a peer that reads gets a burst of events whole and in order")
    func burst() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            try await client.openSession()
            client.subscribe("1", "subscription live")
            #expect(await server.service.wait(for: .subscribed))
            for number in 1...1000 { server.service.publish(Array("\(number)".utf8)) }
            for number in 1...1000 {
                #expect(try await client.frame().text == "{\"id\":\"1\",\"type\":\"next\",\"payload\":\(number)}")
            }
        }
    }

    @Test("a peer that does not read is closed with 1013, and its subscription is cancelled", arguments: [10, 20_000])
    func slowReader(bytes: Int) async throws {
        try await TestServer.with { server in
            let client = try await RawClient.connect(port: server.port, receiveBuffer: 4096)
            try await client.openSession()
            client.subscribe("1", "subscription live")
            #expect(await server.service.wait(for: .subscribed))
            try await client.stopReading()
            let body = Array(repeating: UInt8(ascii: "5"), count: bytes)
            let filler = Array(repeating: UInt8(ascii: "6"), count: 900_000)
            let witness = try await server.connect()
            // Fills the system's buffers first, then the queue.
            for round in 0..<2000 where server.service.subscriberCount > 0 {
                server.service.publish(round < 12 ? filler : body, cursor: "c\(round)")
                witness.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try await witness.response()
            }
            #expect(await server.service.wait(for: .unsubscribed))
            try await client.startReading()
            var events = 0
            var frame = try await client.frame()
            while frame.text.hasPrefix(#"{"id":"1","type":"next""#) {
                events += 1
                frame = try await client.frame()
            }
            #expect(frame.text.hasPrefix(#"{"id":"1","type":"error""#))
            #expect(frame.text.contains(#""cursor":"c\#(events - 1)""#), "\(frame.text), after \(events) events")
            #expect(try await client.frame().closeCode == 1013)
        }
    }
}
