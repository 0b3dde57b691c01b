import Testing
import TocsinCore
import TocsinPush
import TocsinStore

@Suite("Why nothing was sent is a row", .timeLimit(.minutes(5)))
struct OutboxLedgerTests {
    private func membership(_ user: String, push: Bool = true) -> Membership {
        Membership(
            topicID: TopicID("topic-1"),
            userID: UserID(user),
            push: push,
            createdAt: Timestamp(milliseconds: 1_700_000_000_000)
        )
    }

    @Test("a member without a device has one row that says so, beside one for each device")
    func noDevice() async throws {
        try await OutboxHarness.with { harness in
            try await harness.add([Device.sample("d1", token: "aa", user: "ann")])
            let member = membership("bob")
            try await harness.store.write { writer throws(StoreError) in try writer.save(member) }
            try await harness.publish("m1")
            try await harness.running { _ in
                let rows = try await harness.deliveries { $0.are(2, .accepted, .skipped) }
                let missing = try #require(rows.first { $0.status == .skipped })
                #expect(missing.reason == "NO_DEVICE" && missing.platform == nil && missing.attempts == 0)
                #expect(missing.deviceID.userWithoutDevice == UserID("bob"))
            }
            #expect(harness.transport.sent.count == 1)
        }
    }

    @Test("a muted topic skips the member's devices with its reason, and nothing is sent")
    func mutedTopic() async throws {
        try await OutboxHarness.with { harness in
            try await harness.add([Device.sample("d1", token: "aa", user: "ann")])
            let member = membership("ann", push: false)
            try await harness.store.write { writer throws(StoreError) in try writer.save(member) }
            try await harness.publish("m1")
            try await harness.running { _ in
                let rows = try await harness.deliveries { $0.are(1, .skipped) }
                #expect(rows.map(\.reason) == ["TOPIC_MUTED"])
            }
            #expect(harness.transport.sent.isEmpty)
        }
    }

