import Synchronization
import Testing
import TocsinCore
import TocsinPush

@Suite("Outbox", .timeLimit(.minutes(5)))
struct OutboxTests {
    private func devices(_ count: Int, platform: PushPlatform = .ios, users: Int = 5) -> [Device] {
        (0..<count).map { index in
            Device.sample(
                "\(platform)-\(1000 + index)",
                token: "\(platform.rawValue)\(1000 + index)",
                platform: platform,
                user: "user-\(index % users)"
            )
        }
    }

    @Test("each device of a topic gets one push and one row, over many pages")
    func everyDevice() async throws {
        try await OutboxHarness.with { harness in
            var settings = OutboxHarness.settings
            settings.pageSize = 50
            try await harness.add(devices(220) + devices(90, platform: .android))
            try await harness.publish("m1")
            try await harness.running(settings: settings) { _ in
                let rows = try await harness.deliveries { $0.are(310, .accepted) }
                #expect(Set(rows.map(\.deviceID)).count == 310)
                #expect(rows.allSatisfy { $0.attempts == 1 && $0.reason == nil && $0.leaseUntil == nil })
            }
            #expect(harness.transport.sent.count == 310)
            #expect(Set(harness.transport.sent.map(\.token)).count == 310)
            let left = try await harness.store.read { reader throws(StoreError) in try reader.nextDue() }
            #expect(left == nil)
        }
    }

    @Test("a wake-up brings a message out without any time passing")
    func wake() async throws {
        try await OutboxHarness.with { harness in
            try await harness.add(devices(2))
            try await harness.running { worker in
                try await harness.publish("m0", number: 1)
                try await harness.deliveries("m0") { $0.are(2, .accepted) }
                let before = harness.time.now()
                try await harness.publish("m1", number: 2)
                worker.wake()
                try await harness.deliveries(movingTime: false) { $0.are(2, .accepted) }
                #expect(harness.time.now() == before)
            }
        }
    }

    @Test("a delivery is tried again after its pause, with the same id, until it is accepted")
    func retry() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, earlier in earlier < 6 ? .apns(500, "InternalServerError") : .ok }
            try await harness.add(devices(1))
            try await harness.publish("m1")
            let start = harness.time.now()
            try await harness.running { _ in
                let rows = try await harness.deliveries { $0.are(1, .accepted) }
                #expect(rows.first?.attempts == 4)
            }
            #expect(Set(harness.transport.sent.map { $0.header("apns-id") }).count == 1)
            #expect(harness.time.now().milliseconds - start.milliseconds >= 40_000)
        }
    }

    @Test("a short pause is kept, not rounded up to the next look at the store")
    func shortPause() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, earlier in earlier < 2 ? .unknown(reason: "reset") : .ok }
            var settings = OutboxHarness.settings
            settings.retry.replacement = [0.5, 0.5]
            try await harness.add(devices(1))
            try await harness.publish("m1")
            let start = harness.time.now()
            try await harness.running(settings: settings) { _ in
                try await harness.deliveries { $0.are(1, .accepted) }
            }
            #expect(harness.time.now().milliseconds - start.milliseconds <= 1500)
        }
    }

    @Test("after the last pause of a schedule the delivery has failed")
    func failed() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, _ in .apns(500, "InternalServerError") }
            var settings = OutboxHarness.settings
            settings.retry.replacement = [1, 2]
            try await harness.add(devices(1))
            try await harness.publish("m1")
            try await harness.running(settings: settings) { _ in
                let rows = try await harness.deliveries { $0.are(1, .failed) }
                #expect(rows.first?.attempts == 3 && rows.first?.reason == "InternalServerError")
            }
        }
    }

    @Test("a message that expires between tries is not sent again")
    func expires() async throws {
        try await OutboxHarness.with { harness in
            let (time, late) = (harness.time, Mutexed(0))
            let expiry = time.now().adding(seconds: 15)
            harness.transport.answer { _, _ in
                if time.now() >= expiry { late.value.withLock { $0 += 1 } }
                return .apns(503, "ServiceUnavailable")
            }
            try await harness.add(devices(1))
            try await harness.publish("m1", ["expiresAt": .text(expiry.iso8601)])
            try await harness.running { _ in
                let rows = try await harness.deliveries { $0.are(1, .expired) }
                #expect(rows.first?.reason == "ServiceUnavailable")
            }
            #expect(late.value.withLock { $0 } == 0)
            #expect(harness.transport.sent.count >= 2)
        }
    }

    @Test("a message that has expired is never sent")
    func expired() async throws {
        try await OutboxHarness.with { harness in
            try await harness.add(devices(2))
            try await harness.publish("m1", ["expiresAt": .text("2026-01-01T00:00:00Z")])
            try await harness.running { _ in try await harness.deliveries { $0.are(2, .expired) } }
            #expect(harness.transport.sent.isEmpty)
        }
    }

    @Test("without credentials deliveries are skipped, with one warning for each provider and no packet")
    func notConfigured() async throws {
        try await OutboxHarness.with { harness in
            try await harness.add(devices(2) + devices(2, platform: .android))
            try await harness.publish("m1")
            try await harness.running([]) { _ in
                let rows = try await harness.deliveries { $0.are(4, .skipped) }
                #expect(rows.allSatisfy { $0.reason == "PROVIDER_NOT_CONFIGURED" && $0.attempts == 0 })
            }
            let warnings = harness.reports.filter { if case .providerNotConfigured = $0 { true } else { false } }
            #expect(Set(warnings) == Set(PushService.allCases.map { .providerNotConfigured($0) }))
            #expect(warnings.count == PushService.allCases.count && harness.transport.sent.isEmpty)
        }
    }

    @Test("a topic that was deleted ends its deliveries")
    func deletedTopic() async throws {
        try await OutboxHarness.with { harness in
            try await harness.add(devices(2))
            try await harness.publish("m1")
            var topic = harness.models.topic("topic-1")
            topic["_deleted"] = .bool(true)
            let deleted = topic
            try await harness.store.write { writer throws(StoreError) in try writer.update(deleted) }
            try await harness.running { _ in
                let rows = try await harness.deliveries { $0.are(2, .ended) }
                #expect(rows.first?.reason == "TOPIC_DELETED")
            }
            #expect(harness.transport.sent.isEmpty)
        }
    }

    @Test("a refused payload fails its delivery, keeps the device and is reported")
    func refused() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, _ in .apns(400, "BadCollapseId") }
            try await harness.add(devices(1))
            try await harness.publish("m1")
            try await harness.running { _ in
                let rows = try await harness.deliveries { $0.are(1, .failed) }
                let id = try #require(rows.first?.id)
                try await harness.wait {
                    harness.reports.contains { report in
                        guard case .payloadRefused(.apns, let delivery) = report else { return false }
                        return delivery.id == id && delivery.messageID == MessageID("m1")
                            && delivery.reason == "BadCollapseId"
                    }
                }
            }
            let device = try await harness.store.read { reader throws(StoreError) in
                try reader.devices(of: UserID("user-0")).first
            }
            #expect(device?.isActive == true)
        }
    }
}
