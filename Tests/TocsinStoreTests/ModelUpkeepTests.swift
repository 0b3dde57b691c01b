import Testing
import TocsinCore
import TocsinSQLite
import TocsinStore

@Suite("Tombstones, related records and a schema's indexes")
struct ModelUpkeepTests {
    private let models = TestModels()

    private func tombstone(_ id: String, at time: Int64) -> Record {
        var topic = models.topic(id)
        topic["_deleted"] = .bool(true)
        topic["_lastChangedAt"] = .int(time)
        return topic
    }

    @Test(
        "only tombstones before the moment are removed, oldest first, as many as asked",
        arguments: TestDatabase.available
    )
    func tombstones(database: TestDatabase) async throws {
        let models = models
        var live = models.topic("live")
        live["_lastChangedAt"] = .int(1)
        let rows = [
            tombstone("c", at: 30), tombstone("a", at: 10), tombstone("b", at: 20), tombstone("d", at: 99), live,
        ]
        try await database.withStore { store in
            try await store.insert(rows)
            try await store.write { writer throws(StoreError) in
                let member = Membership(topicID: TopicID("a"), userID: UserID("u"), push: true, createdAt: moment(1))
                try writer.save(member)
            }
            var counts: [Int] = []
            for _ in 0..<3 {
                counts.append(
                    try await store.write { writer throws(StoreError) in
                        try writer.removeTombstones(models.topic, changedBefore: moment(50), limit: 2)
                    }
                )
            }
            #expect(counts == [2, 1, 0])
            let left = try await store.read { reader throws(StoreError) in
                try reader.records(models.topic, ids: ["a", "b", "c", "d", "live"], where: .always).map(\.id)
            }
            #expect(Set(left) == ["d", "live"])
        }
    }

    @Test("the deliveries of a message go with its tombstone, and no others", arguments: TestDatabase.available)
    func deliveries(database: TestDatabase) async throws {
        let models = models
        var gone = models.message("gone", topic: "t", number: 1)
        gone["_deleted"] = .bool(true)
        gone["_lastChangedAt"] = .int(1)
        let rows = [gone, models.message("kept", topic: "t", number: 2)]
        try await database.withStore { store in
            try await store.insert(rows)
            let left = try await store.write { writer throws(StoreError) in
                try writer.add(
                    rows.map { .withoutDevice(MessageID($0.id), to: UserID("ann"), at: moment(1)) }
                )
                _ = try writer.removeTombstones(models.message, changedBefore: moment(5), limit: 9)
                return try rows.map { row throws(StoreError) in
                    try writer.deliveries(of: MessageID(row.id), status: nil, after: nil, limit: 9).count
                }
            }
            #expect(left == [0, 1])
        }
    }

    @Test("each parent gets a page of its own, all of them together", arguments: TestDatabase.available, [1, 3, 130])
    func related(database: TestDatabase, topics: Int) async throws {
        let models = models
        let field = try #require(models.message.position(of: "topicId"))
        let number = try #require(models.message.position(of: "number"))
        try await database.withStore { store in
            try await store.insert(
                (0..<topics).flatMap { topic in
                    (1...4).map { models.message("m\(topic)-\($0)", topic: "t\(topic)", number: Int64($0)) }
                }
            )
            let queries = (0..<topics).map { topic in
                PageQuery(
                    models.message,
                    range: .field(field, .equal(.text("t\(topic)"))),
                    visible: .always,
                    filter: .field(number, .notEqual(.int(3))),
                    order: [ModelQuery.Order(field: number, ascending: false)],
                    after: nil,
                    limit: 2
                )
            }
            let pages = try await store.read { reader throws(StoreError) in
                try reader.pages(queries, ExaminationLimits())
            }
            #expect(pages.count == topics)
            for (topic, page) in pages.enumerated() {
                #expect(page.records.map(\.id) == ["m\(topic)-4", "m\(topic)-2"])
                #expect(page.end == [.int(2)])
            }
        }
    }

    @Test("a query by an index of the schema walks it in order, whatever the model")
    func indexes() async throws {
        let note = TestModels.model(
            "Note",
            [("text", .text), ("rank", .int)],
            indexes: [ModelIndex(name: "byText", partitionField: "text", sortFields: ["rank"], queryField: "x")]
        )
        let (steps, told) = (Collected<String>(), Collected<String>())
        let database = ObservedDatabase(base: try SQLiteDatabase.temporary()) {
            sql,
            bindings,
            connection throws(StoreError) in
            guard sql.contains("FROM \"records\" WHERE") else { return }
            steps.append(try connection.all("EXPLAIN QUERY PLAN " + sql, bindings) { $0.text(3) })
        }
        let store = try await SQLStore.open(database, at: moment(0))
        let made = try await store.write { writer throws(StoreError) in
            let first = try writer.prepareIndexes(of: [note]) { told.append(["\($0) of \($1)"]) }
            return [first, try writer.prepareIndexes(of: [note]) { told.append(["\($0) of \($1)"]) }]
        }
        #expect(made.map(\.count) == [1, 0])
        #expect(told.all == ["0 of 1"])
        let text = try #require(note.position(of: "text"))
        let rank = try #require(note.position(of: "rank"))
        let query = ModelQuery(
            model: note,
            predicate: .field(text, .equal(.text("a"))),
            order: [ModelQuery.Order(field: rank), ModelQuery.Order(field: 0)],
            limit: 5
        )
        _ = try await store.page(query)
        #expect(steps.all.contains { $0.contains("USING INDEX model_Note_") }, "\(steps.all)")
        #expect(!steps.all.contains { $0.contains("TEMP B-TREE") }, "\(steps.all)")
        await store.close()
    }
}
