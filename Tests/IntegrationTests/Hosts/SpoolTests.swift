import Foundation
import JSON
import Synchronization
import Testing

@Suite("Spool of host events", .timeLimit(.minutes(5)))
struct SpoolTests {
    @Test("an event goes to its integration with the key in a header, and nothing stays in the spool")
    func sent() async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 202 }
            let arguments = [
                "event", "trigger", "--key", "db-3/disk", "--title", "Disk full", "--body", "-", "--severity",
                "critical", "--priority", "5", "--label", "host=db-3", "--label", "note=a=b", "--url",
                "https://example.org/disk", "--spool", host.spool,
            ]
            let result = try await host.tocsin(arguments, port: server.port, input: "91 %\n")
            #expect(result == (0, "", ""))
            let request = try #require(server.requests("/in/event").first)
            #expect(request.headers["authorization"] == "Bearer \(HostScene.key)")
            #expect(request.headers["content-type"] == "application/json")
            let event = try #require(server.events.first)
            #expect(event["occurredAt"]?.stringValue?.hasSuffix("Z") == true)
            let expected: JSONValue = [
                "action": "trigger", "key": "db-3/disk", "title": "Disk full", "body": "91 %", "severity": "critical",
                "priority": 5, "url": "https://example.org/disk", "labels": ["host": "db-3", "note": "a=b"],
                "occurredAt": event["occurredAt"] ?? .null,
            ]
            #expect(event == expected)
            #expect(host.waiting().isEmpty)
        }
    }

    @Test("a trigger without a key prints the one that was made; a log has a key against repeats")
    func madeKeys() async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 202 }
            for action in ["trigger", "log"] {
                let arguments = ["event", action, "--title", "t", "--spool", host.spool]
                let result = try await host.tocsin(arguments, port: server.port)
                #expect(result.status == 0)
                let event = try #require(server.events.last)
                let key = try #require(event[action == "log" ? "messageKey" : "key"]?.stringValue)
                #expect(UUID(uuidString: key) != nil)
                #expect(result.output == (action == "log" ? "" : key + "\n"))
            }
        }
    }

    @Test("while the server is away events wait; once it is back they come in order, none twice")
    func awayAndBack() async throws {
        try await HostScene.run { host in
            let titles = (1...5).map { "e\($0)" }
            let isAway = Mutex(true)
            let server = try Receiver { _, _ in isAway.withLock { $0 } ? 503 : 202 }
            for title in titles.dropLast() {
                let result = try await host.event(title, port: server.port)
                #expect(result.status == 0)
                #expect(result.errors.contains("waits in \(host.spool)"))
            }
            #expect(host.waiting().count == 4)
            let refused = server.titles.count
            isAway.withLock { $0 = false }
            #expect(try await host.event("e5", port: server.port).status == 0)
            try await host.flush(port: server.port)
            #expect(Array(server.titles.dropFirst(refused)) == titles)
            #expect(host.waiting().isEmpty)
        }
    }

    @Test("flush sends what waits and ends with 0; with 1 while some still wait")
    func flush() async throws {
        try await HostScene.run { host in
            let isAway = Mutex(true)
            let server = try Receiver { _, _ in isAway.withLock { $0 } ? 503 : 202 }
            let flush = ["event", "flush", "--spool", host.spool]
            #expect(try await host.tocsin(flush, port: server.port) == (0, "", ""))
            try host.fill(["a", "b"], port: server.port)
            let early = try await host.tocsin(flush, port: server.port)
            #expect(early.status == 1)
            #expect(early.errors.contains("503"))
            let tries = server.titles.count
            isAway.withLock { $0 = false }
            #expect(try await host.tocsin(flush, port: server.port) == (0, "", ""))
            #expect(Array(server.titles.dropFirst(tries)) == ["a", "b"])
        }
    }

    @Test("what is refused for good lies aside with its reason, and the others go on", arguments: [400, 401, 404, 413])
    func refused(status: Int) async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, earlier in earlier == 0 ? status : 202 }
            try host.fill(["bad", "good"], port: server.port)
            let result = try await host.event("own", port: server.port)
            #expect(result.status == 0)
            #expect(result.errors.contains("earlier event was refused"))
            #expect(server.titles == ["bad", "good", "own"])
            #expect(host.waiting().isEmpty)
            let name = try #require(host.waiting("/refused").first)
            let reason = try String(contentsOfFile: "\(host.spool)/refused/\(name).reason", encoding: .utf8)
            #expect(reason.contains("\(status)"))
        }
    }

    @Test("an own event that is refused ends with 1 and says where it lies")
    func ownRefused() async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 401 }
            let result = try await host.event("own", port: server.port)
            #expect(result.status == 1)
            #expect(result.errors.contains("refused") && result.errors.contains("401"))
            #expect(host.waiting("/refused").count == 1)
        }
    }

    @Test("what may be taken later stays", arguments: [429, 500, 503])
    func later(status: Int) async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in status }
            #expect(try await host.event("own", port: server.port).status == 0)
            #expect(host.waiting().count == 1 && host.waiting("/refused").isEmpty)
        }
    }

    @Test("a full spool keeps the oldest: the command fails and says so")
    func full() async throws {
        try await HostScene.run { host in
            let port = try HostScene.closedPort()
            try host.fill(["1"], port: port)
            let first = try #require(host.waiting().first)
            for number in 10_001..<20_000 {
                link(host.spool + "/" + first, "\(host.spool)/000000000000000\(number).post")
            }
            let before = host.waiting()
            #expect(before.count == 10_000)
            let result = try await host.event("new", port: port)
            #expect(result.status == 1)
            #expect(result.errors.contains("is full with 10000 files"), "\(result.errors)")
            #expect(host.waiting() == before)
        }
    }

    @Test("a spool of 64 MiB is full; what no command has written is put aside, which makes room")
    func fullOfBytes() async throws {
        try await HostScene.run { host in
            let port = try HostScene.closedPort()
            try host.fill(["first"], port: port)
            let large = Data(count: 64 << 20)
            try large.write(to: URL(fileURLWithPath: host.spool + "/00000000000000000002.post"))
            let result = try await host.event("new", port: port)
            #expect(result.status == 0, "\(result.errors)")
            #expect(host.waiting("/refused") == ["00000000000000000002.post"])
            #expect(host.waiting().count == 2)
        }
    }

    @Test("many at once: each event comes once, whoever sends it")
    func together() async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 202 }
            let processes = try (1...20).map { number in
                let key = "k\(number)"
                let arguments = ["event", "trigger", "--key", key, "--title", key, "--spool", host.spool]
                return try host.start(arguments, port: server.port)
            }
            for process in processes { #expect(try await process.untilExit() == 0, "\(process.errors)") }
            try await host.flush(port: server.port)
            #expect(server.titles.sorted() == (1...20).map { "k\($0)" }.sorted())
            #expect(processes.allSatisfy { $0.errors.isEmpty }, "\(processes.map(\.errors))")
        }
    }

    @Test("while one process sends, another leaves its event in the spool and ends with 0")
    func leftToTheFirst() async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 202 }
            try host.fill(["first"], port: server.port)
            // This process is the one that sends.
            let lock = open(host.spool + "/.sending", O_RDWR | O_CREAT, 0o600)
            try #require(flock(lock, LOCK_EX) == 0)
            #expect(try await host.event("second", port: server.port) == (0, "", ""))
            #expect(server.titles.isEmpty)
            close(lock)
            #expect(try await host.event("third", port: server.port).status == 0)
            try await host.flush(port: server.port)
            #expect(server.titles == ["first", "second", "third"])
        }
    }

    @Test("kill -9 of the writer at any moment loses nothing that was told, and breaks no order")
    func killedWriters() async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 202 }
            var told: [String] = []
            for number in 101...140 {
                let title = "\(number)"
                let arguments = ["event", "trigger", "--key", title, "--title", title, "--spool", host.spool]
                let process = try host.start(arguments, port: server.port)
                // From before the program's first line to after its end.
                usleep(UInt32(number - 100) * 6000)
                process.signal(SIGKILL)
                if try await process.untilExit() == 0 { told.append(title) }
            }
            try await host.event("999", port: server.port)
            try await host.flush(port: server.port)
            let came = server.titles
            #expect(Set(told).isSubset(of: came))
            #expect(came == came.sorted(), "Only an event whose sender was killed comes again, at once")
            #expect(host.waiting().isEmpty)
            let left = try FileManager.default.contentsOfDirectory(atPath: host.spool)
            #expect(!left.contains { $0.hasSuffix(".draft") }, "\(left)")
        }
    }

    @Test("kill -9 of the sender at any moment loses nothing and breaks no order")
    func killedSenders() async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 202 }
            let titles = (1001...1400).map { "\($0)" }
            try host.fill(titles, port: server.port)
            for round in 1...15 {
                let process = try host.start(["event", "flush", "--spool", host.spool], port: server.port)
                usleep(UInt32(round) * 10_000)
                process.signal(SIGKILL)
                try await process.untilExit()
            }
            try await host.flush(port: server.port)
            let came = server.titles
            #expect(came == came.sorted())
            #expect(Set(came) == Set(titles))
            // Each kill can have cost the answer of one.
            #expect(came.count <= titles.count + 15)
        }
    }

    @Test("a lost answer brings the same event again, with the same key")
    func lostAnswer() async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, earlier in earlier == 0 ? nil : 202 }
            let arguments = ["event", "log", "--title", "t", "--spool", host.spool]
            #expect(try await host.tocsin(arguments, port: server.port).status == 0)
            _ = try await host.tocsin(["event", "flush", "--spool", host.spool], port: server.port)
            let events = server.events
            #expect(events.count == 2)
            #expect(events.first == events.last)
            #expect(host.waiting().isEmpty)
        }
    }

    @Test("one server that is away holds back its own events only")
    func lanes() async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 202 }
            let away = try HostScene.closedPort()
            try host.fill(["far"], port: away)
            #expect(try await host.event("near", port: server.port) == (0, "", ""))
            #expect(server.titles == ["near"])
            #expect(host.waiting().count == 1)
        }
    }

    @Test("what another user wrote goes to the server of the command that sends, and to no other")
    func otherUsers() async throws {
        // Only root can write as somebody else.
        guard getuid() == 0 else { return }
        try await HostScene.run { host in
            let (server, other) = try (Receiver { _, _ in 202 }, Receiver { _, _ in 202 })
            try host.fill(["elsewhere", "elsewhere"], port: other.port)
            try host.fill(["here"], port: server.port)
            for name in host.waiting() { chown(host.spool + "/" + name, 65_534, 65_534) }
            let flush = try await host.tocsin(["event", "flush", "--spool", host.spool], port: server.port)
            #expect(flush.status == 1)
            #expect(flush.errors.contains("another user's"))
            #expect(server.titles == ["here"] && other.titles.isEmpty)
            #expect(host.waiting().count == 1)
        }
    }

    @Test("a link in place of the folder of refused ones is not followed")
    func linkedFolder() async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 400 }
            let target = host.folder + "/target"
            for folder in [target, host.spool] {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            }
            try FileManager.default.createSymbolicLink(
                atPath: host.spool + "/refused",
                withDestinationPath: target
            )
            #expect(try await host.event("own", port: server.port).status == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: target).isEmpty)
            #expect(host.waiting().count == 1)
        }
    }

    @Test("without a spool an event is sent all the same; without both the command fails")
    func noSpool() async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 202 }
            let arguments = ["event", "resolve", "--key", "k", "--spool", host.keyFile + "/spool"]
            let sent = try await host.tocsin(arguments, port: server.port)
            #expect(sent.status == 0)
            #expect(sent.errors.contains("there is no spool"))
            let lost = try await host.tocsin(arguments, port: try HostScene.closedPort())
            #expect(lost.status == 1)
            #expect(lost.errors.contains("Nothing was sent or kept"))
        }
    }

    @Test("wrong use ends with 2 and a missing key with 1, each with a sentence; nothing is kept")
    func wrongUse() async throws {
        let cases: [(Int32, [String], String)] = [
            (2, ["event", "trigger", "--title", ""], "--title"),
            (2, ["event", "trigger", "--title", "t", "--key", ""], "--key"),
            (2, ["event", "trigger", "--title", "t", "--key", String(repeating: "k", count: 513)], "513"),
            (2, ["event", "trigger", "--title", "t", "--priority", "6"], "--priority 6"),
            (2, ["event", "trigger", "--title", "t", "--label", "=v"], "name=value"),
            (2, ["event", "resolve"], "--key"),
            (1, ["event", "log", "--title", "t", "--key-file", "/nowhere/key"], "/nowhere/key"),
            (1, ["event", "log", "--title", "t", "--server", "ftp://host"], "http://"),
            (2, ["sendmail", "-bs"], "-bs"),
            (2, ["sendmail", "--colour"], "--colour"),
        ]
        try await HostScene.run { host in
            for (status, arguments, reason) in cases {
                let spool = arguments[0] == "event" ? ["--spool", host.spool] : []
                let result = try await host.tocsin(arguments + spool, port: 1)
                #expect(result.status == status, "\(arguments): \(result.errors)")
                #expect(result.errors.contains(reason), "\(arguments): \(result.errors)")
                #expect(!result.errors.contains(HostScene.key))
            }
            #expect(host.waiting().isEmpty)
        }
    }
}
