import Testing
import TocsinCore
import TocsinStore

/// One row for many deliveries that were never sent, as older versions wrote it: whoever reads
/// deliveries sees them as if each had a row of its own.
@Suite("Runs of messages to members without devices, of older versions")
struct OlderRunTests {
    private let models = TestModels()

    /// A row of `deviceless_runs`.
    private struct Run {
        var topic = "t1"
        var numbers: ClosedRange<Int64>
        var users = ["ann", "bob"]
        var madeAt: Int64 = 5
    }

    /// Messages m1 to m6 of t1 and x1 of t2, and these runs.
    private func prepare(_ database: any SQLDatabase, _ store: SQLStore, _ runs: [Run]) async throws {
        try await store.insert([models.topic("t1"), models.topic("t2"), models.message("x1", topic: "t2", number: 1)])
        try await store.insert((1...6).map { models.message("m\($0)", topic: "t1", number: $0) })
        try write(runs, to: database)
    }

    private func write(_ runs: [Run], to database: any SQLDatabase) throws {
        let connection = try database.connect(.tool)
        defer { connection.close() }
        for run in runs {
            try connection.run(
                """
                INSERT INTO deviceless_runs (topic_id, first_number, last_number, users, made_at)
                VALUES ($1, $2, $3, $4, $5)
                """,
                [
                    .text(run.topic), .int(run.numbers.lowerBound), .int(run.numbers.upperBound),
                    .text("[" + run.users.map { "\"\($0)\"" }.joined(separator: ",") + "]"), .int(run.madeAt),
                ]
            )
        }
    }

    private func withStore(
        _ database: TestDatabase,
        _ runs: [Run],
        _ body: (SQLStore, any SQLDatabase) async throws -> Void
    ) async throws {
        let made = try database.make()
        let store = try await SQLStore.open(made, at: moment(0))
        do {
            try await prepare(made, store, runs)
            try await body(store, made)
        } catch {
            await store.close()
            throw error
        }
        await store.close()
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
        let runs = [
            Run(numbers: 2...4), Run(topic: "t2", numbers: 1...1, users: ["zoe"], madeAt: 7),
            Run(numbers: 6...6, users: ["cy"], madeAt: 8),
        ]
        try await withStore(database, runs) { store, _ in
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

    @Test("a topic may say that its last run is longer than the run's row does", arguments: TestDatabase.available)
    func longer(database: TestDatabase) async throws {
        let runs = [Run(numbers: 1...1, users: ["zoe"]), Run(numbers: 2...3)]
        try await withStore(database, runs) { store, database in
            let connection = try database.connect(.tool)
            try connection.run("UPDATE topics SET run_first = 2, run_last = 5 WHERE id = 't1'")
            connection.close()
            let both = ["ann", "bob"]
            for (message, users) in [("m1", ["zoe"]), ("m2", both), ("m4", both), ("m5", both), ("m6", [])] {
                #expect(try await rows(store, message) == made(message, users), "\(message)")
            }
        }
    }

    @Test(
        "rows beside a run are in one order with what it stands for, in pages of any size and by state",
        arguments: TestDatabase.available
    )
    func pages(database: TestDatabase) async throws {
        func stored(_ device: String, _ status: DeliveryStatus) -> Delivery {
            Delivery(
                id: DeliveryID("m2-\(device)"),
                messageID: MessageID("m2"),
                deviceID: DeviceID(device),
                platform: .ios,
                status: status,
                updatedAt: moment(12)
            )
        }
        try await withStore(database, [Run(numbers: 1...6)]) { store, _ in
            let beside = [stored("a", .accepted), stored("z", .skipped), stored("no-device:az", .skipped)]
            try await store.write { writer throws(StoreError) in try writer.save(beside) }
            let expected = ["a", "no-device:ann", "no-device:az", "no-device:bob", "z"]
            for (status, devices) in [(nil, expected), (.skipped, Array(expected.dropFirst()))]
                as [(DeliveryStatus?, [String])]
            {
                for limit in 1...6 {
                    var seen: [String] = []
                    var page: [Delivery] = []
                    repeat {
                        let last = seen.last.map { DeviceID($0) }
                        page = try await rows(store, "m2", status: status, after: last, limit: limit)
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

    @Test("runs go by age, in steps of a bounded number", arguments: TestDatabase.available)
    func reaping(database: TestDatabase) async throws {
        let sizes = Collected<Int>()
        let made = try database.make()
        let observed = ObservedDatabase(base: made) { sql, _, connection throws(StoreError) in
            guard sql == "COMMIT" else { return }
            let count = try connection.first("SELECT count(*) FROM deviceless_runs") { Int($0.int(0)) }
            sizes.append([count ?? 0])
        }
        let store = try await SQLStore.open(observed, at: moment(0))
        let topics = (0..<8).map { "topic-\($0)" }
        try await store.insert(topics.map { models.topic($0) })
        var runs: [Run] = []
        for topic in topics {
            for number in 0..<Int64(9) {
                let first = number * 4 + 1
                runs.append(Run(topic: topic, numbers: first...(first + 2), madeAt: number < 7 ? number : 2000))
            }
        }
        try write(runs, to: made)
        // A run may have messages of an hour.
        let clock = StillClock(moment: moment(3_600_000 + 3000))
        let reaper = DeliveryReaper(store: store, time: clock, keptSeconds: 1, batch: 10)
        #expect(try await reaper.runOnce() == 8 * 7)
        #expect(sizes.all.last == 8 * 2)
        #expect(try await reaper.runOnce() == 0)
        await store.close()
        let steps = zip(sizes.all, sizes.all.dropFirst()).map { $0 - $1 }
        #expect(steps.allSatisfy { $0 <= 10 }, "\(sizes.all)")
    }
}
