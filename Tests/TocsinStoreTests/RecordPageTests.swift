import Testing
import TocsinCore
import TocsinStore

@Suite("Pages")
struct RecordPageTests {
    private let models = TestModels()

    private func order(_ model: ModelType, _ fields: [(String, Bool)]) -> [ModelQuery.Order] {
        fields.compactMap { name, ascending in
            model.position(of: name).map { ModelQuery.Order(field: $0, ascending: ascending) }
        }
    }

    /// All ids, walked page by page.
    private func walk(_ query: ModelQuery, in store: SQLStore) async throws -> [String] {
        var (query, ids) = (query, [String]())
        while ids.count <= 1000 {
            let page = try await store.page(query)
            ids += page.map(\.id)
            guard page.count == query.limit, let last = page.last else { return ids }
            query.after = query.order.map { last.values[$0.field] }
        }
        return ids
    }

    @Test("pages in order of creation lose and repeat nothing where times are equal", arguments: TestDatabase.available)
    func ties(database: TestDatabase) async throws {
        let messages = (1...60).map { number in
            models.message("m\(number)", topic: "t1", number: Int64(number), createdAt: "2026-07-0\(number % 3 + 1)")
        }
        let topicField = try #require(models.message.position(of: "topicId"))
        try await database.withStore { store in
            try await store.insert(messages)
            for ascending in [true, false] {
                let query = ModelQuery(
                    model: models.message,
                    predicate: .field(topicField, .equal(.text("t1"))),
                    order: order(models.message, [("createdAt", ascending), ("number", ascending)]),
                    limit: 7
                )
                let sorted = messages.sorted {
                    let left = ($0["createdAt"].text ?? "", $0["number"].int ?? 0)
                    let right = ($1["createdAt"].text ?? "", $1["number"].int ?? 0)
                    return ascending ? left < right : left > right
                }
                #expect(try await walk(query, in: store) == sorted.map(\.id))
            }
        }
    }

    @Test(
        "a page in bytes ends behind the row with which its texts come to so many, and says whether more follow",
        arguments: TestDatabase.available
    )
    func bytes(database: TestDatabase) async throws {
        let messages = (1...20).map { number -> Record in
            var message = models.message(
                "m\(100 + number)",
                topic: "t1",
                number: Int64(number),
                createdAt: "2026-07-01"
            )
            // The fifth is long, the others short.
            message["body"] = .text(String(repeating: "x", count: number == 5 ? 200_000 : 1_000))
            return message
        }
        let model = models.message
        let number = try #require(model.position(of: "number"))
        try await database.withStore { store in
            try await store.insert(messages)
            for (limit, bytes, count, isCut) in [
                (20, 100_000, 5, true), (3, 100_000, 3, false), (20, 1, 1, true), (20, 1_000_000, 20, false),
                (5, 100_000, 5, false),
            ] {
                let query = ModelQuery(
                    model: model,
                    predicate: .always,
                    order: [ModelQuery.Order(field: number)],
                    limit: limit
                )
                let page = try await store.read { reader throws(StoreError) in
                    try reader.records(query, upTo: bytes)
                }
                #expect(page.records.map(\.id) == messages.prefix(count).map(\.id))
                #expect(page.isCut == isCut, "\(limit) rows, \(bytes) bytes")
            }
        }
    }

    @Test(
        "nulls come first going up and last going down, in mixed directions too",
        arguments: TestDatabase.available,
        [[true, true], [true, false], [false, true], [false, false]]
    )
    func nulls(database: TestDatabase, directions: [Bool]) async throws {
        let notes = (0..<40).map { index -> Record in
            var note = Record(models.note, ["id": .text("n\(100 + index)"), "createdAt": .text("x")])
            if index % 4 > 0 { note["count"] = .int(Int64(index % 4)) }
            return note
        }
        try await database.withStore { store in
            try await store.insert(notes)
            let query = ModelQuery(
                model: models.note,
                predicate: .always,
                order: order(models.note, [("count", directions[0]), ("id", directions[1])]),
                limit: 7
            )
            let sorted = notes.sorted { left, right in
                let counts = (left["count"].int ?? .min, right["count"].int ?? .min)
                if counts.0 != counts.1 { return (counts.0 < counts.1) == directions[0] }
                return (left.id < right.id) == directions[1]
            }
            #expect(try await walk(query, in: store) == sorted.map(\.id))
        }
    }

    @Test("an owner's records of all forms come in one order, others' never", arguments: TestDatabase.available)
    func ownerForms(database: TestDatabase) async throws {
        let owners = ["u::ann", "u", "ann", "v::bob"]
        let topics = (0..<40).map { models.topic("t\(100 + $0)", owner: owners[$0 % 4], name: "n\($0 % 2)") }
        let owner = try #require(models.topic.position(of: "owner"))
        let name = try #require(models.topic.position(of: "name"))
        let visible = Predicate.field(owner, .isOneOf(["u::ann", "u", "ann", "u"].map(FieldValue.text)))
        try await database.withStore { store in
            try await store.insert(topics)
            for ascending in [true, false] {
                for extra in [Predicate.always, .field(name, .equal(.text("n0")))] {
                    let query = ModelQuery(
                        model: models.topic,
                        predicate: visible.and(extra),
                        order: order(models.topic, [("id", ascending)]),
                        limit: 4
                    )
                    let expected = topics.filter { query.predicate.matches($0) }.map(\.id)
                    #expect(try await walk(query, in: store) == (ascending ? expected : expected.reversed()))
                }
            }
        }
    }

    @Test("rows written between pages do not move others", arguments: TestDatabase.available)
    func writesBetweenPages(database: TestDatabase) async throws {
        let models = models
        try await database.withStore { store in
            try await store.insert((0..<6).map { models.topic("t\($0 * 10)") })
            var query = ModelQuery(
                model: models.topic,
                predicate: .always,
                order: order(models.topic, [("id", true)]),
                limit: 3
            )
            let first = try await store.page(query)
            try await store.insert([models.topic("t05"), models.topic("t25")])
            query.after = [.text(try #require(first.last).id)]
            let second = try await store.page(query)
            #expect(first.map(\.id) == ["t0", "t10", "t20"])
            #expect(second.map(\.id) == ["t25", "t30", "t40"])
        }
    }
}
