import Foundation
import NIOCore
import NIOPosix
import Synchronization
import TocsinHTTP2
import TocsinPush

/// Pushes through the HTTP/2 transport to a sink that reads each request to its end, beside
/// h2load on the same sink.
struct PushBenchmark {
    let options: BenchOptions
    private static let batch = 5000
    private static let payload = Array(
        #"{"aps":{"alert":{"title":"Disk full","body":"The disk of db-3 is 91 % full."},"sound":"default","thread-id":"t"},"messageId":"m"}"#
            .utf8
    )

    func run() async throws {
        let sink = try SinkProcess()
        defer { sink.stop() }
        let floor = try h2load(sink)
        if let floor {
            tell(floor.printed())
        } else {
            tell("floor: h2load is not installed (package nghttp2-client)")
        }
        let transport = try await transport(sink)
        tell(transport.printed(floor: floor))
        let whole = try await OutboxBenchmark(options: options, sink: sink).run()
        tell(whole.printed(floor: floor))
        for peer in PushPeers(folder: options.peers).measure(sink) {
            tell(peer.printed(floor: floor))
            tell(
                String(
                    format: "  CPU of one of its pushes: %.1f by our transport, %.1f by our whole way with ledger",
                    peer.cpuMicroseconds / transport.cpuMicroseconds,
                    peer.cpuMicroseconds / whole.cpuMicroseconds
                )
            )
        }
    }

    private func transport(_ sink: SinkProcess) async throws -> Figures {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let transport = try HTTP2Transport(group: group, settings: HTTP2Settings(authorityPath: sink.authorityPath))
        let pool = PushPool(origin: sink.origin, credential: "bench")
        let requests = (0..<Self.batch).map { index in
            PushBatch.Request(
                path: "/3/device/" + String(repeating: "0", count: 56) + String(format: "%08x", index),
                headers: [PushHeader("apns-id", String(format: "00000000-0000-4000-8000-%012d", index))],
                body: Self.payload
            )
        }
        let batch = PushBatch(pool: pool, sharedHeaders: Self.headers, requests: requests)
        let accepted = Atomic<Int>(0)
        let (start, cpu) = (Date(), ProcessUsage.ownCPU())
        var sent = 0
        while Date().timeIntervalSince(start) < options.seconds {
            await transport.send(batch) { _, answer in
                if case .response(let response) = answer, response.status == 200 { accepted.add(1, ordering: .relaxed) }
            }
            sent += Self.batch
        }
        let figures = Figures(
            name: "pushes by our transport, 1 loop, TLS",
            operations: sent,
            seconds: Date().timeIntervalSince(start),
            cpuSeconds: ProcessUsage.ownCPU() - cpu,
            memoryBytes: try ProcessUsage.peakMemory(of: getpid())
        )
        await transport.close(pool)
        try await group.shutdownGracefully()
        guard accepted.load(ordering: .relaxed) == sent else {
            throw BenchFailure("of \(sent) pushes \(accepted.load(ordering: .relaxed)) were accepted")
        }
        return figures
    }

    private func h2load(_ sink: SinkProcess) throws -> Figures? {
        guard
            let tool = ["/usr/bin/h2load", "/usr/local/bin/h2load"].first(where: FileManager.default.isExecutableFile)
        else {
            return nil
        }
        let body = FileManager.default.temporaryDirectory.appending(path: "tocsin-payload-\(UUID().uuidString)")
        try Data(Self.payload).write(to: body)
        defer { try? FileManager.default.removeItem(at: body) }
        let count = 200_000
        let path = "/3/device/" + String(repeating: "0", count: 64)
        let process = Process(
            URL(filePath: tool),
            ["-n", String(count), "-c", "1", "-m", "1000", "-t", "1", "-d", body.path()]
                + Self.headers.flatMap { ["-H", "\($0.name): \($0.value)"] } + [sink.origin + path]
        )
        process.standardOutput = FileHandle.nullDevice
        let (start, cpu) = (Date(), ProcessUsage.childrenCPU())
        _ = try process.finish()
        guard process.terminationStatus == 0 else { throw BenchFailure("h2load failed") }
        return Figures(
            name: "floor: h2load, 1 connection, 1000 streams",
            operations: count,
            seconds: Date().timeIntervalSince(start),
            cpuSeconds: ProcessUsage.childrenCPU() - cpu
        )
    }

    private static let headers = [
        PushHeader("authorization", "bearer " + String(repeating: "t", count: 200), repeats: true),
        PushHeader("apns-topic", "com.example.tocsin", repeats: true),
        PushHeader("apns-push-type", "alert", repeats: true),
        PushHeader("apns-priority", "10", repeats: true), PushHeader("apns-expiration", "1900000000", repeats: true),
        PushHeader("apns-collapse-id", "0197-message", repeats: true),
    ]
}
