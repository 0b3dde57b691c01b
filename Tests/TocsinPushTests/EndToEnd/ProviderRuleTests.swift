import JSON
import Testing
import TocsinCore
import TocsinPush
import TocsinSimulator

/// Rules of Apple and Google that more than one request shows; what one answer leads to is in the
/// tables (`AnswerRow`).
@Suite("Rules of the providers, kept over time", .timeLimit(.minutes(5)))
struct ProviderRuleTests {
    private func token(_ prefix: String, _ number: Int) -> String {
        let digits = String(number, radix: 16)
        return prefix + String(repeating: "f", count: 56 - prefix.count)
            + String(repeating: "0", count: 8 - digits.count) + digits
    }

    private func phone(_ number: Int, _ prefix: String = "aa", at now: Timestamp) -> Device {
        var device = Device.sample(
            "d\(1000 + number)",
            token: token(prefix, number),
            user: "u\(number / 20)",
            registeredAt: now.adding(seconds: -86_400)
        )
        device.environment = .sandbox
        return device
    }

    @Test("in three hours of pushes no provider token is refused: none too old, no second one on a connection")
    func tokensOverTime() async throws {
        try await SimulatorBench.with { bench, harness in
            try await harness.add([phone(0, at: harness.time.now())])
            try await harness.running { worker in
                for number in 1...26 {
                    try await harness.publish("m\(number)", number: Int64(number))
                    worker.wake()
                    try await harness.deliveries("m\(number)", movingTime: false) { $0.are(1, .accepted) }
                    harness.time.advance(seconds: 420)
                }
            }
            #expect(bench.simulator.stats["apns"]?["providerTokens"]?.intValue == 4)
            #expect(bench.simulator.pushes().allSatisfy { $0["accepted"]?.boolValue == true })
        }
    }

    @Test("of 1,000 tokens with 300 dead ones each dead one is retired once, and all others are reached once")
    func deadTokens() async throws {
        try await SimulatorBench.with { bench, harness in
            let now = harness.time.now()
            try await harness.add((0..<1000).map { phone($0, $0 % 10 < 3 ? "dead" : "aa", at: now) })
            try await harness.publish("m1", number: 1)
            try await harness.running { worker in
                let rows = try await harness.deliveries { $0.are(1000, .accepted, .ended) }
                #expect(rows.count { $0.status == .accepted } == 700)
                #expect(rows.filter { $0.status == .ended }.allSatisfy { $0.reason == "Unregistered" })
                harness.time.advance(seconds: 1)
                try await harness.publish("m2", number: 2)
                worker.wake()
                // Whose only phone is dead has a row that says so.
                let next = try await harness.deliveries("m2") { $0.count { $0.status == .accepted } == 700 }
                #expect(next.allSatisfy { $0.status == .accepted || $0.reason == "NO_DEVICE" })
            }
            #expect(bench.simulator.stats["sequence"]?.intValue == 1700)
            var retired: [DeviceID: Int] = [:]
            for case .deviceRetired(let delivery, _) in harness.reports { retired[delivery.deviceID, default: 0] += 1 }
            #expect(retired.count == 300 && retired.values.allSatisfy { $0 == 1 })
        }
    }

    @Test("a bundle that is wrong for the whole app costs no device, and all arrive when it is right")
    func wrongBundle() async throws {
        try await SimulatorBench.with { _, harness in
            let now = harness.time.now()
            let devices = (0..<40).map { phone($0, "bad1", at: now) }
            try await harness.add(devices)
            try await harness.publish("m1")
            try await harness.running { _ in
                try await harness.deliveries { $0.are(40, .waiting) }
                let stored = try await harness.store.read { reader throws(StoreError) in
                    try reader.devices(ids: devices.map(\.id))
                }
                #expect(stored.count == 40 && stored.allSatisfy(\.isActive))
            }
        }
    }

    @Test(
        "a device registered again between a push and the word that it is gone stays, and is told once more",
        arguments: [PushPlatform.ios, .android]
    )
    func registeredBetween(_ platform: PushPlatform) async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, earlier in earlier == 0 ? nil : .ok }
            var device = Device.sample("d", token: "d0", platform: platform)
            try await harness.add([device])
            try await harness.publish("m1")
            try await harness.running { _ in
                try await harness.wait { harness.transport.heldCount == 1 }
                let sentAt = harness.time.now()
                harness.time.advance(seconds: 0.5)
                device.registeredAt = harness.time.now()
                let again = device
                try await harness.store.write { writer throws(StoreError) in try writer.save(again) }
                harness.transport.release(
                    platform == .ios
                        ? .apns(410, "Unregistered", timestamp: sentAt.milliseconds)
                        : .fcm(404, "NOT_FOUND", code: "UNREGISTERED")
                )
                let rows = try await harness.deliveries { $0.are(1, .accepted) }
                #expect(rows.first?.attempts == 2)
                let stored = try await harness.store.read { reader throws(StoreError) in
                    try reader.devices(ids: [DeviceID("d")]).first
                }
                #expect(stored?.isActive == true)
            }
        }
    }

    @Test("a sender that dies between the provider's yes and its own note of it: the phone shows the message once")
    func killedBeforeRecording() async throws {
        try await SimulatorBench.with { bench, harness in
            try await harness.add([phone(0, at: harness.time.now())])
            try await harness.publish("m1")
            harness.workerStore.failWrites(after: 1)
            let dead = harness.makeWorker()
            let running = Task { await dead.run() }
            try await harness.wait { bench.seen(token("aa", 0)).count == 1 }
            running.cancel()
            await running.value
            #expect(try await harness.deliveries().isEmpty)
            harness.workerStore.failWrites(after: nil)
            try await harness.store.write { writer throws(StoreError) in try writer.dropLeases() }
            try await harness.running { _ in try await harness.deliveries { $0.are(1, .accepted) } }
            let seen = bench.seen(token("aa", 0))
            #expect(seen.count == 2 && Set(seen.map(\.name)) == ["m1"])
        }
    }
}
