import Metrics
import Testing
import TocsinHTTP

@Suite("What the front counts", .timeLimit(.minutes(5)))
struct HTTPMetricsTests {
    /// How many requests the lines of all sets tell.
    private static func requests(_ metrics: HTTPMetrics) -> Int {
        let lines = text(metrics).split(separator: "\n")
            .filter { $0.hasPrefix("http_server_request_duration_seconds_count") }
        return lines.compactMap { Int($0.split(separator: " ").last ?? "") }.reduce(0, +)
    }

    private static func text(_ metrics: HTTPMetrics) -> String {
        String(decoding: MetricFormat.text.write(metrics.families), as: UTF8.self)
    }

    @Test(
        "a request that is refused before anything is run is counted by its reason",
        arguments: [
            ("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "smuggling"),
            ("POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 2, 2\r\n\r\n{}", "smuggling"),
            (
                "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "smuggling"
            ),
            ("BREW /healthz HTTP/1.1\r\nHost: a\r\n\r\n", "head"),
            ("GET /\(String(repeating: "a", count: 9000)) HTTP/1.1\r\nHost: a\r\n\r\n", "target"),
            ("POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 1048577\r\n\r\n", "body"),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 40_000))\r\n\r\n", "fields"),
            ("PUT /graphql HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "method"),
        ]
    )
    func reasons(request: String, reason: String) async throws {
        let metrics = HTTPMetrics()
        try await TestServer.with {
            $0.metrics = metrics
        } _: { server in
            let client = try await server.connect()
            client.send(request)
            _ = await client.readToEnd()
            let counted = "tocsin_http_refused_total{reason=\"\(reason)\"} 1\n"
            #expect(await Self.eventually { Self.text(metrics).contains(counted) })
            for other in ["head", "target", "body", "fields", "type", "method", "timeout", "rate", "smuggling", "tls"] {
                let line = "tocsin_http_refused_total{reason=\"\(other)\"} \(other == reason ? 1 : 0)\n"
                #expect(Self.text(metrics).contains(line), "\(line)")
            }
        }
    }

    @Test("connections and requests are counted while they are there, and no client makes series without end")
    func connections() async throws {
        let metrics = HTTPMetrics()
        try await TestServer.with {
            $0.metrics = metrics
        } _: { server in
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "PROPFIND"] {
                for path in ["/graphql", "/healthz", "/readyz", "/x", "/graphql/realtime"] {
                    for more in ["", "Content-Type: text/plain\r\n", "Origin: https://a.example\r\n"] {
                        let client = try await server.connect()
                        client.send(
                            "\(method) \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\(more)Content-Length: 0\r\n\r\n"
                        )
                        _ = await client.readToEnd()
                    }
                }
            }
            let last = "tocsin_http_connections_opened_total{kind=\"http\"} 120\n"
            #expect(await Self.eventually { Self.text(metrics).contains(last) && Self.requests(metrics) == 120 })
            let text = Self.text(metrics)
            let sets = text.split(separator: "\n").filter { $0.hasPrefix("http_server_request_duration_seconds_count") }
            #expect((2...60).contains(sets.count))
            #expect(!text.contains("PROPFIND"))
            #expect(text.contains("http_server_active_requests 0\n"))

            let client = try await server.connect()
            client.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await client.read(through: "\r\n\r\n")
            #expect(await Self.eventually { Self.text(metrics).contains("connections{kind=\"http\"} 1\n") })
            client.close()
            #expect(await Self.eventually { Self.text(metrics).contains("connections{kind=\"http\"} 0\n") })
        }
    }

    private static func eventually(_ isSo: () -> Bool) async -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        while !isSo() {
            guard ContinuousClock.now < end else { return false }
            await Task.yield()
        }
        return true
    }
}
