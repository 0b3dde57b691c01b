import JSON
import Synchronization
import Testing
import TocsinHTTP2
import TocsinPush
import TocsinSimulator

@Suite("HTTP/2 transport")
struct TransportTests {
    @Test("five thousand requests share one connection and are each answered once")
    func manyOnOneConnection() async throws {
        try await Bench.with(transport: { $0.maximumConnections = 1 }) { bench in
            let tokens = (0..<5000).map { deviceToken("aa", $0) }
            let answers = await bench.send(bench.apnsBatch(tokens))
            #expect(answers.allSatisfy { $0.status == 200 })
            #expect(bench.stat("apns", "accepted") == 5000)
            #expect(bench.stat("apns", "connections") == 1)
            #expect(bench.stat("apns", "duplicates", "byDelivery") == 0)
        }
    }

    @Test("batches sent one after another keep the connection")
    func keepsConnection() async throws {
        try await Bench.with { bench in
            for number in 0..<20 {
                let answers = await bench.send(bench.apnsBatch([deviceToken("aa", number)]))
                #expect(answers.map(\.status) == [200])
            }
            #expect(bench.stat("apns", "connections") == 1)
            let counts = bench.transport.counts
            #expect([counts.opened, counts.open, counts.failed] == [1, 1, 0])
        }
    }

    @Test("batches sent at the same time share the pool", arguments: [1, 4])
    func concurrentBatches(threads: Int) async throws {
        try await Bench.with({ $0.threads = threads }) { bench in
            await withTaskGroup(of: Void.self) { group in
                for batch in 0..<20 {
                    group.addTask {
                        let tokens = (0..<50).map { "device-token-\(batch)-\($0)" }
                        let answers = await bench.send(bench.fcmBatch(tokens))
                        #expect(answers.allSatisfy { $0.status == 200 })
                    }
                }
            }
            #expect(bench.stat("fcm", "accepted") == 1000)
            #expect(bench.stat("fcm", "connections") ?? 9 <= 2)
        }
    }

    @Test("a small batch does not wait for a large one that came before it")
    func fairTurns() async throws {
        let change: (inout SimulatorSettings) -> Void = {
            $0.maximumStreams = 10
            $0.slowAnswerSeconds = 0.1
        }
        try await Bench.with(change) { bench in
            let large = Collected()
            let batch = bench.fcmBatch((0..<1200).map { "slow-token-\($0)" })
            async let largeSend: Void = bench.transport.send(batch) { large.add($0, $1) }
            while bench.stat("fcm", "requests") ?? 0 < 10 { await Task.yield() }
            // Counted as the answer comes in, not when this task gets its turn again.
            let answeredBefore = Mutex<Int?>(nil)
            await bench.transport.send(bench.fcmBatch(["device-token"])) { _, answer in
                #expect(answer.status == 200)
                answeredBefore.withLock { $0 = large.count }
            }
            #expect(answeredBefore.withLock { $0 } ?? 1200 < 1200)
            await largeSend
            #expect(large.count == 1200)
        }
    }

    @Test("never more streams are open than the peer's SETTINGS allow", arguments: [1, 7, 100])
    func streamLimit(limit: Int) async throws {
        try await Bench.with({ $0.maximumStreams = limit }) { bench in
            let answers = await bench.send(bench.fcmBatch((0..<400).map { "device-token-\($0)" }))
            #expect(answers.allSatisfy { $0.status == 200 })
            #expect(bench.stat("fcm", "streamsPeak") ?? .max <= limit)
        }
    }

    @Test("a second connection opens when the first is full, and no third")
    func secondConnection() async throws {
        try await Bench.with({ $0.maximumStreams = 5 }) { bench in
            let answers = await bench.send(bench.apnsBatch((0..<1000).map { deviceToken("aa", $0) }))
            #expect(answers.allSatisfy { $0.status == 200 })
            #expect(bench.stat("apns", "connections") == 2)
        }
    }

