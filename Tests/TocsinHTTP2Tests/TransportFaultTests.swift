import NIOCore
import NIOPosix
import Testing
import TocsinHTTP2
import TocsinPush
import TocsinSimulator

@Suite("HTTP/2 transport and faults")
struct TransportFaultTests {
    @Test(
        "each refusal comes back with its status and reason",
        arguments: [
            ("bad0", 400, "BadDeviceToken"), ("bad1", 400, "DeviceTokenNotForTopic"), ("bad4", 413, "PayloadTooLarge"),
            ("bad5", 400, "TheMoonIsWrong"), ("403a", 403, "ExpiredProviderToken"), ("429f", 429, "TooManyRequests"),
            ("429a", 429, "TooManyProviderTokenUpdates"), ("500f", 500, "InternalServerError"),
            ("503d", 503, "Shutdown"), ("503f", 503, "ServiceUnavailable"), ("de01", 410, "ExpiredToken"),
            ("510e", 200, ""),
        ]
    )
    func refusal(prefix: String, status: Int, reason: String) async throws {
        try await Bench.with({ $0.slowAnswerSeconds = 0.05 }) { bench in
            let answers = await bench.send(bench.apnsBatch([deviceToken(prefix)]))
            #expect(answers.map(\.status) == [status])
            #expect(answers.map(\.reason) == [reason])
        }
    }

    @Test(
        "a fault of stream or connection tells whether the push may have been accepted",
        arguments: [
            ("57a1", "unknown"), ("57a2", "unknown"), ("e5e1f", "unknown"), ("e5e7f", "notProcessed"),
            ("e5eaf", "unknown"), ("60a2f", "notProcessed"), ("c105f", "unknown"), ("c10af", "unknown"),
            ("60a1", "200"),
        ]
    )
    func fault(prefix: String, kind: String) async throws {
        try await Bench.with { bench in
            _ = await bench.send(bench.apnsBatch([deviceToken("aa")]))
            var batch = bench.apnsBatch([deviceToken(prefix)])
            batch.timeoutSeconds = prefix.hasPrefix("57a") ? 1 : 20
            let answers = await bench.send(batch)
            #expect(answers.map(\.kind) == [kind])
            #expect(answers.allSatisfy { $0.status == 200 || !$0.reason.isEmpty })
            let next = await bench.send(bench.apnsBatch([deviceToken("ab")]))
            #expect(next.map(\.status) == [200])
        }
    }

    @Test("a first push that stalls does not hold up the others when the peer allows more streams")
    func stallFirst() async throws {
        try await Bench.with { bench in
            var batch = bench.apnsBatch((0..<100).map { deviceToken($0 == 0 ? "57a1" : "aa", $0) })
            batch.timeoutSeconds = 6
            let answers = await bench.send(batch)
            #expect(answers.count { $0.status == 200 } == 99)
            #expect(answers[0].kind == "unknown")
        }
    }

    @Test("a stalled stream does not hold up the others")
    func stallAmongOthers() async throws {
        try await Bench.with { bench in
            _ = await bench.send(bench.apnsBatch([deviceToken("ac")]))
            var batch = bench.apnsBatch((0..<300).map { deviceToken($0 == 100 ? "57a1" : "aa", $0) })
            batch.timeoutSeconds = 4
            let answers = await bench.send(batch)
            #expect(answers.count { $0.status == 200 } == 299)
            #expect(answers[100].kind == "unknown")
            #expect(bench.stat("apns", "connections") == 1)
        }
    }

    @Test("GOAWAY in the middle leaves no request without an answer, and none is sent twice")
    func goAwayAmongOthers() async throws {
        try await Bench.with({ $0.maximumStreams = 50 }) { bench in
            let answers = await bench.send(
                bench.apnsBatch((0..<500).map { deviceToken($0 == 250 ? "60a1" : "aa", $0) })
            )
            let accepted = answers.count { $0.status == 200 }
            let refused = answers.count { $0.kind == "notProcessed" }
            #expect(accepted + refused == 500)
            #expect(bench.stat("apns", "accepted") == accepted)
            #expect(bench.stat("apns", "duplicates", "byDelivery") == 0)
        }
    }

    @Test("a lost connection answers what had left as unknown, and the next send reconnects")
    func lostConnection() async throws {
        try await Bench.with { bench in
            _ = await bench.send(bench.apnsBatch([deviceToken("aa")]))
            async let stalled = bench.send(bench.apnsBatch([deviceToken("57a1")]))
            while bench.stat("apns", "requests") ?? 0 < 2 { await Task.yield() }
            await bench.simulator.cutConnections()
            #expect(await stalled.map(\.kind) == ["unknown"])
            let answers = await bench.send(bench.apnsBatch([deviceToken("ab")]))
            #expect(answers.map(\.status) == [200])
            #expect(bench.stat("apns", "connections") == 2)
        }
    }

