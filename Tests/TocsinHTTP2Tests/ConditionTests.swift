import Foundation
import JSON
import Testing
import TocsinHTTP2
import TocsinPush
import TocsinSimulator

@Suite("Simulator conditions")
struct ConditionTests {
    private func script(_ text: String) throws -> SimulatorScript { try SimulatorScript(text: Array(text.utf8)) }

    @Test("an open connection is told of another number of streams")
    func streams() async throws {
        try await Bench.with({ $0.maximumStreams = 1 }, transport: { $0.maximumConnections = 1 }) { bench in
            let tokens = (0..<50).map { deviceToken("aa", $0) }
            #expect(await bench.send(bench.apnsBatch(tokens)).allSatisfy { $0.status == 200 })
            #expect(bench.stat("apns", "streamsPeak") == 1)
            bench.simulator.apply(try script(#"{"apns":{"streams":20}}"#))
            for _ in 0..<50 where bench.stat("apns", "streamsPeak") == 1 {
                #expect(await bench.send(bench.apnsBatch(tokens)).allSatisfy { $0.status == 200 })
            }
            #expect((2...20).contains(bench.stat("apns", "streamsPeak") ?? 0))
            // Lowered while pushes are on their way: those too many are refused
            // unprocessed, none is lost.
            bench.simulator.apply(try script(#"{"apns":{"streams":2}}"#))
            let answers = await bench.send(bench.apnsBatch(tokens))
            #expect(answers.allSatisfy { $0.status == 200 || $0.kind == "notProcessed" })
            #expect(bench.stat("apns", "connections") == 1)
        }
    }

    @Test("GOAWAY comes with the last stream and the reason it was told")
    func goAway() async throws {
        try await Bench.with(transport: { $0.maximumConnections = 1 }) { bench in
            _ = await bench.send(bench.apnsBatch([deviceToken("aa")]))
            let rule =
                #"{"provider":"apns","fault":"goaway-refused","request":2,"lastStream":1,"reason":"BadCertificate"}"#
            bench.simulator.apply(try script(#"{"rules":[\#(rule)]}"#))
            let refused = await bench.send(bench.apnsBatch([deviceToken("ab")]))[0]
            #expect(refused.kind == "notProcessed")
            #expect(refused.reason.contains("BadCertificate"), "\(refused.reason)")
            #expect(await bench.send(bench.apnsBatch([deviceToken("ab")]))[0].status == 200)
            #expect(bench.stat("apns", "connections") == 2)
        }
    }

    @Test("GOAWAY on all connections makes the sender open new ones")
    func goAwayToAll() async throws {
        try await Bench.with(transport: { $0.maximumConnections = 1 }) { bench in
            _ = await bench.send(bench.apnsBatch([deviceToken("aa")]))
            bench.simulator.goAway(.apns)
            for number in 0..<200 where bench.stat("apns", "connections") == 1 {
                let answer = await bench.send(bench.apnsBatch([deviceToken("ab", number)]))[0]
                #expect(answer.status == 200 || answer.kind == "notProcessed")
            }
            #expect(bench.stat("apns", "connections") == 2)
        }
    }

    @Test("a port may be closed for a time, and a TLS handshake may fail", arguments: [Outage.refused, .tls])
    func unreachable(outage: Outage) async throws {
        try await Bench.with(transport: { $0.firstBackoffSeconds = 0.01 }) { bench in
            _ = await bench.send(bench.apnsBatch([deviceToken("aa")]))
            bench.simulator.setOutage(outage, of: .apns)
            var kinds: Set<String> = []
            for _ in 0..<500 where !kinds.contains("unreachable") {
                kinds.insert(await bench.send(bench.apnsBatch([deviceToken("aa")]))[0].kind)
            }
            #expect(kinds.contains("unreachable"), "\(kinds)")
            #expect(await bench.send(bench.fcmBatch(["device-token"]))[0].status == 200)
            bench.simulator.setOutage(nil, of: .apns)
            var isBack = false
            for _ in 0..<5000 where !isBack {
                isBack = await bench.send(bench.apnsBatch([deviceToken("ab")]))[0].status == 200
                await Task.yield()
            }
            #expect(isBack)
        }
    }

    @Test("a failed TLS handshake is said in the library's word, without a path of the machine that built it")
    func handshakeReason() async throws {
        try await Bench.with { bench in
            bench.simulator.setOutage(.tls, of: .apns)
            let answer = await bench.send(bench.apnsBatch([deviceToken("aa")]))[0]
            #expect(answer.reason.hasPrefix("TLS with localhost:"), "\(answer.reason)")
            #expect(answer.reason.hasSuffix("failed: WRONG_VERSION_NUMBER"), "\(answer.reason)")
        }
    }

    @Test("an outage with a length ends by itself")
    func outageEnds() async throws {
        let clock = HandClock()
        try await Bench.with({ $0.nowMilliseconds = clock.now }) { bench in
            bench.simulator.setOutage(.unavailable, of: .fcm, seconds: 30)
            #expect(await bench.send(bench.fcmBatch(["device-token"]))[0].status == 503)
            clock.pass(seconds: 30)
            #expect(await bench.send(bench.fcmBatch(["device-token"]))[0].status == 200)
        }
    }

    @Test("a provider that does not read leaves pushes without an answer, and goes on where it stopped")
    func slowReads() async throws {
        try await Bench.with { bench in
            _ = await bench.send(bench.apnsBatch([deviceToken("aa")]))
            bench.simulator.apply(try script(#"{"apns":{"readBytesPerSecond":0}}"#))
            var kinds: Set<String> = []
            for number in 0..<20 where !kinds.contains("unknown") {
                var batch = bench.apnsBatch([deviceToken("a1", number)])
                batch.timeoutSeconds = 1
                kinds.insert(await bench.send(batch)[0].kind)
            }
            #expect(kinds.contains("unknown"), "\(kinds)")
            bench.simulator.apply(try script(#"{"apns":{"readBytesPerSecond":null}}"#))
            let answers = await bench.send(bench.apnsBatch((0..<50).map { deviceToken("a2", $0) }))
            #expect(answers.allSatisfy { $0.status == 200 })
        }
    }

    @Test("a slow reader gets everything in the end")
    func slowReader() async throws {
        let slow = try script(#"{"apns":{"readBytesPerSecond":40000}}"#)
        try await Bench.with({ $0.script = slow }) { bench in
            let start = ContinuousClock.now
            let answers = await bench.send(bench.apnsBatch((0..<300).map { deviceToken("a2", $0) }))
            #expect(answers.allSatisfy { $0.status == 200 })
            // 300 pushes are more than 20 kB on the wire.
            #expect(ContinuousClock.now - start > .milliseconds(400))
        }
    }

    static let keys = [
        SimulatedKey(teamID: "SIMTEAM001", keyID: "SECONDKEY1", bundleIDs: ["com.example.second"]),
        SimulatedKey(teamID: "OTHERTEAM1", keyID: "OTHERKEY01", bundleIDs: ["com.example.tocsin"]),
        SimulatedKey(teamID: "SIMTEAM001", keyID: "PRODKEY001", bundleIDs: ["com.example.tocsin"], development: false),
    ]

    @Test(
        "a connection stays with the team and key of its first push; a new one may have others",
        arguments: [
            ("SIMTEAM001", "SECONDKEY1", "com.example.second", "UnrelatedKeyIdInToken", "200"),
            ("OTHERTEAM1", "OTHERKEY01", "com.example.tocsin", "Forbidden", "200"),
            (
                "SIMTEAM001", "PRODKEY001", "com.example.tocsin", "BadEnvironmentKeyIdInToken",
                "BadEnvironmentKeyIdInToken"
            ),
            ("SIMTEAM001", "SECONDKEY1", "com.example.tocsin", "UnrelatedKeyIdInToken", "TopicDisallowed"),
        ]
    )
    func binding(team: String, key: String, topic: String, onOld: String, onNew: String) async throws {
        try await Bench.with({ $0.otherKeys = Self.keys }) { bench in
            _ = await bench.send(bench.apnsBatch([deviceToken("aa")]))
            let token = try bench.simulator.makeProviderToken(teamID: team, keyID: key)
            var batch = bench.apnsBatch([deviceToken("aa")])
            batch.sharedHeaders[0] = PushHeader("authorization", "bearer \(token)")
            batch.sharedHeaders[1] = PushHeader("apns-topic", topic, repeats: true)
            #expect(await bench.send(batch)[0].reason == onOld)
            batch.pool.generation = 1
            let answer = await bench.send(batch)[0]
            #expect((answer.status == 200 ? "200" : answer.reason) == onNew)
        }
    }

    @Test("an app that is added later needs a new connection")
    func lateBundle() async throws {
        try await Bench.with { bench in
            var batch = bench.apnsBatch([deviceToken("aa")])
            batch.sharedHeaders[1] = PushHeader("apns-topic", "com.example.late", repeats: true)
            _ = await bench.send(bench.apnsBatch([deviceToken("aa")]))
            bench.simulator.apply(try script(#"{"apns":{"bundleIds":["com.example.tocsin","com.example.late"]}}"#))
            #expect(await bench.send(batch)[0].reason == "TopicDisallowed")
            batch.pool.generation = 1
            #expect(await bench.send(batch)[0].status == 200)
        }
    }

    @Test("a device's quota is its own, the project's is everybody's, and the answer says which it was")
    func quotas() async throws {
        let clock = HandClock()
        try await Bench.with({ $0.nowMilliseconds = clock.now }) { bench in
            bench.simulator.apply(try script(#"{"fcm":{"messagesPerMinute":3,"deviceMessagesPerMinute":1}}"#))
            let tokens = ["device-one", "device-one", "device-two", "device-six"]
            var seen: [String] = []
            for token in tokens {
                seen.append(Self.quota(await bench.send(bench.fcmBatch([token]))[0]))
                clock.pass(seconds: 10)
            }
            #expect(seen == ["200", "device 50", "200", "project:tocsin-simulator 30"])
            clock.pass(seconds: 20)
            #expect(await bench.send(bench.fcmBatch(["device-one"]))[0].status == 200)
        }
    }

    /// The subject of the quota failure, and `Retry-After`.
    private static func quota(_ answer: PushAnswer) -> String {
        guard case .response(let response) = answer, response.status == 429 else { return answer.kind }
        let details = (try? JSONParser.parse(response.body))?["error"]?["details"]?.arrayValue ?? []
        let subjects = details.compactMap { $0["violations"]?.arrayValue?.first?["subject"]?.stringValue }
        let wait = response.headers.first { $0.name == "retry-after" }?.value ?? "never"
        return "\(subjects.joined()) \(wait)"
    }

    @Test("access tokens can be ended at once")
    func expire() async throws {
        try await Bench.with { bench in
            let batch = bench.fcmBatch(["device-token"])
            #expect(await bench.send(batch)[0].status == 200)
            bench.simulator.endAccessTokens()
            #expect(await bench.send(batch)[0].status == 401)
            #expect(await bench.send(bench.fcmBatch(["device-token"]))[0].status == 200)
        }
    }
}
