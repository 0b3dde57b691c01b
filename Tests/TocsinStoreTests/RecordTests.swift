import Testing
import TocsinCore
import TocsinStore

@Suite("Records")
struct RecordTests {
    private let models = TestModels()

    @Test("a record comes back as it was stored, columns and extra fields alike", arguments: TestDatabase.available)
    func roundTrip(database: TestDatabase) async throws {
        let note = Record(
            models.note,
            [
                "id": .text("n1"), "owner": .text("u::ann"), "createdAt": .text("2026-07-01T12:00:00.000Z"),
                "_version": .int(1), "_lastChangedAt": .int(Int64.max),
                "text": .text("quotes \" ' \\ and \u{1F514} and \n"),
                "count": .int(Int64.min), "weight": .double(0.1 + 0.2), "isDone": .bool(false),
                "place": .json(#"{"city":"Bern","at":[1,2.50]}"#), "tags": .json(#"["a","b"]"#),
            ]
        )
        var message = models.message("m1", topic: "t1", number: 1)
        message["push"] = .json(#"{"sound":"default"}"#)
        message["severity"] = .text("high")
        try await database.withStore { store in
            try await store.insert([models.topic("t1"), note, message])
            for record in [note, message] {
                let found = try await store.read { reader throws(StoreError) in
                    try reader.records(record.model, ids: [record.id, "other"], where: .always)
                }
                #expect(found == [record])
            }
        }
    }

    @Test("inserting a taken id writes nothing and gives the stored record", arguments: TestDatabase.available)
    func takenID(database: TestDatabase) async throws {
        let first = models.topic("t1")
        let second = models.topic("t1", owner: "v::bob", name: "other")
        try await database.withStore { store in
            let answers = try await store.write { writer throws(StoreError) in
                [try writer.insert(first), try writer.insert(second)]
            }
            #expect(answers == [nil, first])
            let found = try await store.read { [models] reader throws(StoreError) in
                try reader.records(models.topic, ids: ["t1"], where: .always)
            }
            #expect(found == [first])
        }
    }

    @Test("an owner's topics are counted without those of others and the deleted", arguments: TestDatabase.available)
    func topicCount(database: TestDatabase) async throws {
        var deleted = models.topic("t3")
        deleted["_deleted"] = .bool(true)
        let topics = [models.topic("t1"), models.topic("t2"), deleted, models.topic("t4", owner: "v::bob")]
        try await database.withStore { store in
            try await store.insert(topics)
            let answers = try await store.read { reader throws(StoreError) in
                [
                    try reader.hasTopics(1, owner: "u::ann"), try reader.hasTopics(2, owner: "u::ann"),
                    try reader.hasTopics(3, owner: "u::ann"), try reader.hasTopics(2, owner: "v::bob"),
                    try reader.hasTopics(1, owner: "nobody"),
                ]
            }
            #expect(answers == [true, true, false, false, false])
        }
    }

    @Test("models that share a table do not see each other's records", arguments: TestDatabase.available)
    func sharedTable(database: TestDatabase) async throws {
        let other = TestModels.model("Other", [("text", .text)], indexes: [])
        let note = Record(models.note, ["id": .text("x"), "createdAt": .text("1"), "text": .text("note")])
        let twin = Record(other, ["id": .text("x"), "createdAt": .text("2"), "text": .text("other")])
        try await database.withStore { store in
            try await store.insert([note, twin])
            let notes = try await store.page(
                ModelQuery(model: models.note, predicate: .always, order: [ModelQuery.Order(field: 0)], limit: 10)
            )
            #expect(notes == [note])
            let found = try await store.read { reader throws(StoreError) in
                try reader.records(other, ids: ["x"], where: .always)
            }
            #expect(found == [twin])
        }
    }

    @Test(
        "an update replaces all values, null included, and leaves the topic's counter",
        arguments: TestDatabase.available
    )
    func update(database: TestDatabase) async throws {
        var topic = models.topic("t1")
        topic["colour"] = .text("red")
        let before = topic
        topic["colour"] = .null
        topic["arn"] = .null
        topic["_deleted"] = .bool(true)
        topic["_version"] = .int(2)
        let after = topic
        let message = models.message("m1", topic: "t1")
        try await database.withStore { store in
            let number = try await store.write { writer throws(StoreError) in
                _ = try writer.insert(before)
                try writer.create(message)
                try writer.update(after)
                return try writer.feedBounds(of: TopicID("t1"))?.last
            }
            #expect(number == 1)
            let found = try await store.read { [models] reader throws(StoreError) in
                try reader.records(models.topic, ids: ["t1"], where: .always)
            }
            #expect(found == [after])
        }
    }

    @Test("updating a record that is not stored is refused", arguments: TestDatabase.available)
    func updateOfNothing(database: TestDatabase) async throws {
        let topic = models.topic("t1")
        try await database.withStore { store in
            await #expect(throws: StoreError.self) {
                try await store.write { writer throws(StoreError) in try writer.update(topic) }
            }
        }
    }

    @Test(
        "a message is found by its topic and key, and a key is unique in its topic",
        arguments: TestDatabase.available
    )
    func messageKey(database: TestDatabase) async throws {
        var first = models.message("m1", topic: "t1", number: 1)
        first["key"] = .text("order-7")
        var second = models.message("m2", topic: "t2", number: 1)
        second["key"] = .text("order-7")
        var third = models.message("m3", topic: "t1", number: 2)
        third["key"] = .text("order-7")
        let (stored, clash) = ([first, second], third)
        try await database.withStore { store in
            try await store.insert(stored)
            let found = try await store.read { [models] reader throws(StoreError) in
                try reader.messages(models.message, keys: [MessageKey(topicID: TopicID("t2"), key: "order-7")])
            }
            #expect(found == [stored[1]])
            let error = await #expect(throws: StoreError.self) {
                _ = try await store.write { writer throws(StoreError) in try writer.insert(clash) }
            }
            guard case .statement = error else {
                Issue.record("A key used twice gave \(String(describing: error)).")
                return
            }
        }
    }

