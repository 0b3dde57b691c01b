import TocsinCore

/// Due work this node has taken from the store.
struct OutboxClaim: Sendable {
    struct Retry: Sendable {
        var delivery: Delivery
        var device: Device
    }

    struct Wish: Sendable, Hashable {
        /// Urgent fan-outs, and fan-outs of any urgency.
        var urgent: Int
        var fanouts: Int
        var deliveries: Int
    }

    var jobs: [FanoutJob] = []
    var retries: [Retry] = []
    var messages: [MessageID: LoadedMessage] = [:]
    var lease: Timestamp
    /// Wishes of users that were heard of before it was taken.
    var heardWishes: Int
    /// When there will be more to take.
    var nextDue: Timestamp?
    /// Whether more may be due already.
    var mayHaveMore = false

    /// Takes what is due, within the wish; nil when the store fails.
    static func take(_ wish: Wish, _ context: OutboxContext) async -> OutboxClaim? {
        let taken: (fanouts: [Fanout], claim: OutboxClaim)
        do throws(StoreError) {
            taken = try await leasing(wish, context)
        } catch {
            if error != .stopped { context.report(.storeFailed(error)) }
            return nil
        }
        if let claim = await reading(taken.claim, taken.fanouts, context) { return claim }
        // What was leased would else wait for the lease to run out.
        await giveBack(taken.fanouts, taken.claim, context)
        return nil
    }

    /// Makes due again what was taken and cannot be served, at once and without counting it.
    static func giveBack(_ fanouts: [Fanout], _ claim: OutboxClaim, _ context: OutboxContext) async {
        guard !fanouts.isEmpty || !claim.retries.isEmpty else { return }
        let now = context.time.now()
        _ = await context.writing(until: claim.lease) { writer throws(StoreError) in
            for fanout in fanouts { _ = try writer.advance(fanout, nextDevice: fanout.nextDevice, leaseUntil: now) }
            for retry in claim.retries {
                var delivery = retry.delivery
                delivery.status = .waiting
                delivery.leaseUntil = nil
                delivery.nextAttemptAt = now
                _ = try writer.record(delivery, heldUntil: claim.lease)
            }
        }
    }

    private static func leasing(
        _ wish: Wish,
        _ context: OutboxContext
    ) async throws(StoreError) -> (fanouts: [Fanout], claim: OutboxClaim) {
        let now = context.time.now()
        let lease = now.adding(seconds: context.settings.leaseSeconds)
        let node = context.settings.node
        let heardWishes = context.cancellations.heardWishes
        let (fanouts, retries) = try await context.store.write {
            writer throws(StoreError) -> ([Fanout], [Retry]) in
            let fanouts = try Self.claimed(wish) { limit, urgentOnly throws(StoreError) in
                try writer.claimFanouts(node: node, now: now, leaseUntil: lease, limit: limit, urgentOnly: urgentOnly)
            }
            var retries: [Retry] = []
            if wish.deliveries > 0 {
                for claimed in try writer.claimDeliveries(now: now, leaseUntil: lease, limit: wish.deliveries) {
                    retries.append(Retry(delivery: claimed.delivery, device: claimed.device))
                }
            }
            return (fanouts, retries)
        }
        var claim = OutboxClaim(retries: retries, lease: lease, heardWishes: heardWishes)
        claim.mayHaveMore =
            (wish.fanouts > 0 && fanouts.count >= wish.fanouts)
            || (wish.deliveries > 0 && retries.count >= wish.deliveries)
        return (fanouts, claim)
    }

