import Foundation
import JSON
import Synchronization
import Testing
import TocsinPush
import TocsinSimulator

/// A clock that a test sets.
final class HandClock: Sendable {
    private let milliseconds = Mutex<Int64>(1_800_000_000_000)

    var now: @Sendable () -> Int64 { { self.milliseconds.withLock { $0 } } }

    func pass(seconds: Double) { milliseconds.withLock { $0 += Int64(seconds * 1000) } }
}

@Suite("Simulator scripts")
struct ScriptTests {
    private func script(_ text: String) throws -> SimulatorScript { try SimulatorScript(text: Array(text.utf8)) }

    @Test("every fault of APNs can be scripted by its name", arguments: FaultNames.all(of: .apns))
    func everyFaultOfAPNs(name: String) async throws {
        try await Bench.with({ $0.slowAnswerSeconds = 0.05 }) { bench in
            _ = await bench.send(bench.apnsBatch([deviceToken("aa")]))
            let rule = #"{"rules":[{"provider":"apns","fault":"\#(name)","times":1,"token":"a1"}]}"#
            bench.simulator.apply(try script(rule))
            var batch = bench.apnsBatch([deviceToken("a1")])
            batch.timeoutSeconds = 2
            let answer = await bench.send(batch)[0]
            #expect(Self.outcome(answer) == Self.wireOutcomes[name] ?? name)
            #expect(await bench.send(bench.apnsBatch([deviceToken("a1", 1)]))[0].status == 200)
        }
    }

    @Test("every fault of FCM can be scripted by its name", arguments: FaultNames.all(of: .fcm))
    func everyFaultOfFCM(name: String) async throws {
        try await Bench.with({ $0.slowAnswerSeconds = 0.05 }) { bench in
            _ = await bench.send(bench.fcmBatch(["device-token"]))
            let rule = #"{"rules":[{"provider":"fcm","fault":"\#(name)","times":1}]}"#
            bench.simulator.apply(try script(rule))
            var batch = bench.fcmBatch(["device-token"])
            batch.timeoutSeconds = 2
            let answer = await bench.send(batch)[0]
            #expect(Self.outcome(answer) == Self.wireOutcomes[name] ?? Self.fcmOutcomes[name])
            #expect(await bench.send(bench.fcmBatch(["device-token"]))[0].status == 200)
        }
    }

    private static let wireOutcomes = [
        "slow": "200", "silence": "unknown", "headers-only": "unknown", "reset": "unknown",
        "refused-stream": "notProcessed", "lost-answer": "unknown", "goaway": "200", "goaway-refused": "notProcessed",
        "close": "unknown", "close-after-accept": "unknown", "bad-gateway": "502",
    ]

    private static let fcmOutcomes = [
        "UNREGISTERED": "404 UNREGISTERED", "INVALID_TOKEN": "400 INVALID_ARGUMENT",
        "INVALID_ARGUMENT": "400 INVALID_ARGUMENT", "TOO_BIG": "400 INVALID_ARGUMENT",
        "SENDER_ID_MISMATCH": "403 SENDER_ID_MISMATCH", "PERMISSION_DENIED": "403 PERMISSION_DENIED",
        "THIRD_PARTY_AUTH_ERROR": "401 THIRD_PARTY_AUTH_ERROR", "UNAUTHENTICATED": "401 UNAUTHENTICATED",
        "NOT_FOUND": "404 NOT_FOUND", "QUOTA_EXCEEDED": "429 QUOTA_EXCEEDED",
        "PROJECT_QUOTA_EXCEEDED": "429 QUOTA_EXCEEDED", "UNAVAILABLE": "503 UNAVAILABLE", "INTERNAL": "500 INTERNAL",
        "UNSPECIFIED_ERROR": "500 UNSPECIFIED_ERROR", "UNHEARD": "500 MOON_IS_WRONG",
        "APPLE_INVALID_PROVIDER_TOKEN": "401 THIRD_PARTY_AUTH_ERROR", "APPLE_BAD_DEVICE_TOKEN": "400 INVALID_ARGUMENT",
    ]

    /// APNs' reason; FCM's status and code; else the kind of answer.
    private static func outcome(_ answer: PushAnswer) -> String {
        guard case .response(let response) = answer, let body = try? JSONParser.parse(response.body) else {
            return answer.kind
        }
        if let reason = body["reason"]?.stringValue { return reason }
        guard let error = body["error"] else { return "\(response.status)" }
        let codes = error["details"]?.arrayValue?.compactMap { $0["errorCode"]?.stringValue } ?? []
        return "\(response.status) \(codes.first ?? error["status"]?.stringValue ?? "")"
    }

