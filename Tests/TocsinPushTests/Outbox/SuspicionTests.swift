import Testing
import TocsinCore
import TocsinPush

@Suite("Suspect configuration and unknown sides", .timeLimit(.minutes(5)))
struct SuspicionTests {
    private func device(_ id: String, environment: PushEnvironment? = nil) -> Device {
        var device = Device.sample(id, token: id, user: "user-" + id)
        device.environment = environment
        return device
    }

    private func stored(_ harness: OutboxHarness, _ id: String) async throws -> Device? {
        try await harness.store.read { reader throws(StoreError) in try reader.devices(ids: [DeviceID(id)]).first }
    }

    @Test("whatever the pages, a bundle that is wrong for all costs no device: the first ones come back")
    func oneByOne() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, _ in .apns(400, "DeviceTokenNotForTopic") }
            let topics = ["topic-1", "topic-2"]
            try await harness.add([device("a")], to: topics[0])
            try await harness.add([device("b"), device("c")], to: topics[1])
            try await harness.running { worker in
                try await harness.publish("m1", in: topics[0])
                worker.wake()
                try await harness.deliveries("m1", movingTime: false) { $0.are(1, .ended) }
                #expect(try await stored(harness, "a")?.isActive == false)
                try await harness.publish("m2", in: topics[1])
                worker.wake()
                try await harness.deliveries("m2", movingTime: false) { $0.are(2, .waiting) }
                for id in ["a", "b", "c"] { #expect(try await stored(harness, id)?.isActive == true) }
                harness.transport.answer { _, _ in .ok }
                try await harness.deliveries("m2") { $0.are(2, .accepted) }
                try await harness.deliveries("m1") { $0.are(1, .accepted) }
                // Listeners hear that the first one waits again in the write that restores it.
                let told = harness.history
                let restored = told.firstIndex { $0.messageID == MessageID("m1") && $0.status == .waiting }
                let blamed = told.firstIndex { $0.messageID == MessageID("m2") }
                #expect(try #require(restored) < #require(blamed))
            }
        }
    }

    @Test("a project that is wrong for all costs no device either")
    func wrongProject() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, _ in .fcm(403, "PERMISSION_DENIED", code: "SENDER_ID_MISMATCH") }
            let ids = (0..<10).map { "d\($0)" }
            try await harness.add(ids.map { Device.sample($0, token: $0, platform: .android, user: $0) })
            try await harness.publish("m1")
            try await harness.running { _ in
                try await harness.deliveries(movingTime: false) { $0.are(10, .waiting) }
                for id in ids { #expect(try await stored(harness, id)?.isActive == true) }
            }
        }
    }

    @Test("a device that names no side is tried on the other one once, and its side is kept")
    func learnsSide() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { sent, _ in
                sent.batch.pool.origin.contains("sandbox") ? .apns(400, "BadDeviceToken") : .ok
            }
            try await harness.add([device("a"), device("b")])
            try await harness.publish("m1", number: 1)
            try await harness.running { worker in
                let rows = try await harness.deliveries(movingTime: false) { $0.are(2, .accepted) }
                #expect(rows.allSatisfy { $0.attempts == 1 })
                #expect(try await stored(harness, "a")?.environment == .production)
                #expect(harness.transport.sent.count == 4)
                try await harness.publish("m2", number: 2)
                worker.wake()
                try await harness.deliveries("m2", movingTime: false) { $0.are(2, .accepted) }
                #expect(harness.transport.sent.count == 6)
            }
        }
    }

    @Test("a device that names its side is not tried on the other")
    func knownSide() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, _ in .apns(400, "BadDeviceToken") }
            try await harness.add([device("a", environment: .sandbox)])
            try await harness.publish("m1")
            try await harness.running { _ in try await harness.deliveries { $0.are(1, .ended) } }
            #expect(harness.transport.sent.count == 1)
        }
    }

    /// The other side's answer, what becomes of the delivery, and whether the device stays.
    private static let otherSides: [(PushAnswer, DeliveryStatus, DeliveryReason, Bool)] = [
        (.apns(400, "BadDeviceToken"), .ended, "BadDeviceToken", false),
        (.apns(400, "DeviceTokenNotForTopic"), .ended, "BadDeviceToken", false),
        (.apns(410, "Unregistered", timestamp: 1_784_000_000_000), .ended, "Unregistered", false),
        (.apns(403, "BadEnvironmentKeyInToken"), .ended, "BadDeviceToken", false),
        (.apns(503, "ServiceUnavailable"), .waiting, "ServiceUnavailable", true),
        (.apns(403, "InvalidProviderToken"), .waiting, "InvalidProviderToken", true),
        (.unreachable(reason: "TLS"), .waiting, "UNREACHABLE: TLS", true),
        (.unknown(reason: "reset"), .waiting, "NO_ANSWER: reset", true),
    ]

    @Test("what the other side says decides, and its trouble is not this side's", arguments: otherSides)
    func otherSide(
        _ row: (answer: PushAnswer, status: DeliveryStatus, reason: DeliveryReason, stays: Bool)
    ) async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { sent, _ in
                sent.batch.pool.origin.contains("sandbox") ? .apns(400, "BadDeviceToken") : row.answer
            }
            try await harness.add([device("a")])
            try await harness.publish("m1")
            try await harness.running { _ in
                let rows = try await harness.deliveries(movingTime: false) { $0.are(1, row.status) }
                #expect(rows.first?.reason == row.reason && rows.first?.attempts == 1)
            }
            #expect(try await stored(harness, "a")?.isActive == row.stays)
            let paused = harness.reports.contains { if case .providerPaused = $0 { true } else { false } }
            #expect(!paused)
        }
    }
}
