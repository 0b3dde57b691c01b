import Testing
import TocsinCore
import TocsinStore

/// One row for many deliveries that were never sent: whoever reads deliveries sees them as if each had a row of its own.
@Suite("Runs of messages to members without devices")
struct DevicelessRunTests {
    private let models = TestModels()
    private let topic = TopicID("t1")

    private func run(
        _ numbers: ClosedRange<Int64>,
        _ users: [String] = ["ann", "bob"],
        of topic: String = "t1",
        at time: Int64 = 5
    ) -> DevicelessRun {
        DevicelessRun(
            topicID: TopicID(topic),
            numbers: numbers,
            users: users.map { UserID($0) },
            madeAt: moment(time)
        )
    }

    private func stored(_ message: String, _ device: String, _ status: DeliveryStatus) -> Delivery {
        Delivery(
            id: DeliveryID("\(message)-\(device)"),
            messageID: MessageID(message),
            deviceID: DeviceID(device),
            platform: .ios,
            status: status,
            updatedAt: moment(12)
        )
    }

    /// Messages m1 to m6 of t1 and x1 of t2, and these runs.
    private func prepare(_ store: SQLStore, _ runs: [DevicelessRun]) async throws {
        try await store.insert([models.topic("t1"), models.topic("t2"), models.message("x1", topic: "t2", number: 1)])
        try await store.insert((1...6).map { models.message("m\($0)", topic: "t1", number: $0) })
        try await store.write { writer throws(StoreError) in try writer.save(runs) }
    }

    private func rows(
        _ store: SQLStore,
        _ message: String,
        status: DeliveryStatus? = nil,
        after device: DeviceID? = nil,
        limit: Int = 100
    ) async throws -> [Delivery] {
        try await store.read { reader throws(StoreError) in
            try reader.deliveries(of: MessageID(message), status: status, after: device, limit: limit)
        }
    }

    /// The deliveries that a message would have had, by bytes of their devices' ids.
    private func made(_ message: String, _ users: [String], at time: Int64 = 5) -> [Delivery] {
        users.map { .withoutDevice(MessageID(message), to: UserID($0), at: moment(time)) }
    }

    @Test("a run stands for a delivery of each of its messages to each member", arguments: TestDatabase.available)
    func standing(database: TestDatabase) async throws {
        try await database.withStore { store in
            let rest = [run(1...1, ["zoe"], of: "t2", at: 7), run(6...6, ["cy"], at: 8)]
            try await prepare(store, [run(2...4)] + rest)
            for (message, users, time) in [
                ("m1", [], 0), ("m2", ["ann", "bob"], 5), ("m3", ["ann", "bob"], 5), ("m4", ["ann", "bob"], 5),
                ("m5", [], 0), ("m6", ["cy"], 8), ("x1", ["zoe"], 7), ("absent", [], 0),
            ] as [(String, [String], Int64)] {
                let expected = made(message, users, at: time)
                #expect(try await rows(store, message) == expected, "\(message)")
                #expect(try await rows(store, message, status: .skipped) == expected, "\(message)")
                #expect(try await rows(store, message, status: .accepted).isEmpty, "\(message)")
                let named = try await store.read { reader throws(StoreError) in
                    let devices = ["bob", "cy", "dee"].map { DeviceID.missing(of: UserID($0)) } + [DeviceID("d1")]
                    return try reader.deliveries(of: MessageID(message), to: devices)
                }
                #expect(named == expected.filter { ["bob", "cy"].contains($0.deviceID.userWithoutDevice?.text) })
            }
            let summaries = try await store.read { reader throws(StoreError) in
                try reader.deliverySummaries(of: ["m1", "m2", "m4", "m6", "x1", "absent"].map { MessageID($0) })
            }
            let counts = [MessageID("m2"): 2, MessageID("m4"): 2, MessageID("m6"): 1, MessageID("x1"): 1]
            #expect(summaries == counts.mapValues { DeliverySummary(counts: [.skipped: $0]) })
        }
    }

