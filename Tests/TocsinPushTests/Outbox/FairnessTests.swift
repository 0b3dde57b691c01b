import Testing
import TocsinCore
import TocsinPush

@Suite("Fairness among fan-outs", .timeLimit(.minutes(5)))
struct FairnessTests {
    private func devices(_ count: Int, of topic: String, users: Int = 20) -> [Device] {
        (0..<count).map { index in
            Device.sample(
                "\(topic)-\(10_000 + index)",
                token: "\(topic.suffix(1))x\(10_000 + index)",
                user: "\(topic)-user-\(index % users)"
            )
        }
    }

    private func isSent(_ token: String, by harness: OutboxHarness) -> Bool {
        harness.transport.sent.contains { $0.token.hasPrefix(token) }
    }

    @Test("an urgent message goes out while every slot of the others is taken and nobody answers")
    func urgentSlots() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { sent, _ in sent.token.hasPrefix("1") ? nil : .ok }
            var settings = OutboxHarness.settings
            (settings.inFlight, settings.pageSize) = (80, 20)
            try await harness.add(devices(40, of: "topic-1"))
            try await harness.add(devices(1, of: "topic-2"), to: "topic-2")
            for number in 1...4 { try await harness.publish("m\(number)", number: Int64(number)) }
            try await harness.running(settings: settings) { worker in
                // Three quarters of all are a provider's share; an eighth of all
                // is kept for urgent ones.
                try await harness.wait { harness.transport.heldCount == 50 }
                try await harness.publish("urgent", in: "topic-2", ["priority": .int(5)])
                worker.wake()
                try await harness.wait { isSent("2", by: harness) }
                #expect(harness.transport.heldCount == 50)
            }
        }
    }

    @Test("a push service that does not answer leaves slots to other push services")
    func stallingPushService() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { sent, _ in sent.batch.pool.origin == "https://slow.example" ? nil : .ok }
            var settings = OutboxHarness.settings
            (settings.inFlight, settings.pageSize) = (80, 20)
            try await harness.add((0..<40).map { browser("https://slow.example/p/\($0)", "user-\($0)") })
            try await harness.add([browser("https://quick.example/p/q", "quick")], to: "topic-2")
            for number in 1...4 { try await harness.publish("m\(number)", number: Int64(number)) }
            try await harness.running(settings: settings) { worker in
                try await harness.wait { harness.transport.heldCount == 40 }
                try await harness.publish("quick", in: "topic-2")
                worker.wake()
                try await harness.wait { isSent("q", by: harness) }
                #expect(harness.transport.heldCount == 40)
            }
        }
    }

    private func browser(_ endpoint: String, _ user: String) -> Device {
        Device.sample("d-" + user, token: Browser.subscription(endpoint), platform: .web, user: user)
    }

    @Test("an urgent message is claimed though as many older ones are held as may be")
    func urgentClaim() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { sent, _ in sent.token.hasPrefix("1") ? nil : .ok }
            var settings = OutboxHarness.settings
            settings.heldFanouts = 4
            try await harness.add(devices(1, of: "topic-1"))
            try await harness.add(devices(1, of: "topic-2"), to: "topic-2")
            for number in 1...12 { try await harness.publish("m\(number)", number: Int64(number)) }
            try await harness.running(settings: settings) { worker in
                try await harness.wait { harness.transport.heldCount == 4 }
                try await harness.publish("urgent", in: "topic-2", ["priority": .int(5)])
                worker.wake()
                try await harness.wait { isSent("2", by: harness) }
            }
        }
    }

    @Test("a small message of another topic waits for no more than a page of a large one")
    func smallBesideLarge() async throws {
        try await OutboxHarness.with { harness in
            var settings = OutboxHarness.settings
            (settings.inFlight, settings.pageSize, settings.firstPageSize) = (40, 10, 10)
            try await harness.add(devices(300, of: "topic-1"))
            try await harness.add(devices(1, of: "topic-2"), to: "topic-2")
            try await harness.publish("m1")
            try await harness.publish("small", in: "topic-2")
            try await harness.running(settings: settings) { _ in
                try await harness.deliveries { $0.are(300, .accepted) }
            }
            let index = harness.transport.sent.firstIndex { $0.token.hasPrefix("2") }
            #expect(try #require(index) <= 20)
        }
    }

    @Test("many small messages share a page, and so its transaction")
    func gathered() async throws {
        try await OutboxHarness.with { harness in
            try await harness.add(devices(2, of: "topic-1"))
            for number in 1...40 { try await harness.publish("m\(number)", number: Int64(number)) }
            try await harness.running { _ in
                try await harness.deliveries("m40") { $0.are(2, .accepted) }
            }
            for number in 1...40 { #expect(try await harness.deliveries("m\(number)").are(2, .accepted)) }
            let settled = harness.reports.filter { if case .settled = $0 { true } else { false } }
            #expect(settled == [.settled(.apns, .accepted, count: 80)])
        }
    }

    @Test("of a page that several messages share, what another node has taken over is not recorded")
    func lostShare() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, _ in nil }
            try await harness.add(devices(1, of: "topic-1"))
            try await harness.add(devices(1, of: "topic-2"), to: "topic-2")
            try await harness.publish("m1")
            try await harness.publish("m2", in: "topic-2")
            try await harness.running { _ in
                try await harness.wait { harness.transport.heldCount == 2 }
                let now = harness.time.now()
                let taken = try await harness.store.write { writer throws(StoreError) in
                    try writer.dropLeases()
                    let all = try writer.claimFanouts(
                        node: "b",
                        now: now,
                        leaseUntil: now.adding(seconds: 900),
                        limit: 9,
                        urgentOnly: false
                    )
                    // One goes back to its first holder, as if it had never been lost.
                    for fanout in all where fanout.messageID == MessageID("m2") {
                        var own = fanout
                        own.node = "node"
                        own.leaseUntil = now.adding(seconds: 60)
                        _ = try writer.conclude(fanout)
                        try writer.addFanouts([own])
                    }
                    return all.count
                }
                #expect(taken == 2)
                harness.transport.release(.ok)
                try await harness.deliveries("m2", movingTime: false) { $0.are(1, .accepted) }
                #expect(try await harness.deliveries("m1").isEmpty)
            }
        }
    }

    @Test("a topic of many members is served in ranges: each device once, by pages of several ranges in turn")
    func ranges() async throws {
        try await OutboxHarness.with { harness in
            var settings = OutboxHarness.settings
            settings.notesDeliveries = false
            (settings.rangeSize, settings.maximumRanges) = (1000, 8)
            let all = devices(4200, of: "topic-1", users: 4200)
            try await harness.add(all)
            try await harness.publish("m1")
            try await harness.running(settings: settings) { _ in
                let rows = try await harness.deliveries { $0.are(4200, .accepted) }
                #expect(Set(rows.map(\.deviceID)) == Set(all.map(\.id)))
            }
            let tokens = harness.transport.sent.map(\.token)
            #expect(tokens.count == 4200 && Set(tokens).count == 4200)
            let early = Set(tokens.prefix(2000).compactMap { Int($0.dropFirst(2)) }.map { ($0 - 10_000) / 1050 })
            #expect(early.count >= 3)
            let left = try await harness.store.read { reader throws(StoreError) in try reader.nextDue() }
            #expect(left == nil)
        }
    }
}
