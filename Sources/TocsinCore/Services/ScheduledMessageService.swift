/// Scheduled messages: their owners write them, and the server makes what they say when it is due.
package struct ScheduledMessageService: Sendable {
    let environment: ServiceEnvironment
    let messages: MessageService
    let topics: ModelType
    let rights: PushRights
    var zones: any ZoneSource { environment.zones }
    private let checks: InputChecks
    /// Reads the JSON of a message without its topic; says what is wrong with it.
    let content: @Sendable (_ json: String) throws(ServiceError) -> RecordInput

    /// Scheduled messages of one user.
    package static let maximumOfUser = 1000
    /// Bytes of UTF-8 in a schedule's name.
    private static let maximumNameBytes = 256
    /// A page ends with the row that brings its inputs to so many bytes.
    private static let pageBytes = 1 << 20
    private static let rowsAtOnce = 50
    private static let earliestSeconds = 10.0
    private static let latestSeconds = 365 * 86_400.0

    /// - Parameter content: Reads the JSON of a message without its topic.
    package init(
        environment: ServiceEnvironment,
        messages: MessageService,
        rights: PushRights,
        content: @escaping @Sendable (_ json: String) throws(ServiceError) -> RecordInput
    ) {
        (self.environment, self.messages, self.content) = (environment, messages, content)
        topics = rights.topics
        // Schedules go on while their owner is away.
        self.rights = PushRights(
            topics: rights.topics,
            messages: rights.messages,
            claimedGroups: rights.claimedGroups
        )
        checks = InputChecks(limits: environment.limits)
    }

    /// Makes a scheduled message of the caller's, which may publish to its topic now.
    ///
    /// The same id with the same plan answers with what is stored.
    package func create(
        id: String?,
        _ plan: ScheduledMessage.Plan,
        isEnabled: Bool,
        caller: Identity
    ) async throws(ServiceError) -> ScheduledMessage {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true) else { throw .unauthorized }
        if let id { try checks.checkChosenID(id, field: "id") }
        let now = environment.time.now()
        let owner = ScheduledMessage.Owner(
            userID: caller.userID,
            username: caller.username,
            provider: caller.provider
        )
        var message = ScheduledMessage(
            id: id ?? environment.identifiers.makeID(),
            owner: owner,
            plan: plan,
            createdAt: now
        )
        message.isEnabled = isEnabled
        message.nextAt = try checkedNext(message, at: now, isNew: true)
        let draft = try draft(of: plan, by: caller)
        let (service, made) = (self, message)
        return try await environment.writing(within: .schedules) { writer throws(StoreError) in
            try service.insert(made, draft, by: caller, writer)
        }
    }

    /// Stores a scheduled message that was checked; without a draft, nobody is asked whether its
    /// owner may publish.
    func insert(
        _ message: ScheduledMessage,
        _ draft: MessageDraft?,
        by caller: Identity,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Result<ScheduledMessage, ServiceError> {
        if let stored = try writer.scheduledMessage(message.id) { return answer(to: message, with: stored) }
        guard try mayPublish(draft, writer.unlocked) else { return .failure(.unauthorized) }
        if try writer.scheduledMessageCount(of: caller.userID) >= Self.maximumOfUser,
            try !writer.removeOldestDoneScheduledMessage(of: caller.userID)
        {
            return .failure(
                .limit("You have \(Self.maximumOfUser) scheduled messages; delete one before you make another.")
            )
        }
        // Another node may have made one with this id since.
        guard try writer.insert(message) else {
            return answer(to: message, with: try writer.scheduledMessage(message.id))
        }
        try follow(message, by: caller, writer)
        return .success(message)
    }

    /// What a caller is told whose id is in use.
    private func answer(
        to message: ScheduledMessage,
        with stored: ScheduledMessage?
    ) -> Result<ScheduledMessage, ServiceError> {
        guard let stored, stored.owner.userID == message.owner.userID, stored.plan == message.plan else {
            return .failure(.conflict(nil))
        }
        return .success(stored)
    }

    /// Changes a scheduled message of the caller's: `change` gets its plan and whether it goes on.
    ///
    /// One that the server has ended goes on again when it is enabled.
    package func update(
        _ id: String,
        caller: Identity,
        change: @escaping @Sendable (inout ScheduledMessage) -> Void
    ) async throws(ServiceError) -> ScheduledMessage {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true) else { throw .unauthorized }
        let service = self
        return try await environment.store.writing { writer throws(StoreError) in
            let found = try writer.scheduledMessage(id)
            guard var message = found, let before = found, message.owner.userID == caller.userID else {
                return .failure(.unauthorized)
            }
            change(&message)
            (message.owner.username, message.owner.provider) = (caller.username, caller.provider)
            let now = service.environment.time.now()
            if message.plan.cron != before.plan.cron || message.plan.timeZone != before.plan.timeZone {
                message.cronChangedAt = now
            }
            do throws(ServiceError) {
                if message.isEnabled || !message.plan.comesLike(before.plan) {
                    let isNew = message.plan.dueAt != before.plan.dueAt || (message.isEnabled && !before.isEnabled)
                    let next = try service.checkedNext(message, at: now, isNew: isNew)
                    // A time that is due already comes all the same.
                    message.nextAt = message.keepsTime(of: before) ? before.nextAt : next
                    if let problem = try service.refusal(of: message.plan, by: caller, writer.unlocked) {
                        throw problem
                    }
                } else {
                    // A pause or another name needs nothing that may be gone by now.
                    try service.checkName(of: message.plan)
                }
            } catch {
                return .failure(error)
            }
            (message.updatedAt, message.generation) = (now, message.generation + 1)
            if message.isEnabled { message.disabledReason = nil }
            try service.remove(before, writer)
            try writer.save(message)
            try service.follow(message, by: caller, writer)
            return .success(message)
        }
    }

    /// Removes a scheduled message of the caller's; answers what it was.
    package func delete(_ id: String, caller: Identity) async throws(ServiceError) -> ScheduledMessage {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true) else { throw .unauthorized }
        let service = self
        return try await environment.store.writing { writer throws(StoreError) in
            guard let message = try writer.scheduledMessage(id), message.owner.userID == caller.userID else {
                return .failure(.unauthorized)
            }
            try writer.removeScheduledMessage(id)
            try service.remove(message, writer)
            return .success(message)
        }
    }

    /// A scheduled message of the caller's; nil when there is none with this id.
    package func message(_ id: String, caller: Identity) async throws(ServiceError) -> ScheduledMessage? {
        guard AccessPolicy.mayManageOwnThings(caller, writing: false) else { throw .unauthorized }
        let found = try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.scheduledMessage(id)
        }
        return found.flatMap { $0.owner.userID == caller.userID ? $0 : nil }
    }

    /// The caller's scheduled messages after an id, by id.
    package func messages(
        after id: String,
        limit: Int,
        caller: Identity
    ) async throws(ServiceError) -> (messages: [ScheduledMessage], hasMore: Bool) {
        guard AccessPolicy.mayManageOwnThings(caller, writing: false) else { throw .unauthorized }
        let found = try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try Self.page(of: caller.userID, after: id, limit: limit + 1, reader)
        }
        let page = found.messages.prefix(limit)
        return (Array(page), found.isCut || found.messages.count > limit)
    }

    /// Up to so many; fewer, and `isCut`, where these have much text.
    private static func page(
        of user: UserID,
        after id: String,
        limit: Int,
        _ reader: any StoreReader
    ) throws(StoreError) -> (messages: [ScheduledMessage], isCut: Bool) {
        var (found, bytes) = ([ScheduledMessage](), 0)
        while found.count < limit {
            guard bytes < pageBytes else { return (found, true) }
            let wanted = min(rowsAtOnce, limit - found.count)
            let rows = try reader.scheduledMessages(of: user, after: found.last?.id ?? id, limit: wanted)
            found += rows
            bytes += rows.reduce(0) { $0 + ($1.plan.input?.utf8.count ?? 0) }
            guard rows.count == wanted else { break }
        }
        return (found, false)
    }

    /// Writes what goes with a schedule: what is known of its owner, and its timer.
    private func follow(
        _ message: ScheduledMessage,
        by caller: Identity,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        if let facts = UserFacts(of: caller, naming: rights.notedClaims, at: environment.time.now()) {
            try writer.save(facts)
        }
        if let timer = message.timer { try writer.set(timer) }
    }

    private func remove(_ message: ScheduledMessage, _ writer: any StoreWriter) throws(StoreError) {
        try writer.removeTimer(.message, of: message.id)
        try writer.removeTimer(.recurring, of: message.id)
    }
}

