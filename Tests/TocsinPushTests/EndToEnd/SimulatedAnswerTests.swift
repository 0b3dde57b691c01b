import JSON
import Testing
import TocsinCore
import TocsinPush
import TocsinSimulator

/// A fault the simulator plays, and what it must lead to, over real HTTP/2.
struct SimulatedRow: Sendable, CustomTestStringConvertible {
    /// How the token begins; the simulator's script decides the rest.
    var prefix: String
    var outcome: AnswerRow.Outcome
    /// How the ledger's reason begins.
    var reason: String
    var timeoutSeconds = 20.0
    var testDescription: String { prefix }

    private init(_ prefix: String, _ outcome: AnswerRow.Outcome, _ reason: String) {
        (self.prefix, self.outcome, self.reason) = (prefix, outcome, reason)
    }

    private static func outcome(_ status: DeliveryStatus, _ sends: Int) -> AnswerRow.Outcome {
        AnswerRow.Outcome(
            status: status,
            attempts: 1,
            waitSeconds: nil,
            endpointStays: true,
            lane: .open,
            sends: sends
        )
    }

    static func accepted(_ prefix: String) -> SimulatedRow { SimulatedRow(prefix, outcome(.accepted, 1), "") }

    static func ended(_ prefix: String, _ reason: String) -> SimulatedRow {
        var row = SimulatedRow(prefix, outcome(.ended, 1), reason)
        row.outcome.endpointStays = false
        return row
    }

    static func failed(_ prefix: String, _ reason: String, sends: Int = 1) -> SimulatedRow {
        SimulatedRow(prefix, outcome(.failed, sends), reason)
    }

    static func paused(_ prefix: String, _ reason: String, sends: Int = 1) -> SimulatedRow {
        var row = SimulatedRow(prefix, outcome(.waiting, sends), reason)
        (row.outcome.attempts, row.outcome.waitSeconds, row.outcome.lane) = (0, 1, .paused)
        return row
    }

    static func waits(_ prefix: String, _ reason: String, _ seconds: Double, sends: Int = 1) -> SimulatedRow {
        var row = SimulatedRow(prefix, outcome(.waiting, sends), reason)
        row.outcome.waitSeconds = seconds
        return row
    }

    /// The peer has not looked at it: four tries at once, none counted.
    static func notProcessed(_ prefix: String) -> SimulatedRow {
        var row = waits(prefix, "NOT_PROCESSED", 1.05, sends: 4)
        row.outcome.attempts = 0
        return row
    }

    /// On a new connection at once, then later, not counted.
    static func tokenTrouble(_ prefix: String) -> SimulatedRow {
        var row = waits(prefix, "TooManyProviderTokenUpdates", 63, sends: 2)
        row.outcome.attempts = 0
        return row
    }

    /// The project's quota is used up: all of its pushes slow down.
    static func slowed(_ prefix: String, _ reason: String) -> SimulatedRow {
        var row = waits(prefix, reason, 10)
        row.outcome.lane = .slowed
        return row
    }

    /// It may have been accepted.
    static func unknown(_ prefix: String, timeoutSeconds: Double = 20) -> SimulatedRow {
        var row = waits(prefix, "NO_ANSWER", 1)
        row.timeoutSeconds = timeoutSeconds
        return row
    }

