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
        try await takeStorage(for: timer)
        let service = service
        let after = try await service.environment.store.writing { writer throws(StoreError) in
            .success(try service.fire(timer, now: now, writer))
        }
        if let after, !after.isEnabled, after.disabledReason?.hasPrefix(ScheduledMessage.done) == false { ended(after) }
    }

    /// Counts the message's bytes among its owner's before it is written.
    private func takeStorage(for timer: TimerEntry) async throws(ServiceError) {
        let service = service
        let found = try await service.environment.store.reading(for: .server) {
            reader throws(StoreError) -> (ScheduledMessage, Identity)? in
            guard let message = try reader.scheduledMessage(timer.subject),
                let caller = try service.caller(of: message, now: timer.dueAt, reader)
            else { return nil }
            return (message, caller)
        }
        guard let (message, caller) = found, message.plan.webhook == nil, let json = message.plan.input,
            let input = try? service.content(json)
        else { return }
        try service.environment.takeStorage(for: input, of: service.rights.messages, by: caller)
    }
}

extension ScheduledMessage {
    /// Begins the reason of those that have come for the last time.
    static let done = "DONE"
}

extension ScheduledMessageService {
    /// What became of one time.
    private enum Outcome {
        case made(MessageID?)
        case ends(String)
    }

    /// Claims the timer and does what it asks for; answers the schedule afterwards, nil where
    /// nothing was to be done.
    fileprivate func fire(
        _ timer: TimerEntry,
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
            _ = try writer.hold([topic], of: topics, feedsOf: [(caller?.owner ?? seen.owner.text)])
        }
        guard var message = try writer.scheduledMessage(timer.subject), message.generation == timer.generation,
            message.isEnabled, message.plan == seen.plan, let dueAt = message.nextAt
        else {
            // Changed meanwhile: another timer stands for it.
            if try writer.scheduledMessage(timer.subject)?.generation != timer.generation {
                _ = try writer.claim(timer)
            }
            return nil
        }
        guard try writer.claim(timer) else { return nil }
        message.missed = missed(message, since: dueAt, until: now)
        message.lastAt = dueAt
        message.generation += 1
        switch try outcome(of: message, dueAt: dueAt, as: caller, writer) {
        case .made(let made):
            message.lastMessageID = made ?? message.lastMessageID
            message.nextAt = next(of: message.plan, after: now)
            if message.nextAt == nil { (message.isEnabled, message.disabledReason) = (false, ScheduledMessage.done) }
        case .ends(let reason):
            (message.isEnabled, message.disabledReason, message.nextAt) = (false, reason, nil)
        }
        try writer.save(message)
        if let next = message.timer { try writer.set(next) }
        return message
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
            draft = try messages.draft(input, caller: caller)
        } catch {
            return .ends(Self.reason(error))
        }
        let outcomes = try MessageDraft.perform([draft], writer)
        try writer.awaitAnswers()
        switch outcomes().first {
        case .success(let record)?: return .made(MessageID(record.id))
        case .failure(.conflict)?, nil: return .made(nil)
        case .failure(let error)?: return .ends(Self.reason(error))
        }
    }

    private func tell(
        _ webhook: String,
        _ message: ScheduledMessage,
        _ dueAt: Timestamp,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Outcome {
        guard environment.webhooks?.listeners(to: .scheduleDue).contains(webhook) == true else {
            return .ends("WEBHOOK_GONE: no webhook \(webhook) listens to schedule.due")
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

    private static func reason(_ error: ServiceError) -> String {
        switch error {
        case .unauthorized: "UNAUTHORIZED: its topic is gone, or its owner may not publish there any more"
        case .badInput(let text), .badRequest(let text, _), .limit(let text): "BAD_INPUT: " + text
        default: "BAD_INPUT: \(error)"
        }
    }

    private func missed(_ message: ScheduledMessage, since dueAt: Timestamp, until now: Timestamp) -> Int {
        guard let cron = message.plan.cron, let line = try? CronLine(cron), let zone = zone(of: message.plan) else {
            return 0
        }
        return line.missed(since: dueAt, until: min(now, message.plan.until ?? now), in: zone)
    }

    private func next(of plan: ScheduledMessage.Plan, after now: Timestamp) -> Timestamp? {
        guard let cron = plan.cron, let line = try? CronLine(cron), let zone = zone(of: plan),
            let next = line.next(after: now, in: zone), plan.until.map({ next <= $0 }) ?? true
        else { return nil }
        return next
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
