/// Lets go what was held while a person's quiet lasted: a few one by one, more as one summary.
package struct QuietEndEffect: TimerEffect {
    private let environment: ServiceEnvironment
    private let rights: PushRights
    private let pushes: DirectPushService
    /// So many go at once; a summary counts no more.
    private static let maximumHeld = 1000

    /// - Parameter rights: Who may still get pushes.
    package init(environment: ServiceEnvironment, rights: PushRights, pushes: DirectPushService) {
        (self.environment, self.rights, self.pushes) = (environment, rights, pushes)
    }

    /// One timer a person.
    package let kinds: Set<TimerEntry.Kind> = [.quietEnd]

    /// Releases what is held, or sets the timer again where it is still quiet.
    package func fire(_ timer: TimerEntry, now: Timestamp) async throws(ServiceError) {
        let effect = self
        try await environment.store.writing { writer throws(StoreError) in
            try effect.fire(timer, now, writer)
            return .success(())
        }
    }

    private func fire(_ timer: TimerEntry, _ now: Timestamp, _ writer: any StoreWriter) throws(StoreError) {
        let user = UserID(timer.subject)
        let settings = try writer.unlocked.userSettings(of: [user])[user] ?? UserSettings(userID: user)
        let zone = environment.zones.zone(named: settings.timeZone) ?? .utc
        if let end = settings.quietEnd(at: now, in: zone) { return try again(timer, at: end, writer) }
        let owner = try identity(of: user, now, writer.unlocked)
        let seen = try writer.unlocked.heldDeliveries(of: user, limit: Self.maximumHeld)
        let isSummary = owner != nil && Self.isSummary(seen, settings, now)
        if let owner, isSummary {
            // Feed and topic come before what is locked below.
            _ = try writer.hold([DirectPushService.topicID(of: owner)], of: rights.topics, feedsOf: [owner.owner])
        }
        let held = try writer.heldDeliveries(of: user, limit: Self.maximumHeld)
        guard (owner != nil && Self.isSummary(held, settings, now)) == isSummary else {
            return try again(timer, at: now, writer)
        }
        guard try writer.claim(timer) else { return }
        let living = owner == nil ? [] : held.filter { $0.isLiving(at: now) }
        if let owner, isSummary {
            let message = try pushes.pushSummary(of: living, to: owner, at: now, writer)
            try writer.settle(living.map(\.delivery), inSummary: message, now: now)
        } else {
            try releaseSingly(living, now, writer)
        }
        let others = owner == nil ? held : held.filter { !$0.isLiving(at: now) }
        try writer.release(others.map(\.delivery), at: now, now: now)
        if !held.isEmpty { writer.note(.outboxFilled) }
        // There were too many, or some were held while the others were let go.
        guard try !writer.unlocked.heldDeliveries(of: user, limit: 1).isEmpty else { return }
        var next = timer
        (next.dueAt, next.generation) = (now, timer.generation + 1)
        try writer.set(next)
    }

    private static func isSummary(_ held: [HeldDelivery], _ settings: UserSettings, _ now: Timestamp) -> Bool {
        Set(held.filter { $0.isLiving(at: now) }.map(\.delivery.messageID)).count > settings.maxSingles
    }

    /// Makes one message after another due, in their order.
    private func releaseSingly(
        _ held: [HeldDelivery],
        _ now: Timestamp,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        let deliveries = held.map(\.delivery)
        var rest = deliveries[...]
        var moment = now
        while let first = rest.first {
            let ofMessage = rest.prefix { $0.messageID == first.messageID }
            try writer.release(Array(ofMessage), at: moment, now: now)
            rest = rest.dropFirst(ofMessage.count)
            moment = Timestamp(milliseconds: moment.milliseconds + 1)
        }
    }

    private func again(_ timer: TimerEntry, at moment: Timestamp, _ writer: any StoreWriter) throws(StoreError) {
        guard try writer.claim(timer) else { return }
        var next = timer
        (next.dueAt, next.generation) = (moment, timer.generation + 1)
        try writer.set(next)
    }

    /// Who may get a summary; nil: nobody, as they may have no pushes, or want none.
    private func identity(
        of user: UserID,
        _ now: Timestamp,
        _ reader: any StoreReader
    ) throws(StoreError) -> Identity? {
        guard try !reader.isMuted(user) else { return nil }
        let standing = try reader.standings(of: [user], tokensAt: nil)[user]
        guard case .person(let identity) = rights.receiver(user, standing, now: now) else { return nil }
        return identity
    }
}

extension DirectPushService {
    /// Writes one push that stands for those that were held, to the devices that they were for.
    func pushSummary(
        of held: [HeldDelivery],
        to owner: Identity,
        at now: Timestamp,
        _ writer: any StoreWriter
    ) throws(StoreError) -> MessageID {
        var (priorities, devices): ([MessageID: Int64], [DeviceID: PushPlatform]) = ([:], [:])
        for one in held {
            priorities[one.delivery.messageID] = one.priority
            if let platform = one.delivery.platform { devices[one.delivery.deviceID] = platform }
        }
        let counts = Dictionary(grouping: priorities.values, by: \.self).mapValues(\.count).sorted { $0.key > $1.key }
        let body = counts.map { "\($1) of priority \($0)" }.joined(separator: ", ")
        let input: RecordInput = [
            "title": .text(Int64(priorities.count).counting("message") + " while you were away"), "body": .text(body),
            "type": .int(0),
            "priority": .int(counts.first?.key ?? 3),
            "data": .text("{\"summary\":\"quiet\",\"messages\":\"\(priorities.count)\"}"),
        ]
        return try push(input, to: devices, of: owner, at: now, writer)
    }
}