    @Test("a certificate of a CA that is not trusted is named as the reason")
    func wrongAuthority() async throws {
        try await Bench.with(transport: { $0.authorityPath = nil }) { bench in
            let answers = await bench.send(bench.apnsBatch([deviceToken("aa"), deviceToken("ab")]))
            #expect(answers.map(\.kind) == ["unreachable", "unreachable"])
            #expect(answers[0].reason.contains("is not signed by this system's CAs"))
        }
    }

    @Test("a CA file that cannot be used stops the start", arguments: ["/no/such/file.pem", "/dev/null"])
    func badAuthorityFile(path: String) {
        #expect(throws: HTTP2SettingsError.self) {
            _ = try HTTP2Transport(
                group: MultiThreadedEventLoopGroup.singleton,
                settings: HTTP2Settings(authorityPath: path)
            )
        }
    }

    @Test("a provider that cannot be reached is said so, and tried again only after a pause")
    func unreachable() async throws {
        try await Bench.with(transport: { $0.firstBackoffSeconds = 60 }) { bench in
            // No test's server is ever given this port, as it might the port
            // of one that has stopped.
            var batch = bench.apnsBatch([deviceToken("aa")])
            batch.pool.origin = "https://localhost:1"
            let first = await bench.send(batch)
            #expect(first.map(\.kind) == ["unreachable"])
            #expect(first[0].reason.hasPrefix("no connection to localhost:"))
            let second = await bench.send(batch)
            #expect(second[0].reason.contains("next try in"))
            #expect(bench.transport.counts.failed == 1)
            #expect(bench.transport.counts.lastFailure == first[0].reason)
        }
    }

    @Test("a peer that speaks no HTTP/2 is said so")
    func notHTTP2() async throws {
        try await Bench.with { bench in
            var batch = bench.apnsBatch([deviceToken("aa")])
            batch.pool.origin = bench.addresses.control
            let answers = await bench.send(batch)
            #expect(answers.map(\.kind) == ["unreachable"])
            #expect(!answers[0].reason.isEmpty)
        }
    }

    @Test(
        "an origin that is none is said so",
        arguments: ["localhost:1", "ftp://x", "https://", "https://a:0", "https://a/b"]
    )
    func badOrigin(origin: String) async throws {
        try await Bench.with { bench in
            var batch = bench.apnsBatch([deviceToken("aa")])
            batch.pool.origin = origin
            let answers = await bench.send(batch)
            #expect(answers.map(\.kind) == ["unreachable"])
            #expect(answers[0].reason.contains("https://host:port"))
        }
    }

    @Test("requests above the queue's limit are refused at once")
    func queueLimit() async throws {
        try await Bench.with(transport: { $0.maximumWaiting = 10 }) { bench in
            let answers = await bench.send(bench.apnsBatch((0..<11).map { deviceToken("aa", $0) }))
            #expect(answers.allSatisfy { $0.kind == "notProcessed" && $0.reason.contains("limit is 10") })
        }
    }

    @Test("requests that found no free stream in time have not left")
    func waitedTooLong() async throws {
        try await Bench.with({ $0.maximumStreams = 1 }, transport: { $0.maximumConnections = 1 }) { bench in
            _ = await bench.send(bench.apnsBatch([deviceToken("ac")]))
            var batch = bench.apnsBatch([deviceToken("aa"), deviceToken("57a1"), deviceToken("ab")])
            batch.timeoutSeconds = 4
            let answers = await bench.send(batch)
            #expect(answers.map(\.kind) == ["200", "unknown", "notProcessed"])
            #expect(bench.stat("apns", "requests") == 3)
        }
    }

    @Test("a cancelled send gives back what has not left, and waits for what has")
    func cancelled() async throws {
        try await Bench.with(
            {
                $0.maximumStreams = 1; $0.slowAnswerSeconds = 4
            },
            transport: { $0.maximumConnections = 1 }
        ) {
            bench in
            let batch = bench.apnsBatch([deviceToken("510e"), deviceToken("aa"), deviceToken("ab")])
            let sending = Task { await bench.send(batch) }
            while bench.stat("apns", "requests") ?? 0 < 1 { await Task.yield() }
            sending.cancel()
            #expect(await sending.value.map(\.kind) == ["200", "notProcessed", "notProcessed"])
        }
    }
}
