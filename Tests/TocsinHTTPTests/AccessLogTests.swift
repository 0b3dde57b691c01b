import Logging
import Synchronization
import Testing
import TocsinHTTP

@Suite("Access log", .timeLimit(.minutes(5)))
struct AccessLogTests {
    /// Keeps the lines it is given.
    final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    struct Recorder: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        init(_ lines: Lines) { self.lines = lines }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted()
            lines.all.withLock { $0.append("\(event.message) \(fields.joined(separator: " "))") }
        }
    }

    @Test("a request is one line, which tells no secret and nothing of what was asked")
    func line() async throws {
        let lines = Lines()
        let logger = Logger(label: "test") { _ in Recorder(lines) }
        try await TestServer.with(logger: logger) { server in
            let client = try await server.connect()
            let body = #"{"query":"hush","variables":{"v":"hush"},"operationName":"Op\nhush=1"}"#
            client.send(
                "POST /graphql?token=hush HTTP/1.1\r\nHost: a\r\nX-Api-Key: hush\r\nAuthorization: good\r\n"
                    + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
            #expect(try await client.response().status == 200)
        }
        let requests = lines.all.withLock { $0.filter { $0.hasPrefix("request ") } }
        #expect(requests.count == 1)
        let line = try #require(requests.first)
        for part in [
            "bytes=", "client_address=127.0.0.1", "duration_ms=", "event=request ", "method=POST",
            "operation=Op?hush?1",
            "path=/graphql", "request_id=1-1", "status=200", "user=good",
        ] {
            #expect(line.contains(part), "\(line)")
        }
        #expect(!line.replacing("operation=Op?hush?1", with: "").contains("hush"))
        // The echo takes the token for the user's name.
        #expect(!line.replacing("user=good", with: "").contains("good"))
    }

    @Test("a line has of what the request was about the first 100 characters")
    func subjects() async throws {
        let lines = Lines()
        let logger = Logger(label: "test") { _ in Recorder(lines) }
        try await TestServer.with(logger: logger) { server in
            let client = try await server.connect()
            let marks = String(repeating: "\u{301}", count: 5000)
            for topic in ["short", String(repeating: "x", count: 5000), "a" + marks] {
                let body = #"{"query":"a","variables":{"topic":"\#(topic)"}}"#
                client.send(
                    "POST /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: good\r\n"
                        + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
                #expect(try await client.response().status == 200)
            }
        }
        let requests = lines.all.withLock { $0.filter { $0.hasPrefix("request ") } }
        let topics = requests.map { line in
            line.split(separator: " ").first { $0.hasPrefix("topic=") }.map(String.init) ?? ""
        }
        let letter = "a" + String(repeating: "\u{301}", count: 99)
        #expect(topics == ["topic=short", "topic=\(String(repeating: "x", count: 100))", "topic=\(letter)"])
    }

    @Test(
        "operations over a WebSocket are lines like those of requests, where requests have some",
        arguments: [(RequestLogPolicy.all, 2), (.errors, 0)]
    )
    func operations(policy: RequestLogPolicy, expected: Int) async throws {
        let lines = Lines()
        let logger = Logger(label: "test") { _ in Recorder(lines) }
        try await TestServer.with(logger: logger, settings: { $0.requestLog = policy }) { server in
            let client = try await server.connect()
            try await client.openSession()
            client.subscribe("1", "mutation hush")
            while !(try await client.frame().text.contains("complete")) {}
            client.subscribe("2", "subscription three")
            while !(try await client.frame().text.contains("complete")) {}
            client.close()
        }
        let operations = lines.all.withLock { $0.filter { $0.hasPrefix("operation ") } }
        #expect(operations.count == expected)
        for (line, kind) in zip(operations, ["mutation", "subscription"]) {
            for part in ["event=operation ", "operation_type=\(kind) ", "request_id=1-1", "user=good"] {
                #expect(line.contains(part), "\(line)")
            }
            #expect(!line.contains("hush"), "\(line)")
        }
    }

    @Test(
        "requests that are not wanted have no line, and those that are refused always have one",
        arguments: [(RequestLogPolicy.errors, 0), (.slow(milliseconds: 60_000), 0), (.sample(0.25), 11), (.all, 40)]
    )
    func policy(policy: RequestLogPolicy, expected: Int) async throws {
        let lines = Lines()
        let logger = Logger(label: "test") { _ in Recorder(lines) }
        try await TestServer.with(logger: logger, settings: { $0.requestLog = policy }) { server in
            let client = try await server.connect()
            for _ in 1...40 {
                client.post("a")
                #expect(try await client.response().status == 200)
            }
            client.send("GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await client.response().status == 404)
        }
        let all = lines.all.withLock { $0.filter { $0.hasPrefix("request ") } }
        #expect(all.count { $0.contains("status=200") } == expected)
        #expect(all.count { $0.contains("status=404") } == 1)
    }

    @Test("a policy reads as it is written, and nonsense is none")
    func policyTexts() {
        for text in ["all", "errors", "slow:250ms", "sample:0.01", "sample:1"] {
            #expect(RequestLogPolicy(text)?.description == text)
        }
        #expect(RequestLogPolicy("slow:1.5s") == .slow(milliseconds: 1500))
        for text in [
            "", "some", "all:", "slow", "slow:", "slow:250", "slow:-1ms", "slow:1e3ms", "sample:1.1", "sample:x",
        ] {
            #expect(RequestLogPolicy(text) == nil, "\(text)")
        }
    }

    @Test("refusals of a kind and address, and what strangers get, are one line a second that counts them")
    func folded() async throws {
        let lines = Lines()
        let logger = Logger(label: "test") { _ in Recorder(lines) }
        let start = ContinuousClock.now
        try await TestServer.with(logger: logger) { server in
            let client = try await server.connect()
            for _ in 1...200 {
                client.send("GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await client.response().status == 404)
            }
            for _ in 1...20 {
                let other = try await server.connect()
                other.send("nonsense\r\n\r\n")
                #expect(try await other.response().status == 400)
            }
            for _ in 1...50 {
                client.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await client.response().status == 200)
            }
            client.post("a")
            #expect(try await client.response().status == 200)
        }
        let seconds = Int((ContinuousClock.now - start).components.seconds)
        let all = lines.all.withLock { $0 }
        for (message, status, count) in [("request ", 404, 200), ("request refused ", 400, 20), ("request ", 200, 50)] {
            let folded = all.filter { line in
                line.hasPrefix(message) && line.contains("status=\(status)") && !line.contains("user=")
            }
            // The first, one after each second, and what is left at the end.
            #expect(folded.count <= seconds + 3, "\(folded)")
            #expect(folded.allSatisfy { $0.contains("client_address=127.0.0.1") })
            #expect(folded.map(Self.count).reduce(0, +) == count, "\(folded)")
        }
        #expect(all.count { $0.contains("user=") } == 1)
    }

    @Test(
        "sockets of those who are not let in are one line a second, which says how many they are",
        arguments: [true, false]
    )
    func foldedSockets(isRefused: Bool) async throws {
        let lines = Lines()
        let logger = Logger(label: "test") { _ in Recorder(lines) }
        let start = ContinuousClock.now
        try await TestServer.with(logger: logger) { server in
            for _ in 1...20 {
                let client = try await server.connect()
                _ = try await client.upgrade()
                if isRefused {
                    client.subscribe("1", "q")
                    #expect(try await client.closeFrame().closeCode == 4401)
                }
                client.close()
            }
            let client = try await server.connect()
            try await client.openSession()
            client.close()
        }
        let seconds = Int((ContinuousClock.now - start).components.seconds)
        let all = lines.all.withLock { $0 }
        let expected = [("request ", "status=101", 21), ("socket closed ", isRefused ? "code=4401" : "count=", 20)]
        for (message, mark, count) in expected {
            let folded = all.filter { $0.hasPrefix(message) && $0.contains(mark) }
            #expect(folded.count <= seconds + 3, "\(folded)")
            #expect(folded.map(Self.count).reduce(0, +) == count, "\(all)")
        }
        #expect(all.filter { $0.hasPrefix("socket closed ") && !$0.contains("count=") }.count == 1, "\(all)")
    }

    private static func count(_ line: String) -> Int {
        let field = line.split(separator: " ").first { $0.hasPrefix("count=") }
        return field.flatMap { Int($0.dropFirst(6)) } ?? 0
    }
}
