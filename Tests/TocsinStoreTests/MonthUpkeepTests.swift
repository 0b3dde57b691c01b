import TestDatabases
import Testing
import TocsinCore
import TocsinStore

/// A month goes as a whole, later than all that is in it, and never with what is needed.
@Suite("Upkeep of months")
struct MonthUpkeepTests {
    private static let january = Timestamp(year: 2027, month: 1)
    /// December is over for thirty days and one.
    private static let due = january.adding(seconds: 31 * MonthStore.day)
    private static let hour = 3600.0

    @Test("months are made ahead, and take what stands in the part for later ids", arguments: TestDatabase.inOneTable)
    func making(database: TestDatabase) async throws {
        try await MonthStore.with(database) { months in
            let march = Timestamp(year: 2027, month: 3)
            let ahead = try await months.publish(at: MonthStore.december, id: MonthStore.id(march, "ahead"))
            #expect(try months.counts()["messages_later"] == 1)
            #expect(try await months.keep(at: MonthStore.december) == 0)
            #expect(try months.counts()["messages_2027_02"] == 0)
            #expect(try months.counts()["messages_2027_03"] == nil)
            _ = try await months.keep(at: Timestamp(year: 2027, month: 5))
            let counts = try months.counts()
            #expect(counts["messages_2027_03"] == 1)
            #expect(counts["messages_2027_07"] == 0)
            #expect(counts["messages_2027_08"] == nil)
            #expect(counts["messages_later"] == 0)
            #expect(try await months.page() == [ahead])
        }
    }