    /// The device was registered a day ago, by the simulator's clock.
    static let apns: [SimulatedRow] = [
        .accepted("aa"),
        .ended("dead", "Unregistered"),
        .waits("de1d", "Unregistered", 10),
        .ended("de01", "ExpiredToken"),
        .ended("bad0", "BadDeviceToken"),
        .ended("bad1", "DeviceTokenNotForTopic"),
        .paused("bad2", "TopicDisallowed"),
        .waits("bad3", "IdleTimeout", 10, sends: 2),
        .failed("bad4", "PayloadTooLarge", sends: 2),
        .failed("bad5", "TheMoonIsWrong"),
        .paused("403a", "ExpiredProviderToken", sends: 2),
        .paused("403b", "InvalidProviderToken"),
        .paused("403c", "Forbidden"),
        .paused("403d", "BadEnvironmentKeyIdInToken"),
        .paused("403e", "BadEnvironmentKeyInToken"),
        .paused("403f", "UnrelatedKeyIdInToken", sends: 2),
        .tokenTrouble("429a"),
        .waits("429f", "TooManyRequests", 10),
        .waits("500f", "InternalServerError", 10, sends: 2),
        .waits("503d", "Shutdown", 10, sends: 2),
        .waits("503f", "ServiceUnavailable", 10, sends: 2),
        .accepted("510e"),
        .unknown("57a1", timeoutSeconds: 5),
        .unknown("57a2", timeoutSeconds: 5),
        .unknown("e5e1f"),
        .notProcessed("e5e7f"),
        .unknown("e5eaf"),
        .accepted("60a1"),
        .notProcessed("60a2f"),
        .unknown("c105f"),
        .unknown("c10af"),
        .failed("404a", "BadPath"),
        .failed("405a", "MethodNotAllowed"),
        .waits("502f", "HTTP 502", 10),
        .paused("bade", "MissingTopic"),
        .paused("4030", "MissingProviderToken"),
        .paused("4031", "BadCertificate"),
        .paused("4032", "BadCertificateEnvironment"),
        .failed("bad6", "BadCollapseId"),
        .failed("bad7", "BadExpirationDate"),
        .failed("bad8", "BadMessageId"),
        .failed("bad9", "BadPriority"),
        .failed("bada", "BadTopic"),
        .failed("badb", "DuplicateHeaders"),
        .failed("badc", "InvalidPushType"),
        .failed("badd", "MissingDeviceToken"),
        .failed("badf", "PayloadEmpty"),
    ]

    static let fcm: [SimulatedRow] = [
        .accepted("phone-"),
        .ended("unregistered-", "UNREGISTERED"),
        .ended("invalid-", "INVALID_ARGUMENT"),
        .failed("badpayload-", "INVALID_ARGUMENT: message.data"),
        .failed("toolarge-", "INVALID_ARGUMENT: too large", sends: 2),
        .ended("mismatch-", "SENDER_ID_MISMATCH"),
        .paused("forbidden-", "PERMISSION_DENIED"),
        .waits("thirdparty-", "THIRD_PARTY_AUTH_ERROR", 10),
        .waits("applekey-", "THIRD_PARTY_AUTH_ERROR: InvalidProviderToken", 10),
        .ended("appletoken-", "BadDeviceToken"),
        .paused("unauthenticated-", "UNAUTHENTICATED", sends: 2),
        .paused("notfound-", "NOT_FOUND"),
        .waits("quota-date-", "QUOTA_EXCEEDED", 10),
        .waits("quota-", "QUOTA_EXCEEDED", 10),
        .waits("quota-bare-", "QUOTA_EXCEEDED", 63),
        .slowed("quota-project-", "QUOTA_EXCEEDED"),
        .waits("unavailable-date-", "UNAVAILABLE", 10),
        .waits("unheard-", "UNSPECIFIED_ERROR", 10),
        .waits("gateway-", "HTTP 502", 10),
        .waits("unavailable-", "UNAVAILABLE", 10),
        .waits("overloaded-", "UNAVAILABLE", 10),
        .waits("internal-", "INTERNAL", 10),
        .waits("unspecified-", "UNSPECIFIED_ERROR", 10),
        .accepted("slow-"),
        .unknown("stall-headers-", timeoutSeconds: 5),
        .unknown("stall-", timeoutSeconds: 5),
        .unknown("reset-"),
        .notProcessed("refused-"),
        .unknown("lost-"),
        .notProcessed("goaway-refused-"),
        .accepted("goaway-"),
        .unknown("close-accepted-"),
        .unknown("close-"),
    ]
}

@Suite("What the simulator's faults lead to", .timeLimit(.minutes(5)))
struct SimulatedAnswerTests {
    private func device(_ token: String, _ platform: PushPlatform, at now: Timestamp) -> Device {
        var device = Device.sample("d", token: token, platform: platform, registeredAt: now.adding(seconds: -86_400))
        device.environment = platform == .ios ? .sandbox : nil
        return device
    }

    @Test("APNs over HTTP/2: every fault leads where the table says", arguments: SimulatedRow.apns)
    func apns(_ row: SimulatedRow) async throws {
        let token = row.prefix + String(repeating: "f", count: 64 - row.prefix.count)
        try await check(row, token, .ios)
    }

