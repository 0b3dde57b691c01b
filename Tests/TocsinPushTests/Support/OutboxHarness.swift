import Synchronization
import TestDatabases
import Testing
import TocsinCore
import TocsinPush
import TocsinStore

/// A worker over a real store, scripted providers and manual time.
final class OutboxHarness: Sendable {
    let models: TestModels
    let providers: TestProviders
    private let sql: SQLStore
    private let commits: Mutexed<Int>
    private let reported = Mutexed<[PushReport]>([])
    private let noted: Mutexed<[Delivery]>
    private let webhooks = OccurrenceLog()
    /// What webhooks were to be told.
    var occurrences: [WebhookOccurrence] { webhooks.all.value.withLock { $0 } }
    /// Instead of the scripted ones.
    private let ownProviders: [any PushProvider]?

    var store: any Store { sql }
    /// What workers see of the store.
    let workerStore: FlakyStore
    var time: ManualTime { providers.time }
    var transport: ScriptedTransport { providers.transport }
    /// How many changes of deliveries the store's observer was told of.
    var notedDeliveries: Int { history.count }
    var reports: [PushReport] { reported.value.withLock { $0 } }

    /// Every state of every delivery that was committed, in order.
    var history: [Delivery] { noted.value.withLock { $0 } }

    private init(_ ownProviders: [any PushProvider]?, _ time: ManualTime, _ models: TestModels) async throws {
        self.models = models
        providers = TestProviders(time: time)
        let (commits, noted) = (Mutexed(0), Mutexed<[Delivery]>([]))
        (self.commits, self.noted, self.ownProviders) = (commits, noted, ownProviders)
        let sql = try await SQLStore.open(
            try AnyDatabase.make(),
            at: Timestamp(milliseconds: 0),
            commitObserver: { events in
                commits.value.withLock { $0 += 1 }
                for case .deliveryChanged(let delivery) in events { noted.value.withLock { $0.append(delivery) } }
            }
        )
        self.sql = sql
        workerStore = FlakyStore(sql)
    }

    /// Opens a store with the topics `topic-1` and `topic-2`, runs the body and closes it.
    static func with(
        _ ownProviders: [any PushProvider]? = nil,
        time: ManualTime = ManualTime(),
        models: TestModels = TestModels(),
        _ body: (OutboxHarness) async throws -> Void
    ) async throws {
        let harness = try await OutboxHarness(ownProviders, time, models)
        let topics = ["topic-1", "topic-2"].map { harness.models.topic($0) }
        try await harness.store.write { writer throws(StoreError) in
            for topic in topics { _ = try writer.insert(topic) }
        }
        do {
            try await body(harness)
        } catch {
            await harness.sql.close()
            throw error
        }
        await harness.sql.close()
    }

    static var settings: OutboxSettings {
        var settings = OutboxSettings()
        settings.notesDeliveries = true
        return settings
    }

    func makeWorker(
        _ services: [PushService] = PushService.allCases,
        settings: OutboxSettings = OutboxHarness.settings,
        reportsDeliveries: Bool = false
    ) -> OutboxWorker {
        let reported = reported
        let tokenHash: @Sendable (String) -> String = { "hash of " + String($0.reversed()) }
        return OutboxWorker(
            environment: ServiceEnvironment(
                store: workerStore,
                time: time,
                identifiers: CountingIdentifiers(),
                webhooks: webhooks
            ),
            providers: PushProviders(ownProviders ?? services.map { providers.provider($0) }),
            messages: models.message,
            topics: models.topic,
            settings: settings,
            tokenHash: reportsDeliveries ? tokenHash : nil,
            metrics: providers.metrics,
            report: { report in reported.value.withLock { $0.append(report) } }
        )
    }

    /// Runs a worker until the body ends, then stops it.
    func running(
        _ services: [PushService] = PushService.allCases,
        settings: OutboxSettings = OutboxHarness.settings,
        reportsDeliveries: Bool = false,
        _ body: (OutboxWorker) async throws -> Void
    ) async throws {
        let worker = makeWorker(services, settings: settings, reportsDeliveries: reportsDeliveries)
        let hasEnded = Mutexed(false)
        let running = Task {
            await worker.run()
            hasEnded.value.withLock { $0 = true }
        }
        do {
            try await body(worker)
        } catch {
            await end(running, hasEnded)
            throw error
        }
        await end(running, hasEnded)
    }

