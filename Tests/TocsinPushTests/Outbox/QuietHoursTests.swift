import Testing
import TocsinCore
import TocsinPush
import TocsinStore

@Suite("Quiet hours", .timeLimit(.minutes(5)))
struct QuietHoursTests {
    private static let open = TestModels(rules: ["Topic": [AccessRule(.signedIn)], "Message": [AccessRule(.signedIn)]])

    /// Ann has one phone, and it is quiet for eight hours.
    private func with(_ body: (OutboxHarness) async throws -> Void) async throws {
        try await OutboxHarness.with(models: Self.open) { harness in
            try await harness.add([Device.sample("d1", token: "aa", user: "ann")])
            try await harness.know("ann", groups: [])
            var settings = UserSettings(userID: UserID("ann"))
            settings.doNotDisturbUntil = harness.time.now().adding(seconds: 8 * 3600)
            let quiet = settings
            try await harness.store.write { writer throws(StoreError) in try writer.save(quiet) }
            try await body(harness)
        }
    }

    private func runner(_ harness: OutboxHarness) -> TimerRunner {
        let environment = ServiceEnvironment(
            store: harness.store,
            time: harness.time,
            identifiers: CountingIdentifiers()
        )
        let effect = QuietEndEffect(
            environment: environment,
            rights: PushRights(topics: harness.models.topic, messages: harness.models.message),
            pushes: DirectPushService(
                environment: environment,
                messages: harness.models.message,
                topics: harness.models.topic
            )
        )
        return TimerRunner(environment: environment, effects: [effect]) { timer, error in
            Issue.record("\(timer): \(error)")
        }
    }

    /// Publishes so many messages, which are all held.
    private func hold(_ count: Int, _ harness: OutboxHarness) async throws {
        for number in 1...count {
            try await harness.publish(
                "m\(number)",
                number: Int64(number),
                ["priority": .int(number == 1 ? 4 : 3), "title": .text("t\(number)"), "body": .text("")]
            )
        }
        try await harness.running { _ in
            for number in 1...count {
                try await harness.deliveries("m\(number)", movingTime: false) { $0.are(1, .waiting) }
            }
        }
        // A worker that has ended leaves a script behind that accepts nothing.
        harness.transport.answer { _, _ in .ok }
    }

    @Test("a push waits for the end of the quiet with its reason, and what is critical goes through")
    func waits() async throws {
        try await with { harness in
            try await hold(1, harness)
            let row = try #require(try await harness.deliveries("m1").first)
            #expect(row.reason == "QUIET_HOURS")
            #expect(row.nextAttemptAt.map { $0 >= harness.time.now().adding(seconds: 8 * 3600 - 60) } == true)
            try await harness.publish("loud", number: 2, ["priority": .int(5)])
            try await harness.running { _ in
                try await harness.deliveries("loud", movingTime: false) { $0.are(1, .accepted) }
            }
            #expect(harness.transport.sent.count == 1)
        }
    }

    @Test("a few are pushed one by one at the end, though the quiet was longer than a push lives, and never twice")
    func released() async throws {
        try await with { harness in
            try await hold(3, harness)
            let runner = runner(harness)
            #expect(try await runner.fireDue() == 1, "the first look sets itself to the end")
            #expect(try await runner.fireDue() == 0)
            harness.time.advance(seconds: 8 * 3600 + 1)
            #expect(try await runner.fireDue() == 1)
            #expect(try await runner.fireDue() == 0)
            try await harness.running { _ in
                for number in 1...3 { try await harness.deliveries("m\(number)") { $0.are(1, .accepted) } }
            }
            #expect(harness.transport.sent.count == 3)
        }
    }

    @Test("B13: more than five become one summary, which stands for all of them")
    func summary() async throws {
        try await with { harness in
            try await hold(7, harness)
            harness.time.advance(seconds: 8 * 3600 + 1)
            #expect(try await runner(harness).fireDue() == 1)
            for number in 1...7 {
                let row = try #require(try await harness.deliveries("m\(number)").first)
                #expect(row.status == .accepted)
                #expect(row.reason == "IN_SUMMARY")
                #expect(row.providerID?.hasPrefix("summary/") == true)
            }
            let id = try #require(try await harness.deliveries("m1").first?.providerID?.split(separator: "/").last)
            try await harness.running { _ in
                try await harness.deliveries(String(id)) { $0.are(1, .accepted) }
            }
            #expect(harness.transport.sent.count == 1)
            let message = try await harness.store.read { reader throws(StoreError) in
                try reader.records(harness.models.message, ids: [String(id)], where: .always).first
            }
            #expect(message?["title"].text == "7 messages while you were away")
            #expect(message?["body"].text == "1 of priority 4, 6 of priority 3")
        }
    }

