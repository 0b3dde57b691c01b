import Testing
import TocsinCore
import TocsinPush

@Suite("Outbox and its own faults", .timeLimit(.minutes(5)))
struct FaultTests {
    private let device = Device.sample("d", token: "d0")

    private func isActive(_ harness: OutboxHarness, _ id: String = "d") async throws -> Bool? {
        try await harness.store.read { reader throws(StoreError) in
            try reader.devices(ids: [DeviceID(id)]).first?.isActive
        }
    }

    @Test("a claim whose messages cannot be read is given back at once, not when its lease runs out")
    func claimGivenBack() async throws {
        try await OutboxHarness.with { harness in
            try await harness.add([device])
            try await harness.publish("m1")
            harness.workerStore.failReads(1)
            let start = harness.time.now()
            try await harness.running { _ in try await harness.deliveries { $0.are(1, .accepted) } }
            #expect(harness.workerStore.failingReads == 0)
            #expect(harness.time.now().milliseconds - start.milliseconds <= 5000)
            #expect(harness.transport.sent.count == 1)
        }
    }

    @Test("a claimed retry whose message cannot be read is given back at once, and not counted")
    func retryGivenBack() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, earlier in earlier == 0 ? .apns(429, "TooManyRequests") : .ok }
            try await harness.add([device])
            try await harness.publish("m1")
            let start = harness.time.now()
            try await harness.running { _ in
                try await harness.deliveries(movingTime: false) { $0.are(1, .waiting) }
                harness.workerStore.failReads(1)
                let rows = try await harness.deliveries { $0.are(1, .accepted) }
                #expect(rows.first?.attempts == 2)
            }
            #expect(harness.time.now().milliseconds - start.milliseconds <= 30_000)
        }
    }

    @Test("what is claimed while the server is told to stop is not sent")
    func stopDuringClaim() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, _ in .apns(429, "TooManyRequests") }
            try await harness.add([device])
            try await harness.publish("m1")
            try await harness.running { _ in
                try await harness.deliveries(movingTime: false) { $0.are(1, .waiting) }
            }
            try await harness.publish("m2", number: 2)
            harness.time.advance(seconds: 60)
            let sent = harness.transport.sent.count
            harness.workerStore.holdReads()
            let worker = harness.makeWorker()
            let running = Task { await worker.run() }
            try await harness.wait { harness.workerStore.heldReads == 1 }
            worker.stop()
            harness.workerStore.releaseReads()
            await running.value
            #expect(harness.transport.sent.count == sent)
            let rows = try await harness.deliveries()
            #expect(rows.are(1, .waiting) && rows.first?.attempts == 1 && rows.first?.leaseUntil == nil)
            harness.transport.answer { _, _ in .ok }
            let start = harness.time.now()
            try await harness.running { _ in
                try await harness.deliveries { $0.are(1, .accepted) }
                try await harness.deliveries("m2") { $0.are(1, .accepted) }
            }
            #expect(harness.time.now().milliseconds - start.milliseconds <= 5000)
        }
    }

    @Test("an answer to a push whose lease was lost changes neither the delivery nor the device")
    func lostLease() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { sent, earlier in sent.token == "d0" && earlier == 0 ? nil : .ok }
            try await harness.add([device])
            try await harness.publish("m1")
            let dead = harness.makeWorker()
            let running = Task { await dead.run() }
            // Written down as sending, once the page's patience is over.
            try await harness.deliveries { $0.are(1, .sending) }
            try await harness.store.write { writer throws(StoreError) in try writer.dropLeases() }
            try await harness.running { _ in
                try await harness.deliveries { $0.are(1, .accepted) }
                harness.transport.release(.apns(410, "Unregistered", timestamp: 1_784_000_000_000))
                // The first worker has recorded all it is going to record when it has stopped.
                running.cancel()
                await running.value
                #expect(try await harness.deliveries().are(1, .accepted))
                #expect(try await isActive(harness) == true)
                let retired = harness.reports.contains { if case .deviceRetired = $0 { true } else { false } }
                #expect(!retired)
            }
        }
    }

    @Test("a failed delivery sent again by hand has a life time of its own, however old its message")
    func redriveOfOldMessage() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, _ in .apns(400, "BadCollapseId") }
            try await harness.add([device])
            try await harness.publish("m1")
            try await harness.running { worker in
                try await harness.deliveries { $0.are(1, .failed) }
                harness.time.advance(seconds: 86_400)
                harness.transport.answer { _, earlier in earlier < 2 ? .apns(500, "InternalServerError") : .ok }
                let now = harness.time.now()
                _ = try await harness.store.write { writer throws(StoreError) in
                    try writer.redrive(MessageID("m1"), status: .failed, reason: nil, to: nil, now: now)
                }
                worker.wake()
                try await harness.deliveries { $0.are(1, .accepted) }
                let expiry = harness.transport.sent.last?.header("apns-expiration").flatMap { Int64($0) }
                #expect(expiry == now.adding(seconds: 21_600).milliseconds / 1000)
            }
        }
    }

    @Test("a message that says itself when it expires is not sent again by hand after that")
    func redriveOfExpired() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, _ in .apns(400, "BadCollapseId") }
            try await harness.add([device])
            try await harness.publish("m1", ["expiresAt": .text(harness.time.now().adding(seconds: 60).iso8601)])
            try await harness.running { worker in
                try await harness.deliveries { $0.are(1, .failed) }
                harness.time.advance(seconds: 61)
                let now = harness.time.now()
                _ = try await harness.store.write { writer throws(StoreError) in
                    try writer.redrive(MessageID("m1"), status: .failed, reason: nil, to: nil, now: now)
                }
                worker.wake()
                try await harness.deliveries { $0.are(1, .expired) }
            }
            #expect(harness.transport.sent.count == 1)
        }
    }

    @Test("a push whose time runs out while it is sent again is not sent again")
    func tooLate() async throws {
        try await OutboxHarness.with { harness in
            let time = harness.time
            harness.transport.answer { _, _ in
                time.advance(seconds: 20)
                return .notProcessed(reason: "GOAWAY")
            }
            try await harness.add([device])
            try await harness.publish("m1", ["expiresAt": .text(time.now().adding(seconds: 10).iso8601)])
            try await harness.running { _ in try await harness.deliveries { $0.are(1, .expired) } }
            #expect(harness.transport.sent.count == 1)
        }
    }

    @Test(
        "a push that may have been accepted goes out again under the same name",
        arguments: [PushPlatform.ios, .android]
    )
    func unknownResult(_ platform: PushPlatform) async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, earlier in earlier < 2 ? .unknown(reason: "reset") : .ok }
            try await harness.add([Device.sample("d", token: "d0", platform: platform)])
            try await harness.publish("m1")
            try await harness.running { _ in try await harness.deliveries { $0.are(1, .accepted) } }
            let sent = harness.transport.sent
            #expect(sent.count == 3)
            switch platform {
            case .ios:
                let names = Set(sent.map { [$0.header("apns-collapse-id"), $0.header("apns-id")] })
                #expect(names.count == 1 && names.first?.contains(nil) == false)
            case .android, .web:
                let tags = Set(sent.map { text in text.text.split(separator: "\"tag\":").last.map { $0.prefix(38) } })
                #expect(tags.count == 1 && sent.allSatisfy { $0.text.contains("\"tag\":") })
            }
        }
    }
}