// MARK: Checks

extension ScheduledMessageService {
    /// When a plan comes next, once all of it has been checked but the message.
    ///
    /// A one-off that is not new may lie in the past: nothing follows then.
    private func checkedNext(
        _ message: ScheduledMessage,
        at now: Timestamp,
        isNew: Bool
    ) throws(ServiceError) -> Timestamp? {
        let plan = message.plan
        try checkName(of: plan)
        if let webhook = plan.webhook {
            // Which webhooks there are is the operator's to tell.
            guard environment.webhooks?.takesSchedules(webhook, of: message.owner) == true else {
                throw .badInput(
                    "webhook \"\(webhook.prefix(64))\" takes no events of your schedules. The operator names who may use "
                        + "one, in its schedule-users."
                )
            }
        } else if plan.topicID == nil || plan.input == nil {
            throw .badInput("Write topicId and input, the message that is to be made; or webhook.")
        }
        switch (plan.dueAt, plan.cron) {
        case (let dueAt?, nil):
            guard plan.timeZone == nil else {
                throw .badInput("timeZone goes with cron; dueAt says its offset itself, such as Z or +02:00.")
            }
            if isNew { try check(dueAt, at: now) }
            return dueAt > now ? dueAt : nil
        case (nil, _?):
            return try next(of: message, after: now)
        case (nil, nil), (_?, _?):
            throw .badInput("Write either dueAt, for once, or cron, for again and again.")
        }
    }

