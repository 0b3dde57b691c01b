import TocsinCore

/// Models as the shipped schema makes them, and one that lives in `records`.
struct TestModels: Sendable {
    let topic = Self.model(
        "Topic",
        [("name", .text), ("arn", .text), ("colour", .text)],
        indexes: [ModelIndex(name: "byName", partitionField: "name", sortFields: [], queryField: "getTopicByName")]
    )
    let message = Self.model(
        "Message",
        [
            ("topicId", .text), ("number", .int), ("type", .int), ("title", .text), ("body", .text), ("key", .text),
            ("priority", .int), ("push", .json), ("severity", .text), (ModelType.feedPosition, .int),
        ],
        indexes: [
            ModelIndex(
                name: "byTopicIdAndCreatedAt",
                partitionField: "topicId",
                sortFields: ["createdAt"],
                queryField: "getMessageByTopicIdAndCreatedAt"
            )
        ]
    )
    let note = Self.model(
        "Note",
        [
            ("text", .text), ("count", .int), ("weight", .double), ("isDone", .bool), ("place", .json), ("tags", .json),
        ],
        lists: ["tags"],
        indexes: []
    )

    static func model(
        _ name: String,
        _ own: [(String, ModelField.Kind)],
        lists: Set<String> = [],
        indexes: [ModelIndex]
    ) -> ModelType {
        let layout = ShippedTables.layout(of: name)
        let common: [(String, ModelField.Kind)] = [
            ("id", .text), ("owner", .text), ("createdAt", .text), ("updatedAt", .text), ("_version", .int),
            ("_deleted", .bool), ("_lastChangedAt", .int), (ModelType.makingTime, .int), (ModelType.revisionTime, .int),
        ]
        let fields = (common + own).map { field, kind in
            ModelField(
                name: field,
                typeName: "String",
                kind: kind,
                isList: lists.contains(field),
                isRequired: ["id", "createdAt", ModelType.makingTime].contains(field),
                storage: layout.columns[field].map(ModelField.Storage.column) ?? .extra(field),
                role: field == "number" ? .generated : .declared
            )
        }
        return ModelType(
            name: name,
            plural: name + "s",
            table: layout.table,
            fields: fields,
            indexes: indexes,
            relations: [],
            rules: []
        )
    }
}

extension Record {
    init(_ model: ModelType, _ values: [String: FieldValue]) {
        self.init(model: model)
        for (name, value) in values {
            precondition(model.position(of: name) != nil, "\(model.name) has no field \(name)")
            self[name] = value
        }
    }
}

extension TestModels {
    func topic(_ id: String, owner: String = "u::ann", name: String = "news") -> Record {
        Record(
            topic,
            [
                "id": .text(id), "owner": .text(owner), "name": .text(name), "arn": .text("arn:" + id),
                "createdAt": .text("2026-07-01T00:00:00.000Z"), "updatedAt": .text("2026-07-01T00:00:00.000Z"),
                "_version": .int(1), "_lastChangedAt": .int(1),
            ]
        )
    }

    func message(
        _ id: String,
        topic: String,
        number: Int64 = 0,
        createdAt: String = "2026-07-01T00:00:00.000Z"
    ) -> Record {
        Record(
            message,
            [
                "id": .text(id), "owner": .text("u::ann"), "topicId": .text(topic), "number": .int(number),
                "type": .int(0), "title": .text("Hello"), "body": .text("World"), "createdAt": .text(createdAt),
                "_version": .int(1), "_lastChangedAt": .int(1),
            ]
        )
    }
}

extension StoreWriter {
    /// Stores a new message; answers it with the number that it got.
    @discardableResult
    func create(_ message: Record) throws(StoreError) -> Record {
        let messages = NewMessages([message])
        try create(messages)
        try awaitAnswers()
        return messages.records[0]
    }

    /// Takes fan-outs whatever their urgency.
    func claimFanouts(
        node: String,
        now: Timestamp,
        leaseUntil: Timestamp,
        limit: Int
    ) throws(StoreError) -> [Fanout] {
        try claimFanouts(node: node, now: now, leaseUntil: leaseUntil, limit: limit, urgentOnly: false)
    }
}

extension Store {
    /// Inserts records, each of which must be new.
    func insert(_ records: [Record]) async throws {
        let taken = try await write { writer throws(StoreError) in
            var taken: [Record] = []
            for record in records {
                if let stored = try writer.insert(record) { taken.append(stored) }
            }
            return taken
        }
        precondition(taken.isEmpty, "ids are taken: \(taken.map(\.id))")
    }

    func page(_ query: ModelQuery) async throws -> [Record] {
        try await read { reader throws(StoreError) in try reader.records(query) }
    }
}
