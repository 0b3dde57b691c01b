import TestDatabases
import Testing
import TocsinCore
import TocsinPostgres
import TocsinStore

/// Connections that are cut, at the worst moments.
@Suite("Lost connections to PostgreSQL", .enabled(if: PostgresServer.named != nil), .timeLimit(.minutes(5)))
struct LostAnswersTests {
    private let models = TestModels()
    /// The whole statement, as a client's message holds it: READ COMMITTED is not meant.
    private static let commit = "\0COMMIT\0"
    private static let isThere = """
        SELECT 1 FROM node_events
        WHERE node = $1 AND serial = $2 AND xid >= $3::text::xid8 AND xid <= $4::text::xid8
        """

    private func titles(_ store: SQLStore) async throws -> [String] {
        let models = models
        return try await store.read { reader throws(StoreError) in
            try reader.records(models.topic, ids: ["t1", "t2"], where: .always).map(\.id).sorted()
        }
    }

    @Test("after all connections were ended writes and reads go on, each answered once")
    func endedConnections() async throws {
        let database = try #require(PostgresServer.named).makeDatabase()
        let store = try await SQLStore.open(database, at: moment(0))
        try await store.insert([models.topic("t1")])
        _ = try await titles(store)
        try database.server.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database.name)'"
        )
        try await store.insert([models.topic("t2")])
        #expect(try await titles(store) == ["t1", "t2"])
        await store.close()
    }

    /// A store behind a proxy, which is told what to do before `body` runs.
    private func withProxy(
        outcomeMilliseconds: Int,
        _ body: (SQLStore, PostgresProxy) async throws -> Void
    ) async throws {
        let temporary = try #require(PostgresServer.named).makeDatabase()
        let proxy = try PostgresProxy(to: temporary.url)
        var database = PostgresDatabase(url: proxy.url)
        // So that the proxy sees the words of each statement.
        database.options.preparesStatements = false
        database.options.outcomeMilliseconds = outcomeMilliseconds
        var settings = StoreSettings()
        settings.journal = Journal(instance: "a")
        let store = try await SQLStore.open(database, at: moment(0), settings: settings)
        do {
            try await body(store, proxy)
        } catch {
            await store.close()
            proxy.close()
            throw error
        }
        await store.close()
        proxy.close()
    }

    @Test("a commit whose answer was lost is asked for, and answered as what it was: done")
    func lostAnswer() async throws {
        try await withProxy(outcomeMilliseconds: 30_000) { store, proxy in
            proxy.cut(at: Self.commit, afterServer: true, thenRefuses: false)
            try await store.insert([models.topic("t1")])
            #expect(proxy.cuts == 1)
            #expect(try await titles(store) == ["t1"])
            #expect(store.statistics.failedGroups == 0)
        }
    }

    @Test("a commit that never reached the server is begun again, and done once")
    func lostRequest() async throws {
        try await withProxy(outcomeMilliseconds: 30_000) { store, proxy in
            proxy.cut(at: Self.commit, afterServer: false, thenRefuses: false)
            try await store.insert([models.topic("t1")])
            #expect(proxy.cuts == 1)
            #expect(try await titles(store) == ["t1"])
        }
    }

    /// Makes messages, and tells the numbers that they got.
    private struct Creation: GroupedWrite {
        let ids: [String]

        static func perform(_ batch: [Creation], _ writer: any StoreWriter) throws(StoreError) -> () -> [[Int64?]] {
            let models = TestModels()
            let created = try batch.map { creation throws(StoreError) in
                let messages = NewMessages(creation.ids.map { models.message($0, topic: "t1") })
                try writer.create(messages)
                return messages
            }
            return { created.map { $0.records.map(\.number) } }
        }
    }

    @Test(
        "messages whose commit was not answered are stored once, and answered with their numbers",
        arguments: [true, false]
    )
    func lostNumbers(afterServer: Bool) async throws {
        let temporary = try #require(PostgresServer.named).makeDatabase()
        let proxy = try PostgresProxy(to: temporary.url)
        defer { proxy.close() }
        var settings = StoreSettings()
        settings.journal = Journal(instance: "a")
        let events = Collected<DomainEvent>()
        let store = try await SQLStore.open(
            PostgresDatabase(url: proxy.url),
            at: moment(0),
            settings: settings,
            commitObserver: events.append
        )
        try await store.insert([models.topic("t1")])
        for round in 0..<4 {
            let ids = ["a\(round)", "b\(round)"]
            // The ids are in the same piece as the commit.
            if round % 2 == 1 { proxy.cut(at: "\"\(ids[0])\"", afterServer: afterServer, thenRefuses: false) }
            let numbers = try await Creation(ids: ids).written(to: store)
            #expect(numbers == [Int64(2 * round + 1), Int64(2 * round + 2)])
        }
        #expect(proxy.cuts == 2)
        #expect(store.statistics.failedGroups == 0)
        let told: [Int64] = events.all.compactMap { event in
            if case .created(let record) = event { record.number } else { nil }
        }
        #expect(told == Array(1...8))
        let found = try await store.read { [models] reader throws(StoreError) in
            try reader.records(models.message, ids: (0..<4).flatMap { ["a\($0)", "b\($0)"] }, where: .always)
        }
        let stored: [Int64] = found.compactMap(\.number).sorted()
        #expect(stored == Array(1...8))
        await store.close()
    }

    @Test("while the server cannot be asked the outcome is unknown, and the error says so")
    func unknown() async throws {
        try await withProxy(outcomeMilliseconds: 300) { store, proxy in
            proxy.cut(at: Self.commit, afterServer: true, thenRefuses: true)
            do {
                try await store.insert([models.topic("t1")])
                Issue.record("it was answered")
            } catch StoreError.uncertain(let reason, let detail) {
                #expect(reason.contains("may be stored or not") && detail.isEmpty, "\(reason) \(detail)")
            }
            proxy.accept()
            // A repetition under the same id finds what was stored.
            let limit = ContinuousClock.now + .seconds(60)
            var found: Record?
            while found == nil, ContinuousClock.now < limit {
                found = try? await store.write { writer throws(StoreError) in try writer.insert(models.topic("t1")) }
            }
            #expect(found?.id == "t1")
        }
    }

    @Test(
        "a number that was lost in a crash is nobody's commit, nor is another's under the same number",
        arguments: [true, false]
    )
    func lostNumber(isGivenAgain: Bool) async throws {
        let temporary = try #require(PostgresServer.named).makeDatabase()
        let database = PostgresDatabase(url: temporary.url)
        let store = try await SQLStore.open(database, at: moment(0))
        await store.close()
        let connection = try database.connect(.writer)
        defer { connection.close() }
        let query = "SELECT pg_current_xact_id()::text, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"
        let (number, timeline) = try #require(try connection.first(query) { ($0.text(0), $0.text(1)) })
        var mark = TransactionMark(id: isGivenAgain ? number : "1000000000", timeline: timeline)
        mark.proof = TransactionProof(
            sql: Self.isThere,
            bindings: [.text("a"), .int(1)]
        )
        #expect(try database.askedOutcome(of: mark) == .aborted)
        try connection.run("INSERT INTO node_events (xid, node, serial, body) VALUES ('\(number)', 'a', 1, '')")
        #expect(try database.askedOutcome(of: mark) == (isGivenAgain ? .committed : .aborted))
        mark.proof = nil
        #expect(try database.askedOutcome(of: mark) == (isGivenAgain ? .unknown : .aborted))
    }

    @Test("what became of a transaction without a number is known by what it wrote, or once its session was ended")
    func lostSession() async throws {
        let temporary = try #require(PostgresServer.named).makeDatabase()
        let database = PostgresDatabase(url: temporary.url)
        let store = try await SQLStore.open(database, at: moment(0))
        await store.close()
        let (held, idle) = (try database.connect(.writer), try database.connect(.writer))
        defer {
            held.close()
            idle.close()
        }
        func mark(_ connection: any SQLConnection, serial: Int64) throws -> TransactionMark {
            let proof = TransactionProof(
                sql: Self.isThere,
                bindings: [.text("a"), .int(serial)]
            )
            return try #require(try TransactionMark.unnumbered(of: connection, proof: proof))
        }
        func outcome(_ mark: TransactionMark) throws -> TransactionOutcome {
            let limit = ContinuousClock.now + .seconds(60)
            while ContinuousClock.now < limit {
                if let outcome = try database.askedOutcome(of: mark) { return outcome }
            }
            return .unknown
        }
        let (open, done) = (try mark(held, serial: 1), try mark(idle, serial: 2))
        try held.run("BEGIN")
        for (connection, serial) in [(held, 1), (idle, 2)] {
            try connection.run("INSERT INTO node_events (node, serial, body) VALUES ('a', \(serial), '')")
        }
        #expect(try database.askedOutcome(of: done) == .committed)
        #expect(try outcome(open) == .aborted)
        #expect(throws: StoreError.self) { try held.run("COMMIT") }
        #expect(try outcome(done) == .committed)
        // Its session may be another's by now, behind a pooler.
        try idle.run("SELECT 1")
    }
}