    @Test("with token authentication one stream is open until a request was accepted")
    func oneStreamFirst() async throws {
        try await Bench.with(transport: { $0.firstAnswerSeconds = 60 }) { bench in
            var batch = bench.apnsBatch((0..<20).map { deviceToken("aa", $0) })
            batch.sharedHeaders[0] = PushHeader("authorization", "bearer nonsense")
            let answers = await bench.send(batch)
            #expect(answers.allSatisfy { $0.reason == "InvalidProviderToken" })
            #expect(bench.stat("apns", "streamsPeak") == 1)
            #expect(bench.stat("apns", "connections") == 1)
        }
    }

    @Test("full payloads on many streams pass the peer's flow control")
    func flowControl() async throws {
        let text = String(repeating: "x", count: 4096 - #"{"aps":{"alert":""}}"#.utf8.count)
        try await Bench.with { bench in
            let tokens = (0..<2000).map { deviceToken("aa", $0) }
            let answers = await bench.send(bench.apnsBatch(tokens, body: #"{"aps":{"alert":"\#(text)"}}"#))
            #expect(answers.allSatisfy { $0.status == 200 })
        }
    }

    @Test("the answer carries apns-id, and the body of a refusal")
    func answerParts() async throws {
        try await Bench.with { bench in
            let batch = bench.apnsBatch([deviceToken("dead")])
            let answers = await bench.send(batch)
            guard case .response(let response)? = answers.first else {
                Issue.record("no response: \(answers)")
                return
            }
            #expect(response.headers.contains(PushHeader("apns-id", batch.requests[0].headers[0].value)))
            #expect(response.headers.contains { $0.name == "apns-unique-id" })
            let body = try JSONParser.parse(response.body)
            #expect(body["reason"] == "Unregistered")
            #expect(body["timestamp"]?.intValue ?? 0 > 1_700_000_000_000)
        }
    }

    @Test("HTTP/2 in clear text works with prior knowledge")
    func clearText() async throws {
        try await Bench.with({ $0.tls = false }) { bench in
            #expect(bench.addresses.apns.hasPrefix("http://"))
            let answers = await bench.send(bench.apnsBatch((0..<100).map { deviceToken("aa", $0) }))
            #expect(answers.allSatisfy { $0.status == 200 })
        }
    }

    @Test("closing a pool opens a new connection for the next send")
    func closePool() async throws {
        try await Bench.with { bench in
            _ = await bench.send(bench.apnsBatch([deviceToken("aa")]))
            await bench.transport.close(bench.apnsPool)
            let answers = await bench.send(bench.apnsBatch([deviceToken("ab")]))
            #expect(answers.map(\.status) == [200])
            #expect(bench.stat("apns", "connections") == 2)
        }
    }

    @Test("once credentials have changed every pool opens a new connection, and requests under way are answered")
    func renew() async throws {
        try await Bench.with { bench in
            _ = await bench.send(bench.apnsBatch([deviceToken("aa")]))
            async let underWay = bench.send(bench.apnsBatch((0..<200).map { deviceToken("ac", $0) }))
            bench.transport.renew()
            let answers = await bench.send(bench.apnsBatch([deviceToken("ab")]))
            #expect(answers.map(\.status) == [200])
            #expect(await underWay.allSatisfy { $0.status == 200 })
            #expect((bench.stat("apns", "connections") ?? 0) >= 2)
        }
    }

    @Test("after shutdown a send is refused and nothing leaves")
    func shutDown() async throws {
        try await Bench.with { bench in
            _ = await bench.send(bench.apnsBatch([deviceToken("aa")]))
            await bench.transport.shutdown()
            let answers = await bench.send(bench.apnsBatch([deviceToken("ab")]))
            #expect(answers.map(\.kind) == ["notProcessed"])
            #expect(bench.stat("apns", "requests") == 1)
        }
    }

    @Test("an empty batch returns at once")
    func emptyBatch() async throws {
        try await Bench.with { bench in
            let answers = await bench.send(bench.apnsBatch([]))
            #expect(answers.isEmpty)
            #expect(bench.stat("apns", "connections") == 0)
        }
    }
}
