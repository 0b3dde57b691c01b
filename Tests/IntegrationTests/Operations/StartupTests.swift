import Foundation
import JSON
import Testing

@Suite("What a server says while it starts", .timeLimit(.minutes(5)))
struct StartupTests {
    private static let schema = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "schema/model.graphql")

    @Test("/startupz says 503, and what is being done, until the server listens; then it says 200")
    func startup() async throws {
        let folder = NSTemporaryDirectory() + "tocsin-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // The start waits for the end of its schema.
        let pipe = folder + "/schema.graphql"
        guard mkfifo(pipe, 0o600) == 0 else { throw HarnessFailure("No pipe can be made.") }
        var writer: Int32? = open(pipe, O_RDWR | O_CLOEXEC)
        defer { if let writer { close(writer) } }
        let ready = folder + "/server.ready"
        let process = try ChildProcess(
            try TestBinary.path(),
            [
                "serve", "--port", "0", "--data-dir", folder + "/data", "--ready-file", ready, "--schema", pipe,
            ],
            environment: TestBinary.environment,
            folder: folder
        )
        defer { process.signal(SIGKILL) }
        let starting = try await eventually("the admin listener answers") { try? await Self.ask("/startupz", folder) }
        #expect(starting.status == 503, "\(starting)")
        let report = try starting.json
        #expect(report["status"] == "starting" && report["doing"] == "reading the settings and the schema")
        #expect(report["sinceStartSeconds"]?.intValue != nil, "\(report)")
        #expect(try await Self.ask("/readyz", folder).status == 503)
        #expect(try await Self.ask("/livez", folder).status == 200)

        let text = Array(try String(contentsOf: Self.schema, encoding: .utf8).utf8)
        let descriptor = try #require(writer)
        #expect(write(descriptor, text, text.count) == text.count)
        close(descriptor)
        writer = nil
        _ = try await process.contents(of: ready)
        let started = try await Self.ask("/startupz", folder)
        #expect(started.status == 200, "\(started)")
        #expect(try started.json == ["status": "started"])
        process.signal(SIGTERM)
        let status = try await eventually("the server has stopped") { process.status }
        #expect(status == 0)
    }

    private static func ask(_ path: String, _ folder: String) async throws -> HTTPAnswer {
        let result = try await ChildProcess.run(
            "/usr/bin/curl",
            [
                "--silent", "--show-error", "--max-time", Patience.ofCurl, "--include", "--unix-socket",
                folder + "/data/admin.sock", "http://admin" + path,
            ],
            environment: TestBinary.environment,
            folder: folder
        )
        guard result.status == 0 else { throw HarnessFailure("curl: \(result.status), \(result.errors)") }
        return try HTTPAnswer(result.output)
    }
}
