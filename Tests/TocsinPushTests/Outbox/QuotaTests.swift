import Testing
import TocsinCore
import TocsinPush

@Suite("Google's quota", .timeLimit(.minutes(5)))
struct QuotaTests {
    private func devices(_ count: Int) -> [Device] {
        (0..<count).map { index in
            Device.sample("d-\(10_000 + index)", token: "a\(10_000 + index)", platform: .android, user: "u-\(index)")
        }
    }

    @Test("a burst begins slowly: a large message takes its time, and everybody gets it once")
    func ramp() async throws {
        try await OutboxHarness.with { harness in
            var settings = OutboxHarness.settings
            (settings.fcmPerMinute, settings.fcmRampSeconds, settings.pageSize) = (6100, 60, 20)
            settings.firstPageSize = 20
            try await harness.add(devices(300))
            try await harness.publish("m1")
            let start = harness.time.now()
            try await harness.running(settings: settings) { _ in
                try await harness.deliveries { $0.are(300, .accepted) }
            }
            // A hundred a second at most, ten at first.
            let seconds = Double(harness.time.now().milliseconds - start.milliseconds) / 1000
            #expect(seconds >= 8)
            #expect(Set(harness.transport.sent.map(\.token)).count == 300 && harness.transport.sent.count == 300)
        }
    }

    @Test("an urgent message does not wait for the quota")
    func urgent() async throws {
        try await OutboxHarness.with { harness in
            var settings = OutboxHarness.settings
            (settings.fcmPerMinute, settings.fcmRampSeconds) = (61, 60)
            try await harness.add(devices(50))
            try await harness.publish("m1", ["priority": .int(5)])
            let start = harness.time.now()
            try await harness.running(settings: settings) { _ in
                try await harness.deliveries(movingTime: false) { $0.are(50, .accepted) }
            }
            #expect(harness.time.now() == start)
        }
    }

    @Test("small messages beyond the quota wait in the ledger, due when there is room again")
    func small() async throws {
        try await OutboxHarness.with { harness in
            var settings = OutboxHarness.settings
            (settings.fcmPerMinute, settings.fcmRampSeconds) = (61, 0)
            try await harness.add(devices(5))
            for number in 1...3 { try await harness.publish("m\(number)", number: Int64(number)) }
            settings.jobsAPage = 1
            try await harness.running(settings: settings) { _ in
                for number in 1...3 { try await harness.deliveries("m\(number)") { $0.are(5, .accepted) } }
            }
            let waits = try await harness.deliveries("m3").map { $0.attempts }
            #expect(waits == [1, 1, 1, 1, 1])
        }
    }
}
