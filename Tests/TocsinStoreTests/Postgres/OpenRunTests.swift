import TestDatabases
import Testing
import TocsinCore
import TocsinStore

@Suite("A run that the next messages are in as well", .enabled(if: PostgresServer.named != nil))
struct OpenRunTests {
    /// First and last numbers of the runs, as rows say them, and of the one that the topic says is open.
    private static let runs = "SELECT first_number, last_number, made_at FROM deviceless_runs ORDER BY first_number"
    private static let open = "SELECT run_first, run_last, last_number FROM topics WHERE run_first IS NOT NULL"

    /// The users whom each of the topic's messages, by number, was not sent to for want of a device.
    private static func expect(_ expected: [(numbers: ClosedRange<Int64>, users: [String])], _ scene: PlaceScene)
        async throws
    {
        for (numbers, users) in expected {
            for number in numbers {
                let message = MessageID("m\(number - 1)")
                let (rows, summary) = try await scene.store.read { reader throws(StoreError) in
                    (
                        try reader.deliveries(of: message, status: nil, after: nil, limit: 10),
                        try reader.deliverySummaries(of: [message])[message]
                    )
                }
                #expect(rows.compactMap { $0.deviceID.userWithoutDevice?.text } == users, "message \(number)")
                #expect(summary?.counts[.skipped] ?? 0 == users.count, "message \(number)")
            }
        }
    }

    /// A topic with one member, bob, who has no device, messages 2 to 9 in runs of their own, and those up to 30 in the last's.
    private static func withOpenRun(_ body: (PlaceScene) async throws -> Void) async throws {
        try await PlaceScene.with(messages: 1) { scene in
            try await scene.join("bob")
            for _ in 2...PlaceScene.learning { _ = try await scene.make(1) }
            for _ in 0..<4 { _ = try await scene.make(5) }
            _ = try await scene.make(1)
            #expect(try scene.numbers(open) == [[9, 30, 30]])
            try await body(scene)
        }
    }

    @Test("grows with them, and is one row")
    func grows() async throws {
        try await Self.withOpenRun { scene in
            let before = try scene.numbers(Self.runs)
            #expect(before.last == [9, 9, 5])
            for _ in 0..<10 { _ = try await scene.make(2) }
            #expect(try scene.numbers(Self.runs) == before)
            #expect(try scene.numbers(Self.open) == [[9, 50, 50]])
            try await Self.expect([(1...1, []), (2...50, ["bob"])], scene)
        }
    }

    @Test("stands for no more than it did once another node writes, a member comes, or one has a device")
    func ends() async throws {
        try await Self.withOpenRun { scene in
            _ = try await scene.make(2, by: scene.other)
            #expect(try scene.numbers(Self.open).isEmpty)
            #expect(try scene.numbers(Self.runs).suffix(2) == [[9, 30, 5], [31, 32, 5]])
            for _ in 0..<12 { _ = try await scene.make(1) }
            try await Self.expect([(2...44, ["bob"])], scene)
            let open = try scene.numbers(Self.open)
            try await scene.setDevice(of: "bob", isActive: true)
            for _ in 0..<12 { _ = try await scene.make(1) }
            #expect(try scene.numbers(Self.open) == open.map { [$0[0], 44, 56] })
            try await Self.expect([(2...44, ["bob"]), (45...56, [])], scene)
            try await scene.setDevice(of: "bob", isActive: false)
            // Who was known to have a device is asked again after somebody came between.
            _ = try await scene.make(1, by: scene.other)
            for _ in 0..<11 { _ = try await scene.make(1) }
            try await scene.join("ann")
            for _ in 0..<12 { _ = try await scene.make(1) }
            try await Self.expect(
                [(1...1, []), (2...44, ["bob"]), (45...56, []), (57...68, ["bob"]), (69...80, ["ann", "bob"])],
                scene
            )
        }
    }

    @Test("is another after an hour, so that none goes long after its first messages would")
    func anHour() async throws {
        try await Self.withOpenRun { scene in
            _ = try await scene.make(3, at: moment(3_600_004))
            #expect(try scene.numbers(Self.open) == [[9, 33, 33]])
            _ = try await scene.make(2, at: moment(3_600_005))
            #expect(try scene.numbers(Self.open).isEmpty)
            #expect(try scene.numbers(Self.runs).suffix(2) == [[9, 33, 5], [34, 35, 3_600_005]])
            // By a clock that is behind: the messages get the time of those before them.
            _ = try await scene.make(2, at: moment(3_600_000))
            #expect(try scene.numbers(Self.open) == [[34, 37, 37]])
            try await Self.expect([(2...37, ["bob"])], scene)
            let times = try await scene.store.read { reader throws(StoreError) in
                try [29, 30, 33, 36].map { place throws(StoreError) in
                    try reader.deliveries(of: MessageID("m\(place)"), status: nil, after: nil, limit: 1).first?
                        .updatedAt
                }
            }
            #expect(times == [5, 3_600_004, 3_600_005, 3_600_005].map { moment($0) })
        }
    }

