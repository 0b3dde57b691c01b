import TestDatabases
import Testing
import TocsinCore
import TocsinStore

/// A store whose messages stand in months, from December 2026 on.
struct MonthStore {
    let database: any SQLDatabase
    let store: SQLStore
    private let models = TestModels()

    static let november = Timestamp(year: 2026, month: 11)
    static let december = Timestamp(year: 2026, month: 12)
    static let day = 86_400.0

    struct Clock: TimeSource {
        var moment: Timestamp
        func now() -> Timestamp { moment }
        func sleep(until moment: Timestamp) async throws { throw CancellationError() }
    }

    /// Runs a body on a store with the topics `a` and `b`, then closes it.
    static func with(
        _ database: TestDatabase,
        isConverted: Bool = true,
        _ body: (MonthStore) async throws -> Void
    ) async throws {
        let database = try database.make()
        let store = try await SQLStore.open(database, at: moment(0))
        let months = MonthStore(database: database, store: store)
        do {
            try await store.insert(["a", "b"].map { months.models.topic($0) })
            if isConverted { #expect(try await months.convert() == MessageMonth(of: december)) }
            try await body(months)
        } catch {
            await store.close()
            throw error
        }
        await store.close()
    }

    func convert() async throws -> MessageMonth? {
        try await store.write { writer throws(StoreError) in
            try writer.fenceChanges()
            return try writer.standInMonths(at: Self.november)
        }
    }

    /// The id of a message that the server made then.
    static func id(_ moment: Timestamp, _ end: String = "1") -> String {
        DeliveryPartition.identifier(at: moment.milliseconds) + "-7000-8000-" + end
    }

    /// Publishes a message at a moment; answers its id.
    @discardableResult
    func publish(
        to topic: String = "a",
        at moment: Timestamp,
        id: String? = nil,
        key: String? = nil,
        from store: SQLStore? = nil
    ) async throws -> String {
        let (models, given) = (models, id)
        return try await (store ?? self.store).write { writer throws(StoreError) in
            let number = (try writer.lastNumber(of: TopicID(topic)) ?? 0) + 1
            let id = given ?? Self.id(moment, "\(topic)\(number)")
            var record = models.message(id, topic: topic)
            record[ModelType.makingTime] = .int(moment.milliseconds)
            if let key { record["key"] = .text(key) }
            try writer.create(record)
            return id
        }
    }

    /// Keeps the months once; answers how many were dropped.
    func keep(at moment: Timestamp, days: Double? = nil) async throws -> Int {
        try await MonthKeeper(
            store: store,
            time: Clock(moment: moment),
            retention: MessageRetention(keptSeconds: days.map { $0 * Self.day }),
            batch: 2
        ).runOnce()
    }

    func save(_ status: DeliveryStatus, of message: String, device: String = "d") async throws {
        var delivery = Delivery(
            id: DeliveryID(message + device),
            messageID: MessageID(message),
            deviceID: DeviceID(device),
            platform: .ios,
            status: status,
            updatedAt: moment(1)
        )
        if status == .waiting { delivery.nextAttemptAt = moment(1) }
        let row = delivery
        try await store.write { writer throws(StoreError) in try writer.save([row]) }
    }

    /// Rows of each table of messages; deliveries under their own name.
    func counts() throws -> [String: Int64] {
        let connection = try database.connect(.tool)
        defer { connection.close() }
        var names = try connection.all(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'messages'::regclass"
        ) { $0.text(0) }
        names += ["messages", "deliveries", "fanouts"]
        var counts: [String: Int64] = [:]
        for name in names { counts[name] = try connection.first("SELECT count(*) FROM \(name)") { $0.int(0) } }
        return counts
    }

    /// Where a topic and its owner's feed begin.
    func bounds(_ topic: String = "a") async throws -> [Int64?] {
        try await store.read { reader throws(StoreError) in
            [try reader.feedBounds(of: TopicID(topic))?.first, try reader.feedBounds(of: "u::ann").first]
        }
    }

    /// Ids of a topic's messages after a number, in order of their numbers.
    func page(_ topic: String = "a", after number: Int64 = 0, limit: Int = 100) async throws -> [String] {
        let place = try #require(models.message.position(of: "number"))
        let query = ModelQuery(
            model: models.message,
            predicate: .field(try #require(models.message.position(of: "topicId")), .equal(.text(topic))),
            order: [ModelQuery.Order(field: place)],
            after: [.int(number)],
            limit: limit
        )
        return try await store.page(query).map(\.id)
    }
}
