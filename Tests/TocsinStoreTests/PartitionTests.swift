import Testing
import TocsinCore
import TocsinStore

@Suite("Parts of the ledger by time")
struct PartitionTests {
    private let models = TestModels()
    private static let day: Int64 = 86_400_000
    /// The first day of a span of seven.
    static let start = 2900 * 7 * day

    @Test("a part's bounds are the lowest ids made at its ends, and its name says them")
    func names() throws {
        let part = DeliveryPartition(span: 0x01A1_FFB3_EE64..<0x01A2_0000_0000)
        #expect(part.name == "deliveries_01a1ffb3ee64_01a200000000")
        #expect(DeliveryPartition(name: part.name) == part)
        #expect(DeliveryPartition.identifier(at: part.span.lowerBound) == "01a1ffb3-ee64")
        for name in ["deliveries_rest", "deliveries_1_2", "deliveries", "x", "deliveries_01a200000000_01a1ffb3ee64"] {
            #expect(DeliveryPartition(name: name) == nil)
        }
    }

    @Test(
        "parts follow one another without a hole up to the second span ahead, whatever their spans were",
        arguments: [1, 7, 30]
    )
    func missing(days: Int) {
        let now = Self.start + 3 * Self.day
        let fresh = DeliveryPartition.missing(at: now, days: days, known: [])
        #expect(fresh.count == 3)
        #expect(fresh[0].span.contains(now))
        #expect(zip(fresh, fresh.dropFirst()).allSatisfy { $0.span.upperBound == $1.span.lowerBound })
        #expect(DeliveryPartition.missing(at: now, days: days, known: fresh).isEmpty)
        let later = DeliveryPartition.missing(at: now + Int64(days) * Self.day, days: days, known: fresh)
        #expect(later.map(\.span.lowerBound) == [fresh[2].span.upperBound])
        let other = DeliveryPartition.missing(at: now, days: 9, known: Array(fresh.prefix(1)))
        #expect(other.first.map { $0.span.lowerBound } == fresh[0].span.upperBound)
    }

    /// The parts of a PostgreSQL database, and how many deliveries each has.
    private func parts(_ database: any SQLDatabase) throws -> [String: Int] {
        let connection = try database.connect(.tool)
        defer { connection.close() }
        let names = try connection.all(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'deliveries'::regclass"
        ) { $0.text(0) }
        var counts: [String: Int] = [:]
        for name in names {
            counts[name] = try connection.first("SELECT count(*) FROM \(name)") { Int($0.int(0)) }
        }
        return counts
    }

    private func reap(_ store: SQLStore, on day: Int64) async throws -> Int {
        let clock = StillClock(moment: moment(Self.start + day * Self.day))
        return try await DeliveryReaper(store: store, time: clock, keptSeconds: 7 * 86_400).runOnce()
    }

    /// A message made on a day, by the server or with an id of a client's,
    /// and a delivery of that day.
    private func deliver(_ id: String?, on day: Int64, _ status: DeliveryStatus, to store: SQLStore) async throws
        -> String
    {
        let made = Self.start + day * Self.day
        let id = id ?? DeliveryPartition.identifier(at: made) + "-7000-8000-\(day)"
        var delivery = Delivery(
            id: DeliveryID(id),
            messageID: MessageID(id),
            deviceID: DeviceID("d"),
            platform: .ios,
            status: status,
            updatedAt: moment(made)
        )
        if status == .waiting { delivery.nextAttemptAt = moment(made) }
        let (row, models) = (delivery, models)
        try await store.write { writer throws(StoreError) in
            try writer.create(models.message(id, topic: "t"))
            try writer.save([row])
        }
        return id
    }

    @Test("parts are made ahead, take what is made in their time, and go as a whole", arguments: TestDatabase.postgres)
    func wholeLife(database: TestDatabase) async throws {
        let database = try database.make()
        let store = try await SQLStore.open(database, at: moment(0))
        try await store.insert([models.topic("t")])
        _ = try await reap(store, on: 0)
        #expect(try parts(database).values.sorted() == [0, 0, 0, 0])
        for day: Int64 in [1, 3, 8] { _ = try await deliver(nil, on: day, .accepted, to: store) }
        _ = try await deliver("chosen-by-a-client", on: 1, .accepted, to: store)
        #expect(try parts(database).values.sorted() == [0, 1, 1, 2])
        // The first span ended on day 7; on day 13 some of it is not over, on day 15 all is.
        #expect(try await reap(store, on: 9) == 1)
        #expect(try await reap(store, on: 13) == 0)
        #expect(try parts(database).values.sorted() == [0, 0, 0, 1, 2])
        #expect(try await reap(store, on: 15) == 0)
        #expect(try parts(database).values.sorted() == [0, 0, 0, 0, 1])
        await store.close()
    }

