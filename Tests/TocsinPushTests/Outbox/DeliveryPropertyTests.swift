import Synchronization
import Testing
import TocsinCore
import TocsinPush

/// SplitMix64: the same numbers for the same seed everywhere.
struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// A run of the outbox in which answers, times, crashes, stops, lost leases and
/// redrives come at random.
private final class RandomRun: Sendable {
    static let devices = 6
    static let messages = ["m1", "m2", "m3"]
    private static let wrongTokens: Set<DeliveryReason?> = [
        "BadDeviceToken", "DeviceTokenNotForTopic", "SENDER_ID_MISMATCH",
    ]

    let harness: OutboxHarness
    private let random: Mutexed<SeededRandom>
    let redriven = Mutexed<Set<String>>([])

    init(_ harness: OutboxHarness, seed: Int) {
        self.harness = harness
        random = Mutexed(SeededRandom(seed: UInt64(seed)))
    }

    func pick(_ range: Range<Int>) -> Int { random.value.withLock { Int.random(in: range, using: &$0) } }

    func begin() async throws {
        let devices = (0..<Self.devices).map { index in
            Device.sample(
                "d\(index)",
                token: "t\(index)",
                platform: index < 4 ? .ios : .android,
                user: "u\(index % 4)"
            )
        }
        try await harness.add(devices)
        for (index, id) in Self.messages.enumerated() {
            let moment = harness.time.now().adding(seconds: 90).iso8601
            let expiry = id == "m3" ? ["expiresAt": FieldValue.text(moment)] : [:]
            try await harness.publish(id, number: Int64(index + 1), expiry)
        }
        harness.transport.answer { [self] sent, _ in
            answer(isAPNs: sent.request.path.hasPrefix("/3/"))
        }
    }

