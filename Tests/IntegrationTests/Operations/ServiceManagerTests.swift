import Foundation
import Testing

@Suite("Under a service manager", .timeLimit(.minutes(5)))
struct ServiceManagerTests {
    private static func inFolder(_ body: (String) async throws -> Void) async throws {
        // Short, as addresses of sockets are.
        let folder = "/tmp/tocsin-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    @Test("the server tells of start, life, reload and stop, and a connection waits while it restarts")
    func life() async throws {
        try await Self.inFolder { folder in
            let manager = try ServiceManager(folder: folder)
            // Nobody serves yet; the system keeps what is sent.
            let early = try RawConnection(port: manager.port)
            try early.send("GET /healthz HTTP/1.1\r\nHost: tocsin\r\nConnection: close\r\n\r\n")
            let first = try manager.start(folder: folder)
            _ = try await manager.note("READY=1", of: first)
            let hold = try #require(manager.heard.firstIndex { $0.hasPrefix("EXTEND_TIMEOUT_USEC=") })
            let ready = try #require(manager.heard.firstIndex(of: "READY=1"))
            #expect(hold < ready, "while the database is opened the start may take longer")
            #expect(try await early.untilEnd().hasPrefix("HTTP/1.1 200"))
            let sign = try await manager.note("WATCHDOG=1", of: first)
            #expect(sign.contains("\nSTATUS=") && sign.contains("connections"))

            manager.forget()
            first.signal(SIGHUP)
            let reload = try await manager.note("RELOADING=1", of: first)
            let time = reload.split(separator: "\n").first { $0.hasPrefix("MONOTONIC_USEC=") }?.split(separator: "=")
                .last
            #expect(time.flatMap { Int64($0) } ?? 0 > 0)
            _ = try await manager.note("READY=1", of: first)

            first.signal(SIGTERM)
            _ = try await manager.note("STOPPING=1", of: first)
            #expect(try await first.untilExit() == 0)
            let waiting = try RawConnection(port: manager.port)
            try waiting.send("GET /healthz HTTP/1.1\r\nHost: tocsin\r\nConnection: close\r\n\r\n")
            let second = try manager.start(folder: folder)
            #expect(try await waiting.untilEnd().hasPrefix("HTTP/1.1 200"), "\(second.errors)")
            second.signal(SIGTERM)
            #expect(try await second.untilExit() == 0)
        }
    }

    @Test("a descriptor that is no listening socket stops the start with a sentence, before data is touched")
    func wrongDescriptor() async throws {
        try await Self.inFolder { folder in
            let manager = try ServiceManager(folder: folder)
            let process = try manager.start(folder: folder, handed: manager.wrongSocket)
            #expect(try await process.untilExit() == 1)
            #expect(process.errors.contains("The descriptor 3 (http), which LISTEN_FDS hands over, is no listening"))
            #expect(!FileManager.default.fileExists(atPath: folder + "/data"))
        }
    }

    @Test("two descriptors for one name stop the start with a sentence")
    func twoDescriptors() async throws {
        try await Self.inFolder { folder in
            let manager = try ServiceManager(folder: folder)
            let process = try manager.start(folder: folder, isDoubled: true)
            #expect(try await process.untilExit() == 1)
            #expect(process.errors.contains("The descriptors 3 and 4 are both for http"))
        }
    }
}
