/// Makes scheduled messages when they are due, as their owners.
package struct ScheduledMessageEffect: TimerEffect {
    private let service: ScheduledMessageService
    /// Is told of a schedule that the server ends, once that is durable.
    private let ended: @Sendable (ScheduledMessage) -> Void

    /// - Parameter ended: Is told of schedules that the server ends before their time.
    package init(_ service: ScheduledMessageService, ended: @escaping @Sendable (ScheduledMessage) -> Void) {
        (self.service, self.ended) = (service, ended)
    }

    /// One-offs and those that come again and again.
    package let kinds: Set<TimerEntry.Kind> = [.message, .recurring]

    /// Makes the message or tells the webhook, and sets the next timer.
    package func fire(_ timer: TimerEntry, now: Timestamp) async throws(ServiceError) {
        let service = service
        let found = try await service.environment.store.reading(for: .server) { reader throws(StoreError) in
            try reader.scheduledMessage(timer.subject)
        }
        // Calendars are searched here: nobody waits for this task.
        let seen = found.map { SeenSchedule(plan: $0.plan, dueAt: $0.nextAt, times: service.times(of: $0, at: now)) }
        let after = try await service.environment.store.writing { writer throws(StoreError) in
            .success(try service.fire(timer, seen, now: now, writer))
        }
        if let after, !after.isEnabled, after.disabledReason?.hasPrefix(ScheduledMessage.done) == false { ended(after) }
    }
}

/// A schedule as it was read before the write, and what follows from that.
private struct SeenSchedule: Sendable {
    let plan: ScheduledMessage.Plan
    let dueAt: Timestamp?
    let times: (missed: Int, next: Timestamp?)
}

extension ScheduledMessage {
    /// Begins the reason of those that have come for the last time.
    static let done = "DONE"

    /// Waits for the next time, or ends where there is none.
    fileprivate mutating func goOn(at next: Timestamp?, elseEndedFor reason: String) {
        nextAt = next
        if next == nil { (isEnabled, disabledReason) = (false, reason) }
    }
}

extension ScheduledMessageService {
    /// What became of one time.
    private enum Outcome {
        case made(MessageID?)
        /// Not this time, but the next one may.
        case skipped(String)
        case ends(String)
    }

    /// Claims the timer and does what it asks for; answers the schedule afterwards, nil where
    /// nothing was to be done.
    fileprivate func fire(
        _ timer: TimerEntry,
        _ before: SeenSchedule?,
        now: Timestamp,
        _ writer: any StoreWriter
    ) throws(StoreError) -> ScheduledMessage? {
        guard let seen = try writer.unlocked.scheduledMessage(timer.subject) else {
            _ = try writer.claim(timer)
            return nil
        }
        let caller = try caller(of: seen, now: now, writer.unlocked)
        // Feed and topic before the schedule, as all writers lock them.
        if seen.plan.webhook == nil, let topic = seen.plan.topicID {
            let owners = try owners(of: topic, by: caller, or: seen.owner.text, writer.unlocked)
            _ = try writer.hold([topic], of: topics, feedsOf: owners)
        }
        guard var message = try writer.scheduledMessage(timer.subject), message.generation == timer.generation,
            message.isEnabled, message.plan == seen.plan, let dueAt = message.nextAt,
            let before, message.plan == before.plan, dueAt == before.dueAt
        else {
            // Changed meanwhile: another timer stands for it.
            if try writer.scheduledMessage(timer.subject)?.generation != timer.generation {
                _ = try writer.claim(timer)
            }
            return nil
        }
        guard try writer.claim(timer) else { return nil }
        message.missed = before.times.missed
        message.lastAt = dueAt
        message.generation += 1
        switch try outcome(of: message, dueAt: dueAt, as: caller, writer) {
        case .made(let made):
            message.lastMessageID = made ?? message.lastMessageID
            message.goOn(at: before.times.next, elseEndedFor: ScheduledMessage.done)
        case .skipped(let reason):
            message.missed += 1
            message.goOn(at: before.times.next, elseEndedFor: reason)
        case .ends(let reason):
            (message.isEnabled, message.disabledReason, message.nextAt) = (false, reason, nil)
        }
        try writer.save(message)
        if let next = message.timer { try writer.set(next) }
        return message
    }

