import Testing
import TocsinCore
import TocsinStore

@Suite("Group commit")
struct GroupCommitTests {
    private let models = TestModels()

    /// The outcomes of closures that wait together, each as one write, in their order.
    private func together(
        _ count: Int,
        on store: SQLStore,
        _ body: @escaping @Sendable (Int, any StoreWriter) throws(StoreError) -> Void
    ) async throws -> [StoreError?] {
        try await store.whileWriterIsHeld {
            (0..<count).map { index in
                Task.immediate { () async -> StoreError? in
                    do throws(StoreError) {
                        try await store.write { writer throws(StoreError) in try body(index, writer) }
                        return nil
                    } catch {
                        return error
                    }
                }
            }
        }
    }

    @Test("writes that wait together are committed together, with dense numbers", arguments: TestDatabase.available)
    func fewCommits(database: TestDatabase) async throws {
        let (models, count) = (models, 300)
        try await database.withStore { store in
            try await store.insert([models.topic("t1")])
            let errors = try await together(count, on: store) { index, writer throws(StoreError) in
                try writer.create(models.message("m\(index)", topic: "t1"))
            }
            #expect(errors.allSatisfy { $0 == nil })
            // The topic, the holder, and 300 writes in groups of at most 256.
            #expect(store.statistics.commits == 4)
            #expect(store.statistics.committedWrites == count + 2)
            let query = ModelQuery(
                model: models.message,
                predicate: .always,
                order: [ModelQuery.Order(field: try #require(models.message.position(of: "number")))],
                limit: 1000
            )
            let numbers = try await store.page(query).map { $0["number"].int }
            #expect(numbers == (1...Int64(count)).map(Optional.some))
        }
    }

    @Test("a write that fails leaves nothing behind and does not touch its group", arguments: TestDatabase.available)
    func failingWrite(database: TestDatabase) async throws {
        let (models, count) = (models, 50)
        let events = Collected<DomainEvent>()
        try await database.withStore(observer: events.append) { store in
            let errors = try await together(count, on: store) { index, writer throws(StoreError) in
                _ = try writer.insert(models.topic("t\(index)"))
                writer.note(.created(models.topic("t\(index)")))
                if index % 5 == 0 { throw .mismatch(reason: "write \(index) gives up") }
            }
            #expect(store.statistics.commits == 2)
            for (index, error) in errors.enumerated() {
                #expect(error == (index % 5 == 0 ? .mismatch(reason: "write \(index) gives up") : nil))
            }
            let stored = try await store.page(
                ModelQuery(model: models.topic, predicate: .always, order: [ModelQuery.Order(field: 0)], limit: 100)
            )
            #expect(stored.count == 40)
            #expect(events.all.count == 40)
        }
    }

    @Test(
        "events reach the observer in the order of commit, before their write returns",
        arguments: TestDatabase.available
    )
    func eventOrder(database: TestDatabase) async throws {
        let (models, count) = (models, 200)
        let events = Collected<DomainEvent>()
        try await database.withStore(observer: events.append) { store in
            try await store.insert([models.topic("t1")])
            let early = Collected<Int>()
            _ = await withTaskGroup(of: Void.self) { group in
                for index in 0..<count {
                    group.addTask {
                        let record = try? await store.write { writer throws(StoreError) in
                            try writer.create(models.message("m\(index)", topic: "t1"))
                        }
                        if let record, !events.all.contains(.created(record)) { early.append([index]) }
                    }
                }
            }
            #expect(early.all.isEmpty)
            let numbers = events.all.compactMap { event -> Int64? in
                if case .created(let record) = event { record["number"].int } else { nil }
            }
            #expect(numbers == Array(1...Int64(count)))
        }
    }

    @Test("a write whose task is cancelled before its turn is never begun, and its group is committed")
    func cancelled() async throws {
        let models = models
        try await TestDatabase.available[0].withStore { store in
            let errors = try await store.whileWriterIsHeld {
                let tasks = ["gone", "kept"].map { id in
                    Task.immediate { await error(inserting: models.topic(id), store) }
                }
                tasks[0].cancel()
                return tasks
            }
            #expect(errors == [.stopped, nil])
            let stored = try await store.read { reader throws(StoreError) in
                try reader.records(models.topic, ids: ["gone", "kept"], where: .always).map(\.id)
            }
            #expect(stored == ["kept"])
        }
    }

    private func error(inserting record: Record, _ store: SQLStore) async -> StoreError? {
        do throws(StoreError) {
            _ = try await store.write { writer throws(StoreError) in try writer.insert(record) }
            return nil
        } catch {
            return error
        }
    }

    @Test("a read after a write sees it", arguments: TestDatabase.available)
    func readYourWrites(database: TestDatabase) async throws {
        let models = models
        try await database.withStore { store in
            for index in 0..<20 {
                try await store.insert([models.topic("t\(index)")])
                let found = try await store.read { reader throws(StoreError) in
                    try reader.records(models.topic, ids: ["t\(index)"], where: .always).count
                }
                #expect(found == 1)
            }
        }
    }

    @Test("a full queue refuses with advice, and a closed store says so", arguments: TestDatabase.available)
    func bounds(database: TestDatabase) async throws {
        var settings = StoreSettings()
        settings.maximumWaitingWrites = 10
        try await database.withStore(settings: settings) { store in
            let errors = try await together(100, on: store) { _, _ throws(StoreError) in }
            let refusals = errors.compactMap { $0 }
            #expect(!refusals.isEmpty)
            #expect(
                refusals.allSatisfy { $0 == .unavailable(reason: "too many writes are waiting; try again in a moment") }
            )
            await store.close()
            await #expect(throws: StoreError.stopped) {
                try await store.write { _ throws(StoreError) in }
            }
            await #expect(throws: StoreError.stopped) {
                try await store.read { _ throws(StoreError) in }
            }
        }
    }
}