    @Test("a push whose wait is over before anybody has looked is held on, and let go by the look")
    func late() async throws {
        try await with { harness in
            try await hold(1, harness)
            harness.time.advance(seconds: 9 * 3600)
            try await harness.running { _ in
                try await harness.deliveries("m1", movingTime: false) { rows in
                    rows.first.map {
                        $0.status == .waiting && ($0.nextAttemptAt ?? harness.time.now()) > harness.time.now()
                    }
                        ?? false
                }
                #expect(harness.transport.sent.isEmpty)
                #expect(try await runner(harness).fireDue() == 1)
                try await harness.deliveries("m1") { $0.are(1, .accepted) }
            }
            #expect(harness.transport.sent.count == 1)
        }
    }

    @Test("a push that nobody lets go at the end of the quiet goes by itself a minute later")
    func forgotten() async throws {
        try await with { harness in
            try await hold(1, harness)
            harness.time.advance(seconds: 9 * 3600)
            try await harness.running { _ in
                try await harness.deliveries("m1") { $0.are(1, .accepted) }
            }
            #expect(harness.transport.sent.count == 1)
        }
    }

    @Test("a held push whose message expires while it is quiet ends as expired, at that moment")
    func expired() async throws {
        try await with { harness in
            let expiry = harness.time.now().adding(seconds: 3600)
            try await harness.publish("m1", ["expiresAt": .text(expiry.iso8601)])
            try await harness.running { _ in
                let held = try await harness.deliveries(movingTime: false) { $0.are(1, .waiting) }
                #expect(held.first?.nextAttemptAt.map { $0 <= expiry } == true)
                harness.time.advance(seconds: 3601)
                try await harness.deliveries { $0.are(1, .expired) }
            }
            #expect(harness.transport.sent.isEmpty)
        }
    }

    @Test("a page that was judged before the quiet was ended is let go at once")
    func endedMeanwhile() async throws {
        try await with { harness in
            try await hold(1, harness)
            // As if the change had been written between the judging and the page.
            try await harness.store.write { writer throws(StoreError) in
                try writer.save(UserSettings(userID: UserID("ann")))
            }
            #expect(try await runner(harness).fireDue() == 1)
            try await harness.running { _ in
                try await harness.deliveries("m1", movingTime: false) { $0.are(1, .accepted) }
            }
        }
    }

    @Test("a summary tells of living messages alone, and those that expired meanwhile end as that")
    func living() async throws {
        try await with { harness in
            let expiry = harness.time.now().adding(seconds: 8 * 3600 + 0.5)
            try await harness.publish("brief", number: 9, ["expiresAt": .text(expiry.iso8601)])
            try await hold(6, harness)
            try await harness.running { _ in
                try await harness.deliveries("brief", movingTime: false) { $0.are(1, .waiting) }
            }
            harness.transport.answer { _, _ in .ok }
            harness.time.advance(seconds: 8 * 3600 + 1)
            #expect(try await runner(harness).fireDue() == 1)
            let id = try #require(try await harness.deliveries("m1").first?.providerID?.split(separator: "/").last)
            let message = try await harness.store.read { reader throws(StoreError) in
                try reader.records(harness.models.message, ids: [String(id)], where: .always).first
            }
            #expect(message?["title"].text == "6 messages while you were away")
            try await harness.running { _ in
                try await harness.deliveries("brief", movingTime: false) { $0.are(1, .expired) }
            }
        }
    }

    @Test("somebody who has switched pushes off meanwhile gets no summary, and each row says why")
    func switchedOff() async throws {
        try await with { harness in
            try await hold(7, harness)
            let now = harness.time.now()
            try await harness.store.write { writer throws(StoreError) in
                try writer.setMuted(true, of: UserID("ann"), now: now)
            }
            harness.time.advance(seconds: 8 * 3600 + 1)
            #expect(try await runner(harness).fireDue() == 1)
            try await harness.running { _ in
                for number in 1...7 {
                    let rows = try await harness.deliveries("m\(number)") { $0.are(1, .skipped) }
                    #expect(rows.first?.reason == "NOTIFICATIONS_OFF")
                }
            }
            #expect(harness.transport.sent.isEmpty)
        }
    }

    @Test(
        "a member who wants a topic in the feed, in the digest or from a priority on gets no push, and a row says why",
        arguments: [
            (MembershipDelivery.feed, 1, "FEED_ONLY"), (.digest, 1, "IN_DIGEST"), (.now, 4, "BELOW_PRIORITY"),
        ]
    )
    func members(delivery: MembershipDelivery, minPriority: Int64, reason: String) async throws {
        try await OutboxHarness.with { harness in
            try await harness.add([Device.sample("d1", token: "aa", user: "ann")])
            var member = Membership(
                topicID: TopicID("topic-1"),
                userID: UserID("ann"),
                push: true,
                createdAt: Timestamp(milliseconds: 1_700_000_000_000)
            )
            (member.delivery, member.minPriority) = (delivery, minPriority)
            let wishing = member
            try await harness.store.write { writer throws(StoreError) in try writer.save(wishing) }
            try await harness.publish("m1")
            try await harness.running { _ in
                let rows = try await harness.deliveries { $0.are(1, .skipped) }
                #expect(rows.map(\.reason?.rawValue) == [reason])
            }
            #expect(harness.transport.sent.isEmpty)
        }
    }
}