    @Test("B20: on request every delivery is reported once, with a hash of its token and not the token")
    func reportedDeliveries() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { sent, _ in sent.token == "cd" ? .apns(410, "ExpiredToken") : .ok }
            try await harness.add(["ab", "cd"].map { Device.sample($0, token: $0, user: "user-" + $0) })
            try await harness.publish("m1")
            try await harness.running(reportsDeliveries: true) { _ in
                try await harness.deliveries { $0.are(2, .accepted, .ended) }
            }
            let told = harness.reports.compactMap { report in
                guard case .delivery(let delivery, let service, let hash) = report else { return nil as String? }
                return "\(delivery.deviceID) \(service) \(delivery.status.rawValue) \(hash)"
            }
            #expect(told.sorted() == ["ab apns accepted hash of ba", "cd apns ended hash of dc"])
        }
        try await OutboxHarness.with { harness in
            try await harness.add([Device.sample("d1", token: "aa")])
            try await harness.publish("m1")
            try await harness.running { _ in try await harness.deliveries { $0.are(1, .accepted) } }
            #expect(!harness.reports.contains { if case .delivery = $0 { true } else { false } })
        }
    }

    @Test("E1: a device whose sign-in has ended gets nothing, also not what waited; one that is bound to none does")
    func signedOut() async throws {
        try await OutboxHarness.with { harness in
            let now = harness.time.now()
            harness.transport.answer { _, earlier in earlier == 0 ? .unknown(reason: "reset") : .ok }
            var ends = Device.sample("ends", token: "aa", user: "ann")
            ends.binding = .end(now.adding(seconds: 0.5))
            var lasts = Device.sample("lasts", token: "bb", user: "bob")
            lasts.binding = .end(now.adding(seconds: 86_400))
            let free = Device.sample("free", token: "cc", user: "cid")
            try await harness.add([ends, lasts, free])
            try await harness.publish("m1")
            try await harness.running { _ in
                let rows = try await harness.deliveries { $0.are(3, .accepted, .ended) }
                let ended = rows.filter { $0.status == .ended }
                #expect(ended.map(\.deviceID.text) == ["ends"] && ended.map(\.reason) == ["ACCESS_ENDED"])
            }
            #expect(harness.transport.sent.count { $0.token == "aa" } == 1)
        }
    }

    @Test(
        "devices not heard of for too long are skipped if the settings say so, and sent to if not",
        arguments: [true, false]
    )
    func stale(isLimited: Bool) async throws {
        try await OutboxHarness.with { harness in
            let now = harness.time.now()
            var fresh = Device.sample("fresh", token: "aa")
            fresh.lastSeenAt = now
            var stale = Device.sample("stale", token: "bb")
            stale.lastSeenAt = now.adding(seconds: -31 * 86_400)
            var settings = OutboxHarness.settings
            settings.staleSeconds = isLimited ? 30 * 86_400 : nil
            try await harness.add([fresh, stale])
            try await harness.publish("m1")
            try await harness.running(settings: settings) { _ in
                let rows = try await harness.deliveries { $0.are(2, .accepted, .skipped) }
                #expect(rows.map(\.reason) == [nil, isLimited ? "DEVICE_STALE" : nil])
            }
            #expect(harness.transport.sent.map(\.token).sorted() == (isLimited ? ["aa"] : ["aa", "bb"]))
        }
    }

    /// Runs `body` while pushes to a device of ann's and one of bob's are claimed and
    /// wait for the access token.
    ///
    /// They leave when the token endpoint answers. Answers to whom pushes went in all.
    private func withClaimedPushes(
        to second: String,
        _ body: (OutboxHarness, HeldTokenEndpoint, OutboxWorker) async throws -> Void
    ) async throws -> [String] {
        var sent: [String] = []
        try await OutboxHarness.with { harness in
            let endpoint = HeldTokenEndpoint()
            harness.providers.tokenEndpoint.hold(endpoint)
            defer { endpoint.open() }
            try await harness.add([
                Device.sample("stays", token: "stays", platform: .android, user: "ann"),
                Device.sample(second, token: second, platform: .android, user: "bob"),
            ])
            try await harness.publish("m1")
            try await harness.running { worker in
                try await harness.wait { endpoint.isAsked }
                try await body(harness, endpoint, worker)
            }
            sent = harness.transport.sent.map(\.token)
        }
        return sent
    }

    @Test("a device signed out after its push was claimed, but before it was handed over, gets nothing")
    func signedOutBeforeHandOver() async throws {
        let sent = try await withClaimedPushes(to: "goes") { harness, endpoint, worker in
            try await harness.store.write { writer throws(StoreError) in
                try writer.endDeliveries(of: DeviceID("goes"), reason: "UNREGISTERED", now: harness.time.now())
                try writer.removeDevice(DeviceID("goes"), reason: "UNREGISTERED")
            }
            worker.cancelPushes(to: DeviceID("goes"), reason: "UNREGISTERED")
            endpoint.open()
            let rows = try await harness.deliveries { $0.are(2, .accepted, .ended) }
            let gone = try #require(rows.first { $0.deviceID == DeviceID("goes") })
            #expect(gone.status == .ended && gone.reason == "UNREGISTERED" && gone.attempts == 0)
        }
        #expect(sent == ["stays"])
    }

    @Test(
        "a user who wants no pushes any more after they were claimed, but before they were handed over, gets none of those",
        arguments: [DeliveryReason.topicMuted, .notificationsOff, .leftTopic]
    )
    func mutedBeforeHandOver(reason: DeliveryReason) async throws {
        let sent = try await withClaimedPushes(to: "mutes") { harness, endpoint, worker in
            let (user, topic) = (UserID("bob"), TopicID("topic-1"))
            try await harness.want(reason, of: user, in: topic)
            worker.cancelPushes(to: user, of: reason == .notificationsOff ? nil : topic, reason: reason)
            endpoint.open()
            let end: DeliveryStatus = reason == .leftTopic ? .ended : .skipped
            let rows = try await harness.deliveries { $0.are(2, .accepted, end) }
            let row = try #require(rows.first { $0.deviceID == DeviceID("mutes") })
            #expect(row.status == end && row.reason == reason && row.attempts == 0)
            // Who wants them again gets the next.
            try await harness.want(nil, of: user, in: topic)
            try await harness.publish("m2", number: 2)
            worker.wake()
            try await harness.deliveries("m2") { $0.are(2, .accepted) }
        }
        #expect(sent.sorted() == ["mutes", "stays", "stays"])
    }

    @Test(
        "what its user does not want any more while Apple has it is not tried again, and its row says so",
        arguments: [DeliveryReason.topicMuted, .notificationsOff, .leftTopic]
    )
    func mutedUnderWay(reason: DeliveryReason) async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, _ in nil }
            try await harness.add([Device.sample("d1", token: "aa", user: "bob")])
            try await harness.publish("m1")
            try await harness.running { worker in
                try await harness.wait { !harness.transport.sent.isEmpty }
                let (user, topic) = (UserID("bob"), TopicID("topic-1"))
                try await harness.want(reason, of: user, in: topic)
                worker.cancelPushes(to: user, of: reason == .notificationsOff ? nil : topic, reason: reason)
                harness.transport.release(.unknown(reason: "cut"))
                let rows = try await harness.deliveries(movingTime: false) {
                    $0.are(1, reason == .leftTopic ? .ended : .skipped)
                }
                #expect(rows.map(\.reason) == [reason] && rows.map(\.attempts) == [1])
            }
            #expect(harness.transport.sent.count == 1)
        }
    }

    @Test("a device signed out while Apple has its push is not tried again, and its row says so")
    func signedOutUnderWay() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, _ in nil }
            let id = DeviceID("goes")
            try await harness.add([Device.sample("goes", token: "aa")])
            try await harness.publish("m1")
            try await harness.running { worker in
                try await harness.wait { !harness.transport.sent.isEmpty }
                try await harness.store.write { writer throws(StoreError) in
                    try writer.endDeliveries(of: id, reason: "UNREGISTERED", now: harness.time.now())
                    try writer.removeDevice(id, reason: "UNREGISTERED")
                }
                worker.cancelPushes(to: id, reason: "UNREGISTERED")
                harness.transport.release(.unknown(reason: "cut"))
                let rows = try await harness.deliveries { $0.are(1, .ended) }
                #expect(rows.map(\.reason) == ["UNREGISTERED"] && rows.map(\.attempts) == [1])
            }
            #expect(harness.transport.sent.count == 1)
        }
    }

    @Test("the outbox tells how a device would be reached, and why not when its provider is paused")
    func outlook() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, _ in .apns(403, "InvalidProviderToken") }
            let device = Device.sample("d1", token: "aa")
            try await harness.add([device])
            try await harness.publish("m1")
            try await harness.running([.apns]) { worker in
                let way = PushOutlook.Way(service: "apns", app: "com.example.app", environment: .sandbox)
                #expect(worker.outlook(of: device) == .open(way))
                let android = Device.sample("d2", token: "bb", platform: .android)
                #expect(worker.outlook(of: android) == .unreachable(.providerNotConfigured))
                try await harness.deliveries { $0.contains { $0.reason == "InvalidProviderToken" } }
                guard case .paused(way, let reason, _) = worker.outlook(of: device) else {
                    Issue.record("not paused: \(worker.outlook(of: device))")
                    return
                }
                #expect(reason.contains("InvalidProviderToken"))
            }
        }
    }

    @Test("deliveries are noted while somebody listens, and not before or after")
    func listening() async throws {
        try await OutboxHarness.with { harness in
            let listeners = DeliveryListeners()
            var settings = OutboxSettings()
            settings.listeners = listeners
            try await harness.add([Device.sample("d1", token: "aa")])
            try await harness.running(settings: settings) { worker in
                for (index, isHeard) in [false, true, false].enumerated() {
                    if isHeard { listeners.enter() }
                    try await harness.publish("m\(index)", number: Int64(index + 1))
                    worker.wake()
                    try await harness.deliveries("m\(index)") { $0.are(1, .accepted) }
                    if isHeard {
                        try await harness.wait { harness.notedDeliveries == 1 }
                        listeners.leave()
                    }
                    #expect(harness.notedDeliveries == (index == 0 ? 0 : 1))
                }
            }
        }
    }
}

extension OutboxHarness {
    /// Writes down what a user does not want, or that they want everything.
    fileprivate func want(_ less: DeliveryReason?, of user: UserID, in topic: TopicID) async throws {
        let now = time.now()
        try await store.write { writer throws(StoreError) in
            if less == .leftTopic { return try writer.removeMembership(of: user, in: topic) }
            try writer.save(
                Membership(topicID: topic, userID: user, push: less != .topicMuted, createdAt: now)
            )
            try writer.setMuted(less == .notificationsOff, of: user, now: now)
        }
    }
}
