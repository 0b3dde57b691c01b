import Synchronization
import TestDatabases
import Testing
import TocsinCore
import TocsinPostgres
import TocsinStore

@Suite("Places that follow a session's own", .enabled(if: PostgresServer.named != nil))
struct PlaceMemoryTests {
    private static let models = PlaceScene.models
    private static let topic = PlaceScene.topic
    private static let owner = PlaceScene.owner
    private static let learning = PlaceScene.learning

    @Test("are expected, not waited for, once some in a row followed each other, and again after somebody came between")
    func expected() async throws {
        try await PlaceScene.with { scene in
            #expect(scene.expectations == 0)
            for _ in 0..<5 { _ = try await scene.make(4) }
            #expect(scene.expectations == 5)
            try scene.expectDense(29)
            #expect(try await scene.make(2, by: scene.other).firstNumbers == [Self.topic: 30])
            #expect(try await scene.make(3).firstNumbers == [Self.topic: 32])
            #expect(scene.expectations == 6)
            for _ in 0..<10 { _ = try await scene.make(1) }
            #expect(scene.expectations == 7)
            _ = try await scene.make(1)
            #expect(scene.expectations == 8)
            try scene.expectDense(45)
        }
    }

    @Test("of several nodes that write to one topic at once have no gap and none twice")
    func together() async throws {
        try await PlaceScene.with { scene in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for store in [scene.store, scene.other] {
                    for _ in 0..<4 {
                        group.addTask { for _ in 0..<20 { _ = try await scene.make(2, by: store) } }
                    }
                }
                try await group.waitForAll()
            }
            try scene.expectDense(9 + 2 * 4 * 20 * 2)
        }
    }

    @Test("that a transaction took which was not committed are given again")
    func undone() async throws {
        try await PlaceScene.with { scene in
            await #expect(throws: StoreError.self) {
                try await scene.store.write { writer throws(StoreError) in
                    _ = try writer.assignNumbers([Self.owner: 3], [Self.topic: 3], asking: PlaceScene.questions)
                    throw .statement(code: 0, message: "not wanted", sql: "")
                }
            }
            for number in 10...13 { #expect(try await scene.make(1).firstNumbers == [Self.topic: Int64(number)]) }
            try scene.expectDense(13)
        }
    }

    @Test("that were taken by a group of which a row is refused are given again, and the connection is of use")
    func refusedRow() async throws {
        try await PlaceScene.with { scene in
            await #expect(throws: StoreError.self) {
                try await scene.store.write { writer throws(StoreError) in
                    let places = try writer.assignNumbers(
                        [Self.owner: 1],
                        [Self.topic: 1],
                        asking: PlaceScene.questions
                    )
                    let number = places.firstNumbers[Self.topic] ?? 0
                    try writer.insertNew([Self.models.message("m0", topic: "t", number: number)])
                }
            }
            for number in 10...13 { #expect(try await scene.make(1).firstNumbers == [Self.topic: Int64(number)]) }
            try scene.expectDense(13)
        }
    }

    @Test("that one transaction takes twice follow each other")
    func twice() async throws {
        try await PlaceScene.with { scene in
            for round in 0..<12 {
                let firsts = try await scene.store.write { writer throws(StoreError) in
                    try (0..<2).map { _ throws(StoreError) in
                        let places = try writer.assignNumbers(
                            [Self.owner: 1],
                            [Self.topic: 1],
                            asking: PlaceScene.questions
                        )
                        return places.firstNumbers[Self.topic]
                    }
                }
                #expect(firsts == [Int64(10 + 2 * round), Int64(11 + 2 * round)])
            }
        }
    }

    @Test("tell of a topic that is another's by now, and of one that is gone")
    func changedTopic() async throws {
        try await PlaceScene.with { scene in
            try scene.change("UPDATE topics SET owner = 'u::bob' WHERE id = 't'")
            #expect(try await scene.make(1).topics[Self.topic]?.owner == "u::bob")
            for _ in 0..<Self.learning { _ = try await scene.make(1) }
            try scene.change("UPDATE topics SET name = 'other' WHERE id = 't'")
            #expect(try await scene.make(1).topics[Self.topic]?["name"] == .text("other"))
            for _ in 0..<Self.learning { _ = try await scene.make(1) }
            try scene.change("UPDATE topics SET deleted = 1 WHERE id = 't'")
            #expect(try await scene.make(1).firstNumbers.isEmpty)
            try scene.change("UPDATE topics SET deleted = NULL WHERE id = 't'")
            #expect(try await scene.make(1).firstNumbers == [Self.topic: 30])
            for _ in 0..<Self.learning { _ = try await scene.make(1) }
            try scene.change("DELETE FROM topics WHERE id = 't'")
            #expect(try await scene.make(1).firstNumbers.isEmpty)
        }
    }

    @Test(
        "tell of a topic that the session itself changed, in the transaction that took some or in another",
        arguments: [true, false]
    )
    func ownChange(inOne: Bool) async throws {
        try await PlaceScene.with { scene in
            var renamed = PlaceScene.models.topic("t", owner: Self.owner)
            for round in 1...3 {
                renamed["name"] = .text("name \(round)")
                let topic = renamed
                if inOne {
                    try await scene.store.write { writer throws(StoreError) in
                        let places = try writer.assignNumbers(
                            [Self.owner: 1],
                            [Self.topic: 1],
                            asking: PlaceScene.questions
                        )
                        let number = places.firstNumbers[Self.topic] ?? 0
                        var message = PlaceScene.models.message("with \(round)", topic: "t", number: number)
                        message[ModelType.feedPosition] = .int(places.firstPositions[Self.owner] ?? 0)
                        message[ModelType.makingTime] = .int(5)
                        try writer.insertNew([message])
                        writer.note([.created(message)])
                        try writer.update(topic)
                    }
                } else {
                    try await scene.store.write { writer throws(StoreError) in try writer.update(topic) }
                }
                let expectations = scene.expectations
                #expect(try await scene.make(1).topics[Self.topic]?["name"] == .text("name \(round)"))
                #expect(scene.expectations == expectations)
                for _ in 0...Self.learning { _ = try await scene.make(1) }
                #expect(scene.expectations > expectations)
            }
            try scene.expectDense(Int64(Self.learning + 3 * (Self.learning + 2 + (inOne ? 1 : 0))))
        }
    }

    @Test("follow what else was put into the owner's feed, and begin where the feed is gone")
    func feed() async throws {
        try await PlaceScene.with { scene in
            try scene.change("UPDATE feeds SET last_position = last_position + 10")
            #expect(try await scene.make(1).firstPositions == [Self.owner: 20])
            for _ in 0..<Self.learning { _ = try await scene.make(1) }
            try scene.change("DELETE FROM feeds")
            try scene.change("UPDATE messages SET position = NULL")
            #expect(try await scene.make(1).firstPositions == [Self.owner: 1])
        }
    }

    @Test("tell of members and devices as they are")
    func members() async throws {
        try await PlaceScene.with { scene in
            let (ann, bob) = (UserID("ann"), UserID("bob"))
            try await scene.join("bob")
            for _ in 0...Self.learning { #expect(try await scene.make(1).deviceless == [Self.topic: [bob]]) }
            try await scene.join("ann")
            for _ in 0...Self.learning { #expect(try await scene.make(1).deviceless == [Self.topic: [ann, bob]]) }
            try await scene.setDevice(of: "bob", isActive: true)
            for _ in 0...Self.learning { #expect(try await scene.make(1).deviceless == [:]) }
            let expectations = scene.expectations
            _ = try await scene.make(1)
            #expect(scene.expectations == expectations + 1)
        }
    }

    @Test("are not expected behind a member who joins, or gets a device, while the topic's row is waited for")
    func joiningMeanwhile() async throws {
        try await PlaceScene.with { scene in
            let join = "INSERT INTO memberships (topic_id, user_id, push, created_at) VALUES ('t', 'bob', 1, 1)"
            let activate = "UPDATE devices SET active = 1 WHERE user_id = 'bob'"
            try await scene.setDevice(of: "bob", isActive: false)
            let expectations = scene.expectations
            #expect(try await scene.makeBehind([join], ending: "ROLLBACK").deviceless == [Self.topic: []])
            #expect(try await scene.makeBehind([join]).deviceless == [Self.topic: [UserID("bob")]])
            for _ in 0..<Self.learning { _ = try await scene.make(1) }
            #expect(try await scene.makeBehind([activate]).deviceless == [:])
            #expect(scene.expectations == expectations + 3)
            try scene.expectDense(Int64(2 * Self.learning + 3))
        }
    }

    @Test("come with the time of the last message, whoever made it and whatever the clocks say")
    func times() async throws {
        try await PlaceScene.with { scene in
            #expect(try await scene.make(1, at: moment(3)).latestMaking == moment(5))
            _ = try await scene.make(1, at: moment(90), by: scene.other)
            for _ in 0...Self.learning { #expect(try await scene.make(1, at: moment(7)).latestMaking == moment(90)) }
        }
    }

    @Test("that went with their whole group, whose answer was lost, are taken once", arguments: [true, false])
    func lostAnswer(afterServer: Bool) async throws {
        try await PlaceScene.with { scene in
            var made = Self.learning
            for round in 1...3 {
                // The id of its first message is in the same piece as the commit.
                scene.proxy.cut(at: "\"m\(made)\"", afterServer: afterServer, thenRefuses: false)
                let before = scene.expectations
                #expect(try await scene.make(2).firstNumbers == [Self.topic: Int64(made + 1)])
                #expect(scene.proxy.cuts == round)
                #expect(scene.expectations == before + 1)
                made += 2
                for _ in 0..<Self.learning {
                    made += 1
                    #expect(try await scene.make(1).firstNumbers == [Self.topic: Int64(made)])
                }
                try scene.expectDense(Int64(made))
            }
            #expect(scene.store.statistics.failedGroups == 0)
        }
    }

    /// Makes so many messages in each of two topics, each of an owner of its own, in one transaction: by one question for
    /// places or by two.
    private static func makePairs(_ scene: PlaceScene, _ round: Int, at once: Bool) async throws -> [MessageNumber?] {
        try await scene.store.write { writer throws(StoreError) in
            let names = ["x", "y"]
            var numbers: [TopicID: MessageNumber] = [:]
            var positions: [String: FeedPosition] = [:]
            for asked in once ? [names] : names.map({ [$0] }) {
                let places = try writer.assignNumbers(
                    Dictionary(uniqueKeysWithValues: asked.map { ("u::" + $0, 1) }),
                    Dictionary(uniqueKeysWithValues: asked.map { (TopicID($0), 1) }),
                    asking: PlaceScene.questions
                )
                numbers.merge(places.firstNumbers) { $1 }
                positions.merge(places.firstPositions) { $1 }
            }
            let messages = names.map { name in
                var message = models.message("\(name)\(round)", topic: name, number: numbers[TopicID(name)] ?? 0)
                message["owner"] = .text("u::" + name)
                message[ModelType.feedPosition] = .int(positions["u::" + name] ?? 0)
                message[ModelType.makingTime] = .int(5)
                return message
            }
            try writer.insertNew(messages)
            writer.note(messages.map(DomainEvent.created))
            return names.map { numbers[TopicID($0)] }
        }
    }

    @Test("of several topics and feeds are expected together", arguments: [true, false])
    func several(atOnce: Bool) async throws {
        try await PlaceScene.with(messages: 1) { scene in
            try await scene.store.insert(["x", "y"].map { Self.models.topic($0, owner: "u::" + $0) })
            for round in 1...Self.learning {
                let number = Int64(round)
                #expect(try await Self.makePairs(scene, round, at: atOnce) == [number, number])
            }
            #expect(scene.expectations == 0)
            for round in 1...3 {
                let number = Int64(Self.learning + round)
                #expect(try await Self.makePairs(scene, Int(number), at: true) == [number, number])
                #expect(scene.expectations == 2 * round)
            }
            try scene.change("UPDATE feeds SET last_position = last_position + 5 WHERE owner = 'u::y'")
            #expect(try await Self.makePairs(scene, 100, at: true) == [13, 13])
            let connection = try scene.database.connect(.tool)
            defer { connection.close() }
            let last = try connection.all(
                "SELECT max(position) FROM messages WHERE owner > 'u::b' GROUP BY owner ORDER BY 1"
            ) {
                $0.int(0)
            }
            #expect(last == [13, 18])
        }
    }

    @Test("that a failed write took in a feed are not expected to be taken")
    func failedBeside() async throws {
        try await PlaceScene.with { scene in
            try await scene.store.insert([Self.models.topic("other", owner: Self.owner)])
            await #expect(throws: StoreError.self) {
                try await scene.store.write { writer throws(StoreError) in
                    _ = try writer.assignNumbers(
                        [Self.owner: 1],
                        [TopicID("other"): 1],
                        asking: PlaceScene.questions
                    )
                    throw .statement(code: 0, message: "not wanted", sql: "")
                }
            }
            #expect(try await scene.make(1).firstNumbers == [Self.topic: 10])
            #expect(scene.expectations == 0)
            try scene.expectDense(10)
        }
    }
}
