import TocsinCore

/// Turns fates into rows: the one place that moves deliveries between states.
struct OutcomeRules: Sendable {
    let now: Timestamp
    let policy: RetryPolicy
    let breakers: CircuitBreakers
    let identifiers: any IdentifierSource
    /// When the pushes were handed over; a device registered later is innocent.
    let sentAt: Timestamp

    /// What is held is looked at again so long after the quiet, in case nobody has let it go.
    private static let quietGraceSeconds = 15.0
    /// And once more so long after that look; then it goes without being let go.
    private static let quietPatienceSeconds = 60.0

    /// An entry, what became of it, and when it is not to be sent any more.
    struct Case: Sendable {
        var entry: OutboxEntry
        var fate: EntryFate
        var deadline: Timestamp?
    }

    /// One lane's news, for the log.
    struct LaneChange: Sendable {
        var lane: PushLane
        var change: CircuitBreaker.Change
    }

    /// The rows for these cases, in the same order, and what changed on their lanes.
    func settle(_ cases: [Case]) -> (rows: [SettledEntry], changes: [LaneChange]) {
        var cases = cases
        var changes: [LaneChange] = []
        var restored: [Delivery] = []
        let byLane = Dictionary(grouping: cases.indices) { cases[$0].entry.lane }
        for (lane, indices) in byLane {
            guard let lane else { continue }
            let lesson = breakers.withBreaker(of: lane) { learn(&$0, indices.map { cases[$0] }) }
            if let suspicion = lesson.suspicion {
                restored += lesson.restored
                for index in indices where isWrongToken(cases[index].fate) {
                    cases[index].fate = .result(.pause(reason: suspicion))
                }
            }
            if let change = lesson.change { changes.append(LaneChange(lane: lane, change: change)) }
            if let change = slowed(lane, indices.map { cases[$0].fate }) { changes.append(change) }
        }
        var rows = cases.map(row)
        if !restored.isEmpty, !rows.isEmpty { rows[0].restored = restored }
        backOffDevices(cases, rows)
        return (rows, changes)
    }

    private func row(_ settled: Case) -> SettledEntry {
        let delivery = settled.entry.delivery
        let device = settled.entry.device
        var row = SettledEntry(service: PushService(reaching: device), delivery: delivery, token: device.token)
        switch settled.fate {
        case .held(let until, let reason):
            row.delivery = waiting(delivery, until: until, reason: reason ?? delivery.reason, settled.deadline)
        case .quiet(let end, let expiry):
            let later = (end ?? now).adding(seconds: end == nil ? Self.quietPatienceSeconds : Self.quietGraceSeconds)
            row.delivery = waiting(delivery, until: later, reason: .quietHours, expiry)
            // It lives from when it goes.
            row.delivery.redrivenAt = end == nil ? later : nil
            // Due at once, as the quiet may have been ended since it was asked about; what fires
            // sets itself to the true end.
            row.quietEnd = TimerEntry(
                kind: .quietEnd,
                subject: device.userID.text,
                owner: device.userID,
                dueAt: now
            )
        case .abandoned:
            row.delivery = waiting(delivery, until: now, reason: delivery.reason, settled.deadline)
        case .ended(let reason):
            row.delivery = final(delivery, .ended, reason)
        case .expired:
            row.delivery = final(delivery, .expired, delivery.reason)
        case .result(let result):
            apply(result, settled, &row)
        }
        return row
    }

    private func apply(_ result: PushResult, _ settled: Case, _ row: inout SettledEntry) {
        let delivery = settled.entry.delivery
        var counted = delivery
        counted.attempts += 1
        switch result {
        case .accepted(let providerID, let environment):
            row.delivery = final(counted, .accepted, nil)
            row.delivery.providerID = providerID
            row.learnedEnvironment = environment
        case .skipped(let reason):
            row.delivery = final(delivery, .skipped, reason)
        case .refused(let reason):
            row.delivery = final(counted, .failed, reason)
        case .pause(let reason):
            let until = settled.entry.lane.map { lane in breakers.withBreaker(of: lane) { $0.nextTry(now: now) } }
            row.delivery = waiting(delivery, until: until ?? now.adding(seconds: 1), reason: reason, settled.deadline)
        case .retry(let retry):
            row.delivery = again(retry, settled)
        case .retire(let reason, let deadSince):
            row.delivery = final(counted, .ended, reason)
            // Tried once more, unless it was for this, or other troubles have used up its attempts.
            let another = again(PushRetry(.answer, reason: reason), settled)
            let isLast = delivery.reason == reason || another.status != .waiting
            row.retirement = SettledEntry.Retirement(
                reason: reason,
                registeredBy: deadSince ?? sentAt,
                deliveryIfKept: isLast ? row.delivery : another
            )
        }
    }

