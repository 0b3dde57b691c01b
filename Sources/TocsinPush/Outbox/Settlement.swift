import TocsinCore

/// Turns fates into rows: the one place that moves deliveries between states (ops-promises sections 2 and 3).
struct Settlement: Sendable {
    let now: Timestamp
    let policy: RetryPolicy
    let gates: LaneGates
    let identifiers: any IdentifierSource
    /// When the pushes were handed over; a device registered later is innocent.
    let sentAt: Timestamp

    /// One lane's news, for the log.
    struct LaneChange: Sendable {
        var lane: PushLane
        var change: LaneGate.Change
    }

    private static let wrongTokenReasons: Set<String> = [
        APNsReason.badDeviceToken.rawValue, APNsReason.deviceTokenNotForTopic.rawValue,
    ]

    /// The rows for these entries, in the same order, and what changed on their lanes.
    func settle(
        _ entries: [(entry: OutboxEntry, fate: EntryFate)],
        deadlines: [MessageID: Timestamp]
    ) -> (rows: [SettledEntry], changes: [LaneChange]) {
        var fates = entries.map(\.fate)
        var changes: [LaneChange] = []
        let byLane = Dictionary(grouping: entries.indices) { entries[$0].entry.lane }
        for (lane, indices) in byLane {
            guard let lane else { continue }
            let change = gates.withGate(of: lane) { gate in
                learn(&gate, indices.map { (entries[$0].entry, fates[$0]) })
            }
            if let reason = change.suspicion {
                for index in indices where isWrongToken(fates[index]) { fates[index] = .result(.pause(reason: reason)) }
            }
            if let change = change.change { changes.append(LaneChange(lane: lane, change: change)) }
        }
        let rows = entries.indices.map { index in
            let entry = entries[index].entry
            return row(entry, fates[index], deadline: deadlines[entry.delivery.messageID])
        }
        return (rows, changes)
    }

    private func learn(
        _ gate: inout LaneGate,
        _ entries: [(entry: OutboxEntry, fate: EntryFate)]
    ) -> (change: LaneGate.Change?, suspicion: String?) {
        var signs = entries.map { sign(of: $0.fate, owner: $0.entry.device.userID) }
        let wrong = signs.count { $0 == .wrongToken }
        guard gate.suspects(wrongTokens: wrong, accepted: signs.count { $0 == .accepted }, now: now) else {
            return (gate.learn(signs, now: now), nil)
        }
        let reason = "SUSPECT_CONFIGURATION: no token fits this app and side; check bundle id and environment"
        for entry in entries where isWrongToken(entry.fate) {
            signs.append(.stuck(reason: reason, entry.entry.device.userID))
        }
        return (gate.learn(signs, now: now), reason)
    }

    private func isWrongToken(_ fate: EntryFate) -> Bool {
        guard case .result(.retire(let reason, _)) = fate else { return false }
        return Self.wrongTokenReasons.contains(reason)
    }

    private func sign(of fate: EntryFate, owner: UserID) -> LaneGate.Sign {
        guard case .result(let result) = fate else { return .neutral }
        switch result {
        case .accepted: return .accepted
        case .retire: return isWrongToken(fate) ? .wrongToken : .alive
        case .refused: return .alive
        case .pause(let reason): return .stuck(reason: reason, owner)
        case .skipped: return .neutral
        case .retry(let retry):
            switch retry.cause {
            case .answer: return retry.countsAttempt ? .alive : .neutral
            case .serverFault: return .serverFault(owner)
            case .brokenRequest, .notProcessed: return .unanswered
            }
        }
    }

    private func row(_ entry: OutboxEntry, _ fate: EntryFate, deadline: Timestamp?) -> SettledEntry {
        var row = SettledEntry(service: PushService(reaching: entry.device), delivery: entry.delivery)
        switch fate {
        case .held(let until):
            row.delivery = waiting(entry.delivery, until: until, reason: entry.delivery.reason, deadline)
        case .abandoned:
            row.delivery = waiting(entry.delivery, until: now, reason: entry.delivery.reason, deadline)
        case .ended(let reason):
            row.delivery = final(entry.delivery, .ended, reason)
        case .expired:
            row.delivery = final(entry.delivery, .expired, entry.delivery.reason)
        case .result(let result):
            apply(result, entry, deadline, &row)
        }
        return row
    }

    private func apply(_ result: PushResult, _ entry: OutboxEntry, _ deadline: Timestamp?, _ row: inout SettledEntry) {
        var counted = entry.delivery
        counted.attempts += 1
        switch result {
        case .accepted(let providerID):
            row.delivery = final(counted, .accepted, nil)
            row.delivery.providerID = providerID
        case .skipped(let reason):
            row.delivery = final(entry.delivery, .skipped, reason)
        case .refused(let reason):
            row.delivery = final(counted, .failed, reason)
        case .pause(let reason):
            let until = entry.lane.map { lane in gates.withGate(of: lane) { $0.nextTry(now: now) } }
            row.delivery = waiting(entry.delivery, until: until ?? now.adding(seconds: 1), reason: reason, deadline)
        case .retry(let retry):
            row.delivery = again(retry, entry, deadline)
        case .retire(let reason, let deadSince):
            row.delivery = final(counted, .ended, reason)
            let isSecond = entry.delivery.reason == reason
            let once = PushRetry(.answer, reason: reason)
            row.retirement = SettledEntry.Retirement(
                reason: reason,
                registeredBy: deadSince ?? sentAt,
                deliveryIfKept: isSecond ? row.delivery : again(once, entry, deadline)
            )
        }
    }

    /// A paused lane's trouble is not this delivery's: its attempts stay.
    private func again(_ retry: PushRetry, _ entry: OutboxEntry, _ deadline: Timestamp?) -> Delivery {
        let blamesLane =
            retry.cause != .answer && entry.lane.map { lane in gates.withGate(of: lane) { !$0.isOpen } } == true
        var delivery = entry.delivery
        if retry.countsAttempt && !blamesLane { delivery.attempts += 1 }
        if blamesLane, let lane = entry.lane {
            let until = gates.withGate(of: lane) { $0.nextTry(now: now) }
            return waiting(delivery, until: until, reason: retry.reason, deadline)
        }
        let unit = identifiers.randomUnit()
        guard let pause = policy.pauseSeconds(retry, attempts: delivery.attempts, unit: unit) else {
            return final(delivery, .failed, retry.reason)
        }
        return waiting(delivery, until: now.adding(seconds: pause), reason: retry.reason, deadline)
    }

    /// Due at its deadline at the latest, to be found expired then.
    private func waiting(_ delivery: Delivery, until: Timestamp, reason: String?, _ deadline: Timestamp?) -> Delivery {
        var delivery = delivery
        delivery.status = .waiting
        delivery.reason = reason
        delivery.nextAttemptAt = deadline.map { max(now, min(until, $0)) } ?? until
        delivery.leaseUntil = nil
        delivery.updatedAt = now
        return delivery
    }

    private func final(_ delivery: Delivery, _ status: DeliveryStatus, _ reason: String?) -> Delivery {
        var delivery = delivery
        delivery.status = status
        delivery.reason = reason
        delivery.nextAttemptAt = nil
        delivery.leaseUntil = nil
        delivery.updatedAt = now
        return delivery
    }
}