    /// Adds the messages, as long as the leases allow.
    private static func reading(_ taken: OutboxClaim, _ fanouts: [Fanout], _ context: OutboxContext) async
        -> OutboxClaim?
    {
        let ids = Set(fanouts.map(\.messageID) + taken.retries.map(\.delivery.messageID))
        let half = context.time.now().adding(seconds: context.settings.leaseSeconds / 2)
        return await context.reading(until: half) { reader throws(StoreError) in
            let found = ids.isEmpty ? [:] : try load(ids, context, reader)
            var claim = taken
            claim.messages = found.mapValues(\.message)
            claim.nextDue = try reader.nextDue()
            claim.jobs = fanouts.map { fanout in
                let loaded = found[fanout.messageID]
                return FanoutJob(fanout: fanout, message: loaded?.message ?? .gone, subject: loaded?.subject)
            }
            try IncidentPushes.noteAnswers(to: found.values.compactMap(\.subject?.message), context, reader)
            var responders = IncidentResponders(context, reader)
            claim.retries = try judged(taken.retries, found, context, reader).map { retry throws(StoreError) in
                guard let subject = found[retry.delivery.messageID]?.subject else { return retry }
                return Retry(delivery: retry.delivery, device: try responders.marked(retry.device, subject))
            }
            return claim
        }
    }

    /// Retries with whether their devices' owners may have them.
    private static func judged(
        _ retries: [Retry],
        _ found: [MessageID: Loaded],
        _ context: OutboxContext,
        _ reader: any StoreReader
    ) throws(StoreError) -> [Retry] {
        guard !retries.isEmpty else { return [] }
        var judge = try PushJudge(of: retries.map(\.device), context, reader)
        guard judge.isNeeded else { return retries }
        let pushes = retries.compactMap { retry in
            found[retry.delivery.messageID]?.subject.map { (device: retry.device, subject: $0) }
        }
        try judge.readGrants(of: pushes, reader)
        return retries.map { retry in
            guard let subject = found[retry.delivery.messageID]?.subject else { return retry }
            return Retry(delivery: retry.delivery, device: judge.judged(retry.device, subject))
        }
    }

    /// Urgent ones first; those that are left over count among the others.
    private static func claimed(
        _ wish: Wish,
        claim: (_ limit: Int, _ urgentOnly: Bool) throws(StoreError) -> [Fanout]
    ) throws(StoreError) -> [Fanout] {
        let urgent = wish.urgent > 0 ? try claim(wish.urgent, true) : []
        let others = wish.fanouts > 0 ? try claim(wish.fanouts, false) : []
        return urgent + others
    }

    /// A message as it is sent, and what its pushes are judged by.
    private typealias Loaded = (message: LoadedMessage, subject: PushSubject?)

    private static func load(
        _ ids: Set<MessageID>,
        _ context: OutboxContext,
        _ reader: any StoreReader
    ) throws(StoreError) -> [MessageID: Loaded] {
        let now = context.time.now()
        return try records(ids, context, reader).mapValues { record, topic in
            let subject = topic.map { PushSubject(message: record, topic: $0, readAt: now) }
            return (message(record, topic, context.content), subject)
        }
    }

    /// What pushes of these messages are judged by now.
    static func subjects(
        of ids: Set<MessageID>,
        _ context: OutboxContext,
        _ reader: any StoreReader
    ) throws(StoreError) -> [MessageID: PushSubject] {
        guard !ids.isEmpty else { return [:] }
        let now = context.time.now()
        return try records(ids, context, reader).compactMapValues { record, topic in
            topic.map { PushSubject(message: record, topic: $0, readAt: now) }
        }
    }

    private static func records(
        _ ids: Set<MessageID>,
        _ context: OutboxContext,
        _ reader: any StoreReader
    ) throws(StoreError) -> [MessageID: (message: Record, topic: Record?)] {
        let records = try reader.records(context.messages, ids: ids.map(\.text), where: .always)
        let topicIDs = Set(records.compactMap { $0["topicId"].text })
        var topics: [String: Record] = [:]
        for topic in try reader.records(context.topics, ids: Array(topicIDs), where: .always) {
            topics[topic.id] = topic
        }
        return Dictionary(
            records.map { (MessageID($0.id), ($0, topics[$0["topicId"].text ?? ""])) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    private static func message(_ record: Record, _ topic: Record?, _ content: PushContent) -> LoadedMessage {
        if record.isDeleted { return .ended(reason: .messageDeleted) }
        guard let topic, !topic.isDeleted else { return .ended(reason: .topicDeleted) }
        return .payload(PushPayload(message: record, topic: topic, content: content))
    }
}
