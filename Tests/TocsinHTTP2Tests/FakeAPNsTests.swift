import Foundation
import JSON
import Testing
import TocsinPush
import TocsinSimulator

/// One change to a request that is otherwise right, and the answer to it.
struct APNsCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var expected: String
    var change: @Sendable (inout PushBatch) -> Void

    init(_ description: String, _ expected: String, _ change: @escaping @Sendable (inout PushBatch) -> Void) {
        testDescription = description
        self.expected = expected
        self.change = change
    }

    /// A header set, or taken away.
    static func header(_ name: String, _ value: String?, _ expected: String) -> APNsCase {
        APNsCase("\(name): \(value ?? "absent")", expected) { batch in
            batch.sharedHeaders.removeAll { $0.name == name }
            batch.requests[0].headers.removeAll { $0.name == name }
            if let value { batch.requests[0].headers.append(PushHeader(name, value)) }
        }
    }

    static func body(_ body: String, _ expected: String, type: String = "alert", priority: String = "10") -> APNsCase {
        APNsCase("\(type) \(priority) \(body.prefix(60))", expected) { batch in
            batch.sharedHeaders.removeAll { ["apns-push-type", "apns-priority"].contains($0.name) }
            batch.requests[0].headers.append(PushHeader("apns-push-type", type))
            batch.requests[0].headers.append(PushHeader("apns-priority", priority))
            if type == "voip" {
                batch.sharedHeaders.removeAll { $0.name == "apns-topic" }
                batch.requests[0].headers.append(PushHeader("apns-topic", "com.example.tocsin.voip"))
            }
            batch.requests[0].body = Array(body.utf8)
        }
    }

    static func path(_ path: String, _ expected: String) -> APNsCase {
        APNsCase("path \(path.prefix(40))", expected) { $0.requests[0].path = path }
    }

    /// A payload of exactly so many bytes.
    static func sized(_ bytes: Int, type: String, _ expected: String) -> APNsCase {
        let frame = #"{"aps":{"alert":""}}"#
        let text = String(repeating: "x", count: bytes - frame.utf8.count)
        return body(#"{"aps":{"alert":"\#(text)"}}"#, expected, type: type)
    }

    static let all: [APNsCase] = [
        APNsCase("as it should be", "200") { _ in },
        .header("authorization", nil, "MissingProviderToken"),
        .header("authorization", "key abc", "MissingProviderToken"),
        .header("authorization", "bearer a.b.c", "InvalidProviderToken"),
        .header("apns-topic", nil, "MissingTopic"),
        .header("apns-topic", "com.example.other", "TopicDisallowed"),
        .header("apns-topic", "com example", "BadTopic"),
        .header("apns-push-type", nil, "InvalidPushType"),
        .header("apns-push-type", "loud", "InvalidPushType"),
        .header("apns-push-type", "voip", "TopicDisallowed"),
        .header("apns-priority", "7", "BadPriority"),
        .header("apns-priority", nil, "200"),
        .header("apns-expiration", "0", "200"),
        .header("apns-expiration", "1999999999", "200"),
        .header("apns-expiration", "soon", "BadExpirationDate"),
        .header("apns-expiration", "-1", "BadExpirationDate"),
        .header("apns-collapse-id", String(repeating: "c", count: 64), "200"),
        .header("apns-collapse-id", String(repeating: "c", count: 65), "BadCollapseId"),
        .header("apns-id", "7a5c1b8e-0000-4000-8000-00000000000a", "200"),
        .header("apns-id", "7A5C1B8E-0000-4000-8000-00000000000A", "BadMessageId"),
        .header("apns-id", "seven", "BadMessageId"),
        APNsCase("a header twice", "DuplicateHeaders") { $0.sharedHeaders.append(PushHeader("apns-priority", "10")) },
        .path("/3/device/", "MissingDeviceToken"),
        .path("/4/device/abc", "BadPath"),
        .path("/3/device/xyz", "BadDeviceToken"),
        .path("/3/device/" + String(repeating: "a", count: 62), "BadDeviceToken"),
        .path("/3/device/" + String(repeating: "a", count: 65), "BadDeviceToken"),
        .path("/3/device/" + String(repeating: "a", count: 160), "200"),
        .path("/3/device/" + String(repeating: "a", count: 202), "BadDeviceToken"),
        .body("", "PayloadEmpty"),
        .body("not json", "PayloadEmpty"),
        .body(#"{"alert":"x"}"#, "PayloadEmpty"),
        .body(#"{"aps":{}}"#, "InvalidPushType"),
        .body(#"{"aps":{"badge":3}}"#, "200"),
        .sized(4096, type: "alert", "200"),
        .sized(4097, type: "alert", "PayloadTooLarge"),
        .sized(5120, type: "voip", "200"),
        .sized(5121, type: "voip", "PayloadTooLarge"),
        .body(#"{"aps":{"content-available":1}}"#, "200", type: "background", priority: "5"),
        .body(#"{"aps":{"content-available":1}}"#, "BadPriority", type: "background", priority: "10"),
        .body(#"{"aps":{"content-available":1,"alert":"x"}}"#, "InvalidPushType", type: "background", priority: "5"),
        .body(#"{"aps":{"alert":"x"}}"#, "InvalidPushType", type: "background", priority: "5"),
    ]
}

@Suite("Fake APNs")
struct FakeAPNsTests {
    @Test("a push is refused for exactly what is wrong with it", arguments: APNsCase.all)
    func rule(_ rule: APNsCase) async throws {
        try await Bench.with { bench in
            var batch = bench.apnsBatch([deviceToken("aa")])
            rule.change(&batch)
            let answer = await bench.send(batch)[0]
            #expect((answer.status == 200 ? "200" : answer.reason) == rule.expected)
        }
    }

    @Test(
        "a provider token counts by its age and its ids",
        arguments: [
            (0, nil, nil, "200"), (3500, nil, nil, "200"), (3700, nil, nil, "ExpiredProviderToken"),
            (-3600, nil, nil, "InvalidProviderToken"), (0, "OTHERTEAM1", nil, "InvalidProviderToken"),
            (0, nil, "OTHERKEY01", "InvalidProviderToken"),
        ] as [(Int64, String?, String?, String)]
    )
    func providerToken(ageSeconds: Int64, teamID: String?, keyID: String?, expected: String) async throws {
        try await Bench.with { bench in
            let token = try bench.simulator.makeProviderToken(
                issuedAtSeconds: Int64(Date().timeIntervalSince1970) - ageSeconds,
                teamID: teamID,
                keyID: keyID
            )
            var batch = bench.apnsBatch([deviceToken("aa")])
            batch.sharedHeaders[0] = PushHeader("authorization", "bearer \(token)")
            let answer = await bench.send(batch)[0]
            #expect((answer.status == 200 ? "200" : answer.reason) == expected)
        }
    }

    @Test("a provider token with a broken signature is refused")
    func brokenSignature() async throws {
        try await Bench.with { bench in
            var parts = bench.providerToken.split(separator: ".").map(String.init)
            parts[2] = String(parts[2].reversed())
            var batch = bench.apnsBatch([deviceToken("aa")])
            batch.sharedHeaders[0] = PushHeader("authorization", "bearer \(parts.joined(separator: "."))")
            #expect(await bench.send(batch)[0].reason == "InvalidProviderToken")
        }
    }

    @Test("a second provider token within 20 minutes is refused on its connection, not on another")
    func tokenUpdates() async throws {
        try await Bench.with { bench in
            _ = await bench.send(bench.apnsBatch([deviceToken("aa")]))
            var batch = bench.apnsBatch([deviceToken("aa")])
            batch.sharedHeaders[0] = PushHeader("authorization", "bearer \(try bench.simulator.makeProviderToken())")
            #expect(await bench.send(batch)[0].reason == "TooManyProviderTokenUpdates")
            batch.pool.generation = 1
            #expect(await bench.send(batch)[0].status == 200)
            #expect(bench.stat("apns", "providerTokens") == 2)
        }
    }

    @Test("410 names the time the token died, in milliseconds")
    func deathTime() async throws {
        try await Bench.with({ $0.nowMilliseconds = { 1_800_000_000_000 } }) { bench in
            var batch = bench.apnsBatch([deviceToken("dead"), deviceToken("de1d")])
            let token = try bench.simulator.makeProviderToken()
            batch.sharedHeaders[0] = PushHeader("authorization", "bearer \(token)")
            let times = await bench.send(batch).map { answer -> Int64? in
                guard case .response(let response) = answer else { return nil }
                return (try? JSONParser.parse(response.body))?["timestamp"]?.intValue
            }
            #expect(times == [1_800_000_000_000, 1_800_000_000_000 - 365 * 86_400_000])
        }
    }

    @Test("a counted script fails as often as its token says", arguments: [("5030", 1), ("5033", 3), ("4292", 2)])
    func countedScript(prefix: String, failures: Int) async throws {
        try await Bench.with { bench in
            var statuses: [Bool] = []
            for _ in 0...failures {
                statuses.append(await bench.send(bench.apnsBatch([deviceToken(prefix)]))[0].status == 200)
            }
            #expect(statuses == Array(repeating: false, count: failures) + [true])
        }
    }

    @Test("duplicates are counted by apns-id, and by device and collapse id")
    func duplicates() async throws {
        try await Bench.with { bench in
            var batch = bench.apnsBatch([deviceToken("aa", 1), deviceToken("aa", 2)])
            batch.requests[0].headers.append(PushHeader("apns-collapse-id", "same"))
            batch.requests[1].headers.append(PushHeader("apns-collapse-id", "same"))
            _ = await bench.send(batch)
            #expect(bench.stat("apns", "duplicates", "byReplaceKey") == 0)
            _ = await bench.send(batch)
            #expect(bench.stat("apns", "duplicates", "byReplaceKey") == 2)
            #expect(bench.stat("apns", "duplicates", "byDelivery") == 2)
        }
    }

    @Test("every line of the script table can be reached: no shorter prefix stands before it")
    func tableIsReachable() {
        for (index, rule) in ScriptRule.all.enumerated() {
            let hider = ScriptRule.all.prefix(index).first {
                $0.provider == rule.provider && rule.prefix.hasPrefix($0.prefix)
            }
            #expect(hider == nil, "\(rule.prefix) is hidden by \(hider?.prefix ?? "")")
        }
    }
}
