import TestDatabases
import Testing
import TocsinCore
import TocsinStore

/// The queries that the shipped schema makes must walk an index in order: never a
/// whole table, never a sort.
@Suite("Query plans")
struct QueryPlanTests {
    private let models = TestModels()

    /// The steps of the plans of all SELECTs and UPDATEs that the body runs.
    private func plans(
        by planner: QueryPlanner = .sqlite,
        sorts: Bool = true,
        _ body: @escaping @Sendable (any StoreWriter) throws(StoreError) -> Void
    ) async throws -> [String] {
        let steps = Collected<String>()
        let base = try planner.make(sorts: sorts)
        try await planner.fill(base, models)
        let database = ObservedDatabase(base: base) { sql, bindings, connection throws(StoreError) in
            guard ["SELECT", "UPDATE", "DELETE", "WITH"].contains(where: sql.hasPrefix), !sql.contains("migrations")
            else { return }
            steps.append(try planner.steps(of: sql, bindings, connection))
        }
        let store = try await SQLStore.open(database, at: moment(0))
        try await store.write(body)
        await store.close()
        return steps.all
    }

    private func expectIndexed(
        _ steps: [String],
        _ query: String,
        by planner: QueryPlanner = .sqlite,
        sorts: Bool = true
    ) {
        #expect(!steps.isEmpty, "\(query) was not seen")
        let wasteful = planner.wasteful(steps, sorts: sorts)
        #expect(wasteful.isEmpty, "\(query): \(wasteful) in \(steps.joined(separator: "\n"))")
    }

    @Test("the groups that somebody made are served by an index")
    func groups() async throws {
        let steps = try await plans { writer throws(StoreError) in
            _ = try writer.groups(madeBy: UserID("u"), after: "a", limit: 10)
            _ = try writer.groupCount(madeBy: UserID("u"))
        }
        expectIndexed(steps, "groups of a maker")
    }

    @Test("where an alert fires among the topics of routes is one statement, served by indexes")
    func firingSource() async throws {
        let steps = try await plans { writer throws(StoreError) in
            _ = try writer.firstSource(among: (1...21).map { "i@t\($0)" }, firing: ["a", "b"])
        }
        expectIndexed(steps, "the source of a firing alert")
        #expect(steps.count == 2, "a step for each table: \(steps)")
    }

    @Test(
        "the topics where an integration's incidents are open are one statement, served by an index",
        arguments: QueryPlanner.available
    )
    func openSources(planner: QueryPlanner) async throws {
        let steps = try await plans(by: planner) { writer throws(StoreError) in
            #expect(try writer.openSources(in: "i@"..<"iA", limit: 50).isEmpty)
        }
        expectIndexed(steps, "the sources of open incidents", by: planner)
        #expect(steps.contains { $0.contains("incidents_open") }, "\(steps)")
    }

    @Test("what is asked of a provider's person is served by indexes")
    func identities() async throws {
        let steps = try await plans { writer throws(StoreError) in
            _ = try writer.identity(issuer: "https://id.example", subject: "1")
            _ = try writer.identity("i")
            _ = try writer.linkedIdentities(of: UserID("u"))
            _ = try writer.hasThings(UserID("oidc:p:1"))
        }
        expectIndexed(steps, "identities")
    }

    @Test("where somebody signed in from is served by indexes")
    func networks() async throws {
        let steps = try await plans { writer throws(StoreError) in
            _ = try writer.isKnown("192.0.2.0/24", since: moment(1))
            _ = try writer.hasSignedIn(UserID("u"), from: "192.0.2.0/24", since: moment(1))
        }
        expectIndexed(steps, "networks of sessions")
    }

    @Test("presses of buttons are found and removed by indexes")
    func buttons() async throws {
        let steps = try await plans { writer throws(StoreError) in
            _ = try writer.buttonPress("http1", of: MessageID("m"), by: UserID("u"))
            _ = try writer.removeButtonPresses(before: moment(1), limit: 10)
        }
        expectIndexed(steps, "presses of buttons")
    }

