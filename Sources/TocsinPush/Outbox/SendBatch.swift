import JSON
import TocsinCore

/// Pushes that were started together, and the wait for their answers.
struct SendBatch: Sendable {
    let context: OutboxContext
    let entries: [OutboxEntry]
    let messages: [MessageID: LoadedMessage]
    let startedAt: Timestamp
    let results: SendResults
    /// Fates known without an answer.
    private let fates: [EntryFate?]
    /// One for each order; ended by its last answer, or cancelled when the batch is abandoned.
    private let sends: [Task<Void, Never>]

    private struct OrderKey: Hashable {
        var lane: PushLane
        var message: MessageID
        var redrivenAt: Timestamp?
        var isHushed: Bool
    }

    /// Starts what may start; the quota of a paced one has been seen to.
    init(
        _ context: OutboxContext,
        _ entries: [OutboxEntry],
        _ messages: [MessageID: LoadedMessage],
        isPaced: Bool = false
    ) {
        self.context = context
        self.entries = entries
        self.messages = messages
        let now = context.time.now()
        startedAt = now
        let plan = Self.plan(context, entries, messages, now, isPaced)
        fates = plan.fates
        let results = SendResults(count: entries.count, unanswered: plan.fates.count { $0 == nil })
        self.results = results
        context.openResults.add(results)
        sends = plan.orders.compactMap { key, indices in
            guard let provider = context.providers[key.lane],
                case .payload(let whole)? = messages[key.message]
            else { return nil }
            let payload = key.isHushed ? whole.hushed : whole
            let order = Self.order(of: payload, key, indices.map { entries[$0] }, context)
            let metrics = context.metrics[key.lane.service]
            let settle = { @Sendable (index: Int, result: PushResult) in
                guard let wasStalled = results.settle(index, result) else { return }
                context.inFlight.release(key.lane, entries[index].device.userID, wasStalled: wasStalled)
                guard case .accepted = result else { return }
                let made = max(payload.committedAt, key.redrivenAt ?? payload.committedAt)
                let isUrgent = payload.priority == 5
                metrics.noteAcceptance(of: made, at: context.time.now(), isUrgent: isUrgent)
            }
            return Task {
                await provider.send(order) { position, result in settle(indices[position], result) }
                // A provider that forgot one must not hold its slot for ever.
                let forgotten = PushResult.retry(PushRetry(.brokenRequest, reason: .noAnswer))
                for index in indices { settle(index, forgotten) }
            }
        }
    }

    private static func order(
        of payload: PushPayload,
        _ key: OrderKey,
        _ entries: [OutboxEntry],
        _ context: OutboxContext
    ) -> PushOrder {
        var order = PushOrder(
            payload: payload,
            lane: key.lane,
            targets: targets(of: payload, key.lane, entries, context),
            deadline: payload.deadline(
                lifetimeSeconds: context.settings.retry.lifetimeSeconds,
                since: key.redrivenAt
            )
        )
        order.cancellation = { context.cancellations.reason(against: entries[$0], of: payload) }
        return order
    }

    /// The devices as the provider needs them; browsers get links, for their buttons have no app.
    private static func targets(
        of payload: PushPayload,
        _ lane: PushLane,
        _ entries: [OutboxEntry],
        _ context: OutboxContext
    ) -> [PushTarget] {
        guard lane.service == .webPush, payload.maximumLinkBytes > 0, let links = context.content.links else {
            return entries.map(\.target)
        }
        let now = context.time.now()
        return entries.map { entry in
            var target = entry.target
            var object = JSONObject()
            let user = entry.device.userID
            for action in payload.linkActions {
                guard let incident = payload.incidentID else { continue }
                let url = links.url(action, incident: incident, bearer: .user(user), number: payload.number, at: now)
                if let url { object[action.rawValue] = .string(url) }
            }
            for id in payload.callButtons {
                if let url = links.url(ofButton: id, of: payload.messageID, by: user) { object[id] = .string(url) }
            }
            target.links = JSONValue.object(object).serializedString()
            return target
        }
    }

