import TestDatabases
import Testing
import TocsinCore
import TocsinStore

@Suite("Journal of nodes")
struct JournalTests {
    private let models = TestModels()

    /// Nodes on an empty database.
    private func withNodes(
        _ names: [String],
        on database: TestDatabase,
        settings: JournalSettings = JournalSettings(),
        _ body: ([JournalNode], any SQLDatabase) async throws -> Void
    ) async throws {
        let made = try database.make()
        var nodes: [JournalNode] = []
        for name in names { nodes.append(try await JournalNode(made, named: name, settings: settings)) }
        do {
            try await body(nodes, made)
        } catch {
            for node in nodes { await node.stop() }
            throw error
        }
        for node in nodes { await node.stop() }
    }

    @Test("each node hears the messages of all, each once and in order of number", arguments: TestDatabase.postgres)
    func order(database: TestDatabase) async throws {
        let (models, each) = (models, 120)
        try await withNodes(["a", "b", "c"], on: database) { nodes, _ in
            try await nodes[0].store.insert([
                models.topic("hot"), models.topic("a"), models.topic("b"), models.topic("c"),
            ])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for node in nodes {
                    for index in 0..<each {
                        let topic = index % 3 == 0 ? node.journal.instance : "hot"
                        group.addTask { try await node.publish("\(node.journal.instance)\(index)", to: topic, models) }
                    }
                }
                try await group.waitForAll()
            }
            for node in nodes {
                _ = await node.hear(3 * each)
                #expect(node.numbers(of: "hot") == Array(1...Int64(each / 3 * 2 * 3)))
                for topic in ["a", "b", "c"] { #expect(node.numbers(of: topic) == Array(1...Int64(each / 3))) }
            }
        }
    }

    @Test(
        "a transaction that commits late is heard, though later ones were before it",
        arguments: TestDatabase.postgres
    )
    func lateCommit(database: TestDatabase) async throws {
        let models = models
        try await withNodes(["a"], on: database) { nodes, made in
            let late = try made.connect(.writer)
            defer { late.close() }
            try late.run("BEGIN")
            try late.run(
                "INSERT INTO node_events (node, serial, body) VALUES ($1, $2, $3)",
                [.text("other"), .int(1), .text("o")]
            )
            try await nodes[0].store.insert([models.topic("t")])
            try await nodes[0].publish("m1", to: "t", models)
            #expect(await nodes[0].hear(1).count == 1)
            await nodes[0].reader.looked()
            #expect(nodes[0].heard.all.count == 1)
            try late.run("COMMIT")
            let events = await nodes[0].hear(2)
            #expect(events.last == .outboxFilled)
            await nodes[0].reader.looked()
            #expect(nodes[0].heard.all.count == 2)
        }
    }

    @Test(
        "a row is heard though its transaction's number was there before, as numbers are given again after a crash",
        arguments: TestDatabase.postgres
    )
    func reusedNumber(database: TestDatabase) async throws {
        try await withNodes(["a"], on: database) { nodes, made in
            let other = try made.connect(.writer)
            defer { other.close() }
            try other.run("INSERT INTO node_events (xid, node, serial, body) VALUES ('3', 'other', 1, 'o')")
            await nodes[0].reader.looked()
            #expect(nodes[0].heard.all == [[.outboxFilled]])
            await nodes[0].reader.looked()
            #expect(nodes[0].heard.all.count == 1)
        }
    }

    @Test("a look of many pages tells each row once, in order", arguments: TestDatabase.postgres, [1, 7, 100])
    func pages(database: TestDatabase, pageSize: Int) async throws {
        var settings = JournalSettings()
        settings.pageSize = pageSize
        try await withNodes(["a"], on: database, settings: settings) { nodes, made in
            let other = try made.connect(.writer)
            defer { other.close() }
            try other.run(
                """
                INSERT INTO node_events (node, serial, body)
                SELECT 'other', n, E'e\\t' || n || E'\\tUNREGISTERED' FROM generate_series(1, 100) AS n
                """
            )
            await nodes[0].reader.looked()
            let expected = (1...100).map { DomainEvent.deviceEnded(DeviceID("\($0)"), reason: "UNREGISTERED") }
            #expect(Array(nodes[0].heard.all.joined()) == expected)
            #expect(nodes[0].reader.status.rows == 100)
        }
    }