    /// Any answer at all; nil is none yet.
    func answer(isAPNs: Bool) -> PushAnswer? {
        let number = pick(0..<100)
        switch number {
        case ..<30: return .ok
        case ..<40: return nil
        case ..<50: return .unknown(reason: "reset")
        case ..<56: return .notProcessed(reason: "GOAWAY")
        case ..<60: return .unreachable(reason: "refused")
        default: break
        }
        guard isAPNs else {
            switch number {
            case ..<70: return .fcm(503, "UNAVAILABLE", code: "UNAVAILABLE")
            case ..<80: return .fcm(429, "RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED")
            case ..<84: return .fcm(404, "NOT_FOUND", code: "UNREGISTERED")
            case ..<88: return .fcm(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", fields: ["message.data"])
            case ..<94: return .fcm(401, "UNAUTHENTICATED")
            default: return .fcm(403, "PERMISSION_DENIED", code: "SENDER_ID_MISMATCH")
            }
        }
        switch number {
        case ..<68: return .apns(500, "InternalServerError")
        case ..<74: return .apns(429, "TooManyRequests")
        case ..<77: return .apns(410, "Unregistered", timestamp: harness.time.now().milliseconds)
        case ..<80: return .apns(410, "Unregistered", timestamp: 1_600_000_000_000)
        case ..<84: return .apns(400, "BadDeviceToken")
        case ..<88: return .apns(400, "BadCollapseId")
        case ..<92: return .apns(403, "ExpiredProviderToken")
        case ..<96: return .apns(403, "InvalidProviderToken")
        default: return .apns(429, "TooManyProviderTokenUpdates")
        }
    }

    /// Checks what was committed, in order, against the states of `docs/delivery-states.md`.
    func violations() -> [String] {
        var found: [String] = []
        var last: [DeliveryID: Delivery] = [:]
        for delivery in harness.history {
            let before = last[delivery.id]
            if let text = Self.violation(delivery, after: before, isRedriven: isRedriven(delivery)) {
                found.append("\(before.map { "\($0)" } ?? "nothing") → \(delivery): \(text)")
            }
            last[delivery.id] = delivery
        }
        return found
    }

    private func isRedriven(_ delivery: Delivery) -> Bool {
        redriven.value.withLock { $0.contains(delivery.messageID.text) }
    }

    private static func violation(_ delivery: Delivery, after before: Delivery?, isRedriven: Bool) -> String? {
        switch delivery.status {
        case .waiting where delivery.nextAttemptAt == nil || delivery.leaseUntil != nil: return "not due, or held"
        case .sending where delivery.leaseUntil == nil: return "held by nobody"
        case .accepted, .failed, .ended, .expired, .skipped:
            if delivery.nextAttemptAt != nil || delivery.leaseUntil != nil { return "final, and yet due or held" }
        case .waiting, .sending: break
        }
        guard delivery.attempts <= 50 else { return "too many attempts" }
        guard let before else { return delivery.attempts <= 1 ? nil : "attempts from nowhere" }
        switch before.status {
        case .waiting, .sending: break
        case .failed, .skipped: if !isRedriven { return "left a final state" }
        case .ended: if !wrongTokens.contains(before.reason) { return "left a final state" }
        case .accepted, .expired: return "left a final state"
        }
        let step = delivery.attempts - before.attempts
        return (0...1).contains(step) || (isRedriven && delivery.attempts <= 1) ? nil : "attempts jumped by \(step)"
    }
}

@Suite("Deliveries at random", .timeLimit(.minutes(5)))
struct DeliveryPropertyTests {
    @Test(
        "whatever happens: legal changes only, one final state each, attempts bounded",
        arguments: 1...30
    )
    func anything(_ seed: Int) async throws {
        try await OutboxHarness.with { harness in
            let run = RandomRun(harness, seed: seed)
            try await run.begin()
            var workers = [Worker(harness, node: 0)]
            for step in 1...40 {
                switch run.pick(0..<12) {
                case 0..<5: _ = harness.time.advanceToNextSleeper()
                case 5..<7: harness.time.advance(seconds: Double(run.pick(1..<40)))
                case 7..<9: if let answer = run.answer(isAPNs: true) { harness.transport.release(answer) }
                case 9:
                    // The server dies: its successor begins, and what the dead one
                    // still hears must not count.
                    harness.time.advance(seconds: 1)
                    try await harness.store.write { writer throws(StoreError) in try writer.dropLeases() }
                    workers.append(Worker(harness, node: step))
                case 10:
                    workers.last?.worker.stop()
                    workers.append(Worker(harness, node: step))
                default:
                    let message = RandomRun.messages[run.pick(0..<2)]
                    let status: DeliveryStatus = run.pick(0..<2) == 0 ? .failed : .skipped
                    run.redriven.value.withLock { _ = $0.insert(message) }
                    let now = harness.time.now()
                    _ = try await harness.store.write { writer throws(StoreError) in
                        try writer.redrive(MessageID(message), status: status, reason: nil, to: nil, now: now)
                    }
                }
                for _ in 0..<run.pick(1..<6) { try await Task.sleep(for: .milliseconds(1)) }
            }
            harness.transport.answer { _, _ in .ok }
            for worker in workers { await worker.end(harness) }
            try await harness.store.write { writer throws(StoreError) in try writer.dropLeases() }
            try await harness.running { _ in
                for message in RandomRun.messages {
                    let rows = try await harness.deliveries(message) { rows in
                        rows.count == RandomRun.devices
                            && rows.allSatisfy { $0.status != .waiting && $0.status != .sending }
                    }
                    #expect(Set(rows.map(\.deviceID)).count == RandomRun.devices, "seed \(seed)")
                }
            }
            #expect(run.violations() == [], "seed \(seed)")
        }
    }

    /// A worker that may outlive its place.
    private struct Worker {
        let worker: OutboxWorker
        private let running: Task<Void, Never>
        private let hasEnded = Mutexed(false)

        init(_ harness: OutboxHarness, node: Int) {
            var settings = OutboxHarness.settings
            settings.node = "node-\(node)"
            let (worker, hasEnded) = (harness.makeWorker(settings: settings), hasEnded)
            self.worker = worker
            running = Task {
                await worker.run()
                hasEnded.value.withLock { $0 = true }
            }
        }

        func end(_ harness: OutboxHarness) async {
            worker.stop()
            for _ in 0..<5000 where !hasEnded.value.withLock({ $0 }) {
                harness.transport.release(.unknown(reason: "the end"))
                try? await Task.sleep(for: .milliseconds(1))
            }
            await running.value
        }
    }
}