    @Test("a share meets about so many pushes, and the same ones again for the same seed")
    func share() async throws {
        try await Bench.with { bench in
            let tokens = (0..<1000).map { deviceToken("aa", $0) }
            var rounds: [[Bool]] = []
            for seed in [7, 7, 8] {
                let text = #"{"seed":\#(seed),"rules":[{"provider":"apns","fault":"TooManyRequests","share":"30 %"}]}"#
                bench.simulator.apply(try script(text))
                // One after the other, for the random numbers come in the order of the pushes.
                rounds.append(await bench.send(bench.apnsBatch(tokens)).map { $0.status == 200 })
            }
            for round in rounds { #expect((620...780).contains(round.count { $0 })) }
            #expect(rounds[0].count { $0 } == rounds[1].count { $0 })
            #expect(rounds[0].count { $0 } != rounds[2].count { $0 } || rounds[0] != rounds[2])
        }
    }

    @Test(
        "a rule lets through, fails, and lets through again as it says",
        arguments: [
            (#""skip":2"#, [true, true, false, false]), (#""times":1"#, [false, true, true, true]),
            (#""skip":1,"times":2"#, [true, false, false, true]), (#""request":3"#, [true, true, false, true]),
            (#""timesPerToken":1"#, [false, false, true, true]), (#""token":"a1""#, [true, false, true, false]),
            (#""share":0"#, [true, true, true, true]),
        ]
    )
    func counts(rule: String, expected: [Bool]) async throws {
        try await Bench.with { bench in
            let text = #"{"rules":[{"provider":"apns","fault":"ServiceUnavailable",\#(rule)}]}"#
            bench.simulator.apply(try script(text))
            var accepted: [Bool] = []
            for prefix in ["a0", "a1", "a0", "a1"] {
                accepted.append(await bench.send(bench.apnsBatch([deviceToken(prefix)]))[0].status == 200)
            }
            #expect(accepted == expected)
        }
    }

    @Test("a rule ends when its time is over, and another script takes its place")
    func ends() async throws {
        let clock = HandClock()
        try await Bench.with({ $0.nowMilliseconds = clock.now }) { bench in
            let text = #"{"rules":[{"provider":"fcm","fault":"INTERNAL","forSeconds":5}]}"#
            bench.simulator.apply(try script(text))
            #expect(await bench.send(bench.fcmBatch(["device-token"]))[0].status == 500)
            clock.pass(seconds: 5)
            #expect(await bench.send(bench.fcmBatch(["device-token"]))[0].status == 200)
            bench.simulator.apply(try script(text))
            bench.simulator.apply(try script(#"{"rules":[]}"#))
            #expect(await bench.send(bench.fcmBatch(["device-token"]))[0].status == 200)
        }
    }

    @Test("a reset goes back to the script of the start")
    func reset() async throws {
        let first = try script(#"{"rules":[{"provider":"fcm","fault":"INTERNAL"}]}"#)
        try await Bench.with({ $0.script = first }) { bench in
            bench.simulator.apply(try script(#"{"rules":[]}"#))
            #expect(await bench.send(bench.fcmBatch(["device-token"]))[0].status == 200)
            bench.simulator.reset()
            #expect(await bench.send(bench.fcmBatch(["device-token"]))[0].status == 500)
        }
    }

    @Test(
        "a script that is wrong is refused with what would be right",
        arguments: [
            ("", "not JSON"), ("[]", "must be an object"), (#"{"rule":[]}"#, "Known are: rules"),
            (#"{"rules":{}}"#, "a list"), (#"{"rules":[{"provider":"apple","fault":"x"}]}"#, "one of apns, fcm"),
            (#"{"rules":[{"provider":"apns","fault":"UNREGISTERED"}]}"#, "Known are: BadCollapseId"),
            (#"{"rules":[{"provider":"fcm","fault":"Unregistered"}]}"#, "Known are: UNREGISTERED"),
            (#"{"rules":[{"provider":"fcm","fault":"INTERNAL","share":2}]}"#, "from 0 to 1"),
            (#"{"rules":[{"provider":"fcm","fault":"INTERNAL","share":"many"}]}"#, "5 %"),
            (#"{"rules":[{"provider":"fcm","fault":"INTERNAL","times":-1}]}"#, "a whole number"),
            (#"{"apns":{"streems":1}}"#, "Known are: streams"), (#"{"fcm":{"streams":"1"}}"#, "a whole number"),
            (#"{"apns":{"bundleIds":[1]}}"#, "a list of texts"), (#"{"lateSeconds":"x"}"#, "a number"),
            (#"{"lateSeconds":1e300}"#, "from 0 to 1000000000"),
            (#"{"rules":[{"provider":"apns","fault":"slow","forSeconds":1e300}]}"#, "from 0 to 1000000000"),
            (
                #"{"rules":[{"provider":"apns","fault":"Unregistered","agoSeconds":9223372036854775807}]}"#,
                "from 0 to 1000000000"
            ),
        ]
    )
    func wrong(text: String, expected: String) {
        do {
            _ = try script(text)
            Issue.record("it was taken")
        } catch {
            #expect("\(error)".contains(expected), "\(error)")
        }
    }
}
