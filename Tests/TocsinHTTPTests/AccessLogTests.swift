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
            "bytes=", "id=1-1", "method=POST", "microseconds=", "operation=Op?hush?1", "path=/graphql", "status=200",
        ] {
            #expect(line.contains(part), "\(line)")
        }
        #expect(!line.replacing("operation=Op?hush?1", with: "").contains("hush"))
        #expect(!line.contains("good"))
    }
}