    @Test(
        "a topic may say that a run is longer than its row does, also one that came from another database",
        arguments: TestDatabase.available
    )
    func longer(database: TestDatabase) async throws {
        let database = try database.make()
        let store = try await SQLStore.open(database, at: moment(0))
        try await prepare(store, [run(1...1, ["zoe"]), run(2...3)])
        let connection = try database.connect(.tool)
        defer { connection.close() }
        try connection.run("UPDATE topics SET run_first = 2, run_last = 5 WHERE id = 't1'")
        func expect(_ last: [String]) async throws {
            for (message, users) in [("m1", ["zoe"]), ("m2", both), ("m4", both), ("m5", both), ("m6", last)] {
                #expect(try await rows(store, message) == made(message, users), "\(message)")
            }
            let summaries = try await store.read { reader throws(StoreError) in
                try reader.deliverySummaries(of: (1...6).map { MessageID("m\($0)") })
            }
            #expect(summaries.values.reduce(0) { $0 + ($1.counts[.skipped] ?? 0) } == 9 + last.count)
        }
        let both = ["ann", "bob"]
        try await expect([])
        let next = run(6...6, ["cy"])
        try await store.write { writer throws(StoreError) in try writer.save([next]) }
        try await expect(["cy"])
        let removed = try await store.write { writer throws(StoreError) in
            try writer.removeRuns(of: [topic], madeBefore: moment(6), limit: 2)
        }
        #expect(removed == 2)
        #expect(try await rows(store, "m2").isEmpty)
        #expect(try await rows(store, "m5").isEmpty)
        #expect(try await rows(store, "m6") == made("m6", ["cy"]))
        await store.close()
    }