    private func checkName(of plan: ScheduledMessage.Plan) throws(ServiceError) {
        if let name = plan.name { try checks.checkText(name, field: "name", maximumBytes: Self.maximumNameBytes) }
    }

    private func check(_ dueAt: Timestamp, at now: Timestamp) throws(ServiceError) {
        guard dueAt > now else {
            throw .badInput(
                "dueAt lies in the past: it is \(dueAt.iso8601), and now it is \(now.iso8601). Write a time that is 10 seconds "
                    + "to 365 days ahead."
            )
        }
        guard dueAt >= now.adding(seconds: Self.earliestSeconds), dueAt <= now.adding(seconds: Self.latestSeconds)
        else {
            throw .badInput(
                "dueAt must be 10 seconds to 365 days ahead; it is \(dueAt.iso8601), and now it is \(now.iso8601)."
            )
        }
    }

    private func next(of message: ScheduledMessage, after now: Timestamp) throws(ServiceError) -> Timestamp? {
        do throws(CronProblem) {
            // What is wrong with the line is told before what is wrong with the zone.
            _ = try message.recurrence(in: .utc)
        } catch {
            throw .badInput(error.text + ".")
        }
        let zone = try zones.zone(ofInput: message.plan.timeZone, field: "timeZone")
        guard let next = try? message.recurrence(in: zone)?.next(after: now) else {
            throw .badInput(
                "cron \"\(message.plan.cron?.prefix(300) ?? "")\" does not come any more: it is over, or it comes in no year "
                    + "soon. Write one that comes."
            )
        }
        guard message.plan.until.map({ next <= $0 }) ?? true else {
            throw .badInput("until lies before the first time, \(next.iso8601); write a later one.")
        }
        return next
    }

    /// The message of a plan as its owner would publish it now; nil for an event.
    private func draft(of plan: ScheduledMessage.Plan, by caller: Identity) throws(ServiceError) -> MessageDraft? {
        guard plan.webhook == nil, let topic = plan.topicID, let input = plan.input else { return nil }
        guard !DirectPushService.isTopic(topic.text) else {
            throw .badInput("topicId is the topic of direct pushes, which has no members; name a topic of your own.")
        }
        let content = try content(input)
        try checkEnd(of: content, plan)
        return try messages.draft(content.in(topic), caller: caller)
    }

    /// A message that has ended when it is made would be pushed to nobody.
    private func checkEnd(of content: RecordInput, _ plan: ScheduledMessage.Plan) throws(ServiceError) {
        guard let end = content["expiresAt"]?.text.flatMap({ Timestamp(awsDateTime: $0) }) else { return }
        guard let dueAt = plan.dueAt, end > dueAt else {
            throw .badInput("expiresAt in input must lie behind dueAt, and cannot go with cron; leave it out.")
        }
    }

    private func mayPublish(_ draft: MessageDraft?, _ reader: any StoreReader) throws(StoreError) -> Bool {
        guard let draft else { return true }
        let topic = try reader.records(topics, ids: [draft.topicID.text], where: .always).first
        guard let topic, !topic.isDeleted else { return false }
        if draft.mayPublish(to: topic) { return true }
        let roles = try reader.roles(of: draft.subjects, in: [draft.topicID])
        return !roles.roles(of: draft.subjects, in: draft.topicID).isDisjoint(with: .publishing)
    }

    private func refusal(
        of plan: ScheduledMessage.Plan,
        by caller: Identity,
        _ reader: any StoreReader
    ) throws(ServiceError) -> ServiceError? {
        let draft = try draft(of: plan, by: caller)
        do throws(StoreError) {
            return try mayPublish(draft, reader) ? nil : .unauthorized
        } catch {
            throw ServiceError(error)
        }
    }
}

extension RecordInput {
    /// The message in a topic.
    func `in`(_ topic: TopicID) -> RecordInput {
        var input = self
        input["topicId"] = .text(topic.text)
        return input
    }
}
