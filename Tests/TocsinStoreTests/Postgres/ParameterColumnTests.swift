import TestDatabases
import Testing
import TocsinCore
import TocsinStore

@Suite("Rows that go as columns")
struct ParameterColumnTests {
    private static let texts = [
        "plain", "", "a \"quoted\" one", "back\\slash", "{braces,}", "NULL", "null", "line\nbreak\ttab", "ünïcödé 🎈",
    ]

    /// Stores the records together; answers them as they are stored, by id.
    private func inserted(_ records: [Record], of model: ModelType, _ store: SQLStore) async throws -> [Record] {
        try await store.write { writer throws(StoreError) in try writer.create(NewMessages(records)) }
        let stored = try await store.read { reader throws(StoreError) in
            try reader.records(model, ids: records.map(\.id), where: .always)
        }
        return stored.sorted { $0.id < $1.id }.map { record in
            // Given by the database, as is the number, which is known here.
            var record = record
            record[ModelType.feedPosition] = .null
            return record
        }
    }

    @Test("come back as they were, whatever values are common to all of them", arguments: TestDatabase.available)
    func values(database: TestDatabase) async throws {
        let models = TestModels()
        let store = try await SQLStore.open(try database.make(), at: moment(0))
        try await store.insert([models.topic("t")])
        // By turns one row, rows that are equal but for their ids, and rows that differ in each
        // column from some row on.
        let sizes = [1, 2, 9, 9]
        var number = 0
        for (round, size) in sizes.enumerated() {
            var records = (0..<size).map {
                models.message("m\(round)-\($0)", topic: "t", number: Int64(number + $0 + 1))
            }
            number += size
            for index in records.indices where round == 3 {
                records[index]["title"] = .text(Self.texts[index])
                records[index]["body"] = index < 5 ? .text("common") : .text(Self.texts[index])
                records[index]["severity"] = index == 8 ? .text("high") : .null
                records[index]["key"] = index == 0 ? .text("k") : .null
            }
            let given = records
            let stored = try await inserted(given, of: models.message, store)
            #expect(stored == given.sorted { $0.id < $1.id })
        }
        await store.close()
    }

    @Test(
        "come back as they were when other columns differ each time, more often than statements are made for it",
        arguments: TestDatabase.available
    )
    func manyKinds(database: TestDatabase) async throws {
        let models = TestModels()
        let store = try await SQLStore.open(try database.make(), at: moment(0))
        try await store.insert([models.topic("t")])
        let fields = ["title", "body", "url", "category", "severity"]
        for round in 0..<(1 << fields.count) {
            let given = (0..<3).map { row in
                var record = models.message("m\(round)-\(row)", topic: "t", number: Int64(round * 3 + row + 1))
                for (index, field) in fields.enumerated() {
                    record[field] = round & 1 << index == 0 ? .text("common") : .text("\(field) \(row)")
                }
                return record
            }
            let stored = try await inserted(given, of: models.message, store)
            #expect(stored == given)
        }
        await store.close()
    }

    @Test("texts keep their bytes beside another spelling of the same letters", arguments: TestDatabase.available)
    func spellings(database: TestDatabase) async throws {
        let models = TestModels()
        let store = try await SQLStore.open(try database.make(), at: moment(0))
        try await store.insert([models.topic("t")])
        let titles = ["Caf\u{E9}", "Cafe\u{301}", "K", "\u{212A}", "Caf\u{E9}"]
        let given = titles.enumerated().map { index, title in
            var record = models.message("m\(index)", topic: "t", number: Int64(index + 1))
            record["title"] = .text(title)
            return record
        }
        let stored = try await inserted(given, of: models.message, store)
        let bytes = stored.map { Array(($0["title"].text ?? "").utf8) }
        #expect(bytes == titles.map { Array($0.utf8) })
        await store.close()
    }

    @Test("numbers, flags and lists too, where some rows have none", arguments: TestDatabase.available)
    func kinds(database: TestDatabase) async throws {
        let models = TestModels()
        let store = try await SQLStore.open(try database.make(), at: moment(0))
        let given = (0..<6).map { index in
            var note = Record(models.note, ["id": .text("n\(index)"), "owner": .text("u::ann"), "text": .text("same")])
            note["createdAt"] = .text("2026-07-01T00:00:00.000Z")
            note["weight"] = index % 2 == 0 ? .double(1.5) : .null
            note["count"] = index < 5 ? .int(7) : .int(.max)
            note["isDone"] = index == 3 ? .bool(true) : .null
            note["tags"] = .json(index == 0 ? #"["a \"b\""]"# : "[]")
            return note
        }
        let stored = try await inserted(given, of: models.note, store)
        #expect(stored == given)
        await store.close()
    }
}
