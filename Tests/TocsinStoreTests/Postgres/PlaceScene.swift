import Synchronization
import TestDatabases
import Testing
import TocsinCore
import TocsinPostgres
import TocsinStore

/// A store whose topic has some messages, made one after the other, and who else writes to the database.
final class PlaceScene: Sendable {
    static let models = TestModels()
    static let questions = questions(at: moment(5))
    static let topic = TopicID("t")
    static let owner = "u::ann"
    /// So many groups in a row make a session sure of what follows.
    static let learning = 9

    let store: SQLStore
    let other: SQLStore
    let database: any SQLDatabase
    /// What the store's connections go through.
    let proxy: PostgresProxy
    private let counted: Counted
    private let made = Mutex(0)

    init(messages: Int) async throws {
        let database = try #require(PostgresServer.named).makeDatabase()
        self.database = database
        proxy = try PostgresProxy(to: database.url)
        let counted = Counted()
        let observed = ObservedDatabase(base: PostgresDatabase(url: proxy.url)) { sql, _, _ in
            if sql.contains("another writer came between"), sql.contains("UPDATE topics") { counted.add() }
        }
        self.counted = counted
        var settings = StoreSettings()
        settings.journal = Journal(instance: "one")
        store = try await SQLStore.open(observed, at: moment(0), settings: settings)
        settings.journal = Journal(instance: "other")
        other = try await SQLStore.open(database, at: moment(0), settings: settings)
        try await store.insert([Self.models.topic("t", owner: Self.owner)])
        for number in 1...messages { #expect(try await make(1).firstNumbers == [Self.topic: Int64(number)]) }
    }

    static func questions(at now: Timestamp) -> PlaceQuestions {
        PlaceQuestions(topics: models.topic, fewMembers: 8, now: now)
    }

    static func with(messages: Int = learning, _ body: (PlaceScene) async throws -> Void) async throws {
        let scene = try await PlaceScene(messages: messages)
        do {
            try await body(scene)
        } catch {
            await scene.close()
            throw error
        }
        await scene.close()
    }

    /// How often the store did not wait for the places that it took.
    var expectations: Int { counted.value }

    /// What the ids of so many next messages count from.
    func nextPlace(_ count: Int) -> Int {
        made.withLock { made in
            defer { made += count }
            return made
        }
    }

    /// Makes messages in one group; answers the places that they got.
    func make(_ count: Int, at now: Timestamp = moment(5), by store: SQLStore? = nil) async throws -> TakenPlaces {
        let first = nextPlace(count)
        return try await (store ?? self.store).write { writer throws(StoreError) in
            let asked = Self.questions(at: now)
            let places = try writer.assignNumbers([Self.owner: count], [Self.topic: count], asking: asked)
            guard let number = places.firstNumbers[Self.topic], let position = places.firstPositions[Self.owner] else {
                return places
            }
            let time = max(now, places.latestMaking ?? now)
            let messages = (0..<count).map { place in
                var message = Self.models.message("m\(first + place)", topic: "t", number: number + Int64(place))
                message[ModelType.feedPosition] = .int(position + Int64(place))
                message[ModelType.makingTime] = .int(time.milliseconds)
                return message
            }
            try writer.insertNew(messages)
            writer.note(messages.map(DomainEvent.created))
            if let users = places.deviceless?[Self.topic], !users.isEmpty {
                let numbers = number...number + Int64(count) - 1
                try writer.save([
                    DevicelessRun(topicID: Self.topic, numbers: numbers, users: users, madeAt: time)
                ])
            }
            return places
        }
    }

    func join(_ user: String) async throws {
        let membership = Membership(topicID: Self.topic, userID: UserID(user), push: true, createdAt: moment(1))
        try await other.write { writer throws(StoreError) in try writer.save(membership) }
    }

    /// Gives a user a device, or takes it away.
    func setDevice(of user: String, isActive: Bool) async throws {
        var device = Device.test("phone of \(user)", user: user, token: user)
        device.isActive = isActive
        let changed = device
        try await other.write { writer throws(StoreError) in try writer.save(changed) }
    }

    /// Makes a message that waits for the topic's row, which a transaction holds that changes other rows and then ends.
    func makeBehind(_ changes: [String], ending end: String = "COMMIT") async throws -> TakenPlaces {
        let connection = try database.connect(.tool)
        defer { connection.close() }
        for sql in ["BEGIN", "SELECT 1 FROM topics WHERE id = 't' FOR NO KEY UPDATE"] + changes {
            _ = try connection.run(sql)
        }
        async let made = make(1)
        try await database.waitForWaiters()
        _ = try connection.run(end)
        return try await made
    }

    /// Numbers that a query answers.
    func numbers(_ sql: String) throws -> [[Int64]] {
        let connection = try database.connect(.tool)
        defer { connection.close() }
        return try connection.all(sql) { row in (0..<3).map { row.int($0) } }
    }

    func change(_ sql: String) throws {
        let connection = try database.connect(.tool)
        defer { connection.close() }
        try connection.run(sql)
    }

    /// What stands in the database, as numbers and positions without a gap say it.
    func expectDense(_ count: Int64) throws {
        let connection = try database.connect(.tool)
        defer { connection.close() }
        let found = try connection.first(
            "SELECT count(*), count(DISTINCT number), max(number), max(position) FROM messages WHERE topic_id = 't'"
        ) { row in (0..<4).map { row.int($0) } }
        #expect(found == [count, count, count, count])
    }

    func close() async {
        await store.close()
        await other.close()
        proxy.close()
    }
}

private final class Counted: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
}
