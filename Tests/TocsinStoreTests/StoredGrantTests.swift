import Glibc
import TestDatabases
import Testing
import TocsinCore
import TocsinStore

@Suite("Stored grants")
struct StoredGrantTests {
    private let models = TestModels()
    private static let subjects: [GrantSubject] = [.user(UserID("ben")), .group("ops"), .signedIn]

    private func grant(
        _ id: String,
        _ topic: String,
        _ subject: GrantSubject,
        _ roles: TopicRole,
        until end: Timestamp? = nil
    ) -> TopicGrant {
        var grant = TopicGrant(
            id: GrantID(id),
            topicID: TopicID(topic),
            subject: subject,
            roles: roles,
            createdAt: moment(1),
            createdBy: UserID("ann")
        )
        grant.expiresAt = end
        return grant
    }

    private static func now() -> Timestamp {
        var clock = timespec()
        clock_gettime(CLOCK_REALTIME, &clock)
        return Timestamp(milliseconds: Int64(clock.tv_sec) * 1000 + Int64(clock.tv_nsec) / 1_000_000)
    }

    private func save(_ grants: [TopicGrant], _ store: SQLStore) async throws {
        try await store.write { writer throws(StoreError) in
            for grant in grants { try writer.save(grant, replacing: nil) }
        }
    }

    @Test(
        "a predicate means the same in SQL and in memory, whoever asks and in which role",
        arguments: TestDatabase.available
    )
    func meaning(database: TestDatabase) async throws {
        let models = models
        try await database.withStore { store in
            let topics = (0..<9).map { models.topic("t\($0)", owner: $0 < 3 ? "u::ann" : "u::cat") }
            let messages = (0..<18).map { number in
                var message = models.message("m\(number)", topic: "t\(number % 9)", number: Int64(number))
                message["owner"] = topics[number % 9]["owner"]
                return message
            }
            try await store.insert(topics)
            try await store.insert(messages)
            let (past, future) = (Self.now().adding(seconds: -1), Self.now().adding(seconds: 3600))
            try await save(
                [
                    grant("1", "t3", .user(UserID("ben")), .reader), grant("2", "t4", .group("ops"), .publisher),
                    grant("3", "t5", .signedIn, [.owner, .reader]), grant("4", "t6", .group("Ops"), .all),
                    grant("5", "t7", .user(UserID("ben")), .reader, until: past),
                    grant("6", "t8", .user(UserID("ben")), .reader, until: future),
                    grant("7", "t8", .group("ops"), .publisher),
                ],
                store
            )
            for (model, field, records) in [(models.topic, "id", topics), (models.message, "topicId", messages)] {
                let position = try #require(model.position(of: field))
                let owner = try #require(model.position(of: "owner"))
                for need in [TopicRole.reader, .publisher, .owner, .reading, .publishing, .all] {
                    for subjects in [Self.subjects, [.user(UserID("ben"))], [.group("ops")], [.signedIn]] {
                        let granted = Predicate.granted(position, need, subjects)
                        let predicates = [
                            granted, .any([.field(owner, .isOneOf([.text("u::ann")])), granted]), .not(granted),
                            .all([granted, .field(owner, .notEqual(.text("u::ann")))]),
                        ]
                        let roles = try await store.read { reader throws(StoreError) in
                            try reader.roles(of: subjects, in: topics.map { TopicID($0.id) })
                        }
                        for predicate in predicates {
                            let expected = records.filter { predicate.matches($0, roles) }.map(\.id).sorted()
                            let query = ModelQuery(
                                model: model,
                                predicate: predicate,
                                order: [ModelQuery.Order(field: 0)],
                                limit: 100
                            )
                            #expect(try await store.page(query).map(\.id).sorted() == expected, "\(predicate)")
                            let found = try await store.read { reader throws(StoreError) in
                                let together = try reader.records(model, ids: records.map(\.id), where: predicate)
                                var alone: [Record] = []
                                for record in records {
                                    alone += try reader.records(model, ids: [record.id], where: predicate)
                                }
                                return (together.map(\.id).sorted(), alone.map(\.id).sorted())
                            }
                            #expect(found.0 == expected && (found.1 == expected || predicate == .not(granted)))
                        }
                    }
                }
            }
        }
    }