    @Test(
        "a month of which too many are there already is the table they stand in; too many of several are told",
        arguments: TestDatabase.inOneTable
    )
    func crowded(database: TestDatabase) async throws {
        try await MonthStore.with(database) { months in
            let (march, may) = (Timestamp(year: 2027, month: 3), Timestamp(year: 2027, month: 5))
            func crowd(_ month: Timestamp, _ numbers: ClosedRange<Int>) async throws {
                for number in numbers { try await months.publish(at: month, id: MonthStore.id(month, "\(number)")) }
            }
            try await crowd(march, 1...201)
            try await crowd(may, 1...200)
            _ = try await months.keep(at: Self.january)
            var counts = try months.counts()
            #expect(["messages_2027_02", "messages_2027_03", "messages_later"].map { counts[$0] } == [0, 201, 200])
            let made = try await months.publish(at: march, key: "k")
            #expect(try months.counts()["messages_2027_03"] == 202)
            await #expect(throws: StoreError.self, "a key is once in its topic, there too") {
                try await months.publish(at: may, key: "k")
            }
            try await crowd(may, 201...201)
            try await crowd(Timestamp(year: 2027, month: 7), 1...201)
            await #expect { try await months.keep(at: march) } throws: { "\($0)".contains("too many messages") }
            counts = try months.counts()
            #expect([counts["messages_2027_04"], counts["messages_later"]] == [nil, 402])
            #expect(try await months.page(limit: 1000).contains(made))
        }
    }

    @Test(
        "a month is closed once all of it is past the bound, dropped later, and newer ones stay",
        arguments: TestDatabase.inOneTable
    )
    func wholeLife(database: TestDatabase) async throws {
        try await MonthStore.with(database) { months in
            try await months.publish(at: MonthStore.november)
            for hour in 0..<5 { try await months.publish(at: MonthStore.december.adding(seconds: Double(hour) * 3600)) }
            let last = try await months.publish(to: "b", at: Self.january.adding(seconds: -0.001))
            try await months.save(.accepted, of: last)
            let kept = try await months.publish(at: Self.january)
            #expect(try await months.keep(at: Self.due.adding(seconds: -1), days: 30) == 0)
            #expect(try await months.bounds() == [1, 1])
            #expect(try await months.keep(at: Self.due, days: 30) == 0)
            // Closed: what is in it is still there for who read it at an earlier moment; what was before it is not.
            #expect(try await months.bounds() == [7, 8])
            #expect(try await months.bounds("b") == [2, 8])
            var counts = try months.counts()
            #expect([counts["messages_rest"], counts["messages_2026_12"], counts["deliveries"]] == [0, 6, 0])
            #expect(try await months.keep(at: Self.due.adding(seconds: 60), days: 30) == 0)
            #expect(try await months.keep(at: Self.due.adding(seconds: Self.hour), days: 30) == 1)
            counts = try months.counts()
            #expect(counts["messages_2026_12"] == nil)
            #expect(counts["messages"] == 1)
            #expect(try await months.page() == [kept])
            // An id of the time that has gone is a client's, and welcome.
            let late = try await months.publish(at: Self.due, id: MonthStore.id(MonthStore.december, "late"))
            #expect(try months.counts()["messages_earlier"] == 1)
            #expect(try await months.page() == [kept, late])
        }
    }

    @Test("several months go in their order, and the part before them grows", arguments: TestDatabase.inOneTable)
    func several(database: TestDatabase) async throws {
        try await MonthStore.with(database) { months in
            let end = Timestamp(year: 2027, month: 6)
            _ = try await months.keep(at: end)
            for month in [12, 13, 14, 15] {
                let begin = Timestamp(year: 2026 + Int64(month) / 13, month: Int64(month) > 12 ? Int64(month) - 12 : 12)
                try await months.publish(at: begin)
            }
            #expect(try await months.keep(at: end, days: 90) == 0)
            // December, January and February; March is over, but not for ninety days and one.
            #expect(try await months.keep(at: end.adding(seconds: Self.hour), days: 90) == 3)
            #expect(try months.counts()["messages"] == 1)
            #expect(try await months.bounds() == [4, 4])
            try await months.publish(at: end, id: MonthStore.id(Self.january, "late"))
            #expect(try months.counts()["messages_earlier"] == 1)
        }
    }

    enum Need: CaseIterable, Sendable {
        case fanout, delivery, straggler
    }

    @Test(
        "a month stays while something in it, or before it, is on its way",
        arguments: TestDatabase.inOneTable,
        Need.allCases
    )
    func needed(database: TestDatabase, need: Need) async throws {
        try await MonthStore.with(database) { months in
            let before = try await months.publish(at: MonthStore.november)
            let inside = try await months.publish(at: MonthStore.december)
            let message = need == .straggler ? before : inside
            if need == .fanout {
                let fanout = Fanout(messageID: MessageID(message), topicID: TopicID("a"), createdAt: moment(1))
                try await months.store.write { writer throws(StoreError) in try writer.addFanout(fanout) }
            } else {
                try await months.save(.waiting, of: message)
            }
            for hour in 0..<3 {
                #expect(try await months.keep(at: Self.due.adding(seconds: Double(hour) * Self.hour), days: 30) == 0)
            }
            #expect(try await months.page() == [before, inside])
            #expect(try await months.bounds().first == 1)
            try await months.store.write { writer throws(StoreError) in
                for fanout in try writer.claimFanouts(node: "n", now: moment(2), leaseUntil: moment(3), limit: 9) {
                    _ = try writer.conclude(fanout)
                }
                var settled = try writer.deliveries(of: MessageID(message), status: nil, after: nil, limit: 9)
                for index in settled.indices { settled[index].status = .failed }
                try writer.save(settled)
            }
            #expect(try await months.keep(at: Self.due.adding(seconds: 4 * Self.hour), days: 30) == 0)
            #expect(try await months.keep(at: Self.due.adding(seconds: 5 * Self.hour), days: 30) == 1)
            #expect(try months.counts()["messages"] == 0)
        }
    }

    @Test("what comes into a closed month keeps it until its own time is over", arguments: TestDatabase.inOneTable)
    func reopened(database: TestDatabase) async throws {
        try await MonthStore.with(database) { months in
            try await months.publish(at: MonthStore.december)
            #expect(try await months.keep(at: Self.due, days: 30) == 0)
            let late = try await months.publish(at: Self.due, id: MonthStore.id(MonthStore.december, "late"))
            #expect(try await months.keep(at: Self.due.adding(seconds: Self.hour), days: 30) == 0)
            #expect(try await months.bounds() == [2, 2])
            #expect(try await months.page(after: 1) == [late])
            let end = Self.due.adding(seconds: 60 * MonthStore.day)
            #expect(try await months.keep(at: end, days: 30) == 0)
            #expect(try await months.bounds() == [3, 3])
            #expect(try await months.keep(at: end.adding(seconds: Self.hour), days: 30) >= 1)
            #expect(try months.counts()["messages"] == 0)
        }
    }

    @Test("what comes while a month is being closed is not counted to it", arguments: TestDatabase.inOneTable)
    func overtaken(database: TestDatabase) async throws {
        try await MonthStore.with(database) { months in
            for topic in ["a", "b"] { try await months.publish(to: topic, at: MonthStore.december) }
            let late = MonthStore.id(MonthStore.december, "late")
            let connection = try months.database.connect(.tool)
            defer { connection.close() }
            // As another node would, between the looks at the two topics.
            try connection.execute(
                script: """
                    CREATE FUNCTION publish_late() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN
                        INSERT INTO messages (id, topic_id, number, owner, position, made_at)
                            VALUES ('\(late)', 'b', 2, 'u::ann', 3, \(Self.due.milliseconds));
                        RETURN NULL;
                    END $$;
                    CREATE TRIGGER late AFTER UPDATE ON topics FOR EACH ROW
                        WHEN (new.id = 'a' AND new.first_number <> old.first_number) EXECUTE FUNCTION publish_late();
                    """
            )
            for hour in 0..<3 {
                #expect(try await months.keep(at: Self.due.adding(seconds: Double(hour) * Self.hour), days: 30) == 0)
            }
            #expect(try await months.bounds("b") == [2, 3])
            #expect(try await months.page("b").contains(late))
        }
    }

    @Test("what keeps a month for long keeps nothing else of it", arguments: TestDatabase.inOneTable)
    func held(database: TestDatabase) async throws {
        try await MonthStore.with(database) { months in
            for _ in 0..<3 { try await months.publish(at: MonthStore.december) }
            // A client's, whose clock is behind: without it the month would go.
            let late = try await months.publish(to: "b", at: Self.due, id: MonthStore.id(MonthStore.december, "late"))
            func prune(_ days: Double) async throws -> Int {
                let clock = MonthStore.Clock(moment: Self.due.adding(seconds: days * MonthStore.day))
                let retention = MessageRetention(keptSeconds: 30 * MonthStore.day)
                return try await MessageReaper(store: months.store, time: clock, retention: retention).runOnce()
            }
            #expect(try await months.keep(at: Self.due, days: 30) == 0)
            #expect(try await prune(6) == 0)
            #expect(try await prune(7) == 3)
            #expect(try await months.page("a").isEmpty)
            #expect(try await months.page("b") == [late])
            #expect(try await months.bounds("a") == [4, 4])
        }
    }

    @Test(
        "by age, rows of a month wait for it; by count they go, and an empty month with them",
        arguments: TestDatabase.inOneTable
    )
    func rows(database: TestDatabase) async throws {
        try await MonthStore.with(database) { months in
            let old = try await months.publish(at: MonthStore.november)
            for _ in 0..<3 { try await months.publish(at: MonthStore.december) }
            let kept = try await months.publish(at: Self.january)
            func prune(_ retention: MessageRetention) async throws -> Int {
                let clock = MonthStore.Clock(moment: Self.january.adding(seconds: 20 * MonthStore.day))
                return try await MessageReaper(store: months.store, time: clock, retention: retention).runOnce()
            }
            #expect(try await prune(MessageRetention(keptSeconds: 15 * MonthStore.day)) == 1)
            #expect(try await !months.page().contains(old))
            #expect(try await prune(MessageRetention(keptPerTopic: 1)) == 3)
            #expect(try await months.page() == [kept])
            #expect(try await months.keep(at: Self.january) == 0)
            #expect(try await months.keep(at: Self.january.adding(seconds: 2 * MonthStore.day)) == 0)
            #expect(try await months.keep(at: Self.january.adding(seconds: 3 * MonthStore.day)) == 1)
            #expect(try await months.page() == [kept])
        }
    }

    @Test("nodes that make months at the same time get along, and so do writes", arguments: TestDatabase.inOneTable)
    func together(database: TestDatabase) async throws {
        try await MonthStore.with(database) { months in
            let other = try await SQLStore.open(months.database, at: moment(0))
            let twin = MonthStore(database: months.database, store: other)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<40 {
                    for (node, topic) in [(months, "a"), (twin, "b")] {
                        let begin = Timestamp(year: 2027, month: 1 + Int64(index % 6))
                        let (id, key) = (MonthStore.id(begin, "\(topic)\(index)"), "k\(index)")
                        group.addTask { try await node.publish(to: topic, at: begin, id: id, key: key) }
                    }
                    guard index % 10 == 0 else { continue }
                    for node in [months, twin] {
                        let end = Timestamp(year: 2027, month: 3 + Int64(index / 10))
                        group.addTask { _ = try await node.keep(at: end) }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await months.page("a").count == 40)
            #expect(try await months.page("b").count == 40)
            #expect(try months.counts()["messages_2027_06"] ?? 0 > 0)
            await other.close()
        }
    }

    @Test("while an export reads, no month is dropped, and writes go on", arguments: TestDatabase.inOneTable)
    func export(database: TestDatabase) async throws {
        try await MonthStore.with(database) { months in
            let old = try await months.publish(at: MonthStore.december)
            #expect(try await months.keep(at: Self.due, days: 30) == 0)
            let snapshot = try DataSnapshot(of: months.database)
            let later = Self.due.adding(seconds: Self.hour)
            await #expect(throws: ServiceError.self) { try await months.keep(at: later, days: 30) }
            try await months.publish(at: Self.january)
            let table = try #require(MovedTable.named("messages"))
            let columns = try snapshot.columns(of: table)
            let rows = try snapshot.rows(of: table, columns, after: nil, limit: 9)
            #expect(rows.map(\.first) == [.text(old)])
            snapshot.close()
            #expect(try await months.keep(at: later, days: 30) == 1)
        }
    }
}