    @Test("what is asked of grants for live feeds, sync and upkeep is served by indexes")
    func grants() async throws {
        let subjects = [GrantSubject.user(UserID("u")), .group("ops"), .signedIn]
        let steps = try await plans { writer throws(StoreError) in
            _ = try writer.gainedTopics(subjects, .reading, since: moment(1))
            _ = try writer.lostTopics(subjects, since: moment(1))
            _ = try writer.endedGrants(limit: 10)
            _ = try writer.groupSpans(of: UserID("u"), since: moment(1))
        }
        expectIndexed(steps, "grants")
        // These are counted by owner or put in order, which takes sorting; no table is read whole.
        let counted = try await plans { writer throws(StoreError) in
            _ = try writer.grantedTopics(of: subjects, limit: 10, perOwner: 5)
            _ = try writer.pushGrants(to: subjects, joining: UserID("u"), limit: 10)
        }
        #expect(counted.contains { $0.hasPrefix("SEARCH g USING INDEX topic_grants_by_subject") }, "\(counted)")
        #expect(!counted.contains { ["SCAN t", "SCAN g", "SCAN m", "SCAN l"].contains($0) }, "\(counted)")
    }

    @Test(
        "lists by owner, by key and by topic are served in order by an index",
        arguments: [(true, true), (true, false), (false, true), (false, false)],
        QueryPlanner.available
    )
    func pages(_ way: (ascending: Bool, isFirstPage: Bool), planner: QueryPlanner) async throws {
        let (ascending, isFirstPage) = way
        let models = models
        func query(_ model: ModelType, _ terms: [(String, Comparison)], _ order: [(String, FieldValue)]) throws
            -> ModelQuery
        {
            let owner = Comparison.isOneOf(["u::ann", "u", "ann"].map(FieldValue.text))
            let predicate = try (terms + [("owner", owner)]).reduce(Predicate.always) { predicate, term in
                predicate.and(.field(try #require(model.position(of: term.0)), term.1))
            }
            return ModelQuery(
                model: model,
                predicate: predicate,
                order: try order.map {
                    ModelQuery.Order(field: try #require(model.position(of: $0.0)), ascending: ascending)
                },
                after: isFirstPage ? nil : order.map(\.1),
                limit: 101
            )
        }
        let (byID, byTime) = (
            [("id", FieldValue.text("x"))], [("createdAt", FieldValue.text("2026")), ("number", .int(5))]
        )
        let byMaking = [(ModelType.makingTime, FieldValue.int(7)), ("id", FieldValue.text("x"))]
        let byRevision = [(ModelType.revisionTime, FieldValue.int(7)), ("id", FieldValue.text("x"))]
        let made: [(String, Comparison)] = [
            (ModelType.makingTime, .greaterOrEqual(.int(5))), (ModelType.revisionTime, .exists(false)),
        ]
        let revised: [(String, Comparison)] = [(ModelType.revisionTime, .greaterOrEqual(.int(5)))]
        let queries = [
            ("listTopics", try query(models.topic, [], byMaking)),
            ("listMessages", try query(models.message, [], byMaking)),
            ("listNotes", try query(models.note, [], byMaking)),
            ("topics made since", try query(models.topic, made, byMaking)),
            ("messages made since", try query(models.message, made, byMaking)),
            ("notes made since", try query(models.note, made, byMaking)),
            ("topics changed since", try query(models.topic, revised, byRevision)),
            ("messages changed since", try query(models.message, revised, byRevision)),
            ("notes changed since", try query(models.note, revised, byRevision)),
            ("messages of a topic", try query(models.message, [("topicId", .equal(.text("t1")))], byTime)),
            (
                "messages of a topic since",
                try query(
                    models.message,
                    [("topicId", .equal(.text("t1"))), ("createdAt", .beginsWith("2026-07"))],
                    byTime
                )
            ),
            ("feed", try query(models.message, [("topicId", .equal(.text("t1")))], [("number", .int(7))])),
        ]
        for (name, query) in queries {
            let steps = try await plans(by: planner, sorts: false) { writer throws(StoreError) in
                _ = try writer.records(query)
            }
            expectIndexed(steps, name, by: planner, sorts: false)
        }
        let ownFeed = ModelQuery(
            model: models.message,
            predicate: .field(try #require(models.message.position(of: "owner")), .equal(.text("u::ann"))),
            order: [ModelQuery.Order(field: try #require(models.message.position(of: ModelType.feedPosition)))],
            after: [.int(isFirstPage ? 0 : 7)],
            limit: 101
        )
        let ownSteps = try await plans(by: planner, sorts: false) { writer throws(StoreError) in
            _ = try writer.records(ownFeed)
        }
        expectIndexed(ownSteps, "feed of an owner", by: planner, sorts: false)
        guard planner == .sqlite else { return }
        #expect(ownSteps.contains { $0.contains("messages_by_position (owner=? AND position>?") }, "\(ownSteps)")
        // A name may occur more than once: its few rows are sorted.
        let named = try query(models.topic, [("name", .equal(.text("news")))], byID)
        let steps = try await plans { writer throws(StoreError) in _ = try writer.records(named) }
        #expect(steps.contains { $0.contains("topics_by_owner_and_name (owner=? AND name=?") }, "\(steps)")
    }

    @Test(
        "what is shared with a caller is found through indexes, beside what is their own, in order",
        arguments: QueryPlanner.available
    )
    func shared(planner: QueryPlanner) async throws {
        let subjects = [GrantSubject.user(UserID("ben")), .group("ops"), .signedIn]
        for (model, field) in [(models.topic, "id"), (models.message, "topicId")] {
            let owner = try #require(model.position(of: "owner"))
            let topic = try #require(model.position(of: field))
            let making = try #require(model.position(of: ModelType.makingTime))
            let own = Predicate.field(owner, .isOneOf(["u::ben", "u", "ben"].map(FieldValue.text)))
            let visible = Predicate.any([own, .granted(topic, .reading, subjects)])
            let ranges: [Predicate] =
                model === models.topic ? [.always] : [.always, .field(topic, .equal(.text("t1")))]
            for range in ranges {
                let page = PageQuery(
                    model,
                    range: range,
                    visible: visible,
                    filter: .always,
                    order: [ModelQuery.Order(field: making), ModelQuery.Order(field: 0)],
                    after: [.int(7), .text("x")],
                    limit: 101
                )
                let steps = try await plans(by: planner) { writer throws(StoreError) in
                    _ = try writer.pages([page], ExaminationLimits())
                    _ = try writer.records(model, ids: ["t1"], where: visible)
                    _ = try writer.records(model, ids: ["t1", "t2"], where: visible)
                }
                #expect(!steps.contains { $0.contains("Seq Scan") }, "\(steps)")
                let isWhole = { (step: String) in step.hasPrefix("SCAN \(model.table.name)") }
                #expect(!steps.contains(where: isWhole), "\(steps)")
                #expect(steps.contains { $0.contains("topic_grants_by") }, "\(steps)")
                guard range == .always else { continue }
                #expect(steps.contains { $0.contains("\(model.table.name)_by_owner") }, "\(steps)")
            }
        }
    }

    @Test("what the outbox and the services ask is served by an index", arguments: QueryPlanner.available)
    func typedStatements(planner: QueryPlanner) async throws {
        let models = models
        let device = Device.test("d1", user: "ann")
        let fanout = Fanout(messageID: MessageID("m1"), topicID: TopicID("t1"), createdAt: moment(1))
        let steps = try await plans(by: planner) { writer throws(StoreError) in
            _ = try writer.messages(models.message, keys: [MessageKey(topicID: TopicID("t1"), key: "k")])
            _ = try writer.insert(models.topic("own"))
            _ = try writer.hold([TopicID("own")], of: models.topic, feedsOf: ["u::ann"])
            try writer.create(models.message("new", topic: "own"))
            _ = try writer.hasTopics(10_000, owner: "u::ann")
            _ = try writer.records(models.message, ids: ["a", "b"], where: .always)
            _ = try writer.memberships(of: UserID("ann"))
            _ = try writer.membership(of: UserID("ann"), in: TopicID("t1"))
            _ = try writer.devices(of: UserID("ann"))
            _ = try writer.devices(token: "t")
            _ = try writer.activeDevices(on: [.ios, .web], after: DeviceID("d"), limit: 10)
            try writer.save(device)
            try writer.removeDevice(device.id, reason: "UNREGISTERED")
            try writer.endDeliveries(of: device.id, reason: "x", now: moment(1))
            try writer.settleDeliveries(
                to: UserID("ann"),
                of: TopicID("t1"),
                as: .ended,
                reason: .leftTopic,
                now: moment(1)
            )
            _ = try writer.deliveries(of: MessageID("m1"), to: [device.id, DeviceID("d2")])
            _ = try writer.deliveries(of: MessageID("m1"), to: [device.id, .missing(of: UserID("ann"))])
            _ = try writer.isFanningOut(MessageID("m1"))
            let key = DeliveryKey(message: MessageID("m1"), device: device.id)
            _ = try writer.settledDeliveries(before: moment(1), after: key, limit: 10)
            _ = try writer.removeDeliveries([key], settledBefore: moment(1))
            _ = try writer.membersWithoutDevice(of: fanout)
            _ = try writer.devices(tokenBeginningWith: "fid")
            _ = try writer.devices(boundTo: TokenID("t"))
            _ = try writer.advance(fanout, nextDevice: "", leaseUntil: moment(3))
            _ = try writer.deliveries(of: MessageID("m1"), status: nil, after: nil, limit: 10)
            _ = try writer.deliverySummaries(of: [MessageID("m1")])
            _ = try writer.token(TokenID("t"))
            for model in [models.topic, models.message, models.note] {
                _ = try writer.removeTombstones(model, changedBefore: moment(5), limit: 10)
            }
        }
        expectIndexed(steps, "typed statements", by: planner)
    }

    @Test(
        "what is due, and when, is found through the partial indexes, in order",
        arguments: [true, false],
        QueryPlanner.available
    )
    func due(isClaim: Bool, planner: QueryPlanner) async throws {
        let steps = try await plans(by: planner) { writer throws(StoreError) in
            if isClaim {
                _ = try writer.claimDeliveries(now: moment(1), leaseUntil: moment(2), limit: 10)
                _ = try writer.claimFanouts(node: "a", now: moment(1), leaseUntil: moment(2), limit: 4)
            } else {
                _ = try writer.nextDue()
            }
        }
        let ofDeliveries =
            switch planner {
            case .sqlite: ["deliveries_due", "deliveries_leased"]
            // As those of its parts are called.
            case .postgres: ["deliveries_rest_next_attempt_at_idx", "deliveries_rest_lease_until_idx"]
            }
        for index in ofDeliveries + ["fanouts_waiting", "fanouts_leased"] {
            #expect(steps.contains { $0.contains(index) }, "\(index): \(steps)")
        }
        guard planner == .sqlite else {
            #expect(!steps.contains { $0.contains("Seq Scan") }, "\(steps)")
            return
        }
        let wholes = ["SCAN deliveries", "SCAN x", "SCAN fanouts"]
        let isWhole = { (step: String) in wholes.contains(where: step.hasPrefix) && !step.contains("USING") }
        #expect(!steps.contains(where: isWhole), "\(steps)")
    }

    @Test("a fan-out's next devices are found through indexes")
    func audience() async throws {
        let fanout = Fanout(messageID: MessageID("m1"), topicID: TopicID("t1"), createdAt: moment(1))
        let steps = try await plans { writer throws(StoreError) in _ = try writer.nextDevices(of: fanout, limit: 10) }
        #expect(steps.contains { $0.contains("SEARCH e USING PRIMARY KEY (last_fanout>") }, "\(steps)")
        #expect(!steps.contains { $0.hasPrefix("SCAN") && !$0.contains("part") }, "\(steps)")
    }

    @Test("whose access has ended is read from indexes that hold nobody else")
    func endedAccess() async throws {
        let steps = try await plans { writer throws(StoreError) in
            _ = try writer.revokedTokens()
            _ = try writer.changedTokens(endingAfter: moment(1))
            _ = try writer.disabledAccounts()
            _ = try writer.revokedAPIKeys()
        }
        #expect(
            steps == [
                "SCAN tokens USING INDEX tokens_revoked", "SCAN tokens USING INDEX tokens_changed",
                "SCAN users USING INDEX users_disabled", "SCAN api_keys USING INDEX api_keys_revoked",
            ]
        )
    }

    @Test(
        "pruning walks a topic's messages in order of number, and finds what is under way by its message",
        arguments: QueryPlanner.available
    )
    func pruning(planner: QueryPlanner) async throws {
        let models = models
        let steps = try await plans(by: planner) { writer throws(StoreError) in
            _ = try writer.insert(models.message("m1", topic: "t", number: 1))
            let bounds = PruningBounds(madeBefore: moment(5), keptPerTopic: 10)
            _ = try writer.topicsToPrune(bounds, after: TopicID(""), limit: 10)
            _ = try writer.messagesToPrune(bounds, of: TopicID("t"), limit: 10)
            _ = try writer.prune([MessageID("m1")], of: TopicID("t"), limit: 10)
        }
        expectIndexed(steps, "pruning", by: planner)
        if planner == .postgres {
            #expect(steps.contains { $0.contains("messages_by_number on messages m") }, "\(steps)")
        }
    }
}