    /// Decides what is sent, grouped into orders, and the fates of the rest.
    private static func plan(
        _ context: OutboxContext,
        _ entries: [OutboxEntry],
        _ messages: [MessageID: LoadedMessage],
        _ now: Timestamp,
        _ isPaced: Bool
    ) -> (fates: [EntryFate?], orders: [OrderKey: [Int]]) {
        var fates = entries.map { fate(of: $0, messages, context, now) }
        holdBack(entries, messages, context, now, &fates)
        var orders: [OrderKey: [Int]] = [:]
        let byLane = Dictionary(grouping: entries.indices.filter { fates[$0] == nil }) { entries[$0].lane }
        for (lane, indices) in byLane {
            guard let lane else { continue }
            let owners = indices.map { entries[$0].device.userID }
            let admission = context.breakers.admit(lane, owners, now: now)
            let moment = isPaced ? now : quotaMoment(context, lane, indices.map { entries[$0] }, messages, now)
            guard moment <= now else {
                for index in indices { fates[index] = .held(until: moment) }
                continue
            }
            for (position, index) in indices.enumerated() {
                guard admission.positions.contains(position) else {
                    fates[index] = .held(until: admission.turn(of: position, now: now))
                    continue
                }
                switch context.inFlight.take(lane, entries[index].device.userID) {
                case .taken:
                    let delivery = entries[index].delivery
                    let key = OrderKey(
                        lane: lane,
                        message: delivery.messageID,
                        redrivenAt: delivery.redrivenAt,
                        isHushed: entries[index].device.isHushed
                    )
                    orders[key, default: []].append(index)
                case .none: fates[index] = .held(until: now.adding(seconds: 1))
                case .stalls: fates[index] = .held(until: now.adding(seconds: 5))
                }
            }
        }
        return (fates, orders)
    }

    /// When the project's quota lets these go: at once if there is an urgent one among them.
    private static func quotaMoment(
        _ context: OutboxContext,
        _ lane: PushLane,
        _ entries: [OutboxEntry],
        _ messages: [MessageID: LoadedMessage],
        _ now: Timestamp
    ) -> Timestamp {
        guard context.quotas.limits(lane) else { return now }
        let isUrgent = entries.contains { entry in
            if case .payload(let payload)? = messages[entry.delivery.messageID] { payload.priority == 5 } else { false }
        }
        let latest = isUrgent ? Timestamp(milliseconds: .max) : now
        let moment = context.quotas.book(entries.count, on: lane, now: now, latest: latest)
        return isUrgent ? now : moment
    }

    /// The fate of an entry that need not be sent; nil for one that must.
    private static func fate(
        of entry: OutboxEntry,
        _ messages: [MessageID: LoadedMessage],
        _ context: OutboxContext,
        _ now: Timestamp
    ) -> EntryFate? {
        switch messages[entry.delivery.messageID] {
        case .none, .gone: return .ended(reason: .messageGone)
        case .ended(let reason): return .ended(reason: reason)
        case .payload(let payload):
            guard entry.device.isActive else { return .ended(reason: entry.device.disabledReason ?? .deviceInactive) }
            guard entry.device.mayReceive, !entry.device.isSignedOut(at: now) else {
                return .ended(reason: .accessEnded)
            }
            let cancellation = context.cancellations.reason(against: entry, of: payload)
            if let cancellation, !cancellation.isWish { return .ended(reason: cancellation) }
            if let reason = cancellation ?? wish(against: entry.device, context, now) {
                return .result(.skipped(reason: reason))
            }
            if let fate = quietFate(of: entry, payload.expiresAt, now) { return fate }
            guard now < deadline(of: payload, entry.delivery, context) else { return .expired }
            guard entry.lane != nil else {
                return .result(.skipped(reason: context.providers.obstacle(to: entry.device)))
            }
            return nil
        }
    }

    /// What the owner's wishes make of an entry; nil: it goes on its way.
    ///
    /// What was held when the quiet ended waits once for what ends it to look, and then goes.
    private static func quietFate(of entry: OutboxEntry, _ expiry: Timestamp?, _ now: Timestamp) -> EntryFate? {
        if case .leaveOut(let reason)? = entry.device.wish { return .result(.skipped(reason: reason)) }
        if let expiry, expiry <= now { return .expired }
        if case .hold(let end)? = entry.device.wish { return .quiet(until: end, expiry: expiry) }
        guard entry.delivery.reason == .quietHours, entry.delivery.redrivenAt == nil else { return nil }
        return .quiet(until: nil, expiry: expiry)
    }

    /// Why a device is left alone though it could be reached.
    static func wish(against device: Device, _ context: OutboxContext, _ now: Timestamp) -> DeliveryReason? {
        if device.isMuted { return .notificationsOff }
        if device.isTopicMuted { return .topicMuted }
        if let limit = context.settings.staleSeconds, device.lastSeenAt.adding(seconds: limit) < now {
            return .deviceStale
        }
        return nil
    }