    /// Removes by another node the runs all of whose messages are older than a second.
    private static func reap(_ scene: PlaceScene, at now: Int64) async throws -> Int {
        let clock = StillClock(moment: moment(now))
        return try await DeliveryReaper(store: scene.other, time: clock, keptSeconds: 1, batch: 10).runOnce()
    }

    @Test("goes when its last message's time is over, and what comes after it is in another", arguments: [true, false])
    func reaped(byOther: Bool) async throws {
        try await Self.withOpenRun { scene in
            _ = try await scene.make(1, at: moment(3_600_004))
            #expect(try await Self.reap(scene, at: 3_601_005) == 0)
            try await Self.expect([(2...31, ["bob"])], scene)
            #expect(try await Self.reap(scene, at: 3_601_006) == 8)
            #expect(try scene.numbers(Self.runs).isEmpty)
            try await Self.expect([(1...31, [])], scene)
            _ = try await scene.make(2, at: moment(3_601_006), by: byOther ? scene.other : nil)
            #expect(try scene.numbers(Self.open).isEmpty)
            _ = try await scene.make(2, at: moment(3_601_006))
            try await Self.expect([(1...31, []), (32...35, ["bob"])], scene)
        }
    }

    @Test("is not one that may be gone, however quiet its topic was")
    func quiet() async throws {
        try await PlaceScene.with(messages: 1) { scene in
            try await scene.join("bob")
            for _ in 2...PlaceScene.learning { _ = try await scene.make(1) }
            #expect(try await Self.reap(scene, at: 90_000_000) == 8)
            let expectations = scene.expectations
            _ = try await scene.make(2, at: moment(90_000_000))
            #expect(scene.expectations == expectations + 1)
            _ = try await scene.make(2, at: moment(90_000_000))
            #expect(try scene.numbers(Self.open) == [[10, 13, 13]])
            try await Self.expect([(1...9, []), (10...13, ["bob"])], scene)
        }
    }

    @Test("is as it was where a group fails, and is ended by a second batch of a transaction")
    func transactions() async throws {
        try await Self.withOpenRun { scene in
            await #expect(throws: StoreError.self) {
                try await scene.store.write { writer throws(StoreError) in
                    _ = try writer.assignNumbers(
                        [PlaceScene.owner: 2],
                        [PlaceScene.topic: 2],
                        asking: PlaceScene.questions
                    )
                    throw .statement(code: 0, message: "not wanted", sql: "")
                }
            }
            #expect(try scene.numbers(Self.open) == [[9, 30, 30]])
            for _ in 0..<12 { _ = try await scene.make(1) }
            try await Self.expect([(2...42, ["bob"])], scene)
            let (topic, owner, first) = (PlaceScene.topic, PlaceScene.owner, scene.nextPlace(4))
            try await scene.store.write { writer throws(StoreError) in
                for first in [first, first + 2] {
                    let places = try writer.assignNumbers([owner: 2], [topic: 2], asking: PlaceScene.questions)
                    let (number, position) = (places.firstNumbers[topic] ?? 0, places.firstPositions[owner] ?? 0)
                    let messages = (0..<2).map { place in
                        var message = PlaceScene.models.message(
                            "m\(first + place)",
                            topic: topic.text,
                            number: number + Int64(place)
                        )
                        message[ModelType.feedPosition] = .int(position + Int64(place))
                        message[ModelType.makingTime] = .int(5)
                        return message
                    }
                    try writer.insertNew(messages)
                    writer.note(messages.map(DomainEvent.created))
                    let users = places.deviceless?[topic] ?? []
                    try writer.save([
                        DevicelessRun(topicID: topic, numbers: number...number + 1, users: users, madeAt: moment(5))
                    ])
                }
            }
            #expect(try scene.numbers(Self.open).isEmpty)
            #expect(try scene.numbers(Self.runs).last == [45, 46, 5])
            for _ in 0..<12 { _ = try await scene.make(1) }
            try await Self.expect([(2...58, ["bob"])], scene)
            try scene.expectDense(58)
        }
    }
}
