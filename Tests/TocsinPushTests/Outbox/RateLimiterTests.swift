import Testing
import TocsinCore
import TocsinPush

@Suite("Rate limits and backoff", .timeLimit(.minutes(5)))
struct RateLimiterTests {
    private func devices(_ count: Int, platform: PushPlatform = .android) -> [Device] {
        (0..<count).map { index in
            Device.sample("\(platform)-\(1000 + index)", token: "t\(index)", platform: platform, user: "u\(index % 7)")
        }
    }

    private static func quota(_ subject: String) -> PushAnswer {
        let text = """
            {"error":{"code":429,"message":"no","status":"RESOURCE_EXHAUSTED","details":[
            {"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"QUOTA_EXCEEDED"},
            {"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":"\(subject)"}]}]}}
            """
        return .response(PushResponse(status: 429, headers: [], body: Array(text.utf8)))
    }

    @Test("a project out of quota gets half its rate for a minute, all arrive, and the other provider feels nothing")
    func projectQuota() async throws {
        try await OutboxHarness.with { harness in
            let time = harness.time
            harness.transport.answer { sent, earlier in
                sent.token == "t0" && earlier == 0 ? Self.quota("project:demo") : .ok
            }
            try await harness.add(devices(100))
            try await harness.publish("m1")
            try await harness.running { worker in
                try await harness.deliveries(movingTime: false) { $0.count == 100 }
                // 100 in ten seconds were measured, so 5 a second are let through.
                try await harness.wait { harness.reports.contains { Self.slowed($0) == 5 } }
                let start = time.now()
                let before = harness.transport.sent.count
                try await harness.publish("m2", number: 2)
                worker.wake()
                try await harness.deliveries("m2") { rows in rows.count { $0.status == .accepted } >= 50 }
                let seconds = Double(time.now().milliseconds - start.milliseconds) / 1000
                #expect(Double(harness.transport.sent.count - before) <= seconds * 5 + 6)
                #expect(seconds >= 8)
                try await harness.add([Device.sample("phone", token: "ios", user: "tim")], to: "topic-2")
                let later = time.now()
                try await harness.publish("m3", in: "topic-2")
                worker.wake()
                try await harness.deliveries("m3", movingTime: false) { $0.are(1, .accepted) }
                #expect(time.now() == later)
                try await harness.deliveries("m2") { $0.are(100, .accepted) }
                try await harness.deliveries("m1") { $0.are(100, .accepted) }
            }
        }
    }

    private static func slowed(_ report: PushReport) -> Int? {
        if case .providerSlowed(_, let perSecond) = report { perSecond } else { nil }
    }

    @Test("after its minute a project goes at full rate again")
    func fullRateAgain() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, earlier in earlier == 0 ? Self.quota("project:demo") : .ok }
            try await harness.add(devices(40))
            try await harness.publish("m1")
            try await harness.running { worker in
                try await harness.deliveries { $0.are(40, .accepted) }
                harness.time.advance(seconds: 61)
                harness.transport.answer { _, _ in .ok }
                let start = harness.time.now()
                try await harness.publish("m2", number: 2)
                worker.wake()
                try await harness.deliveries("m2", movingTime: false) { $0.are(40, .accepted) }
                #expect(harness.time.now() == start)
            }
        }
    }

    @Test(
        "one device that gets too many waits with all its messages, the newest goes first, and no other device waits",
        arguments: [PushPlatform.ios, .android]
    )
    func deviceQuota(_ platform: PushPlatform) async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { sent, earlier in
                guard sent.token == "t0", earlier == 0 else { return .ok }
                return platform == .ios ? .apns(429, "TooManyRequests") : Self.quota("device")
            }
            try await harness.add(devices(5, platform: platform))
            try await harness.publish("m1", number: 1)
            try await harness.running { worker in
                try await harness.deliveries(movingTime: false) { rows in
                    rows.count { $0.status == .accepted } == 4 && rows.count { $0.status == .waiting } == 1
                }
                for number in 2...3 {
                    try await harness.publish("m\(number)", number: Int64(number))
                    worker.wake()
                    try await harness.deliveries("m\(number)", movingTime: false) { rows in
                        rows.count { $0.status == .accepted } == 4 && rows.count { $0.status == .waiting } == 1
                    }
                }
                #expect(harness.transport.sent.count { $0.token == "t0" } == 1)
                // It waits for the same reason, though it was never sent.
                let held = try await harness.deliveries("m3").first { $0.status == .waiting }
                #expect(held?.reason == (platform == .ios ? "TooManyRequests" : "QUOTA_EXCEEDED"))
                #expect(held?.attempts == 0)
                let start = harness.time.now()
                for number in 1...3 { try await harness.deliveries("m\(number)") { $0.are(5, .accepted) } }
                #expect(harness.time.now().milliseconds - start.milliseconds >= 9000)
                let order = harness.transport.sent.filter { $0.token == "t0" }.map { $0.text.contains("\"m3\"") }
                #expect(order.count == 4 && order[1])
            }
            #expect(!harness.reports.contains { Self.slowed($0) != nil })
        }
    }

    @Test("trouble with somebody else's credentials is told once a minute, not once a push")
    func troubleOnce() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, _ in .fcm(401, "UNAUTHENTICATED", code: "THIRD_PARTY_AUTH_ERROR") }
            try await harness.add(devices(50))
            try await harness.publish("m1")
            try await harness.running { _ in
                try await harness.deliveries(movingTime: false) { $0.are(50, .waiting) }
                try await harness.wait {
                    harness.reports.contains { if case .settled(_, .waiting, 50) = $0 { true } else { false } }
                }
            }
            let told = harness.reports.count { if case .credentialTrouble = $0 { true } else { false } }
            #expect(told == 1)
        }
    }
}