    /// The entry's fate so far; nil while its answer is awaited.
    func fate(_ index: Int) -> EntryFate? {
        if let fate = fates[index] { return fate }
        if let result = results[index] {
            // What was cancelled has ended, whoever noticed.
            if case .skipped = result, let reason = cancellation(index), !reason.isWish {
                return .ended(reason: reason)
            }
            return .result(result)
        }
        return results.isAbandoned ? .abandoned : nil
    }

    /// Why an entry is not to be sent any more, if that was heard of since it was read.
    func cancellation(_ index: Int) -> DeliveryReason? {
        guard case .payload(let payload)? = messages[entries[index].delivery.messageID] else { return nil }
        return context.cancellations.reason(against: entries[index], of: payload)
    }

    /// Waits until all have fates or the moment has come.
    func wait(until moment: Timestamp) async {
        await results.wait(until: moment, time: context.time)
    }

    /// Those still without an answer get a smaller share from now on.
    func markStalled(_ indices: [Int]) {
        for index in results.markStalled(indices) {
            guard let lane = entries[index].lane else { continue }
            context.inFlight.markStalled(lane, entries[index].device.userID)
        }
    }

    /// Nothing is expected of this batch any more.
    func end() {
        for send in sends { send.cancel() }
        context.openResults.remove(results)
    }

    /// When an entry is not to be sent any more; nil when there is nothing to send.
    func deadline(of entry: OutboxEntry) -> Timestamp? {
        guard case .payload(let payload)? = messages[entry.delivery.messageID] else { return nil }
        return Self.deadline(of: payload, entry.delivery, context)
    }

    /// A delivery sent again by hand has a life time of its own.
    private static func deadline(of payload: PushPayload, _ delivery: Delivery, _ context: OutboxContext) -> Timestamp {
        payload.deadline(lifetimeSeconds: context.settings.retry.lifetimeSeconds, since: delivery.redrivenAt)
    }
}

/// A delivery on its way through a send batch.
struct OutboxEntry: Sendable {
    var device: Device
    /// The delivery as it stands in the store, or would stand if it had been written.
    var delivery: Delivery
    /// Nil when nothing can be sent to the device.
    var lane: PushLane?
    /// Wishes of users that were heard of before the device was read, which shows those.
    var heardWishes: Int

    /// As the provider needs it.
    var target: PushTarget {
        var target = PushTarget(
            token: device.token,
            deliveryID: delivery.id,
            isEnvironmentAssumed: device.platform == .ios && device.environment == nil,
            badge: device.unread
        )
        target.kind = device.kind
        return target
    }
}

/// What became of an entry, so far.
enum EntryFate: Sendable, Hashable {
    case result(PushResult)
    /// Not sent now: the lane is paused, or there is no slot.
    ///
    /// The reason is the ledger's, if it has a new one.
    case held(until: Timestamp, reason: DeliveryReason? = nil)
    /// Not sent while it is quiet where the device's owner is: what ends the quiet lets it go.
    ///
    /// Without a moment the quiet is over, and what ends it has not looked yet. The message itself
    /// may expire meanwhile.
    case quiet(until: Timestamp?, expiry: Timestamp?)
    /// The message, the topic or the device is gone.
    case ended(reason: DeliveryReason)
    case expired
    /// Sent, and the server stops before the answer.
    case abandoned
}

/// What the outbox knows of a message.
enum LoadedMessage: Sendable, Hashable {
    case payload(PushPayload)
    /// Nothing is sent any more, for this reason.
    case ended(reason: DeliveryReason)
    /// Not even a row to refer to.
    case gone
}

/// An entry's next row, and what else is to be written with it.
struct SettledEntry: Sendable {
    var service: PushService
    var delivery: Delivery
    /// The device's token, for its hash in reports; empty where the device is gone.
    var token: String
    var retirement: Retirement?
    /// Where the device turned out to be, to be noted with it.
    var learnedEnvironment: PushEnvironment?
    /// Deliveries whose devices were retired earlier for what is the configuration's fault.
    var restored: [Delivery] = []
    /// What lets it go, where it is held for a quiet.
    var quietEnd: TimerEntry?

    /// Whether writing it touches more than the delivery's own row.
    var changesDevices: Bool { retirement != nil || learnedEnvironment != nil || !restored.isEmpty }

    /// A device to retire, unless it was registered again since.
    struct Retirement: Sendable {
        var reason: DeliveryReason
        var registeredBy: Timestamp
        /// The row if it was.
        var deliveryIfKept: Delivery
    }
}