    @Test("a part in which something is open or on its way stays", arguments: TestDatabase.postgres, [true, false])
    func needed(database: TestDatabase, isFanningOut: Bool) async throws {
        let database = try database.make()
        let store = try await SQLStore.open(database, at: moment(0))
        try await store.insert([models.topic("t")])
        _ = try await reap(store, on: 0)
        let id = try await deliver(nil, on: 1, isFanningOut ? .accepted : .waiting, to: store)
        if isFanningOut {
            let fanout = Fanout(messageID: MessageID(id), topicID: TopicID("t"), createdAt: moment(1))
            try await store.write { writer throws(StoreError) in try writer.addFanouts([fanout]) }
        }
        _ = try await reap(store, on: 40)
        #expect(try parts(database).values.reduce(0, +) == 1)
        let settled = try await store.write { writer throws(StoreError) in
            for fanout in try writer.claimFanouts(node: "n", now: moment(2), leaseUntil: moment(3), limit: 9) {
                _ = try writer.conclude(fanout)
            }
            var settled = try writer.deliveries(of: MessageID(id), status: nil, after: nil, limit: 9)
            for index in settled.indices { settled[index].status = .failed }
            try writer.save(settled)
            return settled.count
        }
        #expect(settled == 1)
        _ = try await reap(store, on: 41)
        #expect(try parts(database).values.reduce(0, +) == 0)
        await store.close()
    }

    @Test(
        "what stands in the rest already keeps its span there, and later spans get parts",
        arguments: TestDatabase.postgres
    )
    func rest(database: TestDatabase) async throws {
        let database = try database.make()
        let store = try await SQLStore.open(database, at: moment(0))
        try await store.insert([models.topic("t")])
        // Imported, say, before the server made its first parts.
        _ = try await deliver(nil, on: 1, .accepted, to: store)
        _ = try await reap(store, on: 2)
        #expect(try parts(database)["deliveries_rest"] == 1)
        #expect(try parts(database).count == 3)
        #expect(try await reap(store, on: 9) == 1)
        await store.close()
    }

    @Test("nodes that make parts at the same time get along", arguments: TestDatabase.postgres)
    func several(database: TestDatabase) async throws {
        let database = try database.make()
        var stores: [SQLStore] = []
        for _ in 0..<3 { stores.append(try await SQLStore.open(database, at: moment(0))) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores { group.addTask { _ = try await reap(store, on: 0) } }
            try await group.waitForAll()
        }
        #expect(try parts(database).count == 4)
        for store in stores { await store.close() }
    }

    @Test("while a long read holds the ledger, upkeep gives up and writes go on", arguments: TestDatabase.postgres)
    func longRead(database: TestDatabase) async throws {
        let database = try database.make()
        let (keeper, other) = (
            try await SQLStore.open(database, at: moment(0)), try await SQLStore.open(database, at: moment(0))
        )
        let held = try database.connect(.tool)
        defer { held.close() }
        // Its session would be ended for doing nothing, and then upkeep would have waited it out.
        try held.run("SET idle_in_transaction_session_timeout = '60s'")
        try held.run("BEGIN")
        _ = try held.all("SELECT 1 FROM deliveries") { $0.int(0) }
        let upkeep = Task { try? await reap(keeper, on: 0) }
        for topic in 0..<20 { try await other.insert([models.topic("t\(topic)")]) }
        _ = await upkeep.value
        try await keeper.insert([models.topic("own")])
        #expect(
            try held.all("SELECT count(*) FROM pg_inherits WHERE inhparent = 'deliveries'::regclass") { $0.int(0) } == [
                1
            ]
        )
        try held.run("COMMIT")
        _ = try await reap(keeper, on: 0)
        #expect(try parts(database).count == 4)
        await keeper.close()
        await other.close()
    }
}
