import Synchronization
import TestDatabases
import Testing
import TocsinCore
import TocsinStore

@Suite("Places that follow a session's own", .enabled(if: PostgresServer.named != nil))
struct PlaceMemoryTests {
    private static let models = TestModels()
    private static let topic = TopicID("t")
    private static let owner = "u::ann"

    /// A store whose topic has some messages, made one after the other, and who else writes to the database.
    private final class Scene: Sendable {
        let store: SQLStore
        let other: SQLStore
        let database: any SQLDatabase
        private let asked: Collected<String>
        private let made = Mutex(0)

        init(messages: Int) async throws {
            let (database, asked) = (try #require(PostgresServer.named).makeDatabase(), Collected<String>())
            let observed = ObservedDatabase(base: database) { sql, _, _ in
                if sql.contains("RETURNING id, last_number") { asked.append([sql]) }
            }
            (self.database, self.asked) = (database, asked)
            store = try await SQLStore.open(observed, at: moment(0))
            other = try await SQLStore.open(database, at: moment(0))
            try await store.insert([models.topic("t", owner: owner)])
            for number in 1...messages { #expect(try await make(1).firstNumbers == [topic: Int64(number)]) }
        }

        /// How often the database was asked for a number.
        var askings: Int { asked.all.count }

        /// Makes messages in one group; answers the places that they got.
        func make(_ count: Int, at now: Timestamp = moment(5), by store: SQLStore? = nil) async throws -> TakenPlaces {
            let first = made.withLock { made in
                defer { made += count }
                return made
            }
            return try await (store ?? self.store).write { writer throws(StoreError) in
                let questions = PlaceQuestions(topics: models.topic, fewMembers: 8)
                let places = try writer.takePlaces([owner: count], [topic: count], asking: questions)
                guard let number = places.firstNumbers[topic], let position = places.firstPositions[owner] else {
                    return places
                }
                let time = max(now, places.latestMaking ?? now)
                try writer.insertNew(
                    (0..<count).map { place in
                        var message = models.message("m\(first + place)", topic: "t", number: number + Int64(place))
                        message[ModelType.feedPosition] = .int(position + Int64(place))
                        message[ModelType.makingTime] = .int(time.milliseconds)
                        return message
                    }
                )
                return places
            }
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
        }
    }

    private static func scene(messages: Int = 6, _ body: (Scene) async throws -> Void) async throws {
        let scene = try await Scene(messages: messages)
        do {
            try await body(scene)
        } catch {
            await scene.close()
            throw error
        }
        await scene.close()
    }

    @Test("are expected, not asked for, once some in a row were as expected, and again after somebody came between")
    func expected() async throws {
        try await Self.scene { scene in
            #expect(scene.askings == 3)
            for _ in 0..<5 { _ = try await scene.make(4) }
            #expect(scene.askings == 3)
            try scene.expectDense(26)
            #expect(try await scene.make(2, by: scene.other).firstNumbers == [Self.topic: 27])
            #expect(try await scene.make(3).firstNumbers == [Self.topic: 29])
            #expect(scene.askings == 4)
            for _ in 0..<5 { _ = try await scene.make(1) }
            #expect(scene.askings == 6)
            try scene.expectDense(36)
        }
    }

    @Test("of several nodes that write to one topic at once have no gap and none twice")
    func together() async throws {
        try await Self.scene(messages: 4) { scene in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for store in [scene.store, scene.other] {
                    for _ in 0..<4 {
                        group.addTask { for _ in 0..<20 { _ = try await scene.make(2, by: store) } }
                    }
                }
                try await group.waitForAll()
            }
            try scene.expectDense(4 + 2 * 4 * 20 * 2)
        }
    }

    @Test("that a transaction took which was not committed are given again")
    func undone() async throws {
        try await Self.scene { scene in
            await #expect(throws: StoreError.self) {
                try await scene.store.write { writer throws(StoreError) in
                    let questions = PlaceQuestions(topics: Self.models.topic, fewMembers: 8)
                    _ = try writer.takePlaces([Self.owner: 3], [Self.topic: 3], asking: questions)
                    throw .statement(code: 0, message: "not wanted", sql: "")
                }
            }
            for number in 7...12 { #expect(try await scene.make(1).firstNumbers == [Self.topic: Int64(number)]) }
            try scene.expectDense(12)
        }
    }

    @Test("tell of a topic that is another's by now, and of one that is gone")
    func changedTopic() async throws {
        try await Self.scene { scene in
            try scene.change("UPDATE topics SET owner = 'u::bob' WHERE id = 't'")
            #expect(try await scene.make(1).topics[Self.topic]?.owner == "u::bob")
            for _ in 0..<4 { _ = try await scene.make(1) }
            try scene.change("UPDATE topics SET version = 2, name = 'other' WHERE id = 't'")
            #expect(try await scene.make(1).topics[Self.topic]?["name"] == .text("other"))
            for _ in 0..<4 { _ = try await scene.make(1) }
            try scene.change("UPDATE topics SET deleted = 1 WHERE id = 't'")
            #expect(try await scene.make(1).firstNumbers.isEmpty)
            try scene.change("UPDATE topics SET deleted = NULL WHERE id = 't'")
            #expect(try await scene.make(1).firstNumbers == [Self.topic: 17])
        }
    }

    @Test("follow what else was put into the owner's feed")
    func feed() async throws {
        try await Self.scene { scene in
            try scene.change("UPDATE feeds SET last_position = last_position + 10")
            #expect(try await scene.make(1).firstPositions == [Self.owner: 17])
        }
    }

    @Test("tell of members and devices as they are")
    func members() async throws {
        try await Self.scene { scene in
            let (ann, bob) = (UserID("ann"), UserID("bob"))
            func join(_ user: UserID) async throws {
                let membership = Membership(topicID: Self.topic, userID: user, push: true, createdAt: moment(1))
                try await scene.other.write { writer throws(StoreError) in try writer.save(membership) }
            }
            try await join(bob)
            #expect(try await scene.make(1).deviceless == [Self.topic: [bob]])
            for _ in 0..<4 { #expect(try await scene.make(1).deviceless == [Self.topic: [bob]]) }
            try await join(ann)
            for _ in 0..<4 { #expect(try await scene.make(1).deviceless == [Self.topic: [ann, bob]]) }
            let phone = Device.test("d", user: "bob", token: "aa")
            try await scene.other.write { writer throws(StoreError) in try writer.save(phone) }
            for _ in 0..<4 { #expect(try await scene.make(1).deviceless == [:]) }
            let asked = scene.askings
            _ = try await scene.make(1)
            #expect(scene.askings == asked)
        }
    }

    @Test("come with the time of the last message, whoever made it and whatever the clocks say")
    func times() async throws {
        try await Self.scene { scene in
            #expect(try await scene.make(1, at: moment(3)).latestMaking == moment(5))
            _ = try await scene.make(1, at: moment(90), by: scene.other)
            for _ in 0..<5 { #expect(try await scene.make(1, at: moment(7)).latestMaking == moment(90)) }
        }
    }
}
