import Testing
import TocsinCore
import TocsinStore

/// Devices active at a commit get one outcome each, whatever happens before their page.
@Suite("Endings before a page is served")
struct EndingTests {
    private let models = TestModels()
    private let topic = TopicID("t1")

    private func fanout(_ message: String, at time: Int64) -> Fanout {
        Fanout(messageID: MessageID(message), topicID: topic, createdAt: moment(time))
    }

    private func membership(_ user: String, since time: Int64) -> Membership {
        Membership(topicID: topic, userID: UserID(user), push: true, createdAt: moment(time))
    }

    /// A message committed at 10 for the devices d0 to d3 of the members u0 to u3.
    private func prepare(_ store: SQLStore) async throws {
        let models = models
        try await store.insert([
            models.topic("t1"), models.message("m1", topic: "t1", number: 1),
            models.message("m2", topic: "t1", number: 2),
        ])
        let (memberships, fanout) = ((0..<4).map { membership("u\($0)", since: 0) }, fanout("m1", at: 10))
        try await store.write { writer throws(StoreError) in
            for membership in memberships { try writer.save(membership) }
            for number in 0..<4 { try writer.save(Device.test("d\(number)", user: "u\(number)")) }
            try writer.addFanouts([fanout])
        }
    }

    private func audience(_ fanout: Fanout, _ reader: any StoreReader) throws(StoreError) -> [String] {
        try reader.nextDevices(of: fanout, limit: 10).map { device in
            device.isActive ? device.id.text : "\(device.id.text) \(device.disabledReason ?? "-") '\(device.token)'"
        }
    }

    @Test(
        "retired, unregistered, moved devices and memberships left stay in the audience, without their token",
        arguments: TestDatabase.available,
        [false, true]
    )
    func endings(database: TestDatabase, isClaimed: Bool) async throws {
        try await database.withStore { store in
            try await prepare(store)
            let (first, second) = (fanout("m1", at: 10), fanout("m2", at: 30))
            try await store.write { writer throws(StoreError) in
                if isClaimed {
                    _ = try writer.claimFanouts(node: "a", now: moment(11), leaseUntil: moment(99), limit: 1)
                }
                _ = try writer.retireDevice(DeviceID("d0"), reason: "Unregistered", registeredBy: moment(5))
                try writer.removeDevice(DeviceID("d1"), reason: "TOKEN_MOVED")
                var taken = Device.test("e1", user: "u3", token: "token-d1")
                taken.registeredAt = moment(20)
                try writer.save(taken)
                try writer.removeMembership(of: UserID("u2"), in: topic)
                let ended = ["d0 Unregistered ''", "d1 TOKEN_MOVED ''", "d2 LEFT_TOPIC ''"]
                #expect(try audience(first, writer) == ended + ["d3"])
                #expect(try writer.nextDevices(of: first, limit: 2).map(\.id.text) == ["d0", "d1"])
                try writer.addFanouts([second])
                #expect(try audience(second, writer) == ["d3", "e1"])
                #expect(try writer.devices(of: UserID("u1")).isEmpty)
                #expect(try writer.devices(token: "token-d1").map(\.id.text) == ["e1"])
                #expect(try writer.devices(of: UserID("u0")).map(\.disabledReason) == ["Unregistered"])
                #expect(try writer.memberships(of: UserID("u2")).isEmpty)
            }
        }
    }

    @Test("who comes back after an end, or lost both device and membership, still has one outcome")
    func comingBack() async throws {
        try await TestDatabase.available[0].withStore { store in
            try await prepare(store)
            let (first, second) = (fanout("m1", at: 10), fanout("m2", at: 30))
            let rejoined = membership("u2", since: 20)
            try await store.write { writer throws(StoreError) in
                _ = try writer.retireDevice(DeviceID("d0"), reason: "Unregistered", registeredBy: moment(5))
                var revived = Device.test("d0", user: "u0")
                revived.registeredAt = moment(20)
                try writer.save(revived)
                try writer.removeMembership(of: UserID("u1"), in: topic)
                try writer.removeDevice(DeviceID("d1"), reason: "UNREGISTERED")
                try writer.removeMembership(of: UserID("u2"), in: topic)
                try writer.save(rejoined)
                try writer.addFanouts([second])
                let ended = ["d0 Unregistered ''", "d1 UNREGISTERED ''", "d2 LEFT_TOPIC ''"]
                #expect(try audience(first, writer) == ended + ["d3"])
                #expect(try audience(second, writer) == ["d0", "d2", "d3"])
            }
        }
    }

    @Test("a device that has its outcome already is not answered again, and what no fan-out needs is forgotten")
    func forgetting() async throws {
        let database = try TestDatabase.available[0].make()
        let store = try await SQLStore.open(database, at: moment(0))
        try await prepare(store)
        let first = fanout("m1", at: 10)
        let served = Delivery(
            id: DeliveryID("x"),
            messageID: first.messageID,
            deviceID: DeviceID("d0"),
            platform: .ios,
            status: .accepted,
            updatedAt: moment(12)
        )
        try await store.write { writer throws(StoreError) in
            try writer.save([served])
            try writer.removeDevice(DeviceID("d0"), reason: "UNREGISTERED")
            #expect(try audience(first, writer) == ["d1", "d2", "d3"])
            try writer.serve(first.messageID)
            try writer.removeDevice(DeviceID("d1"), reason: "UNREGISTERED")
            try writer.removeMembership(of: UserID("u2"), in: topic)
        }
        let connection = try database.connect(.reader)
        for table in ["ended_devices", "ended_memberships"] {
            #expect(try connection.first("SELECT count(*) FROM \(table)") { $0.int(0) } == 0)
        }
        connection.close()
        await store.close()
    }
}
