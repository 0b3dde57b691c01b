import Testing
import TocsinCore
import TocsinPush

@Suite("Retiring devices", .timeLimit(.minutes(5)))
struct RetirementTests {
    private func device(_ id: String, registered: Timestamp? = nil) -> Device {
        Device.sample(
            id,
            token: id,
            user: "user-" + id,
            registeredAt: registered ?? Timestamp(milliseconds: 1_700_000_000_000)
        )
    }

    private func isActive(_ harness: OutboxHarness, _ id: String) async throws -> Bool? {
        try await harness.store.read { reader throws(StoreError) in
            try reader.devices(ids: [DeviceID(id)]).first?.isActive
        }
    }

    @Test("a device that Apple says died after it was registered is retired")
    func died() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { sent, _ in
                sent.token == "dead" ? .apns(410, "Unregistered", timestamp: 1_784_000_000_000) : .ok
            }
            try await harness.add([device("dead"), device("live")])
            try await harness.publish("m1")
            try await harness.running { _ in
                let rows = try await harness.deliveries { $0.are(2, .ended, .accepted) }
                #expect(rows.first { $0.deviceID.text == "dead" }?.reason == "Unregistered")
                #expect(rows.first { $0.deviceID.text == "dead" }?.attempts == 1)
            }
            #expect(try await isActive(harness, "dead") == false)
            #expect(try await isActive(harness, "live") == true)
        }
    }

    @Test("A11: webhooks are told when a provider ends a token, once and not of those that stay")
    func toldOfEnd() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { sent, _ in
                sent.token == "dead" ? .apns(410, "Unregistered", timestamp: 1_784_000_000_000) : .ok
            }
            try await harness.add([device("dead"), device("live")])
            for id in ["m1", "m2"] { try await harness.publish(id, number: id == "m1" ? 1 : 2) }
            try await harness.running { _ in
                for id in ["m1", "m2"] { try await harness.deliveries(id) { $0.are(2, .ended, .accepted) } }
            }
            let told = harness.occurrences.map { occurrence in
                guard case .unregistered(let device, let reason) = occurrence else { return "\(occurrence)" }
                return "\(device.userID) \(device.token) \(reason)"
            }
            #expect(told == ["user-dead dead Unregistered"])
        }
    }

    @Test("a device registered since then stays, and is tried once more", arguments: [true, false])
    func registeredAgain(_ recovers: Bool) async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, earlier in
                recovers && earlier > 0 ? .ok : .apns(410, "Unregistered", timestamp: 1_784_000_000_000)
            }
            try await harness.add([device("back", registered: Timestamp(milliseconds: 1_784_000_001_000))])
            try await harness.publish("m1")
            try await harness.running { _ in
                try await harness.deliveries { $0.are(1, recovers ? .accepted : .ended) }
            }
            #expect(harness.transport.sent.count == 2)
            #expect(try await isActive(harness, "back") == true)
        }
    }

    @Test("a device that stays ends as its provider says, also when other troubles have used up its attempts")
    func registeredAgainAmongTroubles() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, earlier in
                earlier % 2 == 1
                    ? .apns(410, "Unregistered", timestamp: 1_784_000_000_000) : .unknown(reason: "reset")
            }
            try await harness.add([device("back", registered: Timestamp(milliseconds: 1_784_000_001_000))])
            try await harness.publish("m1")
            var settings = OutboxHarness.settings
            settings.retry.maximumAttempts = 4
            try await harness.running(settings: settings) { _ in
                let rows = try await harness.deliveries { $0.are(1, .ended) }
                #expect(rows.first?.reason == "Unregistered")
            }
            #expect(harness.transport.sent.count > 2)
            #expect(try await isActive(harness, "back") == true)
        }
    }

    @Test("what else waits for a retired device ends with it")
    func others() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, earlier in
                earlier == 0 ? .unknown(reason: "reset") : .apns(410, "ExpiredToken")
            }
            try await harness.add([device("dead")])
            try await harness.publish("m1", number: 1)
            try await harness.running { worker in
                try await harness.deliveries("m1", movingTime: false) { $0.are(1, .waiting) }
                try await harness.publish("m2", number: 2)
                worker.wake()
                try await harness.deliveries("m2", movingTime: false) { $0.are(1, .ended) }
                let rows = try await harness.deliveries("m1", movingTime: false) { $0.are(1, .ended) }
                #expect(rows.first?.reason == "ExpiredToken")
            }
        }
    }

    @Test("when no token at all fits, nobody is retired: the configuration is suspect")
    func suspectConfiguration() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, _ in .apns(400, "BadDeviceToken") }
            let ids = (0..<20).map { "d\($0)" }
            try await harness.add(ids.map { device($0) })
            try await harness.publish("m1")
            try await harness.running { _ in
                let rows = try await harness.deliveries { $0.are(20, .waiting) }
                #expect(rows.allSatisfy { $0.attempts == 0 })
                let isPaused = harness.reports.contains {
                    if case .providerPaused(_, let reason) = $0 {
                        reason.hasPrefix("SUSPECT_CONFIGURATION")
                    } else {
                        false
                    }
                }
                #expect(isPaused)
                for id in ids { #expect(try await isActive(harness, id) == true) }
                harness.transport.answer { _, _ in .ok }
                try await harness.deliveries { $0.are(20, .accepted) }
            }
        }
    }

    @Test("some wrong tokens among good ones are retired")
    func someWrong() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { sent, _ in
                sent.token.hasPrefix("bad") ? .apns(400, "BadDeviceToken") : .ok
            }
            try await harness.add((0..<30).map { device($0 < 9 ? "bad\($0)" : "d\($0)") })
            try await harness.publish("m1")
            try await harness.running { _ in
                let rows = try await harness.deliveries { $0.are(30, .accepted, .ended) }
                #expect(rows.count { $0.status == .ended } == 9)
            }
            // They name no side, so the other one was asked too.
            #expect(harness.transport.sent.count == 39)
        }
    }
}
