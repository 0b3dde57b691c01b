import Testing
import TocsinCore
import TocsinStore

@Suite("The audit in the store")
struct AuditEventStoreTests {
    private let models = TestModels()

    private func event(
        _ second: Int64,
        _ action: String = "topic.create",
        by actor: AuditActor = AuditActor(kind: .user, id: "ann"),
        on subject: AuditSubject = .topic(TopicID("t1")),
        about: UserID? = nil,
        outcome: AuditOutcome = .done
    ) -> AuditEvent {
        AuditEvent(
            id: "event-\(second)",
            at: moment(second * 1000),
            actor: actor,
            action: action,
            subject: subject,
            about: about,
            detail: ["second": .int(second)],
            outcome: outcome
        )
    }

    private func record(_ events: [AuditEvent], to store: SQLStore) async throws {
        try await store.write { writer throws(StoreError) in for event in events { try writer.record(event) } }
    }

    private func seconds(_ store: SQLStore, _ query: AuditQuery) async throws -> [Int64] {
        try await store.read { reader throws(StoreError) in
            try reader.auditEvents(query).map { $0.at.milliseconds / 1000 }
        }
    }

    @Test("places of rows come with the oldest first, and rows by their places", arguments: TestDatabase.available)
    func places(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await record((1...700).reversed().map { event($0) }, to: store)
            let (some, rows) = try await store.read { reader throws(StoreError) in
                let places = try reader.auditPlaces(since: moment(100_000), limit: 550)
                let gone = AuditCursor(at: moment(200_000), id: "event-0")
                return (places, try reader.auditEvents(at: places.reversed() + [gone]))
            }
            #expect(some.map { $0.at.milliseconds / 1000 } == Array(100...649))
            #expect(rows.map(\.cursor) == some)
            #expect(rows.last?.detail == #"{"second":649}"#)
        }
    }

    @Test("a row comes back as it was recorded, with where its request came from", arguments: TestDatabase.available)
    func roundTrip(database: TestDatabase) async throws {
        let wanted = event(5, by: AuditActor(kind: .user, id: "ann", token: "tok"), on: .user(UserID("bob")))
        try await database.withStore { store in
            let origin = RequestOrigin(address: "192.0.2.77", requestID: "12-3")
            try await RequestOrigin.$current.withValue(origin) { try await record([wanted], to: store) }
            try await record([event(6, by: .server, on: .server("one"))], to: store)
            let found = try await store.read { reader throws(StoreError) in
                try reader.auditEvents(AuditQuery(limit: 9))
            }
            #expect(found.map(\.actorKind) == ["SERVER", "USER"])
            #expect(found.map(\.network) == [nil, "192.0.2.0/24"])
            #expect(found.map(\.requestID) == [nil, "12-3"])
            #expect(found.last?.token == "tok")
            #expect(found.last?.subjectKind == "USER")
            #expect(found.last?.subject == "bob")
            #expect(found.last?.detail == #"{"second":5}"#)
            #expect(found.last?.outcome == "DONE")
        }
    }

    @Test("a change and its row are stored together, or neither of them", arguments: TestDatabase.available)
    func together(database: TestDatabase) async throws {
        let (models, row) = (models, event(1))
        try await database.withStore { store in
            try await record([row], to: store)
            // The row cannot be written: its id is taken.
            await #expect(throws: StoreError.self) {
                try await store.write { writer throws(StoreError) in
                    _ = try writer.insert(models.topic("t1"))
                    try writer.record(row)
                    try writer.awaitAnswers()
                }
            }
            // The change fails behind its row.
            let next = event(2)
            await #expect(throws: StoreError.self) {
                try await store.write { writer throws(StoreError) in
                    try writer.record(next)
                    throw .statement(code: 1, message: "scripted", sql: "")
                }
            }
            #expect(try await seconds(store, AuditQuery(limit: 9)) == [1])
            let topics = try await store.read { reader throws(StoreError) in
                try reader.records(models.topic, ids: ["t1"], where: .always).count
            }
            #expect(topics == 0)
        }
    }

    @Test("no row is changed or removed by whoever else writes to the database", arguments: TestDatabase.available)
    func guarded(database: TestDatabase) async throws {
        let row = event(5)
        let base = try database.make()
        let store = try await SQLStore.open(base, at: moment(0))
        try await record([row], to: store)
        let connection = try base.connect(.tool)
        for statement in ["UPDATE audit_events SET actor = 'bob'", "DELETE FROM audit_events"] {
            #expect(throws: StoreError.self) { try connection.run(statement) }
        }
        connection.close()
        #expect(try await seconds(store, AuditQuery(limit: 9)) == [5])
        await store.close()
    }

    @Test("rows whose time is over go in small batches, and no other", arguments: TestDatabase.available)
    func retention(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await record((1...9).map { event($0) }, to: store)
            let time = StillClock(moment: moment(16_000))
            let reaper = AuditReaper(store: store, time: time, keptSeconds: 10, batch: 2)
            #expect(try await reaper.runOnce() == 5)
            #expect(try await reaper.runOnce() == 0)
            #expect(try await seconds(store, AuditQuery(limit: 9)) == [9, 8, 7, 6])
        }
    }

    @Test("rows are found by each filter, a page after the other", arguments: TestDatabase.available)
    func filters(database: TestDatabase) async throws {
        let events = [
            event(1, "user.create", by: .operator, on: .user(UserID("ann"))),
            event(2, "topic.create"),
            event(3, "topic.delete"),
            event(4, "topics.odd", on: .topic(TopicID("t2"))),
            event(5, "token.refused", by: .stranger, on: .token(TokenID("x"), of: nil), outcome: .refused),
        ]
        try await database.withStore { store in
            try await record(events, to: store)
            var query = AuditQuery(limit: 2)
            #expect(try await seconds(store, query) == [5, 4])
            query.after = AuditCursor(at: moment(4000), id: "event-4")
            #expect(try await seconds(store, query) == [3, 2])
            func found(_ change: (inout AuditQuery) -> Void) async throws -> [Int64] {
                var query = AuditQuery(limit: 9)
                change(&query)
                return try await seconds(store, query)
            }
            #expect(try await found { $0.actor = "ann" } == [4, 3, 2])
            #expect(try await found { $0.subject = "t1" } == [3, 2])
            #expect(try await found { $0.action = "topic.create" } == [2])
            #expect(try await found { $0.action = "topic.*" } == [3, 2])
            #expect(try await found { $0.outcome = .refused } == [5])
            #expect(try await found { $0.outcome = .done } == [4, 3, 2, 1])
            #expect(try await found { ($0.since, $0.until) = (moment(2000), moment(4000)) } == [3, 2])
        }
    }

    @Test("people see what they did, and what was done to them and theirs", arguments: TestDatabase.available)
    func viewers(database: TestDatabase) async throws {
        let (models, bob) = (models, AuditActor(kind: .user, id: "bob"))
        let events = [
            event(1, "topic.create", on: .topic(TopicID("t1"))),
            event(2, "topic.delete", by: bob, on: .topic(TopicID("t1"))),
            event(3, "device.move", by: bob, on: .device(DeviceID("d"), of: UserID("bob")), about: UserID("ann")),
            event(4, "token.revoke", by: .operator, on: .token(TokenID("x"), of: UserID("ann"))),
            event(5, "user.create", by: .operator, on: .user(UserID("bob"))),
            // A system's account is no user, whatever its name.
            event(6, "key.create", by: AuditActor(kind: .operator, id: "ann"), on: .key(TokenID("k"))),
        ]
        try await database.withStore { store in
            try await store.insert([models.topic("t1", owner: "ann::Ann")])
            try await record(events, to: store)
            func seen(_ id: String, _ name: String) async throws -> [Int64] {
                var query = AuditQuery(limit: 9)
                query.viewer = AuditViewer(Identity(userID: UserID(id), username: name))
                return try await seconds(store, query)
            }
            #expect(try await seen("ann", "Ann") == [4, 3, 2, 1])
            #expect(try await seen("bob", "Bob") == [5, 3, 2])
            #expect(try await seen("eve", "Ann") == [])
        }
    }

    @Test("a database that is brought to another level says so, a new one does not", arguments: TestDatabase.available)
    func migration(database: TestDatabase) throws {
        let base = try database.make()
        let connection = try base.connect(.writer)
        defer { connection.close() }
        let all = try Migration.embedded(for: base.dialect)
        func migrate(_ migrations: [Migration]) throws {
            try Migrator(connection: connection, dialect: base.dialect, migrations: migrations)
                .migrate(at: moment(1)) { from, to in
                    AuditEvent(
                        id: "migrated",
                        at: moment(1),
                        actor: .server,
                        action: "migrate",
                        subject: .server("database"),
                        detail: ["from": .int(Int64(from)), "to": .int(Int64(to))]
                    )
                }
        }
        try migrate(Array(all.prefix(5)))
        try migrate(all)
        try migrate(all)
        let details = try connection.all("SELECT detail FROM audit_events") { $0.text(0) }
        #expect(details == [#"{"from":5,"to":\#(all.count)}"#])
    }
}
