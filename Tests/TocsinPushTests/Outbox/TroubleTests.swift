import Testing
import TocsinCore
import TocsinPush

@Suite("Outbox in trouble", .timeLimit(.minutes(5)))
struct TroubleTests {
    private func devices(_ count: Int, platform: PushPlatform = .ios) -> [Device] {
        (0..<count).map { index in
            Device.sample(
                "\(platform)-\(index)",
                token: "\(platform.rawValue)\(index)",
                platform: platform,
                user: "u\(index)"
            )
        }
    }

    @Test("an unreachable provider pauses; probes go one at a time; then all arrive, none counted twice")
    func pauseAndResume() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { sent, _ in
                sent.token.hasPrefix("ios") ? .unreachable(reason: "connection refused") : .ok
            }
            try await harness.add(devices(40) + devices(5, platform: .android))
            try await harness.publish("m1")
            try await harness.running { _ in
                try await harness.deliveries { rows in
                    rows.count { $0.status == .waiting } == 40 && rows.count { $0.status == .accepted } == 5
                }
                let first = harness.transport.sent.count
                let start = harness.time.now()
                try await harness.deliveries { _ in harness.transport.sent.count >= first + 4 }
                #expect(harness.time.now().milliseconds - start.milliseconds >= 6000)
                #expect(try await harness.deliveries().allSatisfy { $0.status == .accepted || $0.attempts == 0 })
                harness.transport.answer { _, _ in .ok }
                let rows = try await harness.deliveries { $0.are(45, .accepted) }
                #expect(rows.allSatisfy { $0.attempts == 1 })
            }
            let changes = harness.reports.compactMap { report -> String? in
                switch report {
                case .providerPaused: "paused"
                case .providerResumed: "resumed"
                default: nil
                }
            }
            #expect(changes == ["paused", "resumed"])
        }
    }

    @Test("trouble that only one owner's device has does not hold up others")
    func oneOwnersTrouble() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { sent, _ in
                sent.token.hasPrefix("odd") ? .apns(403, "InvalidProviderToken") : .ok
            }
            try await harness.add([Device.sample("odd", token: "odd", user: "mallory")], to: "topic-2")
            try await harness.add(devices(20))
            try await harness.publish("odd", in: "topic-2")
            try await harness.running { worker in
                // Long enough for the pause to have grown to a minute.
                let start = harness.time.now()
                try await harness.deliveries("odd") { _ in harness.time.now() > start.adding(seconds: 300) }
                let before = harness.time.now()
                try await harness.publish("m1")
                worker.wake()
                try await harness.deliveries { $0.are(20, .accepted) }
                #expect(harness.time.now().milliseconds - before.milliseconds <= 3000)
            }
            #expect(harness.transport.sent.count { $0.token == "odd" } < 20)
        }
    }

    @Test("a provider that fails for everybody is paused, and attempts are not used up")
    func outage() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, _ in .fcm(503, "UNAVAILABLE", code: "UNAVAILABLE") }
            try await harness.add(devices(30, platform: .android))
            try await harness.publish("m1")
            try await harness.running { _ in
                try await harness.deliveries { $0.are(30, .waiting) }
                harness.time.advance(seconds: 1800)
                harness.transport.answer { _, _ in .ok }
                let rows = try await harness.deliveries { $0.are(30, .accepted) }
                #expect(rows.allSatisfy { $0.attempts == 1 })
            }
        }
    }

    @Test("a stalled push holds up neither its page nor the next ones, and its answer still counts")
    func stalled() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { sent, _ in sent.token == "ios3" ? nil : .ok }
            var settings = OutboxHarness.settings
            settings.pageSize = 5
            try await harness.add(devices(30))
            try await harness.publish("m1")
            try await harness.running(settings: settings) { _ in
                let rows = try await harness.deliveries { $0.count { $0.status == .accepted } == 29 }
                #expect(rows.first { $0.deviceID.text == "ios-3" }?.status == .sending)
                harness.transport.release(.ok)
                try await harness.deliveries { $0.are(30, .accepted) }
            }
            #expect(harness.transport.sent.count == 30)
        }
    }

    @Test("no more pushes are under way than allowed")
    func inFlight() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, _ in nil }
            var settings = OutboxHarness.settings
            settings.inFlight = 40
            try await harness.add(devices(100))
            try await harness.publish("m1")
            try await harness.running(settings: settings) { _ in
                try await harness.wait { harness.transport.heldCount >= 30 }
                #expect(harness.transport.heldCount <= 40)
                harness.transport.answer { _, _ in .ok }
                harness.transport.release(.ok)
                try await harness.deliveries { $0.are(100, .accepted) }
            }
            #expect(harness.transport.sent.count == 100)
        }
    }

    @Test("an owner whose many devices stall does not hold up another owner's pushes")
    func fairness() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { sent, _ in sent.token.hasPrefix("stall") ? nil : .ok }
            var settings = OutboxHarness.settings
            settings.inFlight = 40
            let stalling = (0..<100).map { Device.sample("s\($0)", token: "stall\($0)", user: "mallory") }
            try await harness.add(stalling, to: "topic-2")
            try await harness.add(devices(3))
            for number in 1...20 { try await harness.publish("s\(number)", in: "topic-2", number: Int64(number)) }
            try await harness.running(settings: settings) { worker in
                try await harness.wait { harness.transport.heldCount >= 15 }
                let start = harness.time.now()
                try await harness.publish("m1")
                worker.wake()
                try await harness.deliveries { $0.are(3, .accepted) }
                #expect(harness.time.now().milliseconds - start.milliseconds <= 3000)
                // Later, when the stalling owner has had all the time to take slots.
                try await harness.deliveries("s20") { $0.count == 100 }
                let later = harness.time.now()
                try await harness.publish("m2", number: 2)
                worker.wake()
                try await harness.deliveries("m2") { $0.are(3, .accepted) }
                #expect(harness.time.now().milliseconds - later.milliseconds <= 3000)
            }
        }
    }

    @Test("a worker that dies between sending and recording sends the same ids again, and nothing is lost")
    func crash() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, _ in nil }
            try await harness.add(devices(3))
            try await harness.publish("m1")
            let dead = harness.makeWorker()
            let running = Task { await dead.run() }
            try await harness.wait { harness.transport.heldCount == 3 }
            #expect(try await harness.deliveries().isEmpty)
            // The first worker never hears its answers; the second finds the lease run out.
            harness.transport.answer { _, _ in .ok }
            harness.time.advance(seconds: 0.5)
            try await harness.store.write { writer throws(StoreError) in try writer.dropLeases() }
            try await harness.running { _ in try await harness.deliveries { $0.are(3, .accepted) } }
            let sent = harness.transport.sent
            #expect(sent.count == 6)
            #expect(
                Set(sent.prefix(3).map { $0.header("apns-id") }) == Set(sent.suffix(3).map { $0.header("apns-id") })
            )
            // Its late answers change nothing.
            harness.transport.release(.apns(410, "Unregistered"))
            running.cancel()
            await running.value
            #expect(try await harness.deliveries().are(3, .accepted))
        }
    }

    @Test("a stop awaits pushes under way, then puts back what has no answer without counting it")
    func stop() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { sent, _ in sent.token == "ios0" ? nil : .ok }
            try await harness.add(devices(3))
            try await harness.publish("m1")
            let worker = harness.makeWorker()
            let running = Task { await worker.run() }
            try await harness.wait { harness.transport.heldCount == 1 }
            running.cancel()
            let rows = try await harness.deliveries { $0.count == 3 && !$0.contains { $0.status == .sending } }
            #expect(rows.count { $0.status == .accepted } == 2)
            let waiting = try #require(rows.first { $0.status == .waiting })
            #expect(waiting.attempts == 0 && waiting.leaseUntil == nil)
            await running.value
            #expect(harness.reports.contains(.stoppedUnanswered(count: 1)))
            harness.transport.release(.ok)
            harness.transport.answer { _, _ in .ok }
            try await harness.running { _ in try await harness.deliveries { $0.are(3, .accepted) } }
        }
    }

    @Test("many small messages all arrive")
    func manyMessages() async throws {
        try await OutboxHarness.with { harness in
            try await harness.add(devices(2))
            for number in 1...300 { try await harness.publish("m\(number)", number: Int64(number)) }
            try await harness.running { _ in
                for number in 1...300 { try await harness.deliveries("m\(number)") { $0.are(2, .accepted) } }
            }
            #expect(harness.transport.sent.count == 600)
        }
    }
}
