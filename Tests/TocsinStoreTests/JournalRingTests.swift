import Synchronization
import TestDatabases
import Testing
import TocsinCore
import TocsinStore

/// When a reader of the journal looks; none of these nodes looks by itself while a test runs.
@Suite("When the journal is looked at")
struct JournalRingTests {
    private final class Flag: Sendable {
        let isUp = Atomic(false)
    }

    private let models = TestModels()
    private static var patient: JournalSettings {
        var settings = JournalSettings()
        settings.pollMilliseconds = 3_600_000
        return settings
    }

    private func withNode(
        on database: any SQLDatabase,
        named name: String = "a",
        haste: RingHaste = .atOnce,
        isAnybodyHere: @escaping @Sendable () -> Bool = { true },
        _ body: (JournalNode) async throws -> Void
    ) async throws {
        let node = try await JournalNode(
            database,
            named: name,
            settings: Self.patient,
            haste: haste,
            isAnybodyHere: isAnybodyHere
        )
        do {
            try await body(node)
        } catch {
            await node.stop()
            throw error
        }
        await node.stop()
    }

    @Test("in a stream a look serves some milliseconds, and the last commit is heard", arguments: TestDatabase.postgres)
    func stream(database: TestDatabase) async throws {
        let models = models
        try await withNode(on: database.make(), haste: .soon) { node in
            try await node.store.insert([models.topic("t")])
            let (before, start) = (node.reader.status.looks, ContinuousClock.now)
            for number in 1...100 { try await node.publish("m\(number)", to: "t", models) }
            _ = try await node.awaitEvents(100)
            #expect(node.numbers(of: "t") == Array(1...100))
            let most = Int((ContinuousClock.now - start) / DoorbellThrottle.rest) + 2
            #expect(node.reader.status.looks - before <= most)
        }
    }

    @Test("commits that are no stream are each looked at", arguments: TestDatabase.postgres)
    func lonely(database: TestDatabase) async throws {
        let models = models
        try await withNode(on: database.make()) { node in
            try await node.store.insert([models.topic("t")])
            for number in 1...20 {
                try await node.publish("m\(number)", to: "t", models)
                #expect(try await node.awaitEvents(number).count == number)
            }
        }
    }

    @Test("while nobody listens a node's own commits make it look no more", arguments: TestDatabase.postgres)
    func unheard(database: TestDatabase) async throws {
        let models = models
        try await withNode(on: database.make(), isAnybodyHere: { false }) { node in
            try await node.store.insert([models.topic("t")])
            await node.reader.looked()
            let before = node.reader.status
            for number in 1...10 { try await node.publish("m\(number)", to: "t", models) }
            // The next look is this one, and finds them all.
            await node.reader.looked()
            #expect(node.reader.status.looks == before.looks + 1)
            #expect(node.reader.status.rows == before.rows + 10)
            #expect(node.heard.all.isEmpty)
        }
    }

    @Test(
        "who begins to listen hears, once and in order, what was committed before the first ring and what is after it",
        arguments: TestDatabase.postgres
    )
    func border(database: TestDatabase) async throws {
        let (models, flag) = (models, Flag())
        let isUp: @Sendable () -> Bool = { flag.isUp.load(ordering: .acquiring) }
        try await withNode(on: database.make(), isAnybodyHere: isUp) { node in
            try await node.store.insert([models.topic("t")])
            for number in 1...3 { try await node.publish("m\(number)", to: "t", models) }
            // A subscription settles: what was committed before is behind it.
            await node.reader.looked()
            for number in 4...6 { try await node.publish("m\(number)", to: "t", models) }
            try await node.store.write { writer throws(StoreError) in writer.note(.outboxFilled) }
            flag.isUp.store(true, ordering: .releasing)
            node.reader.ring()
            for number in 7...9 { try await node.publish("m\(number)", to: "t", models) }
            // Nothing of its own signals is told a second time, though the row is
            // read as another node's is.
            _ = try await node.awaitEvents(6)
            await node.reader.looked()
            #expect(node.numbers(of: "t") == Array(4...9))
            #expect(node.heard.all.joined().allSatisfy { $0.kind == .records })
        }
    }

    @Test("signals of other nodes are heard though nobody listens to records", arguments: TestDatabase.postgres)
    func signals(database: TestDatabase) async throws {
        let made = try database.make()
        let models = models
        try await withNode(on: made, named: "b") { other in
            try await withNode(on: made, isAnybodyHere: { false }) { node in
                let ended = DomainEvent.accessEnded(UserID("ann"), nil)
                try await other.store.insert([models.topic("t")])
                try await other.publish("m", to: "t", models)
                try await other.store.write { writer throws(StoreError) in writer.note(ended) }
                node.reader.ring()
                let events = try await node.awaitEvents(2)
                #expect(events.last == ended)
            }
        }
    }

    @Test("what a look finds is told at once, whatever made it", arguments: TestDatabase.postgres)
    func together(database: TestDatabase) async throws {
        let made = try database.make()
        let models = models
        try await withNode(on: made, named: "b") { other in
            try await withNode(on: made) { node in
                try await other.store.insert([models.topic("t")])
                for number in 1...10 { try await other.publish("m\(number)", to: "t", models) }
                await node.reader.looked()
                #expect(node.heard.all.count == 1)
                #expect(node.numbers(of: "t") == Array(1...10))
            }
        }
    }

    @Test("a group's work for outbox and webhooks is told once, all else each time, but for records")
    func immediate() {
        let (topic, ended) = (models.topic("t"), DomainEvent.deviceEnded(DeviceID("d"), reason: "UNREGISTERED"))
        let events: [DomainEvent] = [
            .created(topic), .outboxFilled, .updated(topic), .outboxFilled, ended, .webhooksFilled, ended,
            .webhooksFilled, .deleted(topic),
        ]
        #expect(Journal.immediate(events) == [.outboxFilled, ended, .webhooksFilled, ended])
    }
}