    @Test("FCM over HTTP/2: every fault leads where the table says", arguments: SimulatedRow.fcm)
    func fcm(_ row: SimulatedRow) async throws { try await check(row, row.prefix + "phone-of-tim-xxxxxxxx", .android) }

    /// What browsers' push services answer has a table beside the test of the fake one.
    @Test("every fault of Apple and Google that the simulator knows by a token's prefix is in the table")
    func isWhole() {
        let known = (SimulatedRow.apns + SimulatedRow.fcm).map(\.prefix)
        let ofPhones = ScriptRule.all.filter { $0.provider != .webpush }
        let missing = ofPhones.map(\.prefix).filter { prefix in !known.contains { $0.hasPrefix(prefix) } }
        #expect(missing == [])
    }

    private func check(_ row: SimulatedRow, _ token: String, _ platform: PushPlatform) async throws {
        var choice = SimulatorBench.Choice()
        choice.timeoutSeconds = row.timeoutSeconds
        try await SimulatorBench.with(choice) { bench, harness in
            try await harness.add([device(token, platform, at: harness.time.now())])
            try await harness.publish("m1")
            try await harness.running { _ in
                let rows = try await harness.deliveries(movingTime: false) { rows in
                    rows.count == 1 && rows[0].status != .sending
                }
                let delivery = try #require(rows.first)
                let sends = bench.simulator.pushes().count { $0["token"]?.stringValue == token }
                #expect(try await harness.outcome(of: delivery, sends: sends) == row.outcome)
                let reason = delivery.reason?.rawValue ?? ""
                #expect(reason.hasPrefix(row.reason))
            }
        }
    }

    @Test(
        "what may have been accepted arrives in the end, and a phone shows it once",
        arguments: ["e5ea2", "c10a2", "5003", "5035", "4292", "e5e12", "e5e72", "60a22", "c1052"]
    )
    func recovers(_ prefix: String) async throws {
        let token = prefix + String(repeating: "f", count: 64 - prefix.count)
        try await SimulatorBench.with { bench, harness in
            try await harness.add([device(token, .ios, at: harness.time.now())])
            try await harness.publish("m1")
            try await harness.running { _ in try await harness.deliveries { $0.are(1, .accepted) } }
            let seen = bench.seen(token)
            #expect(seen.last?.isAccepted == true)
            #expect(Set(seen.filter(\.isAccepted).map(\.name)) == ["m1"])
        }
    }

    @Test(
        "what FCM may have accepted arrives in the end, and a phone shows it once",
        arguments: [
            "lost-2-x", "close-accepted-2-x", "unavailable-2-x", "quota-2-x", "refused-2-x", "unauthenticated-1-x",
        ]
    )
    func recoversFCM(_ token: String) async throws {
        try await SimulatorBench.with { bench, harness in
            try await harness.add([device(token, .android, at: harness.time.now())])
            try await harness.publish("m1")
            try await harness.running { _ in try await harness.deliveries { $0.are(1, .accepted) } }
            let seen = bench.seen(token)
            #expect(seen.last?.isAccepted == true)
            #expect(Set(seen.filter(\.isAccepted).map(\.name)) == ["m1"])
        }
    }

    /// Where nobody answers: refused, unknown name, a certificate nobody trusts.
    private static let nobodyThere: [(origin: String?, trusts: Bool)] = [
        ("https://127.0.0.1:1", true), ("https://no-such-host.invalid:443", true), (nil, false),
    ]

    @Test("a provider that cannot be reached pauses its lane and burns no attempt", arguments: nobodyThere)
    func unreachable(_ row: (origin: String?, trusts: Bool)) async throws {
        var choice = SimulatorBench.Choice()
        (choice.origin, choice.trusts) = row
        try await SimulatorBench.with(choice) { _, harness in
            try await harness.add([device(String(repeating: "ab", count: 32), .ios, at: harness.time.now())])
            try await harness.publish("m1")
            try await harness.running { _ in
                let rows = try await harness.deliveries(movingTime: false) { $0.are(1, .waiting) }
                let delivery = try #require(rows.first)
                let outcome = try await harness.outcome(of: delivery, sends: 0)
                #expect(outcome.lane == .paused && outcome.attempts == 0 && outcome.waitSeconds == 1)
                #expect(delivery.reason?.rawValue.hasPrefix("UNREACHABLE") == true)
            }
        }
    }
}
