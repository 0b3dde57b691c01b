import Synchronization
import Testing
import TocsinCore
import TocsinStore

@Suite("The ledger of deliveries")
struct StoredLedgerTests {
    private let models = TestModels()
    private let topic = TopicID("t1")

    private func delivery(_ message: String, _ device: DeviceID, _ status: DeliveryStatus) -> Delivery {
        Delivery(
            id: DeliveryID("\(message)-\(device)"),
            messageID: MessageID(message),
            deviceID: device,
            platform: device.userWithoutDevice == nil ? .ios : nil,
            status: status,
            updatedAt: moment(12)
        )
    }

    /// Messages m1 of t1 and m2 of t2; ann has the phones a1 and a2, bob has b1, cy has none.
    private func prepare(_ store: SQLStore) async throws {
        let models = models
        try await store.insert([
            models.topic("t1"), models.topic("t2"), models.message("m1", topic: "t1", number: 1),
            models.message("m2", topic: "t2", number: 1),
        ])
        try await store.save(
            devices: [("a1", "ann"), ("a2", "ann"), ("b1", "bob")].map { Device.test($0.0, user: $0.1) }
        )
        let members = ["ann", "bob", "cy"].map { user in
            Membership(topicID: topic, userID: UserID(user), push: true, createdAt: moment(0))
        }
        try await store.write { writer throws(StoreError) in for member in members { try writer.save(member) } }
    }