    @Test(
        "rows beside a run are in one order with what it stands for, in pages of any size and by state",
        arguments: TestDatabase.available
    )
    func pages(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await prepare(store, [run(1...6)])
            let beside = [
                stored("m2", "a", .accepted), stored("m2", "z", .skipped), stored("m2", "no-device:az", .skipped),
            ]
            try await store.write { writer throws(StoreError) in try writer.save(beside) }
            let expected = ["a", "no-device:ann", "no-device:az", "no-device:bob", "z"]
            for (status, devices) in [(nil, expected), (.skipped, Array(expected.dropFirst()))]
                as [(DeliveryStatus?, [String])]
            {
                for limit in 1...6 {
                    var seen: [String] = []
                    var page: [Delivery] = []
                    repeat {
                        page = try await rows(
                            store,
                            "m2",
                            status: status,
                            after: seen.last.map { DeviceID($0) },
                            limit: limit
                        )
                        seen += page.map(\.deviceID.text)
                    } while page.count == limit && seen.count < 20
                    #expect(seen == devices, "pages of \(limit)")
                }
            }
            let summary = try await store.read { reader throws(StoreError) in
                try reader.deliverySummaries(of: [MessageID("m2")])[MessageID("m2")]
            }
            #expect(summary?.counts == [.accepted: 1, .skipped: 4])
        }
    }

    @Test("any text may be a member's id", arguments: TestDatabase.available)
    func oddUsers(database: TestDatabase) async throws {
        let users = [
            "", "\u{1}\t\n", "\"quoted\"", "[1]", "auth0|1234", "back\\slash\\u0041", "no-device:ann", "{}", "\u{7F}",
            "Grüße", "\u{2028}\u{FFFD}", "名前", "👩‍👩‍👧",
        ]
        .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        try await database.withStore { store in
            try await prepare(store, [run(1...1, users.reversed())])
            #expect(try await rows(store, "m1") == made("m1", users))
            for user in users {
                let found = try await store.read { reader throws(StoreError) in
                    try reader.deliveries(of: MessageID("m1"), to: [.missing(of: UserID(user))])
                }
                #expect(found == made("m1", [user]))
            }
        }
    }

    @Test(
        "a run says nothing of messages that are gone, and is left when messages are pruned",
        arguments: TestDatabase.available
    )
    func pruned(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await prepare(store, [run(1...6)])
            let step = try await store.write { writer throws(StoreError) in
                try writer.prune((1...4).map { MessageID("m\($0)") }, of: topic, limit: 100)
            }
            #expect(step?.messages == 4)
            for number in 1...6 {
                let expected = number > 4 ? made("m\(number)", ["ann", "bob"]) : []
                #expect(try await rows(store, "m\(number)") == expected)
            }
            let summaries = try await store.read { reader throws(StoreError) in
                try reader.deliverySummaries(of: (1...6).map { MessageID("m\($0)") })
            }
            #expect(Set(summaries.keys.map(\.text)) == ["m5", "m6"])
        }
    }

    @Test("runs outlast a restart, and go with their topic", arguments: TestDatabase.available)
    func deletedTopic(database: TestDatabase) async throws {
        let database = try database.make()
        var store = try await SQLStore.open(database, at: moment(0))
        try await prepare(store, [run(1...3), run(1...1, of: "t2")])
        let held = try database.connect(.reader)
        defer { held.close() }
        await store.close()
        store = try await SQLStore.open(database, at: moment(1))
        #expect(try await rows(store, "m3") == made("m3", ["ann", "bob"]))
        let models = models
        try await store.write { writer throws(StoreError) in
            guard var dead = try writer.records(models.topic, ids: ["t1"], where: .always).first else { return }
            (dead["_deleted"], dead["_lastChangedAt"]) = (.bool(true), .int(2))
            try writer.update(dead)
        }
        #expect(try await rows(store, "m3") == made("m3", ["ann", "bob"]))
        let count = "SELECT count(*) FROM deviceless_runs"
        let removed = try await store.write { writer throws(StoreError) in
            try writer.removeTombstones(models.topic, changedBefore: moment(3), limit: 10)
        }
        #expect(removed == 1)
        #expect(try await rows(store, "m3").isEmpty)
        #expect(try held.first(count) { $0.int(0) } == 1)
        await store.close()
    }

    @Test(
        "a number that is given again after messages were taken back by hand holds nobody up",
        arguments: TestDatabase.available
    )
    func takenBack(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await prepare(store, [run(2...4)])
            let again = run(2...3, ["cy"], at: 9)
            try await store.write { writer throws(StoreError) in try writer.save([again]) }
            #expect(try await rows(store, "m3") == made("m3", ["cy"], at: 9))
            #expect(try await rows(store, "m4").isEmpty)
        }
    }

    @Test("runs go by age, a topic's oldest first, in steps of a bounded number", arguments: TestDatabase.available)
    func reaping(database: TestDatabase) async throws {
        let sizes = Collected<Int>()
        let observed = ObservedDatabase(base: try database.make()) { sql, _, connection throws(StoreError) in
            guard sql == "COMMIT" else { return }
            let count = try connection.first("SELECT count(*) FROM deviceless_runs") { Int($0.int(0)) }
            sizes.append([count ?? 0])
        }
        let store = try await SQLStore.open(observed, at: moment(0))
        // More topics than are looked at together; every third has seven old runs, each third one young ones too.
        let topics = (0..<120).map { "topic-\($0)" }
        try await store.insert(topics.map { models.topic($0) })
        var runs: [DevicelessRun] = []
        for (index, topic) in topics.enumerated() where index % 3 != 1 {
            let old = index % 3 == 0 ? 7 : 0
            for number in 0..<Int64(9) {
                runs.append(run(number * 4 + 1...number * 4 + 3, of: topic, at: number < Int64(old) ? number : 2000))
            }
        }
        let all = runs
        try await store.write { writer throws(StoreError) in try writer.save(all) }
        let reaper = DeliveryReaper(
            store: store,
            // A run may have messages of an hour.
            time: StillClock(moment: moment(3_600_000 + 3000)),
            keptSeconds: 1,
            batch: 10
        )
        #expect(try await reaper.runOnce() == 40 * 7)
        #expect(sizes.all.last == all.count - 40 * 7)
        #expect(try await reaper.runOnce() == 0)
        await store.close()
        let steps = zip(sizes.all, sizes.all.dropFirst()).map { $0 - $1 }
        #expect(steps.allSatisfy { $0 <= 10 }, "\(sizes.all)")
    }

    @Test("what a run stands for is not sent again by hand", arguments: TestDatabase.available)
    func redriving(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await prepare(store, [run(1...6)])
            let beside = stored("m2", "d1", .skipped)
            let count = try await store.write { writer throws(StoreError) in
                try writer.save([beside])
                return try writer.redrive(MessageID("m2"), status: .skipped, now: moment(20))
            }
            #expect(count == 1)
            let left = try await rows(store, "m2")
            #expect(left.map(\.status) == [.waiting, .skipped, .skipped])
            #expect(left.dropFirst() == made("m2", ["ann", "bob"])[...])
        }
    }

    @Test("another node hears of what a run stands for, while somebody there listens", arguments: TestDatabase.postgres)
    func nodes(database: TestDatabase) async throws {
        let made = try database.make()
        let one = try await JournalNode(made, named: "one")
        let other = try await JournalNode(made, named: "other")
        try await prepare(one.store, [])
        let (told, run) = (self.made("m3", ["ann", "bob"]), run(1...6))
        for isTold in [false, true] {
            one.journal.tellsDeliveries = isTold
            try await one.store.write { writer throws(StoreError) in
                if isTold { try writer.save([run]) }
                for delivery in told { writer.note(.deliveryChanged(delivery)) }
                writer.note(.outboxFilled)
            }
        }
        #expect(await other.hear(4) == [.outboxFilled] + told.map { .deliveryChanged($0) } + [.outboxFilled])
        await one.stop()
        await other.stop()
    }
}