    @Test("what is no message arrives with the values of its commit", arguments: TestDatabase.postgres)
    func values(database: TestDatabase) async throws {
        let models = models
        let text = "tab\tnew line\nback\\slash \\N é"
        let long = String(repeating: "x", count: 20_000)
        try await withNodes(["a", "b"], on: database) { nodes, _ in
            try await nodes[0].store.write { writer throws(StoreError) in
                var note = Record(
                    models.note,
                    [
                        "id": .text("n"), "owner": .text("u::ann"), "createdAt": .text("t"),
                        ModelType.makingTime: .int(1),
                        "text": .text(text), "count": .int(-7), "weight": .double(0.5), "isDone": .bool(true),
                        "tags": .json("[\"x\"]"),
                    ]
                )
                _ = try writer.insert(note)
                writer.note(.updated(note))
                note["text"] = .text("later")
                try writer.update(note)
                writer.note(.updated(note))
                note["text"] = .text(long)
                try writer.update(note)
                writer.note(.deleted(note))
            }
            let events = await nodes[1].hear(3)
            let records = events.compactMap { event -> Record? in
                switch event {
                case .updated(let record), .deleted(let record): record
                default: nil
                }
            }
            #expect(records.map { $0["text"] } == [.text(text), .text("later"), .text(long)])
            #expect(records.first?["count"] == .int(-7))
            #expect(records.first?["weight"] == .double(0.5))
            #expect(records.first?["isDone"] == .bool(true))
            #expect(records.first?["tags"] == .json("[\"x\"]"))
            #expect(records.first?["place"] == .null)
        }
    }

    @Test("signals reach the other nodes, and the own node not twice", arguments: TestDatabase.postgres)
    func signals(database: TestDatabase) async throws {
        let signals: [DomainEvent] = [
            .outboxFilled, .webhooksFilled, .deviceEnded(DeviceID("d 1"), reason: "UNREGISTERED"),
            .pushesUnwanted(UserID("a\tb"), nil, .notificationsOff),
            .pushesUnwanted(UserID("ben"), TopicID("t"), .leftTopic), .incidentAnswered("i\t1", 7),
            .accessEnded(UserID("ann"), nil), .accessEnded(UserID("ben"), TokenID("t\\1")),
            .readMarksChanged(UserID("a\tb")),
        ]
        try await withNodes(["a", "b"], on: database) { nodes, _ in
            try await nodes[0].store.write { writer throws(StoreError) in
                for signal in signals { writer.note(signal) }
            }
            #expect(await nodes[1].hear(signals.count) == signals)
            await nodes[0].reader.looked()
            #expect(nodes[0].heard.all.isEmpty)
        }
    }

    @Test(
        "changes of grants reach every node, their own too, in their place among records",
        arguments: TestDatabase.postgres
    )
    func grants(database: TestDatabase) async throws {
        let models = models
        let begins = GrantChange(.group("a\tb"), TopicID("t"), "ann::a", .reader, Timestamp(milliseconds: 7))
        let events: [DomainEvent] = [
            .grantsChanged(begins), .created(models.topic("t")),
            .grantsChanged(GrantChange(ending: .signedIn, in: TopicID("t"))),
        ]
        try await withNodes(["a", "b"], on: database) { nodes, _ in
            try await nodes[0].store.insert([models.topic("t")])
            try await nodes[0].store.write { writer throws(StoreError) in writer.note(events) }
            for node in nodes {
                let heard = await node.hear(3)
                #expect(heard.map(\.kind) == [.grantsChanged, .records, .grantsChanged])
                #expect([heard.first, heard.last] == [events.first, events.last])
            }
        }
    }

    @Test("records that nobody listens to are not read", arguments: TestDatabase.postgres)
    func unwanted(database: TestDatabase) async throws {
        let models = models
        let made = try database.make()
        let writer = try await JournalNode(made, named: "a")
        let reader = try await JournalNode(made, named: "b", wants: { _, owner in owner == "u::ben" })
        try await writer.store.insert([models.topic("t"), models.topic("s", owner: "u::ben")])
        try await writer.store.write { writer throws(StoreError) in
            writer.note(.created(models.topic("t")))
            writer.note(.created(models.topic("s", owner: "u::ben")))
        }
        let events = await reader.hear(1)
        #expect(events.compactMap { if case .created(let record) = $0 { record.id } else { nil } } == ["s"])
        await writer.stop()
        await reader.stop()
    }

