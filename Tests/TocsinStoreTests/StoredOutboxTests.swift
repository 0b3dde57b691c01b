import Testing
import TocsinCore
import TocsinStore

@Suite("Outbox")
struct StoredOutboxTests {
    private let models = TestModels()

    /// A topic with a message, members and their devices.
    private func prepare(_ store: SQLStore, members: Int = 3, devicesEach: Int = 2) async throws {
        let models = models
        try await store.insert([models.topic("t1"), models.message("m1", topic: "t1", number: 1)])
        try await store.write { writer throws(StoreError) in
            for member in 0..<members {
                let user = "u\(member)"
                try writer.save(
                    Membership(topicID: TopicID("t1"), userID: UserID(user), push: true, createdAt: moment(0))
                )
                for device in 0..<devicesEach { try writer.save(Device.test("d\(device)-\(user)", user: user)) }
            }
        }
    }

    private func fanout(_ message: String = "m1", first: String = "", last: String = "", at time: Int64 = 10) -> Fanout
    {
        Fanout(
            messageID: MessageID(message),
            topicID: TopicID("t1"),
            firstDevice: first,
            lastDevice: last,
            nextDevice: "",
            createdAt: moment(time)
        )
    }

    private func delivery(_ device: String, _ status: DeliveryStatus, dueAt due: Int64? = nil) -> Delivery {
        Delivery(
            id: DeliveryID("x-" + device),
            messageID: MessageID("m1"),
            deviceID: DeviceID(device),
            platform: .ios,
            status: status,
            nextAttemptAt: due.map(moment),
            updatedAt: moment(20)
        )
    }