    @Test("a grant ends at its moment in every meaning, and never comes back", arguments: TestDatabase.available)
    func expiry(database: TestDatabase) async throws {
        let models = models
        try await database.withStore { store in
            try await store.insert([models.topic("t1", owner: "u::cat"), models.topic("t2", owner: "u::cat")])
            let end = Self.now().adding(seconds: 0.3)
            try await save([grant("1", "t1", .signedIn, .reader, until: end)], store)
            let visible = Predicate.granted(try #require(models.topic.position(of: "id")), .reader, [.signedIn])
            var wasSeen = true
            repeat {
                let before = Self.now()
                let seen = try await store.read { reader throws(StoreError) in
                    [
                        try reader.records(models.topic, ids: ["t1"], where: visible).count,
                        try reader.records(models.topic, ids: ["t1", "t2"], where: visible).count,
                    ]
                }
                let after = Self.now()
                // A statement's moment lies between these; the clocks are one machine's.
                if after < end { #expect(seen == [1, 1]) }
                if before >= end { #expect(seen == [0, 0]) }
                #expect(wasSeen || seen == [0, 0])
                wasSeen = seen != [0, 0]
            } while wasSeen
            let grant = grant("1", "t1", .signedIn, .reader, until: end)
            #expect(grant.isInForce(at: Timestamp(milliseconds: end.milliseconds - 1)) && !grant.isInForce(at: end))
            let book = GrantBook()
            #expect(book.fill(.signedIn, with: [grant]))
            let question = GrantQuestion(field: 0, need: .reader, subjects: [.signedIn])
            var topic = models.topic("t1")
            topic.values[0] = .text("t1")
            #expect(book.holds(question, for: topic, at: Timestamp(milliseconds: end.milliseconds - 1)))
            #expect(!book.holds(question, for: topic, at: end))
        }
    }

    @Test(
        "the same subject again keeps its grant's id; what ends is noted, and the last one unshares the topic",
        arguments: TestDatabase.available
    )
    func replacing(database: TestDatabase) async throws {
        let models = models
        try await database.withStore { store in
            try await store.insert([models.topic("t1", owner: "u::cat")])
            let first = grant("1", "t1", .group("a:b"), .reader)
            try await save([first, grant("2", "t1", .group("a:b"), .publisher)], store)
            try await store.write { writer throws(StoreError) in
                let stored = try writer.grants(of: TopicID("t1"), after: "", limit: 10)
                #expect(stored.map(\.id) == [GrantID("1")] && stored.map(\.roles) == [.publisher])
                #expect(stored.first?.subject == .group("a:b"))
                #expect(try writer.grantCount(of: TopicID("t1")) == 1)
                try writer.remove(first, at: moment(5))
                #expect(try writer.grant(GrantID("1")) == nil)
                #expect(try writer.removeEndedGrants(before: moment(5), limit: 10) == 0)
                #expect(try writer.removeEndedGrants(before: moment(6), limit: 10) == 1)
            }
        }
    }

    @Test(
        "a page of a topic's messages tells of each row whether it is shared, and ends where it is not",
        arguments: TestDatabase.available
    )
    func pages(database: TestDatabase) async throws {
        let models = models
        try await database.withStore { store in
            try await store.insert([models.topic("t1", owner: "u::cat"), models.topic("t2", owner: "u::cat")])
            let messages = (0..<200).map { number in
                var message = models.message("m\(1000 + number)", topic: "t\(number % 2 + 1)", number: Int64(number))
                message["owner"] = .text("u::cat")
                message[ModelType.makingTime] = .int(Int64(number))
                return message
            }
            try await store.insert(messages)
            try await save([grant("1", "t1", .group("ops"), .reader)], store)
            let topic = try #require(models.message.position(of: "topicId"))
            let owner = try #require(models.message.position(of: "owner"))
            let visible = Predicate.any([
                .field(owner, .isOneOf([.text("u::ben"), .text("ben")])), .granted(topic, .reading, Self.subjects),
            ])
            let (made, key) = (try #require(models.message.position(of: ModelType.makingTime)), 0)
            func ids(_ range: Predicate) async throws -> [String] {
                var (found, after): ([String], [FieldValue]?) = ([], nil)
                repeat {
                    let query = PageQuery(
                        models.message,
                        range: range,
                        visible: visible,
                        filter: .always,
                        order: [ModelQuery.Order(field: made), ModelQuery.Order(field: key)],
                        after: after,
                        limit: 30
                    )
                    let page = try await store.read { reader throws(StoreError) in
                        try reader.pages([query], ExaminationLimits())[0]
                    }
                    found += page.records.map(\.id)
                    after = page.end
                } while after != nil
                return found
            }
            let shared = messages.filter { $0["topicId"] == .text("t1") }.map(\.id)
            #expect(try await ids(.always) == shared)
            #expect(try await ids(.field(topic, .equal(.text("t1")))) == shared)
            #expect(try await ids(.field(topic, .equal(.text("t2")))).isEmpty)
        }
    }
}
