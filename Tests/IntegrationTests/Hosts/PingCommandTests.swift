import Foundation
import Testing

@Suite("tocsin ping", .timeLimit(.minutes(5)))
struct PingCommandTests {
    private static let starting = "/ping/\(HostScene.key)/start"

    /// The pings that came: path without the id, which all of one run share, and body.
    private static func pings(_ server: Receiver) -> [(path: String, body: String)] {
        server.everything.map { request in
            (String(request.path.prefix { $0 != "?" }), String(decoding: request.body, as: UTF8.self))
        }
    }

    @Test(
        "the command's end is told and is this command's own",
        arguments: [
            ("exit 0", 0), ("exit 1", 1), ("exit 64", 64), ("exit 255", 255), ("kill -TERM $$", 143),
            ("kill -KILL $$", 137),
        ] as [(String, Int32)]
    )
    func ends(script: String, status: Int32) async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 200 }
            let arguments = ["ping", "--", "/bin/sh", "-c", "echo out; echo err >&2; \(script)"]
            let result = try await host.tocsin(arguments, port: server.port)
            #expect(result == (status, "out\n", "err\n"))
            let pings = Self.pings(server)
            #expect(Set(pings.map(\.path)) == [Self.starting, "/ping/\(HostScene.key)/\(status)"])
            #expect(
                pings.first { $0.path.hasSuffix("/\(status)") }?.body.split(separator: "\n").sorted() == ["err", "out"]
            )
            let ids = Set(server.everything.map { $0.path.split(separator: "=").last.map(String.init) ?? "" })
            #expect(ids.count == 1 && ids.allSatisfy { UUID(uuidString: $0) != nil })
        }
    }

    @Test("the command has standard input, and the last 10,000 bytes of its output are told")
    func streams() async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 200 }
            let input = String((0..<20_000).map { "line \($0)\n" }.joined())
            let result = try await host.tocsin(["ping", "--", "cat"], port: server.port, input: input)
            #expect(result.status == 0 && result.output == input)
            let last = try #require(server.requests(matching: "/0?").first)
            #expect(String(decoding: last.body, as: UTF8.self) == String(input.suffix(10_000)))
        }
    }

    @Test("a command that is not there ends with 127, one that cannot be run with 126, and both are told")
    func unstarted() async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 200 }
            for (command, status) in [("/nowhere/command", Int32(127)), (host.keyFile, 126)] {
                let result = try await host.tocsin(["ping", "--", command], port: server.port)
                #expect(result.status == status)
                #expect(result.errors.contains("cannot be run"))
                #expect(server.requests(matching: "/\(status)?").count == 1)
            }
        }
    }

    @Test("with the server away, or refusing, the command runs and ends as ever", arguments: [nil, 404, 500])
    func away(status: Int?) async throws {
        try await HostScene.run { host in
            let server = status.map { status in try? Receiver { _, _ in status } } ?? nil
            let port = try server?.port ?? HostScene.closedPort()
            let result = try await host.tocsin(["ping", "--", "/bin/sh", "-c", "echo out; exit 3"], port: port)
            #expect(result.status == 3 && result.output == "out\n")
            #expect(result.errors.contains("was not taken"))
            #expect(!result.errors.contains(HostScene.key))
        }
    }

    @Test(
        "SIGTERM and SIGINT go to the command, which decides what becomes of them",
        arguments: [SIGTERM, SIGINT, SIGHUP]
    )
    func signals(number: Int32) async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 200 }
            let ready = host.folder + "/ready"
            let script = "trap 'echo caught; exit 9' TERM INT HUP; touch \(ready); while :; do sleep 0.05; done"
            let process = try host.start(["ping", "--", "/bin/sh", "-c", script], port: server.port)
            try await eventually("the command runs") { FileManager.default.fileExists(atPath: ready) }
            process.signal(number)
            #expect(try await process.untilExit() == 9)
            #expect(process.output == "caught\n")
            #expect(server.requests(matching: "/9?").count == 1)
        }
    }

    @Test("what a command leaves running behind it is not waited for")
    func leftBehind() async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 200 }
            let script = "sleep 3000 & echo $!; exit 5"
            let result = try await host.tocsin(["ping", "--", "/bin/sh", "-c", script], port: server.port)
            #expect(result.status == 5)
            if let left = Int32(result.output.filter(\.isNumber)) { kill(left, SIGKILL) }
        }
    }

    @Test("without a command there is one ping; a key in place of the file, with a monitor's name")
    func single() async throws {
        try await HostScene.run { host in
            let server = try Receiver { path, _ in path.contains("gone") ? 404 : 200 }
            #expect(try await host.tocsin(["ping", "KEY/backup"], port: server.port) == (0, "", ""))
            #expect(server.requests(matching: "/ping/KEY/backup?").count == 1)
            let gone = try await host.tocsin(["ping", "gone"], port: server.port)
            #expect(gone.status == 1 && gone.errors.contains("404"))
            for key in ["a/b/c", "", "a b", "../x"] {
                #expect(try await host.tocsin(["ping", key, "--", "true"], port: server.port).status == 2)
            }
        }
    }
}