    @Test("a fan-out is held by one node until its lease runs out", arguments: TestDatabase.available)
    func fanoutLeases(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await prepare(store)
            let added = fanout()
            try await store.write { writer throws(StoreError) in
                #expect(try writer.nextDue() == nil)
                try writer.addFanouts([added])
                #expect(try writer.nextDue() == moment(10))
                let first = try writer.claimFanouts(node: "a", now: moment(100), leaseUntil: moment(160), limit: 5)
                #expect(first.map(\.node) == ["a"])
                #expect(try writer.nextDue() == moment(160))
                #expect(try writer.claimFanouts(node: "b", now: moment(159), leaseUntil: moment(300), limit: 5).isEmpty)
                let second = try writer.claimFanouts(node: "b", now: moment(160), leaseUntil: moment(220), limit: 5)
                #expect(second.map(\.leaseUntil) == [moment(220)])
                #expect(try !writer.advance(first[0], nextDevice: "d1", leaseUntil: moment(400)))
                #expect(try !writer.conclude(first[0]))
                #expect(try writer.advance(second[0], nextDevice: "d1", leaseUntil: moment(280)))
                #expect(try !writer.advance(second[0], nextDevice: "d2", leaseUntil: moment(300)))
                try writer.dropLeases()
                let third = try writer.claimFanouts(node: "c", now: moment(161), leaseUntil: moment(220), limit: 5)
                #expect(third.map(\.nextDevice) == ["d1"])
                #expect(try writer.conclude(third[0]))
                #expect(try writer.nextDue() == nil)
            }
        }
    }

    @Test(
        "what waits is told by who reaches the devices, with its oldest, and no more rows are looked at than asked",
        arguments: TestDatabase.available
    )
    func backlog(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await prepare(store, members: 0)
            var devices = ["apple", "firebase", "fid", "android", "browser"].map { Device.test($0, user: "u") }
            (devices[1].token, devices[2].token) = ("install:token", "installation")
            devices[2].kind = .fid
            (devices[3].platform, devices[4].platform) = (.android, .web)
            devices[4].token = #"{"endpoint":"https://push.example/1"}"#
            let due = devices.enumerated().map { delivery($1.id.text, .waiting, dueAt: Int64(100 + $0)) }
            let (all, later) = (devices, delivery("later", .waiting, dueAt: 900))
            let fanouts = [fanout(first: "1", at: 20), fanout(first: "2", at: 30)]
            try await store.write { writer throws(StoreError) in
                for device in all { try writer.save(device) }
                try writer.save(due + [later])
                try writer.addFanouts(fanouts)
                let backlog = try writer.pushBacklog(at: moment(500), limit: 100)
                func waiting(_ platform: PushPlatform, firebase: Bool, web: Bool = false) -> PushBacklog.Waiting? {
                    backlog.due[
                        PushBacklog.Kind(platform: platform, isNamedByFirebase: firebase, isSubscription: web)
                    ]
                }
                #expect(waiting(.ios, firebase: false) == .init(count: 1, oldest: moment(100)))
                #expect(waiting(.ios, firebase: true) == .init(count: 2, oldest: moment(101)))
                #expect(waiting(.android, firebase: false) == .init(count: 1, oldest: moment(103)))
                #expect(waiting(.web, firebase: true, web: true) == .init(count: 1, oldest: moment(104)))
                #expect(backlog.fanouts == [false: .init(count: 2, oldest: moment(20))])
                let few = try writer.pushBacklog(at: moment(500), limit: 2)
                #expect(few.due.values.reduce(0) { $0 + $1.count } == 2)
                #expect(try writer.deviceCounts() == [.ios: 3, .android: 1, .web: 1])
            }
        }
    }

    @Test("fan-outs are claimed oldest first", arguments: TestDatabase.available)
    func fanoutOrder(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await prepare(store)
            let added = [("5", 30), ("1", 20), ("3", 10)].map { fanout(first: $0.0, at: $0.1) }
            let claimed = try await store.write { writer throws(StoreError) in
                for fanout in added { try writer.addFanouts([fanout]) }
                return try writer.claimFanouts(node: "a", now: moment(99), leaseUntil: moment(100), limit: 2)
                    + writer.claimFanouts(node: "a", now: moment(99), leaseUntil: moment(100), limit: 2)
            }
            #expect(claimed.map(\.firstDevice) == ["3", "1", "5"])
        }
    }

    @Test(
        "a fan-out serves active devices of members once, in its range and time, few members or many",
        arguments: TestDatabase.available,
        [3, 5000]
    )
    func nextDevices(database: TestDatabase, members: Int) async throws {
        try await database.withStore { store in
            try await prepare(store, members: members, devicesEach: 1)
            let (served, all, range) = (delivery("d0-u1", .waiting), fanout(), fanout(first: "d0-u1", last: "d0-u2"))
            try await store.write { writer throws(StoreError) in
                var inactive = Device.test("a1", user: "u0")
                inactive.isActive = false
                var late = Device.test("a2", user: "u0")
                late.registeredAt = moment(11)
                for device in [inactive, late, Device.test("a3", user: "stranger"), Device.test("a4", user: "muted")] {
                    try writer.save(device)
                }
                try writer.save(
                    Membership(topicID: TopicID("t1"), userID: UserID("muted"), push: false, createdAt: moment(0))
                )
                #expect(try writer.nextDevices(of: range, limit: 1).map(\.id.text) == ["d0-u1"])
                try writer.save([served])
                var rest = all
                #expect(try writer.nextDevices(of: rest, limit: 1).filter(\.isTopicMuted).map(\.id.text) == ["a4"])
                rest.nextDevice = "a4"
                #expect(try writer.nextDevices(of: rest, limit: 1).map(\.id.text) == ["d0-u0"])
                rest.nextDevice = "d0-u0"
                let next = try writer.nextDevices(of: rest, limit: 1).map(\.id.text)
                #expect(next == (members == 3 ? ["d0-u2"] : ["d0-u10"]))
                let everybody = try writer.nextDevices(of: all, limit: 9999)
                #expect(everybody.count == members)
                #expect(everybody.count { $0.isTopicMuted } == 1)
                let inRange = try writer.nextDevices(of: range, limit: 9999).map(\.id.text)
                #expect(inRange.allSatisfy { $0 > "d0-u1" && $0 < "d0-u2" })
            }
        }
    }

    @Test("registering again does not lose a message under way; joining or coming back later does not bring it")
    func activeSince() async throws {
        try await TestDatabase.available[0].withStore { store in
            try await prepare(store, members: 4, devicesEach: 1)
            let all = fanout(at: 10)
            try await store.write { writer throws(StoreError) in
                var again = Device.test("d0-u0", user: "u0")
                again.registeredAt = moment(11)
                var moved = Device.test("d0-u1", user: "u3")
                moved.registeredAt = moment(11)
                _ = try writer.retireDevice(DeviceID("d0-u2"), reason: "Unregistered", registeredBy: moment(5))
                var revived = Device.test("d0-u2", user: "u2")
                revived.registeredAt = moment(11)
                for device in [again, moved, revived, Device.test("d0-new", user: "new")] { try writer.save(device) }
                try writer.save(
                    Membership(topicID: TopicID("t1"), userID: UserID("new"), push: true, createdAt: moment(11))
                )
                #expect(try writer.nextDevices(of: all, limit: 9).map(\.id.text) == ["d0-u0", "d0-u3"])
                var later = all
                later.createdAt = moment(11)
                #expect(try writer.nextDevices(of: later, limit: 9).count == 5)
            }
        }
    }

    @Test("due deliveries are leased in order of time, and results need the lease", arguments: TestDatabase.available)
    func deliveryLeases(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await prepare(store)
            let waiting = [
                delivery("d0-u0", .waiting, dueAt: 300), delivery("d0-u1", .waiting, dueAt: 100),
                delivery("d0-u2", .waiting),
            ]
            try await store.write { writer throws(StoreError) in
                try writer.save(waiting)
                #expect(try writer.nextDue() == moment(20))
                let first = try writer.claimDeliveries(now: moment(200), leaseUntil: moment(260), limit: 10)
                #expect(first.map(\.device.id.text) == ["d0-u2", "d0-u1"])
                #expect(first.allSatisfy { $0.delivery.status == .sending && $0.delivery.leaseUntil == moment(260) })
                #expect(try writer.claimDeliveries(now: moment(259), leaseUntil: moment(400), limit: 10).isEmpty)
                let again = try writer.claimDeliveries(now: moment(260), leaseUntil: moment(320), limit: 1)
                #expect(again.count == 1)
                var outcome = again[0].delivery
                outcome.status = .accepted
                outcome.attempts = 1
                outcome.leaseUntil = nil
                #expect(try !writer.record(outcome, heldUntil: moment(260)))
                #expect(try writer.record(outcome, heldUntil: moment(320)))
                #expect(try !writer.record(outcome, heldUntil: moment(320)))
                try writer.dropLeases()
                #expect(try writer.claimDeliveries(now: moment(301), leaseUntil: moment(400), limit: 10).count == 2)
                let found = try writer.deliveries(of: MessageID("m1"), status: .accepted, after: nil, limit: 10)
                #expect(found == [outcome])
            }
        }
    }

    @Test("a due delivery whose device is gone or retired ends", arguments: TestDatabase.available)
    func lostDevices(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await prepare(store)
            let waiting = ["d0-u0", "d0-u1", "d0-u2"].map { delivery($0, .waiting, dueAt: 1) }
            try await store.write { writer throws(StoreError) in
                try writer.save(waiting)
                try writer.removeDevice(DeviceID("d0-u0"), reason: "UNREGISTERED")
                _ = try writer.retireDevice(DeviceID("d0-u1"), reason: "Unregistered", registeredBy: moment(50))
                try writer.endDeliveries(of: DeviceID("d0-u2"), reason: "TOKEN_MOVED", now: moment(60))
                #expect(try writer.claimDeliveries(now: moment(70), leaseUntil: moment(80), limit: 10).isEmpty)
                let ended = try writer.deliveries(of: MessageID("m1"), status: nil, after: nil, limit: 10)
                #expect(ended.map(\.status) == [.ended, .ended, .ended])
                #expect(ended.map(\.reason) == ["DEVICE_GONE", "Unregistered", "TOKEN_MOVED"])
                #expect(try writer.nextDue() == nil)
            }
        }
    }

    @Test("nobody who left the topic since is sent to, and whoever muted it is claimed as muted")
    func standing() async throws {
        for database in TestDatabase.available {
            try await database.withStore { store in
                try await prepare(store)
                let rows = ["d0-u0", "d0-u1", "d0-u2"].map { delivery($0, .failed) }
                let topic = TopicID("t1")
                try await store.write { writer throws(StoreError) in
                    try writer.save(rows)
                    try writer.removeMembership(of: UserID("u0"), in: topic)
                    try writer.save(Membership(topicID: topic, userID: UserID("u1"), push: false, createdAt: moment(0)))
                    #expect(
                        try writer.redrive(MessageID("m1"), status: .failed, reason: nil, to: nil, now: moment(500))
                            == 3
                    )
                    let claimed = try writer.claimDeliveries(now: moment(500), leaseUntil: moment(560), limit: 10)
                    #expect(claimed.map(\.device.id.text) == ["d0-u1", "d0-u2"])
                    #expect(claimed.map(\.device.isTopicMuted) == [true, false])
                    let ended = try writer.deliveries(of: MessageID("m1"), status: .ended, after: nil, limit: 10)
                    #expect(ended.map(\.reason) == ["LEFT_TOPIC"])
                }
            }
        }
    }

    @Test("final deliveries are not overwritten, but sent again by hand", arguments: TestDatabase.available)
    func finalRows(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await prepare(store)
            var failed = delivery("d0-u0", .failed)
            failed.attempts = 7
            let rows = [failed, delivery("d0-u1", .accepted), delivery("d0-u2", .sending), delivery("d1-u0", .waiting)]
            let repeated = rows.map { delivery($0.deviceID.text, .skipped) }
            try await store.write { writer throws(StoreError) in
                try writer.save(rows)
                let counts = try writer.deliverySummaries(of: [MessageID("m1"), MessageID("none")])
                #expect(counts == [MessageID("m1"): DeliverySummary(counts: [.failed: 1, .accepted: 1, .waiting: 2])])
                try writer.save(repeated)
                let all = try writer.deliveries(of: MessageID("m1"), status: nil, after: nil, limit: 10)
                #expect(all.map(\.status) == [.failed, .accepted, .skipped, .skipped])
                #expect(
                    try writer.redrive(MessageID("m1"), status: .skipped, reason: nil, to: nil, now: moment(500)) == 2
                )
                #expect(
                    try writer.redrive(MessageID("m1"), status: .failed, reason: nil, to: nil, now: moment(500)) == 1
                )
                let claimed = try writer.claimDeliveries(now: moment(500), leaseUntil: moment(560), limit: 10)
                #expect(claimed.map(\.delivery.attempts) == [0, 0, 0])
                let page = try writer.deliveries(
                    of: MessageID("m1"),
                    status: .sending,
                    after: DeviceID("d0-u0"),
                    limit: 1
                )
                #expect(page.map(\.deviceID.text) == ["d0-u2"])
            }
        }
    }
}