    /// Stops a worker whose pushes may still be held.
    private func end(_ running: Task<Void, Never>, _ hasEnded: Mutexed<Bool>) async {
        transport.answer { _, _ in .unknown(reason: "the test is over") }
        running.cancel()
        for _ in 0..<10_000 where !hasEnded.value.withLock({ $0 }) {
            transport.release(.unknown(reason: "the test is over"))
            await Task.yield()
        }
        await running.value
    }

    /// Makes devices of members of a topic.
    func add(_ devices: [Device], to topic: String = "topic-1") async throws {
        try await store.write { writer throws(StoreError) in
            for device in devices {
                try writer.save(device)
                try writer.save(
                    Membership(
                        topicID: TopicID(topic),
                        userID: device.userID,
                        push: true,
                        createdAt: device.registeredAt
                    )
                )
            }
        }
    }

    /// Notes what a token of a person's says now.
    func know(_ user: String, groups: [String]) async throws {
        let facts = UserFacts(
            userID: UserID(user),
            username: user,
            provider: .userPools,
            claims: groups.isEmpty ? [:] : [AccessRule.groupClaim: groups],
            seenAt: time.now()
        )
        try await store.write { writer throws(StoreError) in try writer.save(facts) }
    }

    /// Commits a message with its fan-out, as the service does.
    func publish(_ id: String, in topic: String = "topic-1", number: Int64 = 1, _ more: [String: FieldValue] = [:])
        async throws
    {
        let now = time.now()
        let message = models.message(id, in: topic, number: number, at: now, more)
        try await store.write { writer throws(StoreError) in
            _ = try writer.insert(message)
            let isUrgent = more["priority"] == .int(5)
            try writer.addFanouts([
                Fanout(messageID: MessageID(id), topicID: TopicID(topic), createdAt: now, isUrgent: isUrgent)
            ])
        }
    }

    func deliveries(_ message: String = "m1") async throws -> [Delivery] {
        try await store.read { reader throws(StoreError) in
            try reader.deliveries(of: MessageID(message), status: nil, after: nil, limit: 10_000)
        }
    }

    /// Waits until the deliveries of a message satisfy the condition.
    ///
    /// Whenever all is quiet and it does not hold, the
    /// clock moves on to the next moment somebody sleeps for.
    @discardableResult
    func deliveries(
        _ message: String = "m1",
        movingTime: Bool = true,
        until condition: ([Delivery]) -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [Delivery] {
        var quiet = 0
        var activity = -1
        for _ in 0..<10_000 {
            let rows = try await deliveries(message)
            if condition(rows) { return rows }
            // On a busy machine quiet may only mean that nobody had a turn: each yield
            // gives all who are ready one.
            for _ in 0..<20 { await Task.yield() }
            let current = commits.value.withLock { $0 } + transport.sent.count + reports.count
            quiet = current == activity && workerStore.callsUnderWay == 0 ? quiet + 1 : 0
            activity = current
            if quiet >= 8, movingTime {
                _ = time.advanceToNextSleeper()
                quiet = 0
            }
            try await Task.sleep(for: .milliseconds(1))
        }
        let rows = try await deliveries(message)
        Issue.record("the deliveries never got there: \(rows)", sourceLocation: sourceLocation)
        return rows
    }

    /// Waits until something outside the store holds; the clock stands still.
    func wait(until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for _ in 0..<10_000 {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(1))
        }
        Issue.record("it never happened", sourceLocation: sourceLocation)
    }
}

/// Keeps what webhooks would be told, and has none to tell.
private final class OccurrenceLog: WebhookRaising {
    let all = Mutexed<[WebhookOccurrence]>([])

    func events(for occurrence: WebhookOccurrence, at moment: Timestamp) -> [WebhookEvent] {
        all.value.withLock { $0.append(occurrence) }
        return []
    }

    func listeners(to type: WebhookEventType) -> [String] { [] }

    func takesSchedules(_ webhook: String, of owner: ScheduledMessage.Owner) -> Bool { false }
}

extension [Delivery] {
    /// Whether there are this many, all in one of the states.
    func are(_ count: Int, _ states: DeliveryStatus...) -> Bool {
        self.count == count && allSatisfy { states.contains($0.status) }
    }
}