    @Test("numbers start at 1, one topic after the other; an absent topic has none", arguments: TestDatabase.available)
    func numbers(database: TestDatabase) async throws {
        let models = models
        try await database.withStore { store in
            try await store.insert([models.topic("t1"), models.topic("t2")])
            let numbers = try await store.write { writer throws(StoreError) in
                let messages = NewMessages(["t1", "t1", "t2"].enumerated().map { models.message("a\($0)", topic: $1) })
                try writer.create(messages)
                let next = try writer.create(models.message("b", topic: "t1"))
                return (messages.records + [next]).map(\.number)
            }
            #expect(numbers == [1, 2, 1, 3])
            await #expect(throws: StoreError.self) {
                try await store.write { writer throws(StoreError) in
                    try writer.create(models.message("c", topic: "none"))
                }
            }
            let last = try await store.read { reader throws(StoreError) in
                [try reader.feedBounds(of: TopicID("t1"))?.last, try reader.feedBounds(of: TopicID("none"))?.last]
            }
            #expect(last == [3, nil])
        }
    }

    @Test(
        "positions start at 1, one owner after the other, and go back with a write that fails",
        arguments: TestDatabase.available
    )
    func positions(database: TestDatabase) async throws {
        let models = models
        @Sendable func message(_ id: String, of owner: String) -> Record {
            var message = models.message(id, topic: "t1")
            message["owner"] = .text("u::" + owner)
            return message
        }
        try await database.withStore { store in
            try await store.insert([models.topic("t1")])
            let positions = try await store.write { writer throws(StoreError) in
                var positions: [FeedPosition?] = []
                for (round, owners) in [["ann"], ["ann", "bob", "ann", "bob", "ann"], ["bob"]].enumerated() {
                    let records = owners.enumerated().map { message("m\(round)-\($0)", of: $1) }
                    let messages = NewMessages(records)
                    try writer.create(messages)
                    try writer.awaitAnswers()
                    positions += messages.records.map(\.feedPosition)
                }
                return positions
            }
            #expect(positions == [1, 2, 1, 3, 2, 4, 3])
            await #expect(throws: StoreError.self) {
                try await store.write { writer throws(StoreError) in
                    try writer.create(message("failing", of: "ann"))
                    throw StoreError.mismatch(reason: "on purpose")
                }
            }
            let next = try await store.write { writer throws(StoreError) in try writer.create(message("n", of: "ann")) }
            #expect(next.feedPosition == 5)
            let bounds = try await store.read { reader throws(StoreError) in
                [
                    try reader.feedBounds(of: "u::ann"), try reader.feedBounds(of: "u::none"),
                    try reader.feedBounds(of: TopicID("t1")), try reader.feedBounds(of: TopicID("none")),
                ]
            }
            #expect(bounds == [FeedBounds(first: 1, last: 5), FeedBounds(), FeedBounds(first: 1, last: 8), nil])
        }
    }
}