    /// Whose feeds a message may go into: its publisher's, or that of who shares the topic.
    private func owners(
        of topic: TopicID,
        by caller: Identity?,
        or owner: String,
        _ reader: any StoreReader
    ) throws(StoreError) -> [String] {
        let own = caller?.owner ?? owner
        guard let caller, let record = try reader.records(topics, ids: [topic.text], where: .always).first,
            let other = record.owner, !caller.ownerForms.contains(other)
        else { return [own] }
        messages.noteOwner(of: record)
        return Array(Set([own, other]))
    }

    private func outcome(
        of message: ScheduledMessage,
        dueAt: Timestamp,
        as caller: Identity?,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Outcome {
        guard let caller else { return .ends("OWNER_DISABLED: the account of its owner is disabled or gone") }
        if let webhook = message.plan.webhook { return try tell(webhook, message, dueAt, writer) }
        guard let topic = message.plan.topicID, let json = message.plan.input else { return .ends("BAD_INPUT") }
        let draft: MessageDraft
        do throws(ServiceError) {
            var input = try content(json).in(topic)
            input["key"] = .text("scheduled/\(message.id)/\(dueAt.milliseconds / 1000)")
            draft = try messages.draft(input, wish: message.wish, caller: caller)
            try environment.takeStorage(for: input, of: rights.messages, by: caller, sharedBy: draft.sharedOwner)
        } catch {
            return Self.outcome(error)
        }
        let outcomes = try MessageDraft.perform([draft], writer)
        try writer.awaitAnswers()
        switch outcomes().first {
        case .success(let record)?: return .made(MessageID(record.id))
        case .failure(.conflict)?, nil: return .made(nil)
        case .failure(let error)?: return Self.outcome(error)
        }
    }

    private func tell(
        _ webhook: String,
        _ message: ScheduledMessage,
        _ dueAt: Timestamp,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Outcome {
        guard environment.webhooks?.takesSchedules(webhook, of: message.owner) == true else {
            return .ends("WEBHOOK_GONE: no webhook \(webhook) takes events of your schedules")
        }
        let due = WebhookOccurrence.ScheduleDue(
            id: message.id,
            name: message.plan.name,
            owner: message.owner.text,
            dueAt: dueAt,
            missed: message.missed,
            webhook: webhook
        )
        try environment.raise(.scheduleDue(due), writer)
        return .made(nil)
    }

    private static func outcome(_ error: ServiceError) -> Outcome {
        switch error {
        case .unauthorized: .ends("UNAUTHORIZED: its topic is gone, or its owner may not publish there any more")
        case .badInput(let text), .badRequest(let text, _): .ends("BAD_INPUT: " + text)
        case .limit(let text): .skipped("LIMIT: " + text)
        default: .ends("BAD_INPUT: \(error)")
        }
    }

    /// How many times passed since a schedule was due, and when it comes next.
    fileprivate func times(of message: ScheduledMessage, at now: Timestamp) -> (missed: Int, next: Timestamp?) {
        let plan = message.plan
        guard let dueAt = message.nextAt, let zone = zone(of: plan),
            let recurrence = try? message.recurrence(in: zone)
        else { return (0, nil) }
        let next = recurrence.next(after: now)
        let isOver = next.flatMap { next in plan.until.map { next > $0 } } ?? false
        return (recurrence.missed(since: dueAt, until: min(now, plan.until ?? now)), isOver ? nil : next)
    }

    private func zone(of plan: ScheduledMessage.Plan) -> ZoneRules? {
        plan.timeZone.map { zones.zone(named: $0) } ?? .utc
    }

    /// The owner as they are now; nil for an account that is disabled or gone.
    ///
    /// What tokens of other issuers said was noted when the schedule was made.
    fileprivate func caller(
        of message: ScheduledMessage,
        now: Timestamp,
        _ reader: any StoreReader
    ) throws(StoreError) -> Identity? {
        let user = message.owner.userID
        switch rights.receiver(user, try reader.standings(of: [user], tokensAt: nil)[user], now: now) {
        case .nobody, .member: return nil
        case .person(let identity): return identity
        }
    }
}