    @Test(
        "members without an active device at the commit are found, later joiners are not",
        arguments: TestDatabase.available
    )
    func withoutDevice(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await prepare(store)
            let (topic, fanout) = (topic, Fanout(messageID: MessageID("m1"), topicID: topic, createdAt: moment(10)))
            try await store.write { writer throws(StoreError) in
                try writer.addFanouts([fanout])
                let late = Membership(topicID: topic, userID: UserID("dee"), push: true, createdAt: moment(11))
                try writer.save(late)
                #expect(try writer.membersWithoutDevice(of: fanout).map(\.text) == ["cy"])
                // A phone registered afterwards was not there; one removed since was,
                // and has its own outcome.
                var phone = Device.test("c1", user: "cy")
                phone.registeredAt = moment(11)
                try writer.save(phone)
                try writer.removeDevice(DeviceID("b1"), reason: "UNREGISTERED")
                #expect(try writer.membersWithoutDevice(of: fanout).map(\.text) == ["cy"])
                _ = try writer.retireDevice(DeviceID("a1"), reason: "Unregistered", registeredBy: moment(5))
                #expect(try writer.membersWithoutDevice(of: fanout).map(\.text) == ["cy"])
            }
        }
    }

    @Test(
        "settled deliveries are removed when their time is over, open ones and those of running fan-outs never",
        arguments: TestDatabase.available
    )
    func reaping(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await prepare(store)
            let states: [DeliveryStatus] = [.accepted, .failed, .ended, .expired, .skipped, .waiting, .sending]
            let rows = states.map { delivery("m1", DeviceID("d-\($0.rawValue)"), $0) }
            var young = delivery("m1", DeviceID("young"), .accepted)
            young.updatedAt = moment(13)
            let held = delivery("m2", DeviceID("a1"), .accepted)
            let all = rows + [young, held]
            let fanout = Fanout(messageID: MessageID("m2"), topicID: TopicID("t2"), createdAt: moment(10))
            try await store.write { writer throws(StoreError) in
                try writer.save(all)
                try writer.addFanouts([fanout])
            }
            let time = FixedTime(moment: moment(13).adding(seconds: 60))
            // Two rows at a time, so that a page without anything due does not end the walk.
            let reaper = DeliveryReaper(store: store, time: time, keptSeconds: 60, batch: 2)
            #expect(try await reaper.runOnce() == 5)
            for (message, left) in [("m1", ["d-sending", "d-waiting", "young"]), ("m2", ["a1"])] {
                let rows = try await store.read { reader throws(StoreError) in
                    try reader.deliveries(of: MessageID(message), status: nil, after: nil, limit: 100)
                }
                #expect(rows.map(\.deviceID.text) == left)
            }
            #expect(try await reaper.runOnce() == 0)
        }
    }

    @Test(
        "a row without a device comes back, is counted, and is not sent again by hand",
        arguments: TestDatabase.available
    )
    func missingDevice(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await prepare(store)
            let (message, missing) = (MessageID("m1"), DeviceID.missing(of: UserID("cy")))
            let rows = [delivery("m1", missing, .skipped), delivery("m1", DeviceID("a1"), .skipped)]
            try await store.write { writer throws(StoreError) in
                try writer.save(rows)
                let all = try writer.deliveries(of: message, status: .skipped, after: nil, limit: 10)
                #expect(all.map(\.deviceID) == [DeviceID("a1"), missing])
                #expect(all.map(\.platform) == [.ios, nil])
                #expect(all.last?.deviceID.userWithoutDevice == UserID("cy"))
                #expect(try writer.deliverySummaries(of: [message])[message]?.counts == [.skipped: 2])
                #expect(try writer.redrive(message, status: .skipped, reason: nil, to: nil, now: moment(20)) == 1)
                #expect(try writer.deliveries(of: message, to: [missing]).map(\.status) == [.skipped])
            }
        }
    }

    @Test("leaving or muting a topic settles what waits for the user's devices, of that topic alone, and notes each")
    func settling() async throws {
        let noted = Mutex<[Delivery]>([])
        let store = try await SQLStore.open(
            try TestDatabase.available[0].make(),
            at: moment(0),
            commitObserver: { events in
                for case .deliveryChanged(let delivery) in events { noted.withLock { $0.append(delivery) } }
            }
        )
        try await prepare(store)
        let rows = [
            delivery("m1", DeviceID("a1"), .waiting), delivery("m1", DeviceID("a2"), .accepted),
            delivery("m1", DeviceID("b1"), .waiting), delivery("m2", DeviceID("a1"), .waiting),
        ]
        let topic = topic
        let statuses = try await store.write { writer throws(StoreError) in
            try writer.save(rows)
            try writer.settleDeliveries(
                to: UserID("ann"),
                of: topic,
                as: .skipped,
                reason: .topicMuted,
                now: moment(20)
            )
            let first = try writer.deliveries(of: MessageID("m1"), status: nil, after: nil, limit: 9)
            return (first + (try writer.deliveries(of: MessageID("m2"), status: nil, after: nil, limit: 9))).map(
                \.status
            )
        }
        #expect(statuses == [.skipped, .accepted, .waiting, .waiting])
        let seen = noted.withLock { $0 }
        #expect(seen.map(\.deviceID) == [DeviceID("a1")])
        #expect(seen.first?.reason == "TOPIC_MUTED" && seen.first?.nextAttemptAt == nil)
        await store.close()
    }

    @Test(
        "rows of an installation are found by the beginning of their token, and of no other",
        arguments: TestDatabase.available
    )
    func tokenBeginnings(database: TestDatabase) async throws {
        try await database.withStore { store in
            let tokens = ["fid", "fid:", "fid:APA91b", "fid1:APA91b", "fie:x", "fi:x"]
            let devices = tokens.enumerated().map { index, token in
                Device.test("d\(index)", user: "ann", platform: .android, token: token)
            }
            try await store.save(devices: devices)
            let found = try await store.read { reader throws(StoreError) in
                try reader.devices(tokenBeginningWith: "fid").map(\.token)
            }
            #expect(found == ["fid:APA91b"])
        }
    }

    @Test(
        "a device's sign-in is kept, and says until when it is good: to the token's end, and not once it is revoked",
        arguments: TestDatabase.available
    )
    func bindings(database: TestDatabase) async throws {
        try await database.withStore { store in
            var token = IssuedToken(
                id: TokenID("t1"),
                userID: UserID("ann"),
                scope: .full,
                createdAt: moment(1),
                expiresAt: moment(100)
            )
            var devices = ["a", "b", "c", "d"].map { Device.test($0, user: "ann", token: "token-" + $0) }
            devices[0].binding = .token(TokenID("t1"))
            devices[1].binding = .end(moment(50))
            devices[2].binding = .token(TokenID("gone"))
            let (issued, bound) = (token, devices)
            let account = Account(
                id: UserID("ann"),
                name: "ann",
                passwordHash: nil,
                isDisabled: false,
                createdAt: moment(1)
            )
            try await store.write { writer throws(StoreError) in
                try writer.save(account)
                try writer.save(issued)
            }
            try await store.save(devices: bound)
            func read() async throws -> [Device] {
                try await store.read { reader throws(StoreError) in try reader.devices(of: UserID("ann")) }
            }
            let found = try await read()
            #expect(found.map(\.binding) == bound.map(\.binding))
            #expect(found.map(\.signedInUntil) == [moment(100), moment(50), moment(0), nil])
            token.revokedAt = moment(9)
            let revoked = token
            let ofToken = try await store.write { writer throws(StoreError) in
                try writer.save(revoked)
                return try writer.devices(boundTo: TokenID("t1")).map(\.id.text)
            }
            #expect(ofToken == ["a"])
            #expect(try await read().first?.signedInUntil == moment(0))
            let freed = Device.test("a", user: "ann", token: "token-a")
            try await store.save(devices: [freed])
            #expect(try await read().first?.binding == nil)
        }
    }

    @Test("a message is on its way until its last fan-out is finished")
    func fanningOut() async throws {
        try await TestDatabase.available[0].withStore { store in
            try await prepare(store)
            let fanout = Fanout(messageID: MessageID("m1"), topicID: topic, createdAt: moment(10))
            let seen = try await store.write { writer throws(StoreError) in
                var seen = [try writer.isFanningOut(MessageID("m1"))]
                try writer.addFanouts([fanout])
                seen.append(try writer.isFanningOut(MessageID("m1")))
                try writer.serve(fanout.messageID)
                return seen + [try writer.isFanningOut(MessageID("m1"))]
            }
            #expect(seen == [false, true, false])
        }
    }
}

/// A clock that stands still.
private struct FixedTime: TimeSource {
    let moment: Timestamp

    func now() -> Timestamp { moment }

    func sleep(until moment: Timestamp) async throws {}
}

extension StoreWriter {
    /// Claims and concludes a message's fan-out.
    func serve(_ message: MessageID) throws(StoreError) {
        let claimed = try claimFanouts(node: "a", now: moment(20), leaseUntil: moment(80), limit: 10)
        for fanout in claimed where fanout.messageID == message { #expect(try conclude(fanout)) }
    }
}
