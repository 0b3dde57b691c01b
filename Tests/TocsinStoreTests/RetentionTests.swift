import Testing
import TocsinCore
import TocsinStore

/// What is kept is always the last numbers of a topic, and the bounds of topics
/// and feeds say from where.
@Suite("Retention of messages")
struct RetentionTests {
    private let models = TestModels()

    private func reaper(
        _ store: SQLStore,
        now: Int64,
        keptSeconds: Double? = nil,
        perTopic: Int? = nil,
        batch: Int = 3
    ) -> MessageReaper {
        MessageReaper(
            store: store,
            time: StillClock(moment: moment(now)),
            retention: MessageRetention(keptSeconds: keptSeconds, keptPerTopic: perTopic),
            batch: batch
        )
    }

    /// Publishes to these topics in turn, a message a second from second 1
    /// on; ids are `topic-number`.
    private func publish(
        _ topics: [String],
        times: Int,
        to store: SQLStore,
        owner: String = "u::ann"
    ) async throws {
        let models = models
        try await store.write { writer throws(StoreError) in
            for second in 0..<times {
                let topic = topics[second % topics.count]
                let number = (try writer.feedBounds(of: TopicID(topic))?.last ?? 0) + 1
                var record = models.message("\(topic)-\(number)", topic: topic)
                record["owner"] = .text(owner)
                record[ModelType.makingTime] = .int(Int64(second + 1) * 1000)
                try writer.create(record)
            }
        }
    }

    private func kept(_ store: SQLStore) async throws -> [String] {
        try await store.page(ModelQuery(model: models.message, predicate: .always, order: [], limit: 1000)).map(\.id)
            .sorted()
    }

    private func bounds(_ store: SQLStore, _ topic: String = "a") async throws -> (topic: Int64?, owner: Int64) {
        try await store.read { reader throws(StoreError) in
            (try reader.feedBounds(of: TopicID(topic))?.first, try reader.feedBounds(of: "u::ann").first)
        }
    }

    private func delivery(_ message: String, _ device: Int, _ status: DeliveryStatus) -> Delivery {
        Delivery(
            id: DeliveryID("\(message)-\(device)"),
            messageID: MessageID(message),
            deviceID: DeviceID("device-\(device)"),
            platform: .ios,
            status: status,
            updatedAt: moment(1)
        )
    }

