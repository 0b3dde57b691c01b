import Foundation
import Synchronization
import Testing
import TocsinCore
import TocsinSQLite
import TocsinStore

@Suite("Checkpoints on request, and how far opening has come")
struct CheckpointTests {
    private let models = TestModels()

    @Test("a checkpoint empties the log into the file, and writes go on", arguments: TestDatabase.sqlite)
    func emptied(database: TestDatabase) async throws {
        let (database, models) = (try #require(try database.make() as? SQLiteDatabase), models)
        let store = try await SQLStore.open(database, at: moment(0))
        try await store.insert((0..<50).map { models.topic("t\($0)") })
        let log = { try Data(contentsOf: URL(filePath: database.path + "-wal")).count }
        #expect(try log() > 0)
        try await store.checkpoint()
        #expect(try log() == 0)
        // The turn ends a moment after its caller was answered.
        for _ in 0..<1_000_000 where store.writerTurn != nil { await Task.yield() }
        #expect(store.writerTurn == nil)
        try await store.insert([models.topic("later")])
        let count = try await store.read { reader throws(StoreError) in
            try reader.records(models.topic, ids: ["t1", "t49", "later"], where: .always).count
        }
        #expect(count == 3)
        await store.close()
        await #expect(throws: StoreError.stopped) { try await store.checkpoint() }
    }

    @Test("a checkpoint among many writes disturbs none of them", arguments: TestDatabase.available)
    func underLoad(database: TestDatabase) async throws {
        let (database, models) = (try database.make(), models)
        let store = try await SQLStore.open(database, at: moment(0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask { try await store.insert([models.topic("t\(number)")]) }
                if number.isMultiple(of: 10) { group.addTask { try await store.checkpoint() } }
            }
            try await group.waitForAll()
        }
        let count = try await store.read { reader throws(StoreError) in
            try reader.records(models.topic, ids: (0..<40).map { "t\($0)" }, where: .always).count
        }
        #expect(count == 40)
        await store.close()
    }

    @Test("opening tells of each migration in its turn, once, and what part is done", arguments: TestDatabase.available)
    func steps(database: TestDatabase) async throws {
        let database = try database.make()
        let seen = Mutex<[OpeningStep]>([])
        var settings = StoreSettings()
        settings.opening = { step in seen.withLock { $0.append(step) } }
        await (try SQLStore.open(database, at: moment(0), settings: settings)).close()
        let steps = seen.withLock { $0 }
        let migrations = try Migration.embedded(for: database.dialect)
        #expect(steps.first == .waitingForLock)
        let expected = migrations.enumerated().map { done, migration -> OpeningStep in
            .migrating(
                number: migration.number,
                of: migrations.count,
                name: migration.name,
                percent: 100 * done / migrations.count
            )
        }
        #expect(steps.dropFirst() == expected[...])
        seen.withLock { $0 = [] }
        await (try SQLStore.open(database, at: moment(0), settings: settings)).close()
        #expect(seen.withLock { $0 } == [.waitingForLock])
    }
}
