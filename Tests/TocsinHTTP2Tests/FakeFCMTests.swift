import Foundation
import JSON
import Testing
import TocsinPush
import TocsinSimulator

@Suite("Fake FCM")
struct FakeFCMTests {
    /// Status, `error.status`, and the FCM error code.
    private func outcome(_ answer: PushAnswer) -> [String] {
        guard case .response(let response) = answer, let body = try? JSONParser.parse(response.body) else {
            return [answer.kind]
        }
        guard let error = body["error"] else { return ["\(response.status)"] }
        let code = error["details"]?.arrayValue?.lazy.compactMap { $0["errorCode"]?.stringValue }.first
        return ["\(response.status)", error["status"]?.stringValue ?? "", code ?? "-"]
    }

    @Test(
        "a message is refused for exactly what is wrong with it",
        arguments: [
            (#"{"message":{"token":"device-token"}}"#, ["200"]),
            (#"{"message":{"topic":"news"}}"#, ["200"]),
            (#"{"message":{"fid":"installation-id"}}"#, ["200"]),
            (#"{"validate_only":true,"message":{"token":"device-token"}}"#, ["200"]),
            (#"{"message":{}}"#, ["400", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]),
            (#"{"message":{"token":"device-token","topic":"news"}}"#, ["400", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]),
            (#"{"message":{"token":"short"}}"#, ["400", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]),
            (#"{"message":{"token":7}}"#, ["400", "INVALID_ARGUMENT", "-"]),
            (#"{"messages":[]}"#, ["400", "INVALID_ARGUMENT", "-"]),
            (#"{"message":{"token":"device-token","colour":"red"}}"#, ["400", "INVALID_ARGUMENT", "-"]),
            (#"{"message":{"token":"device-token","data":{"n":1}}}"#, ["400", "INVALID_ARGUMENT", "-"]),
            (
                #"{"message":{"token":"device-token","data":{"from":"x"}}}"#,
                ["400", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]
            ),
            (
                #"{"message":{"token":"device-token","data":{"gcm.n":"x"}}}"#,
                ["400", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]
            ),
            (#"{"message":{"token":"device-token","android":{"priority":"high","ttl":"3600s"}}}"#, ["200"]),
            (
                #"{"message":{"token":"device-token","android":{"priority":"urgent"}}}"#,
                ["400", "INVALID_ARGUMENT", "-"]
            ),
            (#"{"message":{"token":"device-token","android":{"ttl":3600}}}"#, ["400", "INVALID_ARGUMENT", "-"]),
            (#"{"message":{"token":"device-token","android":{"ttl":"1h"}}}"#, ["400", "INVALID_ARGUMENT", "-"]),
            (
                #"{"message":{"token":"device-token","android":{"ttl":"2419201s"}}}"#,
                ["400", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]
            ),
            (
                #"{"message":{"token":"device-token","apns":{"payload":{"aps":{"content-available":1}}}}}"#,
                ["400", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]
            ),
            (
                #"{"message":{"token":"device-token","apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{}}}}}"#,
                ["200"]
            ),
            (
                #"{"message":{"token":"device-token","webpush":{"fcm_options":{"link":"http://x"}}}}"#,
                ["400", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]
            ),
            (
                #"{"message":{"token":"device-token","apns":{"payload":{"aps":{"alert":{"title":"x"},"badge":2}}}}}"#,
                ["200"]
            ),
            (#"{"message":{"token":"device-token","apns":[]}}"#, ["400", "INVALID_ARGUMENT", "-"]),
            (#"{"message":{"token":"device-token","apns":{"colour":"red"}}}"#, ["400", "INVALID_ARGUMENT", "-"]),
            (
                #"{"message":{"token":"device-token","apns":{"headers":{"apns-priority":10}}}}"#,
                ["400", "INVALID_ARGUMENT", "-"]
            ),
            (
                #"{"message":{"token":"device-token","apns":{"headers":{"apns-priority":"7"}}}}"#,
                ["400", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]
            ),
            (
                #"{"message":{"token":"device-token","apns":{"headers":{"apns-expiration":"300s"}}}}"#,
                ["400", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]
            ),
            (
                #"{"message":{"token":"device-token","apns":{"headers":{"authorization":"bearer x"}}}}"#,
                ["400", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]
            ),
            (
                #"{"message":{"token":"device-token","apns":{"payload":{"aps":{"alert":"x","badge":"2"}}}}}"#,
                ["400", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]
            ),
            (
                #"{"message":{"token":"device-token","apns":{"payload":{"aps":{"alert":"x","interruption-level":"loud"}}}}}"#,
                ["400", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]
            ),
            (
                #"{"message":{"token":"device-token","apns":{"headers":{"apns-push-type":"alert","apns-priority":"5"},"payload":{"aps":{"content-available":1}}}}}"#,
                ["400", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]
            ),
            ("nonsense", ["400", "INVALID_ARGUMENT", "-"]),
        ]
    )
    func rule(body: String, expected: [String]) async throws {
        try await Bench.with { bench in
            var batch = bench.fcmBatch(["device-token"])
            batch.requests[0].body = Array(body.utf8)
            #expect(outcome(await bench.send(batch)[0]) == expected)
        }
    }

    @Test(
        "data and notification may weigh 4,096 bytes together, and half of it to a topic",
        arguments: [("token", 4096, "200"), ("token", 4097, "400"), ("topic", 2048, "200"), ("topic", 2049, "400")]
    )
    func weight(target: String, bytes: Int, status: String) async throws {
        try await Bench.with { bench in
            let text = String(repeating: "x", count: bytes - "id".utf8.count)
            let message: JSONObject = ["data": ["id": .string(text)], target: "device-token"]
            let body: JSONValue = ["message": .object(message)]
            var batch = bench.fcmBatch(["device-token"])
            batch.requests[0].body = body.serialized()
            #expect(outcome(await bench.send(batch)[0]).first == status)
        }
    }

    @Test(
        "each scripted refusal has the body Google gives",
        arguments: [
            ("unregistered-1", ["404", "NOT_FOUND", "UNREGISTERED"]),
            ("invalid-12345", ["400", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]),
            ("mismatch-1", ["403", "PERMISSION_DENIED", "SENDER_ID_MISMATCH"]),
            ("forbidden-1", ["403", "PERMISSION_DENIED", "-"]),
            ("thirdparty-1", ["401", "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"]),
            ("applekey-1", ["401", "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"]),
            ("appletoken-1", ["400", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]),
            ("unauthenticated-1", ["401", "UNAUTHENTICATED", "-"]),
            ("notfound-1", ["404", "NOT_FOUND", "-"]),
            ("quota-1234", ["429", "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"]),
            ("unavailable-a", ["503", "UNAVAILABLE", "UNAVAILABLE"]),
            ("internal-a", ["500", "INTERNAL", "INTERNAL"]),
            ("refused-a", ["notProcessed"]), ("reset-abc", ["unknown"]), ("close-abc", ["unknown"]),
        ]
    )
    func script(token: String, expected: [String]) async throws {
        try await Bench.with { bench in
            #expect(outcome(await bench.send(bench.fcmBatch([token]))[0]) == expected)
        }
    }

    @Test(
        "Retry-After comes as seconds or as a date",
        arguments: [("quota-abcd", "1"), ("quota-date-a", "Fri, 15 Jan 2027 08:00:01 GMT"), ("overloaded-a", nil)]
            as [(String, String?)]
    )
    func retryAfter(token: String, expected: String?) async throws {
        try await Bench.with({ $0.nowMilliseconds = { 1_800_000_000_000 } }) { bench in
            guard case .response(let response) = await bench.send(bench.fcmBatch([token]))[0] else {
                Issue.record("no response")
                return
            }
            #expect(response.headers.first { $0.name == "retry-after" }?.value == expected)
        }
    }

    @Test("the project's quota holds for a minute from its first message, and Retry-After names what is left of it")
    func quota() async throws {
        let change: (inout SimulatorSettings) -> Void = {
            $0.fcmMessagesPerMinute = 3
            $0.nowMilliseconds = { 1_800_000_015_000 }
        }
        try await Bench.with(change) { bench in
            let answers = await bench.send(bench.fcmBatch((0..<5).map { "device-token-\($0)" }))
            #expect(answers.count { $0.status == 200 } == 3)
            guard case .response(let response)? = answers.first(where: { $0.status == 429 }) else {
                Issue.record("nothing was refused")
                return
            }
            #expect(response.headers.contains(PushHeader("retry-after", "60")))
        }
    }

    @Test("an access token is asked for, and only this simulator's")
    func bearer() async throws {
        try await Bench.with { bench in
            var batch = bench.fcmBatch(["device-token"])
            batch.sharedHeaders[0] = PushHeader("authorization", "Bearer stranger")
            #expect(outcome(await bench.send(batch)[0]) == ["401", "UNAUTHENTICATED", "-"])
            batch.sharedHeaders.remove(at: 0)
            #expect(outcome(await bench.send(batch)[0]) == ["401", "UNAUTHENTICATED", "-"])
        }
    }

    @Test("another project is not found, another path is refused")
    func project() async throws {
        try await Bench.with { bench in
            var batch = bench.fcmBatch(["device-token"])
            batch.requests[0].path = "/v1/projects/other/messages:send"
            #expect(outcome(await bench.send(batch)[0]) == ["404", "NOT_FOUND", "-"])
            batch.requests[0].path = "/fcm/send"
            #expect(outcome(await bench.send(batch)[0]).first == "400")
        }
    }
}

@Suite("Fake token endpoint")
struct TokenEndpointTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var expected: String
        var change: @Sendable (inout JSONObject) -> Void
    }

    static let cases: [Case] = [
        Case(testDescription: "as it should be", expected: "") { _ in },
        Case(testDescription: "another account", expected: "invalid_grant") { $0["iss"] = "x@y" },
        Case(testDescription: "another audience", expected: "invalid_grant") { $0["aud"] = "https://x/token" },
        Case(testDescription: "another scope", expected: "invalid_scope") { $0["scope"] = "email" },
        Case(testDescription: "a life of two hours", expected: "invalid_grant") { claims in
            claims["exp"] = .int((claims["iat"]?.intValue ?? 0) + 7200)
        },
        Case(testDescription: "long over", expected: "invalid_grant") { claims in
            claims["iat"] = 1_000_000_000
            claims["exp"] = 1_000_003_600
        },
        Case(testDescription: "no end", expected: "invalid_grant") { $0["exp"] = nil },
    ]

    @Test("an assertion is refused for exactly what is wrong with it", arguments: cases)
    func assertion(_ item: Case) async throws {
        try await Bench.with { bench in
            let now = Int64(Date().timeIntervalSince1970)
            var claims: JSONObject = [
                "iss": .string(bench.simulator.accountEmail),
                "scope": "https://www.googleapis.com/auth/firebase.messaging",
                "aud": .string(bench.addresses.token), "iat": .int(now), "exp": .int(now + 3600),
            ]
            item.change(&claims)
            let assertion = try bench.simulator.makeAssertion(claims: .object(claims))
            let answer = try await exchange(bench, "assertion=\(assertion)")
            #expect(answer["error"]?.stringValue ?? "" == item.expected)
            guard item.expected.isEmpty else { return }
            var batch = bench.fcmBatch(["device-token"])
            let token = answer["access_token"]?.stringValue ?? ""
            batch.sharedHeaders[0] = PushHeader("authorization", "Bearer \(token)")
            #expect(await bench.send(batch)[0].status == 200)
        }
    }

    @Test("an access token ends when its time is over")
    func expiry() async throws {
        try await Bench.with({ $0.accessTokenSeconds = 0 }) { bench in
            #expect(await bench.send(bench.fcmBatch(["device-token"]))[0].status == 401)
        }
    }

    @Test("a signature by another key is refused")
    func strangeKey() async throws {
        try await Bench.with { bench in
            let answer = try await exchange(bench, "assertion=\(bench.providerToken)")
            #expect(answer["error_description"] == "Invalid JWT Signature.")
        }
    }

    /// Posts a form over HTTP/2, on the listener that FCM has.
    private func exchange(_ bench: Bench, _ assertion: String) async throws -> JSONValue {
        let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
        let batch = PushBatch(
            pool: bench.fcmPool,
            sharedHeaders: [PushHeader("content-type", "application/x-www-form-urlencoded", repeats: true)],
            requests: [.init(path: "/token", headers: [], body: Array("\(grant)&\(assertion)".utf8))]
        )
        guard case .response(let response) = await bench.send(batch)[0] else { return .null }
        return try JSONParser.parse(response.body)
    }
}
