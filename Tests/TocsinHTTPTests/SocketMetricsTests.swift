import Logging
import Metrics
import Synchronization
import Testing
import TocsinHTTP

@Suite("What sockets count", .timeLimit(.minutes(5)))
struct SocketMetricsTests {
    private func text(_ server: TestServer) -> String {
        String(decoding: MetricFormat.text.write(server.server.sockets.families), as: UTF8.self)
    }

    /// Waits until the series have these values.
    private func expect(_ lines: String..., of server: TestServer) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while let missing = lines.first(where: { !text(server).contains($0 + "\n") }) {
            try #require(ContinuousClock.now < end, "\(missing) is not in\n\(text(server))")
            await Task.yield()
        }
    }

    @Test("events, messages and bytes are counted as they are written, sockets and subscriptions while they are there")
    func traffic() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            try await client.openSession()
            for id in ["1", "2"] {
                client.subscribe(id, "subscription live")
                #expect(await server.service.wait(for: .subscribed))
            }
            server.service.publishTogether([Array("1".utf8), Array("2".utf8)])
            for _ in 0..<4 { _ = try await client.frame() }
            // The acknowledgement is a message and no event.
            try await expect(
                "tocsin_live_events_total{protocol=\"ws\"} 4",
                "tocsin_live_frames_total{protocol=\"ws\"} 5",
                "tocsin_sockets{protocol=\"ws\"} 1",
                "tocsin_subscriptions{protocol=\"ws\"} 2",
                "tocsin_live_events_total{protocol=\"sse\"} 0",
                of: server
            )
            server.service.publish(Array("3".utf8))
            for _ in 0..<2 { _ = try await client.frame() }
            try await expect("tocsin_live_events_total{protocol=\"ws\"} 6", of: server)
            client.sendText(#"{"id":"1","type":"complete"}"#)
            try await expect("tocsin_subscriptions{protocol=\"ws\"} 1", of: server)
            client.sendFrame(0x88, [0x03, 0xE8])
            _ = try await client.closeFrame()
            try await expect(
                "tocsin_sockets{protocol=\"ws\"} 0",
                "tocsin_subscriptions{protocol=\"ws\"} 0",
                "tocsin_socket_closed_total{code=\"1000\"} 1",
                of: server
            )
        }
    }

    @Test("an event stream counts as one of its own kind")
    func stream() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.send(
                "GET /graphql?query=subscription+live HTTP/1.1\r\nHost: a\r\nAuthorization: good\r\n"
                    + "Accept: text/event-stream\r\n\r\n"
            )
            _ = try await client.response()
            #expect(await server.service.wait(for: .subscribed))
            server.service.publishTogether([Array("1".utf8)])
            try await expect(
                "tocsin_sockets{protocol=\"sse\"} 1",
                "tocsin_subscriptions{protocol=\"sse\"} 1",
                "tocsin_live_events_total{protocol=\"sse\"} 1",
                of: server
            )
            client.close()
            try await expect(
                "tocsin_sockets{protocol=\"sse\"} 0",
                "tocsin_subscriptions{protocol=\"sse\"} 0",
                of: server
            )
        }
    }

    @Test("who does not read is counted once and logged, with the reason, and what waited for them waits no longer")
    func slowReader() async throws {
        let change = { (settings: inout HTTPServerSettings) in settings.maximumQueueBytes = 65_536 }
        let lines = AccessLogTests.Lines()
        let logger = Logger(label: "test") { _ in AccessLogTests.Recorder(lines) }
        try await TestServer.with(logger: logger, settings: change) { server in
            let client = try await server.connect()
            try await client.openSession()
            client.subscribe("1", "subscription live")
            #expect(await server.service.wait(for: .subscribed))
            try await client.stopReading()
            let body = Array("\"\(String(repeating: "x", count: 50_000))\"".utf8)
            let end = ContinuousClock.now + .seconds(60)
            while !text(server).contains("cut_total{reason=\"bytes\"} 1\n"), ContinuousClock.now < end {
                server.service.publishTogether([body])
                await Task.yield()
            }
            try await expect("tocsin_slow_readers_cut_total{reason=\"bytes\"} 1", of: server)
            client.close()
            try await expect("tocsin_socket_queue_bytes 0", "tocsin_sockets{protocol=\"ws\"} 0", of: server)
            #expect(text(server).contains("tocsin_slow_readers_cut_total{reason=\"bytes\"} 1\n"))
            let cuts = lines.all.withLock { $0.filter { $0.contains("event=slow_reader_cut") } }
            #expect(cuts.count == 1)
            for part in ["client_address=127.0.0.1", "reason=bytes", "request_id=", "user=good"] {
                #expect(cuts.first?.contains(part) == true, "\(cuts)")
            }
        }
    }
}
