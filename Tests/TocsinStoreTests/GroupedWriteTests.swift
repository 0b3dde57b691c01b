import Testing
import TocsinCore
import TocsinStore

@Suite("Writes of one kind")
struct GroupedWriteTests {
    private static let models = TestModels()

    /// Inserts a topic; tells each time what its batch was.
    private struct Insertion: GroupedWrite {
        let id: String
        var fails = false
        let batches: Collected<[String]>

        static func perform(_ batch: [Insertion], _ writer: any StoreWriter) throws(StoreError) -> () -> [String] {
            batch.first?.batches.append([batch.map(\.id)])
            for insertion in batch {
                let topic = GroupedWriteTests.models.topic(insertion.id)
                writer.note(.created(topic))
                let taken = try writer.insert(topic)
                if insertion.fails || taken != nil { throw .mismatch(reason: insertion.id) }
            }
            return { batch.map(\.id) }
        }
    }

    private enum Call: Sendable {
        case insertion(String, fails: Bool = false)
        case closure(String)
    }

    private struct Performed {
        var batches: [[String]] = []
        var outcomes: [Result<String, StoreError>] = []
        /// Of committed topics, in the order in which they were told.
        var events: [String] = []
        var commits = 0
    }

    /// Performs calls that wait together, in this order.
    private func perform(_ calls: [Call], on database: TestDatabase) async throws -> Performed {
        let (batches, events) = (Collected<[String]>(), Collected<DomainEvent>())
        var performed = Performed()
        try await database.withStore(observer: events.append) { store in
            performed.outcomes = try await store.whileWriterIsHeld {
                calls.map { call in Task.immediate { await Self.outcome(of: call, on: store, batches) } }
            }
            performed.commits = store.statistics.commits
        }
        performed.batches = batches.all
        performed.events = events.all.compactMap { event in
            if case .created(let record) = event { record.id } else { nil }
        }
        return performed
    }

    private static func outcome(
        of call: Call,
        on store: SQLStore,
        _ batches: Collected<[String]>
    ) async -> Result<String, StoreError> {
        do throws(StoreError) {
            switch call {
            case .insertion(let id, let fails):
                let ids = try await Insertion(id: id, fails: fails, batches: batches).written(to: store)
                return .success(ids)
            case .closure(let id):
                try await store.write { writer throws(StoreError) in
                    let topic = models.topic(id)
                    writer.note(.created(topic))
                    _ = try writer.insert(topic)
                }
                return .success(id)
            }
        } catch {
            return .failure(error)
        }
    }

    @Test(
        "they are performed at once, each with its own outcome, in the order of the calls",
        arguments: TestDatabase.available
    )
    func together(database: TestDatabase) async throws {
        let ids = (10..<60).map { "t\($0)" }
        let performed = try await perform(ids.map { .insertion($0) }, on: database)
        #expect(performed.batches == [ids])
        #expect(performed.outcomes == ids.map(Result.success))
        #expect(performed.events == ids)
        // The holder's, and one for all.
        #expect(performed.commits == 2)
    }

    @Test("a write of another kind keeps its turn between them", arguments: TestDatabase.available)
    func order(database: TestDatabase) async throws {
        let calls: [Call] = [.insertion("a"), .insertion("b"), .closure("c"), .insertion("d"), .insertion("e")]
        let performed = try await perform(calls, on: database)
        #expect(performed.batches == [["a", "b"], ["d", "e"]])
        #expect(performed.events == ["a", "b", "c", "d", "e"])
    }

    @Test("one that fails leaves nothing behind, and all others are stored", arguments: TestDatabase.available)
    func failing(database: TestDatabase) async throws {
        let ids = (10..<26).map { "t\($0)" }
        let calls: [Call] = [.closure("before")] + ids.map { .insertion($0, fails: $0 == "t13") } + [.closure("after")]
        let performed = try await perform(calls, on: database)
        let expected = ["before"] + ids + ["after"]
        for (id, outcome) in zip(expected, performed.outcomes) {
            #expect(outcome == (id == "t13" ? .failure(.mismatch(reason: id)) : .success(id)))
        }
        #expect(performed.events == expected.filter { $0 != "t13" })
        // All, all again in a savepoint, then halves of what holds the one.
        #expect(performed.batches.map(\.count) == [16, 16, 8, 4, 2, 2, 1, 1, 4, 8])
    }

    @Test("a batch of two that meets itself stores the first", arguments: TestDatabase.available)
    func doubles(database: TestDatabase) async throws {
        let performed = try await perform([.insertion("a"), .insertion("a")], on: database)
        #expect(performed.outcomes.first == .success("a"))
        switch performed.outcomes.last {
        case .failure(.mismatch), .failure(.statement): break
        default: Issue.record("\(performed.outcomes)")
        }
        #expect(performed.events == ["a"])
    }

    @Test("one whose task is cancelled before its turn is never begun", arguments: TestDatabase.available)
    func cancelled(database: TestDatabase) async throws {
        let batches = Collected<[String]>()
        try await database.withStore { store in
            let outcomes = try await store.whileWriterIsHeld {
                let tasks = ["a", "gone", "b"].map { id in
                    Task.immediate { await Self.outcome(of: .insertion(id), on: store, batches) }
                }
                tasks[1].cancel()
                return tasks
            }
            #expect(outcomes == [.success("a"), .failure(.stopped), .success("b")])
        }
        #expect(batches.all == [["a"], ["b"]])
    }

    @Test("one that an `async let` waits for is answered, and done before the next", arguments: TestDatabase.available)
    func asyncLet(database: TestDatabase) async throws {
        let batches = Collected<[String]>()
        try await database.withStore { store in
            for number in 0..<50 {
                async let left = Self.outcome(of: .insertion("l\(number)"), on: store, batches)
                async let right = Self.outcome(of: .insertion("r\(number)"), on: store, batches)
                #expect(await left == .success("l\(number)"))
                #expect(await right == .success("r\(number)"))
            }
        }
        #expect(batches.all.flatMap(\.self).count == 100)
    }
}
