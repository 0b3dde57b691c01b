import TestDatabases
import Testing
import TocsinCore
import TocsinStore

@Suite("Messages in months")
struct MonthTests {
    private let models = TestModels()

    @Test("months follow one another without a hole, through leap years and ends of years")
    func calendar() {
        var month = MessageMonth(of: moment(0))
        #expect(month.name == "messages_1970_01")
        for _ in 0..<2400 {
            #expect(MessageMonth(of: month.start) == month)
            #expect(MessageMonth(of: month.start.adding(seconds: -0.001)) < month)
            #expect(MessageMonth(of: month.next.start.adding(seconds: -0.001)) == month)
            #expect(
                (28...31).contains(month.start.milliseconds.distance(to: month.next.start.milliseconds) / 86_400_000)
            )
            month = month.next
        }
        #expect(month.name == "messages_2170_01")
        #expect(MonthStore.december.iso8601 == "2026-12-01T00:00:00.000Z")
    }

    @Test("a month is known by its name, and other names are no months")
    func names() {
        #expect(MessageMonth(name: "messages_2026_12")?.start == MonthStore.december)
        for name in ["messages_rest", "messages_2026_13", "messages_2026_1", "messages_2026_00", "deliveries_2026_12"] {
            #expect(MessageMonth(name: name) == nil, "\(name)")
        }
    }

    @Test("SQLite says that it has no months, and goes on", arguments: TestDatabase.sqlite)
    func sqlite(database: TestDatabase) async throws {
        try await database.withStore { store in
            await #expect {
                try await store.write { writer throws(StoreError) in
                    _ = try writer.standInMonths(at: MonthStore.november)
                }
            } throws: { "\($0)".contains("only PostgreSQL") }
            try await store.insert([models.topic("a")])
            let keeper = MonthKeeper(
                store: store,
                time: MonthStore.Clock(moment: MonthStore.november),
                retention: MessageRetention(keptSeconds: 1)
            )
            #expect(try await keeper.runOnce() == 0)
        }
    }

    @Test(
        "what is there stays, each row in its part, and to say it twice changes nothing",
        arguments: TestDatabase.inOneTable
    )
    func conversion(database: TestDatabase) async throws {
        try await MonthStore.with(database, isConverted: false) { months in
            let old = try await months.publish(at: MonthStore.november)
            let chosen = try await months.publish(at: MonthStore.november, id: "chosen by a client")
            // A client whose clock is ahead.
            let early = try await months.publish(at: MonthStore.november, id: MonthStore.id(MonthStore.december))
            try await months.save(.accepted, of: old)
            #expect(try await months.convert() == MessageMonth(of: MonthStore.december))
            #expect(try await months.convert() == nil)
            #expect(
                try months.counts() == [
                    "messages": 3, "messages_rest": 2, "messages_2026_12": 1, "messages_2027_01": 0,
                    "messages_later": 0, "deliveries": 1, "fanouts": 0,
                ]
            )
            #expect(try await months.page() == [old, chosen, early])
            let next = try await months.publish(at: MonthStore.december.adding(seconds: 1))
            #expect(try await months.page(after: 2) == [early, next])
            #expect(try months.counts()["messages_2026_12"] == 2)
        }
    }

    @Test("indexes that a schema asks for are made and dropped on all parts", arguments: TestDatabase.inOneTable)
    func indexes(database: TestDatabase) async throws {
        try await MonthStore.with(database, isConverted: false) { months in
            let model = TestModels.model(
                "Message",
                [("topicId", .text), ("number", .int), ("severity", .text)],
                indexes: [
                    ModelIndex(name: "bySeverity", partitionField: "severity", sortFields: [], queryField: "bySeverity")
                ]
            )
            let (store, plain) = (months.store, models.message)
            func prepare(_ model: ModelType) async throws -> Int {
                try await store.write { writer throws(StoreError) in try writer.prepareIndexes(of: [model]).count }
            }
            #expect(try await prepare(model) == 1)
            _ = try await months.convert()
            #expect(try await prepare(model) == 0)
            #expect(try await prepare(plain) == 0)
            #expect(try await prepare(model) == 1)
            let connection = try months.database.connect(.tool)
            defer { connection.close() }
            let count = """
                SELECT count(*) FROM pg_index AS i WHERE i.indrelid = 'messages_2026_12'::regclass
                    AND pg_get_indexdef(i.indexrelid) LIKE '%severity%'
                """
            #expect(try connection.first(count) { $0.int(0) } == 1)
        }
    }

    @Test(
        "stores that have their statements prepared go on, and lose nothing meanwhile",
        arguments: TestDatabase.inOneTable
    )
    func running(database: TestDatabase) async throws {
        try await MonthStore.with(database, isConverted: false) { months in
            let other = try await SQLStore.open(months.database, at: moment(0))
            let count = 60
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<count {
                    for (node, topic) in [(months.store, "a"), (other, "b"), (other, "a")] {
                        group.addTask {
                            try await months.publish(
                                to: topic,
                                at: MonthStore.november,
                                id: "\(topic)-\(index)-\(node === other)",
                                from: node
                            )
                            _ = try await months.page(topic)
                        }
                    }
                    if index == count / 2 { group.addTask { _ = try await months.convert() } }
                }
                try await group.waitForAll()
            }
            #expect(try await months.page("a", limit: 1000).count == 2 * count)
            #expect(try await months.page("b").count == count)
            #expect(try months.counts()["messages_rest"] == Int64(3 * count))
            await other.close()
        }
    }

    @Test("a key is once in its topic, whichever parts the messages stand in", arguments: TestDatabase.inOneTable)
    func keys(database: TestDatabase) async throws {
        try await MonthStore.with(database) { months in
            try await months.publish(at: MonthStore.november, key: "k")
            await #expect(throws: StoreError.self) {
                try await months.publish(at: MonthStore.december, key: "k")
            }
            try await months.publish(to: "b", at: MonthStore.december, key: "k")
            try await months.publish(at: MonthStore.december)
            #expect(try months.counts()["messages"] == 3)
            // What was refused took no number.
            #expect(try await months.page().count == 2)
            #expect(try await months.page(after: 1).count == 1)
        }
    }

    @Test("of nodes that store one key in different months at once, one does", arguments: TestDatabase.inOneTable)
    func racingKeys(database: TestDatabase) async throws {
        try await MonthStore.with(database) { months in
            let other = try await SQLStore.open(months.database, at: moment(0))
            for round in 0..<20 {
                let stored = await withTaskGroup(of: Bool.self) { group in
                    for (node, begin) in [(months.store, MonthStore.november), (other, MonthStore.december)] {
                        group.addTask {
                            let id = MonthStore.id(begin, "round\(round)")
                            return (try? await months.publish(at: begin, id: id, key: "k\(round)", from: node)) != nil
                        }
                    }
                    return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(stored == 1)
            }
            #expect(try await months.page().count == 20)
            #expect(try await months.page(after: 19).count == 1)
            await other.close()
        }
    }

    @Test("with a message goes what refers to it", arguments: TestDatabase.inOneTable)
    func references(database: TestDatabase) async throws {
        try await MonthStore.with(database) { months in
            let gone = try await months.publish(at: MonthStore.december)
            let kept = try await months.publish(at: MonthStore.december)
            for message in [gone, kept] {
                try await months.save(.accepted, of: message)
                let fanout = Fanout(messageID: MessageID(message), topicID: TopicID("a"), createdAt: moment(1))
                try await months.store.write { writer throws(StoreError) in try writer.addFanout(fanout) }
            }
            let connection = try months.database.connect(.tool)
            try connection.run("DELETE FROM messages WHERE id = $1", [.text(gone)])
            connection.close()
            let counts = try months.counts()
            #expect([counts["messages"], counts["deliveries"], counts["fanouts"]] == [1, 1, 1])
        }
    }

    @Test("pages of a topic go through all parts in order", arguments: TestDatabase.inOneTable)
    func pages(database: TestDatabase) async throws {
        try await MonthStore.with(database) { months in
            var ids: [String] = []
            for index in 0..<12 {
                // Ids do not come in the order of numbers.
                let begin = [MonthStore.december, MonthStore.november, Timestamp(year: 2027, month: 1)][index % 3]
                ids.append(try await months.publish(at: begin))
            }
            var read: [String] = []
            while read.count < 12 {
                let page = try await months.page(after: Int64(read.count), limit: 5)
                try #require(!page.isEmpty)
                read += page
            }
            #expect(read == ids)
        }
    }

    @Test("a dump comes in and goes out as ever, but no number twice", arguments: TestDatabase.inOneTable)
    func moving(database: TestDatabase) async throws {
        try await MonthStore.with(database) { months in
            let first = try await months.publish(at: MonthStore.december)
            let snapshot = try DataSnapshot(of: months.database)
            defer { snapshot.close() }
            let table = try #require(MovedTable.named("messages"))
            let columns = try snapshot.columns(of: table)
            var row = try #require(try snapshot.rows(of: table, columns, after: nil, limit: 9).first)
            let target = try DataTarget(months.database, at: moment(1))
            defer { target.close() }
            let state = ImportState(dump: "d", merges: true, begunAt: moment(1))
            try target.load(MovedChunk(table: table, columns: columns, rows: [row]), state)
            let id = try #require(columns.firstIndex { $0.name == "id" })
            row[id] = .text(MonthStore.id(Timestamp(year: 2027, month: 1)))
            let chunk = MovedChunk(table: table, columns: columns, rows: [row])
            #expect {
                try target.load(chunk, state)
            } throws: {
                "\($0)".contains("has the number of message \"\(first)\"")
            }
            #expect(try target.count(of: table) == 1)
        }
    }
}
