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
        let heardWishes = context.withdrawals.heardWishes
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
        let (messages, topics, content) = (context.messages, context.topics, context.content)
        let half = context.time.now().adding(seconds: context.settings.leaseSeconds / 2)
        let loaded = await context.reading(until: half) { reader throws(StoreError) in
            let found = ids.isEmpty ? [:] : try load(ids, messages, topics, content, reader)
            return (found, try reader.nextDue())
        }
        guard let loaded else { return nil }
        var claim = taken
        claim.messages = loaded.0
        claim.nextDue = loaded.1
        claim.jobs = fanouts.map { FanoutJob(fanout: $0, message: loaded.0[$0.messageID] ?? .gone) }
        return claim
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

    private static func load(
        _ ids: Set<MessageID>,
        _ messages: ModelType,
        _ topics: ModelType,
        _ content: PushContent,
        _ reader: any StoreReader
    ) throws(StoreError) -> [MessageID: LoadedMessage] {
        let records = try reader.records(messages, ids: ids.map(\.text), where: .always)
        let topicIDs = Set(records.compactMap { $0["topicId"].text })
        var topicsByID: [String: Record] = [:]
        for topic in try reader.records(topics, ids: Array(topicIDs), where: .always) { topicsByID[topic.id] = topic }
        var loaded: [MessageID: LoadedMessage] = [:]
        for record in records {
            let topic = topicsByID[record["topicId"].text ?? ""]
            loaded[MessageID(record.id)] = message(record, topic, content)
        }
        return loaded
    }

    private static func message(_ record: Record, _ topic: Record?, _ content: PushContent) -> LoadedMessage {
        if record.isDeleted { return .ended(reason: "MESSAGE_DELETED") }
        guard let topic, !topic.isDeleted else { return .ended(reason: "TOPIC_DELETED") }
        return .payload(PushPayload(message: record, topic: topic, content: content))
    }
}
