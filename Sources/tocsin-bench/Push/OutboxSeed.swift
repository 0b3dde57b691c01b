import TocsinAPI
import TocsinCore

/// A topic with many devices, each of a member of its own, and messages to it.
struct OutboxSeed {
    static let topicID = TopicID("0197a000-0000-7000-8000-000000000001")
    let topics: ModelType
    let messages: ModelType
    private static let rowsAWrite = 2000

    /// Rows of the model that ships.
    init() throws {
        let schema = try APISchema()
        (topics, messages) = (schema.topics, schema.messages)
    }

    /// Writes the topic, its members and their devices.
    func write(devices count: Int, to store: any Store, at now: Timestamp) async throws(StoreError) {
        let topic = record(topics, id: Self.topicID.text, now, ["name": .text("bench")])
        try await store.write { writer throws(StoreError) in _ = try writer.insert(topic) }
        for start in stride(from: 0, to: count, by: Self.rowsAWrite) {
            try await store.write { writer throws(StoreError) in
                for index in start..<min(count, start + Self.rowsAWrite) {
                    let device = Self.device(index, at: now)
                    try writer.save(device)
                    try writer.save(
                        Membership(topicID: Self.topicID, userID: device.userID, push: true, createdAt: now)
                    )
                }
            }
        }
    }

    /// Commits a message with its fan-out, as the service does.
    func publish(_ number: Int, to store: any Store, at now: Timestamp) async throws(StoreError) {
        let id = Self.messageID(number)
        let message = record(
            messages,
            id: id,
            now,
            [
                "topicId": .text(Self.topicID.text), "number": .int(Int64(number)), "type": .int(1),
                "title": .text("Disk full"), "body": .text("The disk of db-3 is 91 % full."), "priority": .int(3),
            ]
        )
        try await store.write { writer throws(StoreError) in
            _ = try writer.insert(message)
            try writer.addFanouts([Fanout(messageID: MessageID(id), topicID: Self.topicID, createdAt: now)])
        }
    }

    static func messageID(_ number: Int) -> String { uuid(2, number) }

    private static func device(_ index: Int, at now: Timestamp) -> Device {
        Device(
            id: DeviceID(uuid(3, index)),
            userID: UserID("user-\(index)"),
            platform: .ios,
            environment: nil,
            appID: "com.example.tocsin",
            token: String(repeating: "0123456789abcdef", count: 3) + padded(String(index, radix: 16), 16),
            name: nil,
            registeredAt: now,
            lastSeenAt: now
        )
    }

    private static func uuid(_ kind: Int, _ number: Int) -> String {
        "0197a00\(kind)-0000-7000-8000-" + padded(String(number, radix: 16), 12)
    }

    private static func padded(_ text: String, _ count: Int) -> String {
        String(repeating: "0", count: max(0, count - text.count)) + text
    }

    private func record(_ model: ModelType, id: String, _ now: Timestamp, _ more: [String: FieldValue]) -> Record {
        var record = Record(model: model)
        record["id"] = .text(id)
        record["owner"] = .text("bench")
        for name in ["createdAt", "updatedAt"] { record[name] = .text(now.iso8601) }
        record["_version"] = .int(1)
        record["_lastChangedAt"] = .int(now.milliseconds)
        for (name, value) in more { record[name] = value }
        return record
    }
}