    @Test("a reader whose connection is killed goes on where it was", arguments: TestDatabase.postgres)
    func killedConnection(database: TestDatabase) async throws {
        let models = models
        try await withNodes(["a", "b"], on: database) { nodes, made in
            try await nodes[0].store.insert([models.topic("t")])
            let killer = try made.connect(.tool)
            defer { killer.close() }
            for index in 1...40 {
                if index % 10 == 0 {
                    try killer.run(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE datname = current_database() AND query LIKE '%node_events%' AND pid <> pg_backend_pid()
                            AND query NOT LIKE 'INSERT%' AND query NOT LIKE 'COMMIT%'
                        """
                    )
                }
                // A writer that was cut may not have written; the same message
                // again is then a new one.
                try? await nodes[0].publish("m\(index)", to: "t", models)
            }
            let stored = try await nodes[0].store.read { reader throws(StoreError) in
                try reader.feedBounds(of: TopicID("t"))?.last ?? 0
            }
            #expect(stored > 30)
            _ = await nodes[1].hear(Int(stored))
            #expect(nodes[1].numbers(of: "t") == Array(1...stored))
            #expect(nodes[1].losses.all.isEmpty)
        }
    }

    @Test("a reader that was away for too long says so", arguments: TestDatabase.postgres)
    func away(database: TestDatabase) async throws {
        var settings = JournalSettings()
        settings.keptMilliseconds = -1
        try await withNodes(["a"], on: database, settings: settings) { nodes, _ in
            await nodes[0].reader.looked()
            #expect(!nodes[0].losses.all.isEmpty)
        }
    }

    @Test("old rows are removed, younger ones stay", arguments: TestDatabase.postgres)
    func removal(database: TestDatabase) async throws {
        try await database.withStore { store in
            let counts = try await store.write { writer throws(StoreError) -> [Int] in
                [
                    try writer.removeJournal(before: moment(0), limit: 10),
                    try writer.removeJournal(before: moment(.max), limit: 10),
                ]
            }
            #expect(counts == [0, 0])
        }
        try await withNodes(["a"], on: database) { nodes, _ in
            for _ in 0..<3 {
                try await nodes[0].store.write { writer throws(StoreError) in writer.note(.outboxFilled) }
            }
            let counts = try await nodes[0].store.write { writer throws(StoreError) -> [Int] in
                [
                    try writer.removeJournal(before: moment(0), limit: 10),
                    try writer.removeJournal(before: moment(.max), limit: 2),
                    try writer.removeJournal(before: moment(.max), limit: 10),
                ]
            }
            #expect(counts == [0, 2, 1])
        }
    }
}

@Suite("Leases of nodes")
struct NodeLeaseTests {
    @Test("one node at a time has a lease, until it is over", arguments: TestDatabase.available)
    func lease(database: TestDatabase) async throws {
        try await database.withStore { store in
            let taken = try await store.write { writer throws(StoreError) -> [Bool] in
                [
                    try writer.takeLease("x", node: "a", now: moment(0), until: moment(10)),
                    try writer.takeLease("x", node: "b", now: moment(5), until: moment(15)),
                    try writer.takeLease("y", node: "b", now: moment(5), until: moment(15)),
                    try writer.takeLease("x", node: "a", now: moment(9), until: moment(19)),
                    try writer.takeLease("x", node: "b", now: moment(18), until: moment(28)),
                    try writer.takeLease("x", node: "b", now: moment(19), until: moment(29)),
                    try writer.takeLease("x", node: "a", now: moment(20), until: moment(30)),
                ]
            }
            #expect(taken == [true, false, true, true, false, true, false])
        }
    }

    @Test("a node that signs off leaves its leases to others at once", arguments: TestDatabase.available)
    func signingOff(database: TestDatabase) async throws {
        try await database.withStore { store in
            let taken = try await store.write { writer throws(StoreError) -> [Bool] in
                var taken = [
                    try writer.takeLease("x", node: "a", now: moment(0), until: moment(10)),
                    try writer.takeLease("y", node: "b", now: moment(0), until: moment(10)),
                ]
                try writer.removeNode(instance: "a")
                taken.append(try writer.takeLease("x", node: "c", now: moment(1), until: moment(11)))
                taken.append(try writer.takeLease("y", node: "c", now: moment(1), until: moment(11)))
                return taken
            }
            #expect(taken == [true, true, true, false])
        }
    }

    @Test("nodes are known while they are heard of", arguments: TestDatabase.available)
    func nodes(database: TestDatabase) async throws {
        try await database.withStore { store in
            var ann = NodeEntry(instance: "a-1", name: "a", keyMark: "k", startedAt: moment(100))
            let ben = NodeEntry(instance: "b-1", name: "b", keyMark: "k", startedAt: moment(200))
            ann.seenAt = moment(300)
            ann.wantsDeliveries = true
            let saved = [ann, ben]
            let seen = try await store.write { writer throws(StoreError) -> [[NodeEntry]] in
                for node in saved { try writer.save(node) }
                let all = try writer.nodes(seenSince: moment(0))
                let recent = try writer.nodes(seenSince: moment(300))
                try writer.removeNodes(seenBefore: moment(300))
                let left = try writer.nodes(seenSince: moment(0))
                try writer.removeNode(instance: "a-1")
                return [all, recent, left, try writer.nodes(seenSince: moment(0))]
            }
            #expect(seen == [[ann, ben], [ann], [ann], []])
        }
    }
}
