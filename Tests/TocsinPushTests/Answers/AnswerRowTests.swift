import Testing
import TocsinCore
import TocsinPush

@Suite("What an answer leads to", .timeLimit(.minutes(5)))
struct AnswerRowTests {
    @Test("APNs: delivery, endpoint, lane, attempts and wait are the table's", arguments: AnswerRow.apns)
    func apns(_ row: AnswerRow) async throws { try await check(row, .ios) }

    @Test("FCM: delivery, endpoint, lane, attempts and wait are the table's", arguments: AnswerRow.fcm)
    func fcm(_ row: AnswerRow) async throws { try await check(row, .android) }

    @Test(
        "FCM to an iPhone: delivery, endpoint, lane, attempts and wait are the table's",
        arguments: AnswerRow.firebase
    )
    func firebase(_ row: AnswerRow) async throws { try await check(row, .ios, token: "inst1:APA91b") }

    @Test(
        "no answer: delivery, endpoint, lane, attempts and wait are the table's",
        arguments: AnswerRow.transport,
        [PushPlatform.ios, .android]
    )
    func noAnswer(_ row: AnswerRow, _ platform: PushPlatform) async throws { try await check(row, platform) }

    private func check(_ row: AnswerRow, _ platform: PushPlatform, token: String = "d0") async throws {
        try await OutboxHarness.with { harness in
            let answer = row.answer
            harness.transport.answer { _, _ in answer }
            var device = Device.sample("d", token: token, platform: platform)
            device.environment = platform == .ios && !device.isNamedByFirebase ? .sandbox : nil
            try await harness.add([device])
            try await harness.publish("m1")
            try await harness.running { _ in
                let rows = try await harness.deliveries(movingTime: false) { rows in
                    rows.count == 1 && rows[0].status != .sending
                }
                let delivery = try #require(rows.first)
                #expect(delivery.reason?.rawValue == row.reason)
                #expect(try await harness.outcome(of: delivery) == row.outcome)
                #expect(delivery.leaseUntil == nil)
            }
        }
    }
}

extension OutboxHarness {
    /// What became of a delivery by now.
    func outcome(of delivery: Delivery, sends: Int? = nil) async throws -> AnswerRow.Outcome {
        let device = try await store.read { reader throws(StoreError) in
            try reader.devices(ids: [delivery.deviceID]).first
        }
        var lane = AnswerRow.Lane.open
        for report in reports {
            switch report {
            case .providerPaused: lane = .paused
            case .providerSlowed: lane = .slowed
            case .providerResumed: lane = .open
            default: continue
            }
        }
        return AnswerRow.Outcome(
            status: delivery.status,
            attempts: delivery.attempts,
            waitSeconds: delivery.nextAttemptAt.map {
                Double($0.milliseconds - delivery.updatedAt.milliseconds) / 1000
            },
            endpointStays: device?.isActive == true,
            lane: lane,
            sends: sends ?? transport.sent.count
        )
    }
}
