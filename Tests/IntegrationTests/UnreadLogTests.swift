import Foundation
import Testing

@Suite("A log that nobody reads", .timeLimit(.minutes(5)))
struct UnreadLogTests {
    @Test("requests are answered and the server stops in order while standard error is a full pipe")
    func fullPipe() async throws {
        let folder = NSTemporaryDirectory() + "tocsin-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw HarnessFailure("No pipe can be made.") }
        let (reading, writing) = (ends[0], ends[1])
        defer {
            close(reading)
            close(writing)
        }
        let server = try await ServerProcess(
            folder: folder,
            port: 0,
            environment: [:],
            errorDescriptor: writing
        )
        defer { server.process.signal(SIGKILL) }
        // Each request is a line of more than a hundred bytes; the pipe holds 64 KiB. Without
        // credentials a second's requests would share one.
        let result = try await ChildProcess.run(
            "/usr/bin/curl",
            [
                "--silent", "--show-error", "--max-time", Patience.ofCurl, "--output", "/dev/null", "--write-out",
                "%{http_code}\n", "--header", "Authorization: Bearer nobody",
                "\(server.address)/healthz?[1-2000]",
            ],
            environment: TestBinary.environment,
            folder: folder
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.split(separator: "\n").filter { $0 == "200" }.count == 2000)
        // Not by how much is in it: what does not fit into the rest of a page begins another one.
        var room = pollfd(fd: writing, events: Int16(POLLOUT), revents: 0)
        #expect(poll(&room, 1, 0) == 0, "the pipe is full")
        server.process.signal(SIGTERM)
        #expect(try await server.process.untilExit() == 0)
    }
}
