import TestDatabases
import Testing
import TocsinCore
import TocsinStore

/// Two stores on one database, as two nodes have them.
@Suite("Several nodes on one PostgreSQL", .enabled(if: PostgresServer.named != nil), .timeLimit(.minutes(5)))
struct SeveralNodesTests {
    private let models = TestModels()

    private func withNodes(_ body: (SQLStore, SQLStore) async throws -> Void) async throws {
        try await withNodes(on: try #require(PostgresServer.named).makeDatabase(), body)
    }

    private func withNodes(
        on database: TemporaryDatabase,
        _ body: (SQLStore, SQLStore) async throws -> Void
    ) async throws {
        // Both at once: only one of them makes the tables.
        async let one = SQLStore.open(database, at: moment(0))
        async let other = SQLStore.open(database, at: moment(0))
        let nodes = try await [one, other]
        do {
            try await body(nodes[0], nodes[1])
        } catch {
            for node in nodes { await node.close() }
            throw error
        }
        for node in nodes { await node.close() }
    }

    @Test("numbers of a topic stay dense, and none is given twice")
    func numbers() async throws {
        let (models, count) = (models, 150)
        try await withNodes { one, other in
            try await one.insert([models.topic("t1")])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (name, node) in [("a", one), ("b", other)] {
                    for index in 0..<count {
                        group.addTask {
                            try await node.write { writer throws(StoreError) in
                                _ = try writer.create(models.message("\(name)\(index)", topic: "t1"))
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let field = try #require(models.message.position(of: "number"))
            let query = ModelQuery(
                model: models.message,
                predicate: .always,
                order: [ModelQuery.Order(field: field)],
                limit: 1000
            )
            let numbers = try await other.page(query).map { $0["number"].int }
            #expect(numbers == (1...Int64(2 * count)).map(Optional.some))
        }
    }

    @Test("updates that rest on what was read are not lost")
    func lostUpdates() async throws {
        let (models, count) = (models, 40)
        try await withNodes { one, other in
            try await one.insert([models.topic("t1")])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for node in [one, other] {
                    for _ in 0..<count {
                        group.addTask {
                            try await node.write { writer throws(StoreError) in
                                let found = try writer.records(models.topic, ids: ["t1"], where: .always)
                                for var topic in found {
                                    topic["_version"] = .int(topic.version + 1)
                                    try writer.update(topic)
                                }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let topic = try await one.read { reader throws(StoreError) in
                try reader.records(models.topic, ids: ["t1"], where: .always).first
            }
            #expect(topic?.version == Int64(1 + 2 * count))
        }
    }

    @Test("two that wait for each other are told apart by the database, and both are done")
    func deadlock() async throws {
        let models = models
        // Who holds a first row.
        let holding = Collected<String>()
        try await withNodes { one, other in
            try await one.insert([models.topic("a"), models.topic("b")])
            @Sendable func write(_ node: SQLStore, _ first: String, _ second: String) async throws -> Int {
                let runs = Collected<Int>()
                try await node.write { writer throws(StoreError) in
                    runs.append([1])
                    _ = try writer.records(models.topic, ids: [first], where: .always)
                    holding.append([first])
                    let limit = ContinuousClock.now + .seconds(3)
                    // Until both hold their first row.
                    while Set(holding.all).count < 2, ContinuousClock.now < limit {}
                    _ = try writer.records(models.topic, ids: [second], where: .always)
                }
                return runs.all.count
            }
            async let forth = write(one, "a", "b")
            async let back = write(other, "b", "a")
            let runs = try await forth + back
            #expect(runs >= 3, "\(runs) runs: they never met")
        }
    }

    @Test("a token that is registered at two nodes at once has one row")
    func tokens() async throws {
        try await withNodes { one, other in
            for round in 0..<10 {
                let token = "token\(round)"
                @Sendable func register(_ node: SQLStore, _ user: String) async throws {
                    try await node.write { writer throws(StoreError) in
                        if let device = try writer.devices(token: token).first {
                            try writer.removeDevice(device.id, reason: "TOKEN_MOVED")
                        }
                        try writer.save(
                            Device(
                                id: DeviceID("\(user)\(round)"),
                                userID: UserID(user),
                                platform: .ios,
                                environment: nil,
                                appID: "app",
                                token: token,
                                name: nil,
                                registeredAt: moment(1),
                                lastSeenAt: moment(1)
                            )
                        )
                    }
                }
                async let first: Void = register(one, "ann")
                async let second: Void = register(other, "bob")
                _ = try await (first, second)
                let devices = try await one.read { reader throws(StoreError) in try reader.devices(token: token) }
                #expect(devices.count == 1)
            }
        }
    }

    @Test("what is due is claimed once, and nobody waits for another's claim")
    func claims() async throws {
        let count = 60
        try await withNodes { one, other in
            try await one.write { writer throws(StoreError) in
                try writer.add(
                    (0..<count).map { number in
                        var event = WebhookEvent(
                            id: WebhookEventID("e\(number)"),
                            webhook: "w",
                            type: .registerPushToken,
                            body: "{}",
                            createdAt: moment(Int64(number))
                        )
                        event.nextAttemptAt = moment(1)
                        return event
                    }
                )
            }
            let claimed = Collected<String>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for node in [one, other, one, other] {
                    group.addTask {
                        while true {
                            let events = try await node.write { writer throws(StoreError) in
                                try writer.claimWebhookEvents(
                                    of: "w",
                                    now: moment(100),
                                    leaseUntil: moment(1000),
                                    limit: 7
                                )
                            }
                            claimed.append(events.map(\.id.text))
                            // One that was held by the other just now is found by the next look.
                            if events.isEmpty, claimed.all.count >= count { return }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(claimed.all.count == count)
            #expect(Set(claimed.all).count == count)
        }
    }

    @Test("a fence waits for writes of other nodes that began before it")
    func fence() async throws {
        let models = models
        let database = try #require(PostgresServer.named).makeDatabase()
        try await withNodes(on: database) { one, other in
            let order = Collected<String>()
            let (begun, signal) = AsyncStream<Void>.makeStream()
            async let slow: Void = one.write { writer throws(StoreError) in
                _ = try writer.insert(models.topic("t1"))
                signal.finish()
                let watcher = try database.connect(.reader)
                let limit = ContinuousClock.now + .seconds(4)
                while ContinuousClock.now < limit, try !Self.isLockAwaited(watcher) {}
                watcher.close()
                order.append(["slow"])
            }
            for await _ in begun {}
            try await other.write { writer throws(StoreError) in
                try writer.fenceChanges()
                order.append(["fence"])
            }
            try await slow
            #expect(order.all == ["slow", "fence"])
            // Two fences at once wait for each other's end, never for each other.
            async let first: Void = one.write { writer throws(StoreError) in try writer.fenceChanges() }
            async let second: Void = other.write { writer throws(StoreError) in try writer.fenceChanges() }
            _ = try await (first, second)
        }
    }

    /// Whether somebody waits for an advisory lock of this database.
    private static func isLockAwaited(_ connection: any SQLConnection) throws(StoreError) -> Bool {
        let sql = """
            SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """
        return try connection.first(sql) { $0.int(0) } ?? 0 > 0
    }
}
