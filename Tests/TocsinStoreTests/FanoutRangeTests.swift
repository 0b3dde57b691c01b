import Testing
import TocsinCore
import TocsinStore

@Suite("Ranges and urgency of fan-outs")
struct FanoutRangeTests {
    private let models = TestModels()
    private let topic = TopicID("t1")

    private func prepare(_ store: SQLStore, messages: Int = 1) async throws {
        let models = models
        let records = (1...messages).map { models.message("m\($0)", topic: "t1", number: Int64($0)) }
        try await store.insert([models.topic("t1")] + records)
    }

    private func add(_ ids: [String], to store: SQLStore, isMember: Bool = true, push: Bool = true) async throws {
        let topic = topic
        try await store.write { writer throws(StoreError) in
            for id in ids {
                let user = UserID("u-" + id)
                if isMember {
                    try writer.save(Membership(topicID: topic, userID: user, push: push, createdAt: moment(0)))
                }
                try writer.save(Device.test(id, user: user.text))
            }
        }
    }

    private func fanout(_ message: String, at time: Int64, isUrgent: Bool = false) -> Fanout {
        Fanout(messageID: MessageID(message), topicID: topic, createdAt: moment(time), isUrgent: isUrgent)
    }

    @Test("ranges of a divided fan-out hold each device once", arguments: TestDatabase.available)
    func split(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await prepare(store)
            let ids = (10..<40).map { "d\($0)" }
            try await add(ids, to: store)
            let whole = fanout("m1", at: 10)
            try await store.write { writer throws(StoreError) in
                try writer.addFanouts([whole])
                let held = try writer.claimFanouts(node: "a", now: moment(11), leaseUntil: moment(99), limit: 1)
                let parts = try writer.split(held[0], at: ["d15", "d20", "d20x"])
                #expect(parts.map(\.firstDevice) == ["", "d15", "d20", "d20x"])
                var served: [String] = []
                for part in parts { served += try writer.nextDevices(of: part, limit: 100).map(\.id.text) }
                #expect(served == ids)
                // A part goes on where it stopped, and ends alone.
                let page = try writer.nextDevices(of: parts[1], limit: 2)
                #expect(page.map(\.id.text) == ["d15", "d16"])
                #expect(try writer.advance(parts[1], nextDevice: "d16", leaseUntil: moment(120)))
                #expect(try !writer.conclude(parts[1]))
                #expect(try writer.conclude(parts[0]))
                #expect(try writer.conclude(parts[2]))
                try writer.dropLeases()
                let left = try writer.claimFanouts(node: "b", now: moment(12), leaseUntil: moment(99), limit: 9)
                #expect(left.map(\.firstDevice) == ["d15", "d20x"])
                #expect(try writer.nextDevices(of: left[0], limit: 9).map(\.id.text) == ["d17", "d18", "d19"])
            }
        }
    }

    @Test("a fan-out that was lost is not divided", arguments: TestDatabase.available)
    func lostSplit(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await prepare(store)
            let whole = fanout("m1", at: 10)
            try await store.write { writer throws(StoreError) in
                try writer.addFanouts([whole])
                let held = try writer.claimFanouts(node: "a", now: moment(11), leaseUntil: moment(20), limit: 1)
                _ = try writer.claimFanouts(node: "b", now: moment(21), leaseUntil: moment(99), limit: 1)
                #expect(try writer.split(held[0], at: ["d1"]).isEmpty)
            }
        }
    }

    @Test("urgent fan-outs are claimed by themselves, and among the others by age", arguments: TestDatabase.available)
    func urgency(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await prepare(store, messages: 3)
            let added = [fanout("m1", at: 10), fanout("m2", at: 20, isUrgent: true), fanout("m3", at: 30)]
            try await store.write { writer throws(StoreError) in
                for fanout in added { try writer.addFanouts([fanout]) }
                func claim(_ limit: Int, urgentOnly: Bool) throws(StoreError) -> [String] {
                    try writer.claimFanouts(
                        node: "a",
                        now: moment(40),
                        leaseUntil: moment(99),
                        limit: limit,
                        urgentOnly: urgentOnly
                    )
                    .map(\.messageID.text)
                }
                #expect(try claim(5, urgentOnly: true) == ["m2"])
                #expect(try claim(5, urgentOnly: true).isEmpty)
                try writer.dropLeases()
                #expect(try claim(2, urgentOnly: false) == ["m1", "m2"])
            }
        }
    }

    @Test("a large topic is cut into parts of like size, a small one is not", arguments: TestDatabase.available)
    func cuts(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await prepare(store)
            let topic = topic
            try await add(["d1", "d2", "d3"], to: store)
            let few = try await store.read { reader throws(StoreError) in
                try reader.deviceCuts(of: topic, partSize: 1, maximumParts: 9)
            }
            #expect(few.isEmpty)
        }
        try await database.withStore { store in
            try await prepare(store)
            let topic = topic
            let ids = (10_000..<14_200).map { "d\($0)" }
            try await add(ids, to: store)
            let cuts = try await store.read { reader throws(StoreError) in
                try reader.deviceCuts(of: topic, partSize: 1000, maximumParts: 9)
            }
            let borders = ["d0"] + cuts + ["e"]
            let counts = zip(borders, borders.dropFirst()).map { low, high in ids.count { $0 >= low && $0 < high } }
            #expect(cuts.count == 3 && cuts == cuts.sorted())
            #expect(counts.allSatisfy { (1045...1055).contains($0) })
        }
    }

    @Test("members of a topic of few are named when none of them has an active device", arguments: [true, false])
    func membersWithoutDevice(isActive: Bool) async throws {
        for database in TestDatabase.available {
            try await database.withStore { store in
                try await prepare(store)
                try await add(["d1"], to: store)
                try await add(["d2"], to: store, isMember: false)
                let topic = topic
                let found = try await store.write { writer throws(StoreError) in
                    if !isActive {
                        _ = try writer.retireDevice(DeviceID("d1"), reason: "GONE", registeredBy: moment(9_000))
                    }
                    var found: [[UserID]?] = []
                    for users in [["a", "b"], ["c", "d", "e", "f", "g", "h"]] {
                        for user in users {
                            try writer.save(
                                Membership(topicID: topic, userID: UserID(user), push: false, createdAt: moment(0))
                            )
                        }
                        let held = try writer.hold([topic], of: TestModels().topic, feedsOf: [])
                        found.append(held.topics[topic]?.membersWithoutDevice)
                    }
                    return found
                }
                #expect(found[0]?.map(\.text) == (isActive ? nil : ["a", "b", "u-d1"]))
                #expect(found[1] == nil)
            }
        }
    }
}