    /// A paused lane's trouble is not this delivery's: its attempts stay.
    private func again(_ retry: PushRetry, _ settled: Case) -> Delivery {
        let blamesLane = [.serverFault, .brokenRequest, .notProcessed].contains(retry.cause)
        var delivery = settled.entry.delivery
        if blamesLane, let lane = settled.entry.lane,
            let until = breakers.withBreaker(of: lane, { $0.isClosed ? nil : $0.nextTry(now: now) })
        {
            return waiting(delivery, until: until, reason: retry.reason, settled.deadline)
        }
        if retry.countsAttempt { delivery.attempts += 1 }
        let unit = identifiers.randomUnit()
        guard let pause = policy.pauseSeconds(retry, attempts: delivery.attempts, unit: unit) else {
            return final(delivery, .failed, retry.reason)
        }
        return waiting(delivery, until: now.adding(seconds: pause), reason: retry.reason, settled.deadline)
    }

    /// Due at its deadline at the latest, to be found expired then.
    private func waiting(
        _ delivery: Delivery,
        until: Timestamp,
        reason: DeliveryReason?,
        _ deadline: Timestamp?
    ) -> Delivery {
        var delivery = delivery
        delivery.status = .waiting
        delivery.reason = reason
        delivery.nextAttemptAt = deadline.map { max(now, min(until, $0)) } ?? until
        delivery.leaseUntil = nil
        delivery.updatedAt = now
        return delivery
    }

    private func final(_ delivery: Delivery, _ status: DeliveryStatus, _ reason: DeliveryReason?) -> Delivery {
        var delivery = delivery
        delivery.status = status
        delivery.reason = reason
        delivery.nextAttemptAt = nil
        delivery.leaseUntil = nil
        delivery.updatedAt = now
        return delivery
    }
}

// What lanes, projects and devices learn.
extension OutcomeRules {
    private struct Lesson {
        var change: CircuitBreaker.Change?
        var suspicion: DeliveryReason?
        var restored: [Delivery] = []
    }

    private func learn(_ breaker: inout CircuitBreaker, _ cases: [Case]) -> Lesson {
        var signs = cases.map { sign(of: $0.fate, owner: $0.entry.device.userID) }
        let wrong = cases.filter { isWrongToken($0.fate) }
        let accepted = signs.count { $0 == .accepted }
        guard breaker.suspects(wrongTokens: wrong.count, accepted: accepted, now: now) else {
            if accepted == 0, !wrong.isEmpty { breaker.noteRetired(wrong.map(\.entry.delivery)) }
            return Lesson(change: breaker.learn(signs, now: now))
        }
        let detail = "no token fits this app and side; check bundle id, environment or project"
        let reason = DeliveryReason.suspectConfiguration.with(detail: detail)
        for one in wrong { signs.append(.stuck(reason: reason.rawValue, one.entry.device.userID)) }
        return Lesson(change: breaker.learn(signs, now: now), suspicion: reason, restored: breaker.takeRetired())
    }

    private func isWrongToken(_ fate: EntryFate) -> Bool {
        guard case .result(.retire(let reason, _)) = fate else { return false }
        return DeliveryReason.wrongTokens.contains(reason)
    }

    private func sign(of fate: EntryFate, owner: UserID) -> CircuitBreaker.Sign {
        guard case .result(let result) = fate else { return .neutral }
        switch result {
        case .accepted: return .accepted
        case .retire: return isWrongToken(fate) ? .wrongToken : .alive
        case .refused: return .alive
        case .pause(let reason): return .stuck(reason: reason.rawValue, owner)
        case .skipped: return .neutral
        case .retry(let retry):
            switch retry.cause {
            case .answer, .quota, .deviceQuota: return retry.countsAttempt ? .alive : .neutral
            case .serverFault: return .serverFault(owner)
            case .brokenRequest, .notProcessed: return .unanswered
            }
        }
    }

    private func slowed(_ lane: PushLane, _ fates: [EntryFate]) -> LaneChange? {
        let isUsedUp = fates.contains { fate in
            if case .result(.retry(let retry)) = fate { retry.cause == .quota } else { false }
        }
        guard isUsedUp, let perSecond = breakers.slow(lane, now: now) else { return nil }
        return LaneChange(lane: lane, change: .slowed(perSecond: Int(perSecond)))
    }

    /// A device that gets too many is left alone by all messages until its delivery is due again.
    private func backOffDevices(_ cases: [Case], _ rows: [SettledEntry]) {
        var released: [DeviceID] = []
        for (one, row) in zip(cases, rows) {
            switch one.fate {
            case .result(.retry(let retry)) where retry.cause == .deviceQuota:
                guard let until = row.delivery.nextAttemptAt else { continue }
                breakers.hold(one.entry.device.id, DeviceBackoff.Hold(until: until, reason: retry.reason), now: now)
            case .result(.accepted): released.append(one.entry.device.id)
            case .result, .held, .quiet, .ended, .expired, .abandoned: continue
            }
        }
        breakers.release(released)
    }
}
