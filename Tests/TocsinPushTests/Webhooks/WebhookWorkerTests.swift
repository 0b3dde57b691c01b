import Encodings
import JSON
import Synchronization
import TestDatabases
import Testing
import TocsinAuth
import TocsinCore
import TocsinPush
import TocsinStore

/// Answers the calls of webhooks by their address, and keeps them.
private final class Receivers: OutgoingHTTP {
    private struct State {
        var calls: [OutgoingRequest] = []
        var answers: [String: @Sendable (Int) -> OutgoingAnswer?] = [:]
        var held: [CheckedContinuation<OutgoingAnswer, Never>] = []
    }

    private let state = Mutex(State())

    func calls(_ url: String) -> [OutgoingRequest] { state.withLock { $0.calls.filter { $0.url == url } } }
    var heldCount: Int { state.withLock { $0.held.count } }

    /// The answer to a call, given how many came before it; nil holds it until `release`.
    func answer(_ url: String, _ answer: @escaping @Sendable (Int) -> OutgoingAnswer?) {
        state.withLock { $0.answers[url] = answer }
    }

    func release(_ answer: OutgoingAnswer) {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for waiter in held { waiter.resume(returning: answer) }
    }

    func send(_ request: OutgoingRequest) async -> OutgoingAnswer {
        await withCheckedContinuation { continuation in
            let answer = state.withLock { state -> OutgoingAnswer? in
                let earlier = state.calls.count { $0.url == request.url }
                state.calls.append(request)
                guard let script = state.answers[request.url] else { return .status(204) }
                if let answer = script(earlier) { return answer }
                state.held.append(continuation)
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }
}

extension OutgoingAnswer {
    fileprivate static func status(_ status: Int, retryAfter: String? = nil) -> OutgoingAnswer {
        .response(status: status, headers: retryAfter.map { [("retry-after", $0)] } ?? [], body: [])
    }
}

@Suite("Webhooks", .timeLimit(.minutes(5)))
struct WebhookWorkerTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let first = "https://first.example/hook"
    private static let second = "https://second.example/hook"

    @Test("a webhook takes events of schedules from those alone whom the settings name, by name or id")
    func scheduleUsers() throws {
        let key = try HMACKey(webhookSecret: Self.secret)
        func registry(_ users: Set<String>, _ types: Set<WebhookEventType> = [.scheduleDue]) -> WebhookRegistry {
            let webhook = Webhook(name: "w", url: Self.first, signer: key, types: types, scheduleUsers: users)
            return WebhookRegistry(webhooks: Reloadable([webhook]), identifiers: CountingIdentifiers())
        }
        let ann = ScheduledMessage.Owner(userID: UserID("u-1"), username: "ann", provider: .userPools)
        var other = ann
        (other.userID, other.provider) = (UserID("u-2"), .oidc)
        #expect(!registry([]).takesSchedules("w", of: ann))
        #expect(registry(["ann"]).takesSchedules("w", of: ann))
        #expect(!registry(["ann"]).takesSchedules("w", of: other), "another issuer's person of the same name")
        #expect(registry(["u-2"]).takesSchedules("w", of: other))
        #expect(registry(["*"]).takesSchedules("w", of: other))
        #expect(!registry(["*"]).takesSchedules("x", of: ann))
        #expect(!registry(["*"], [.registerPushToken]).takesSchedules("w", of: ann))
    }

    /// A store, two webhooks and the service whose changes they are told of.
    private struct Scene {
        let store: SQLStore
        /// The same, which knows whether it is at work.
        let busyStore: FlakyStore
        let time = ManualTime()
        let receivers = Receivers()
        let environment: ServiceEnvironment
        let webhooks: [Webhook]
        let reports = Mutexed<[WebhookReport]>([])
        let devices: DeviceService

        private static let roundsOfIdleness = 3

        init(types: Set<WebhookEventType> = Set(WebhookEventType.allCases), includesTokens: Bool = false) async throws {
            store = try await SQLStore.open(AnyDatabase.make(), at: Timestamp(milliseconds: 0))
            busyStore = FlakyStore(store)
            let key = try HMACKey(webhookSecret: WebhookWorkerTests.secret)
            webhooks = [
                Webhook(name: "first", url: first, signer: key, types: types, includesTokens: includesTokens),
                Webhook(name: "second", url: second, signer: key, types: [.unregisterPushToken]),
            ]
            let identifiers = CountingIdentifiers()
            environment = ServiceEnvironment(
                store: busyStore,
                time: time,
                identifiers: identifiers,
                webhooks: WebhookRegistry(webhooks: Reloadable(webhooks), identifiers: identifiers)
            )
            devices = DeviceService(environment: environment)
        }

        func register(_ token: String = "aa11bb22cc33", user: String = "ann") async throws {
            time.advance(seconds: 1)
            _ = try await devices.register(
                DeviceService.Registration(token: token, platform: .ios),
                caller: Identity(userID: UserID(user), username: user)
            )
        }

        func unregister(_ token: String = "aa11bb22cc33", user: String = "ann") async throws {
            time.advance(seconds: 1)
            _ = try await devices.unregister(token: token, caller: Identity(userID: UserID(user), username: user))
        }

        func waiting() async throws -> [WebhookEvent] {
            try await store.read { reader throws(StoreError) in try reader.webhookEvents(status: nil, limit: 100) }
        }

        /// Runs a worker until the body ends.
        func running(_ policy: RetryPolicy = RetryPolicy(), _ body: (WebhookWorker) async throws -> Void) async throws {
            let reports = reports
            let worker = WebhookWorker(
                webhooks: Reloadable(webhooks),
                environment: environment,
                http: receivers,
                policy: policy,
                report: { report in reports.value.withLock { $0.append(report) } }
            )
            let running = Task { await worker.run() }
            do {
                try await body(worker)
            } catch {
                worker.stop()
                receivers.release(.status(204))
                await running.value
                throw error
            }
            worker.stop()
            receivers.release(.status(204))
            await running.value
            await store.close()
        }

        /// Lets time pass whenever everybody sleeps, until the condition holds.
        func untilTrue(_ condition: () async throws -> Bool) async throws {
            let end = ContinuousClock.now + .seconds(120)
            var idleRounds = 0
            while ContinuousClock.now < end {
                if try await condition() { return }
                // Time stands while the store is at work, and until all who may run have had a
                // turn: slow ones must not let leases run out.
                idleRounds = busyStore.callsUnderWay > 0 ? 0 : idleRounds + 1
                if idleRounds >= Self.roundsOfIdleness {
                    idleRounds = 0
                    _ = time.advanceToNextSleeper()
                }
                await Task.yield()
            }
            Issue.record("It did not come true.")
        }
    }

    @Test("a registration is told once, signed as Standard Webhooks says, with its token masked")
    func delivers() async throws {
        let scene = try await Scene()
        try await scene.register()
        try await scene.running { _ in
            try await scene.untilTrue { try await scene.waiting().isEmpty }
        }
        let call = try #require(scene.receivers.calls(Self.first).first)
        #expect(scene.receivers.calls(Self.first).count == 1)
        #expect(scene.receivers.calls(Self.second).isEmpty)
        let headers = Dictionary(uniqueKeysWithValues: call.headers.map { ($0.name, $0.value) })
        let (id, moment) = (try #require(headers["webhook-id"]), try #require(headers["webhook-timestamp"]))
        let key = try HMACKey(webhookSecret: Self.secret)
        let code = key.signature(for: Array("\(id).\(moment).".utf8) + call.body)
        let padded = Base64URL.encoded(code).replacing("-", with: "+").replacing("_", with: "/") + "="
        #expect(headers["webhook-signature"] == "v1," + padded)
        #expect(headers["content-type"] == "application/json")
        let body = try JSONParser.parse(call.body)
        #expect(body["type"] == "register_push_token")
        #expect(body["data"]?["token"] == "aa11bb22…")
        #expect(body["data"]?["userId"] == "ann")
    }

    @Test("the example of Standard Webhooks has the signature that its library makes")
    func knownSignature() throws {
        let signed = "msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{\"test\": 2432232314}"
        let key = try HMACKey(webhookSecret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        #expect(
            Base64URL.encoded(key.signature(for: Array(signed.utf8))) == "g0hM9SsE-OTPJTGt_tmIKtSyZlE3uFJELVlNIOLJ1OE"
        )
    }

    @Test("who asks for whole tokens gets them")
    func wholeTokens() async throws {
        let scene = try await Scene(includesTokens: true)
        try await scene.register()
        try await scene.running { _ in try await scene.untilTrue { try await scene.waiting().isEmpty } }
        let body = try JSONParser.parse(try #require(scene.receivers.calls(Self.first).first).body)
        #expect(body["data"]?["token"] == "aa11bb22cc33")
    }

    @Test("an app that repeats its registration raises nothing; a move, a sign-out and a comeback do")
    func occurrences() async throws {
        let scene = try await Scene()
        for _ in 0..<3 { try await scene.register() }
        try await scene.register(user: "bob")
        try await scene.unregister(user: "bob")
        try await scene.unregister(user: "bob")
        try await scene.register(user: "bob")
        let events = try await scene.waiting().filter { $0.webhook == "first" }.map(\.type)
        #expect(
            events.sorted { $0.rawValue < $1.rawValue } == [
                .registerPushToken, .registerPushToken, .registerPushToken, .unregisterPushToken, .unregisterPushToken,
            ]
        )
        #expect(try await scene.waiting().count { $0.webhook == "second" } == 2)
        await scene.store.close()
    }

    @Test("what fails is sent again under the same id, by the schedule, until it is heard")
    func retries() async throws {
        let scene = try await Scene()
        scene.receivers.answer(Self.first) { earlier in
            [.status(500), .failed(reason: "refused"), .status(302), .status(200)][min(earlier, 3)]
        }
        try await scene.register()
        try await scene.running { _ in try await scene.untilTrue { try await scene.waiting().isEmpty } }
        let calls = scene.receivers.calls(Self.first)
        #expect(calls.count == 4)
        let ids = calls.map { call in call.headers.first { $0.name == "webhook-id" }?.value }
        #expect(Set(ids).count == 1)
        #expect(Set(calls.map { String(decoding: $0.body, as: UTF8.self) }).count == 1)
        let moments = calls.compactMap {
            $0.headers.first { $0.name == "webhook-timestamp" }.flatMap { Int64($0.value) }
        }
        #expect(moments == moments.sorted() && Set(moments).count == 4)
    }

    @Test("a receiver's Retry-After is kept")
    func retryAfter() async throws {
        let scene = try await Scene()
        scene.receivers.answer(Self.first) { $0 == 0 ? .status(429, retryAfter: "600") : .status(200) }
        try await scene.register()
        let began = scene.time.now()
        try await scene.running { _ in try await scene.untilTrue { try await scene.waiting().isEmpty } }
        #expect(scene.time.now() >= began.adding(seconds: 600))
    }

    @Test("after its last attempt an event is dead, and can be sent again by hand")
    func dies() async throws {
        let scene = try await Scene()
        scene.receivers.answer(Self.first) { $0 < 3 ? .status(503) : .status(200) }
        try await scene.register()
        var policy = RetryPolicy()
        policy.replacement = [1, 1]
        try await scene.running(policy) { worker in
            try await scene.untilTrue { try await scene.waiting().map(\.status) == [.dead] }
            let now = scene.time.now()
            let count = try await scene.store.write { writer throws(StoreError) in
                try writer.redriveWebhookEvents(of: "first", now: now)
            }
            #expect(count == 1)
            worker.wake()
            try await scene.untilTrue { try await scene.waiting().isEmpty }
        }
        let deaths = scene.reports.value.withLock { $0 }.filter { if case .dead = $0 { true } else { false } }
        #expect(deaths.count == 1)
        #expect(scene.receivers.calls(Self.first).count == 4)
    }

    @Test("a receiver that answers 410 is not told that event again")
    func gone() async throws {
        let scene = try await Scene()
        scene.receivers.answer(Self.first) { _ in .status(410) }
        try await scene.register()
        try await scene.running { _ in
            try await scene.untilTrue { try await scene.waiting().map(\.status) == [.dead] }
        }
        #expect(scene.receivers.calls(Self.first).count == 1)
    }

    @Test("a receiver that hangs delays no other")
    func hangs() async throws {
        let scene = try await Scene()
        scene.receivers.answer(Self.first) { _ in nil }
        try await scene.register()
        try await scene.unregister()
        try await scene.running { _ in
            try await scene.untilTrue {
                scene.receivers.calls(Self.second).count == 1 && scene.receivers.heldCount == 2
            }
        }
    }

    @Test("while a receiver fails altogether it is tried with one event at a time")
    func probes() async throws {
        let scene = try await Scene()
        let isUp = Mutexed(false)
        scene.receivers.answer(Self.first) { _ in isUp.value.withLock { $0 } ? .status(200) : .failed(reason: "refused")
        }
        for number in 0..<40 { try await scene.register("aa\(number + 100)0") }
        try await scene.running { _ in
            try await scene.untilTrue { scene.receivers.calls(Self.first).count >= 18 }
            // One turn of sixteen, then one at a time.
            #expect(scene.receivers.calls(Self.first).count < 32, "\(scene.reports.value.withLock { $0 })")
            isUp.value.withLock { $0 = true }
            try await scene.untilTrue { try await scene.waiting().isEmpty }
        }
    }

    @Test("events that were under way when a process died are taken up again")
    func dropsLeases() async throws {
        let scene = try await Scene()
        try await scene.register()
        let now = scene.time.now()
        let claimed = try await scene.store.write { writer throws(StoreError) in
            try writer.claimWebhookEvents(of: "first", now: now, leaseUntil: now.adding(seconds: 60), limit: 9)
        }
        #expect(claimed.count == 1)
        #expect(try await scene.waiting().map(\.status) == [.sending])
        try await scene.store.write { writer throws(StoreError) in try writer.dropLeases() }
        try await scene.running { _ in try await scene.untilTrue { try await scene.waiting().isEmpty } }
        #expect(scene.receivers.calls(Self.first).count == 1)
    }

    @Test("what is older than a week is removed")
    func prunes() async throws {
        let scene = try await Scene()
        scene.receivers.answer(Self.first) { _ in .status(410) }
        try await scene.register()
        try await scene.running { _ in
            try await scene.untilTrue { try await scene.waiting().map(\.status) == [.dead] }
            let reaper = WebhookEventReaper(store: scene.store, time: scene.time)
            _ = try await reaper.runOnce()
            #expect(try await scene.waiting().count == 1)
            scene.time.advance(seconds: 8 * 86_400)
            _ = try await reaper.runOnce()
            #expect(try await scene.waiting().isEmpty)
        }
    }
}