    @Test("without a limit nothing goes", arguments: TestDatabase.available)
    func unlimited(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await store.insert([models.topic("a")])
            try await publish(["a"], times: 5, to: store)
            #expect(try await reaper(store, now: 1_000_000).runOnce() == 0)
            #expect(try await kept(store).count == 5)
            #expect(try await bounds(store) == (1, 1))
        }
    }

    @Test("messages older than the limit go, in more batches than one", arguments: TestDatabase.available)
    func age(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await store.insert([models.topic("a")])
            try await publish(["a"], times: 9, to: store)
            // Made at second 1 to 9; at second 10 those of second 7 and
            // later are no older than 3 s.
            #expect(try await reaper(store, now: 10_000, keptSeconds: 3).runOnce() == 6)
            #expect(try await kept(store) == ["a-7", "a-8", "a-9"])
            #expect(try await bounds(store) == (7, 7))
            #expect(try await reaper(store, now: 10_000, keptSeconds: 3).runOnce() == 0)
        }
    }

    @Test(
        "all but the last of each topic go; an owner's feed begins behind the last that went",
        arguments: TestDatabase.available
    )
    func count(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await store.insert([models.topic("a"), models.topic("b")])
            // Positions 1, 3, 5… are those of a, 2, 4, 6… those of b; then a alone has 13 to 16.
            try await publish(["a", "b"], times: 12, to: store)
            try await publish(["a"], times: 4, to: store)
            #expect(try await reaper(store, now: 0, perTopic: 4).runOnce() == 8)
            #expect(try await kept(store) == ["a-10", "a-7", "a-8", "a-9", "b-3", "b-4", "b-5", "b-6"])
            #expect(try await bounds(store, "a") == (7, 12))
            #expect(try await bounds(store, "b").topic == 3)
        }
    }

    @Test("whichever limit leaves a message out removes it", arguments: [(10.0, 2), (1.0, 10)])
    func both(seconds: Double, count: Int) async throws {
        try await TestDatabase.sqlite[0].withStore { store in
            try await store.insert([models.topic("a")])
            try await publish(["a"], times: 9, to: store)
            let removed = try await reaper(store, now: 9000, keptSeconds: seconds, perTopic: count).runOnce()
            #expect(removed == 7)
            #expect(try await kept(store) == ["a-8", "a-9"])
        }
    }

    @Test(
        "a message on its way to somebody stays, and so do all after it, until it has arrived",
        arguments: TestDatabase.available,
        [DeliveryStatus.waiting, .sending, nil]
    )
    func underWay(database: TestDatabase, status: DeliveryStatus?) async throws {
        try await database.withStore { store in
            try await store.insert([models.topic("a"), models.topic("b")])
            try await publish(["a", "b"], times: 12, to: store)
            let open = status.map { delivery("a-3", 1, $0) }
            let fanout = Fanout(messageID: MessageID("a-3"), topicID: TopicID("a"), createdAt: moment(1))
            try await store.write { writer throws(StoreError) in
                if let open { try writer.save([open]) } else { try writer.addFanouts([fanout]) }
            }
            #expect(try await reaper(store, now: 0, perTopic: 1).runOnce() == 2 + 5)
            #expect(try await kept(store) == ["a-3", "a-4", "a-5", "a-6", "b-6"])
            #expect(try await bounds(store) == (3, 11))
            let settled = delivery("a-3", 1, .accepted)
            try await store.write { writer throws(StoreError) in
                if open != nil { try writer.save([settled]) }
                let held = try writer.claimFanouts(node: "n", now: moment(2), leaseUntil: moment(3), limit: 9)
                for fanout in held { _ = try writer.conclude(fanout) }
            }
            #expect(try await reaper(store, now: 0, perTopic: 1).runOnce() == 3)
            #expect(try await kept(store) == ["a-6", "b-6"])
        }
    }

    @Test(
        "settled deliveries go with their message, no transaction removing more rows than it may",
        arguments: TestDatabase.available
    )
    func deliveries(database: TestDatabase) async throws {
        let sizes = Collected<Int>()
        let database = ObservedDatabase(base: try database.make()) {
            sql,
            _,
            connection throws(StoreError) in
            guard sql == "COMMIT" else { return }
            let rows = try connection.first(
                "SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM messages)"
            ) {
                Int($0.int(0))
            }
            sizes.append([rows ?? 0])
        }
        let store = try await SQLStore.open(database, at: moment(0))
        try await store.insert([models.topic("a")])
        try await publish(["a"], times: 5, to: store)
        let ledger = (1...5).flatMap { number in
            (0..<[0, 20, 1, 3, 2][number - 1]).map { delivery("a-\(number)", $0, .accepted) }
        }
        try await store.write { writer throws(StoreError) in try writer.save(ledger) }
        let removed = try await reaper(store, now: 0, perTopic: 1, batch: 4).runOnce()
        #expect(removed == 4)
        let left = try await store.read { reader throws(StoreError) in
            try reader.deliverySummaries(of: (1...5).map { MessageID("a-\($0)") })
        }
        #expect(left.keys.map(\.text) == ["a-5"])
        await store.close()
        let steps = zip(sizes.all, sizes.all.dropFirst()).map { $0 - $1 }
        #expect(steps.allSatisfy { $0 <= 4 }, "\(sizes.all)")
        #expect(sizes.all.last == 1 + 2)
    }

    @Test("each owner's feed begins behind the last of theirs that went", arguments: TestDatabase.available)
    func owners(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await store.insert([models.topic("a")])
            try await publish(["a"], times: 3, to: store)
            try await publish(["a"], times: 3, to: store, owner: "u::bob")
            #expect(try await reaper(store, now: 0, perTopic: 1, batch: 10).runOnce() == 5)
            #expect(try await bounds(store) == (6, 4))
            let others = try await store.read { reader throws(StoreError) in try reader.feedBounds(of: "u::bob") }
            #expect(others.first == 3)
        }
    }

    @Test("messages whose topic is gone, or which belong to nobody, go like others", arguments: TestDatabase.available)
    func orphans(database: TestDatabase) async throws {
        try await database.withStore { store in
            var topic = models.topic("gone")
            try await store.insert([topic])
            try await publish(["gone"], times: 5, to: store)
            topic["_deleted"] = .bool(true)
            let (deleted, models) = (topic, models)
            try await store.write { writer throws(StoreError) in
                try writer.update(deleted)
                _ = try writer.removeTombstones(models.topic, changedBefore: moment(9), limit: 1)
            }
            var nobody = models.message("nobody", topic: "void", number: 1)
            (nobody["owner"], nobody[ModelType.makingTime]) = (.null, .int(1))
            try await store.insert([nobody])
            #expect(try await reaper(store, now: 9000, keptSeconds: 5).runOnce() == 4)
            #expect(try await kept(store) == ["gone-4", "gone-5"])
            #expect(try await bounds(store) == (nil, 4))
        }
    }

    @Test("while one node prunes, others leave it to that one", arguments: TestDatabase.postgres)
    func turns(database: TestDatabase) async throws {
        let database = try database.make()
        let store = try await SQLStore.open(database, at: moment(0))
        try await store.insert([models.topic("a")])
        try await publish(["a"], times: 6, to: store)
        let other = try database.connect(.tool)
        try other.run("BEGIN")
        // The lock of `Dialect.pruningTurn`.
        try other.run("SELECT pg_advisory_xact_lock(7401003)")
        #expect(try await reaper(store, now: 0, perTopic: 2).runOnce() == 0)
        try other.run("ROLLBACK")
        other.close()
        #expect(try await reaper(store, now: 0, perTopic: 2).runOnce() == 4)
        await store.close()
    }

    @Test("what is no longer kept is not unread")
    func unread() async throws {
        try await TestDatabase.sqlite[0].withStore { store in
            try await store.insert([models.topic("a")])
            try await publish(["a"], times: 10, to: store)
            let membership = Membership(topicID: TopicID("a"), userID: UserID("ann"), push: true, createdAt: moment(0))
            try await store.write { writer throws(StoreError) in
                try writer.save(membership)
                try writer.markRead(TopicID("a"), upTo: 2, by: UserID("ann"), now: moment(1))
            }
            func unread() async throws -> [Int64] {
                try await store.read { reader throws(StoreError) in
                    try reader.readMarks(of: UserID("ann")).map(\.unread)
                }
            }
            #expect(try await unread() == [8])
            #expect(try await reaper(store, now: 0, perTopic: 3).runOnce() == 7)
            #expect(try await unread() == [3])
        }
    }

    @Test(
        "whatever is published, under way and pruned, the rest has no holes and begins where the bounds say",
        arguments: TestDatabase.available,
        1...8
    )
    func random(database: TestDatabase, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await database.withStore { store in
            let topics = ["a", "b", "c"]
            try await store.insert(topics.map { models.topic($0) })
            var published = 0
            for round in 0..<12 {
                let some = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                    topics.randomElement(using: &random) ?? "a"
                }
                try await publish(some, times: some.count, to: store)
                published += some.count
                if let id = try await kept(store).randomElement(using: &random) {
                    let status: DeliveryStatus = Bool.random(using: &random) ? .waiting : .accepted
                    let row = delivery(id, round, status)
                    try await store.write { writer throws(StoreError) in try writer.save([row]) }
                }
                let count = Int.random(in: 1...6, using: &random)
                let batch = Int.random(in: 1...4, using: &random)
                _ = try await reaper(store, now: 0, perTopic: count, batch: batch).runOnce()
                let query = ModelQuery(model: models.message, predicate: .always, order: [], limit: 1000)
                let records = try await store.page(query)
                for topic in topics {
                    let numbers = records.filter { $0["topicId"].text == topic }.compactMap { $0["number"].int }
                        .sorted()
                    let found = try await store.read { reader throws(StoreError) in
                        try reader.feedBounds(of: TopicID(topic))
                    }
                    let bounds = try #require(found)
                    #expect(numbers == Array(bounds.first..<bounds.last + 1), "seed \(seed), round \(round)")
                }
                let first = try await bounds(store).owner
                let positions = Set(records.compactMap(\.feedPosition))
                #expect(positions.isSuperset(of: first..<Int64(published) + 1), "seed \(seed), round \(round)")
            }
        }
    }
}
