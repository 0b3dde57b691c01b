import GraphQL
import GraphQLTransport
import Metrics
import Synchronization
import TocsinCore

/// Deliveries as they change, to groups of equal subscribers; costs nothing while there are none.
final class DeliveryFeed: Sendable {
    private struct State {
        var groups: [DeliveryGroup.Key: DeliveryGroup] = [:]
        var isStopped = false
    }

    /// Commits that may wait; beyond it subscribers are ended, and the outbox goes on.
    private static let maximumWaitingCommits = 4096
    /// Deliveries that may wait for one subscriber.
    private static let maximumWaiting = 20_000
    private let executor: ResponseExecutor
    private let listeners: DeliveryListeners
    private let isGranted: @Sendable (GrantQuestion, Record) -> Bool
    private let changes: AsyncStream<[Delivery]>
    private let feeder: AsyncStream<[Delivery]>.Continuation
    private let state = Mutex(State())
    /// Counts groups of equal subscribers.
    private let groups: Gauge

    init(
        _ executor: ResponseExecutor,
        _ listeners: DeliveryListeners,
        _ hub: EventHub,
        groups: Gauge,
        isGranted: @escaping @Sendable (GrantQuestion, Record) -> Bool
    ) {
        self.executor = executor
        self.groups = groups
        self.isGranted = isGranted
        self.listeners = listeners
        (changes, feeder) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.maximumWaitingCommits))
        let feeder = feeder
        hub.add(hearing: .deliveryChanged) { [weak self] events in
            guard let self, listeners.isAnybodyHere else { return }
            let changed = events.compactMap { event in
                if case .deliveryChanged(let delivery) = event { delivery } else { nil }
            }
            if changed.isEmpty { return }
            if case .dropped = feeder.yield(changed) { self.endAll(Self.overflow) }
        }
    }

    /// Hands deliveries on until `stop` or cancellation.
    func run() async {
        for await deliveries in changes { await deliver(deliveries) }
    }

    /// Ends every subscription and takes no new ones.
    func stop() {
        state.withLock { $0.isStopped = true }
        endAll(.shuttingDown)
        feeder.finish()
    }

    /// Ends the subscriptions of callers who may listen no longer.
    func end(_ reason: StreamEnd, where isAffected: (Identity) -> Bool) {
        for member in members where isAffected(member.caller) { member.end(reason) }
    }

    /// Ends the subscriptions that named a message of the topic and whose callers may see it no
    /// more, in the words in which a new one is refused.
    func endWithoutAccess(to topic: TopicID) {
        for group in currentGroups where group.message?.sharedTopic == topic && !isPermitted(group) {
            for member in group.snapshot { member.end(refusal(of: group)) }
        }
    }

    /// Ends all who go by grants, of which changes may have been missed.
    func loseTrack() {
        for member in members where member.goesByGrants { member.end(Self.unavailable) }
    }

    /// Whether what the group named is still theirs to hear of.
    func isPermitted(_ group: DeliveryGroup) -> Bool { group.isPermitted(isGranted) }

    private func refusal(of group: DeliveryGroup) -> StreamEnd {
        let coordinate = FieldCoordinate(parentType: "Subscription", fieldName: TocsinGraphQL.deliveryField)
        let error = GraphQLError(.unauthorized, at: coordinate, report: { $0 })
        let style: ResponseStyle = group.key.request.isAppSync ? .appSync : .standard
        return .failed(errors: executor.errorList([error], style: style))
    }

    /// Registers a subscriber; when it returns, no later change is missed.
    func join(
        _ group: DeliveryGroup,
        sink: any ResponseSink,
        caller: Identity,
        hold: GrantHold?
    ) async -> DeliveryMember? {
        let member = DeliveryMember(caller: caller, sink: sink, hold: hold, maximumWaiting: Self.maximumWaiting)
        let joined = state.withLock { state -> DeliveryGroup? in
            guard !state.isStopped else { return nil }
            let target = state.groups[group.key] ?? group
            if target === group { groups.add(1) }
            target.add(member)
            state.groups[group.key] = target
            return target
        }
        guard let joined else { return nil }
        listeners.enter()
        member.attach { [weak self, unowned member] in self?.leave(joined, member) }
        // Writes that began before anybody listened note nothing; they are behind us after this.
        try? await group.context.services.deliveries.settle()
        return member
    }

    private func leave(_ group: DeliveryGroup, _ member: DeliveryMember) {
        state.withLock { state in
            guard group.remove(member), state.groups[group.key] === group else { return }
            state.groups[group.key] = nil
            groups.add(-1)
        }
        listeners.leave()
    }

    private func deliver(_ deliveries: [Delivery]) async {
        let groups = currentGroups
        guard let services = groups.first?.context.services else { return }
        let wanted = Set(groups.map { $0.message.map { MessageID($0.id) } })
        let heard = wanted.contains(nil) ? deliveries : deliveries.filter { wanted.contains($0.messageID) }
        guard !heard.isEmpty else { return }
        let entries: [(entry: DeliveryService.Entry, message: Record)]
        do {
            entries = try await services.deliveries.entries(of: heard)
        } catch {
            endAll(Self.unavailable)
            return
        }
        for (entry, message) in entries {
            let key = DeliveryKey(message: entry.delivery.messageID, device: entry.delivery.deviceID)
            for group in groups where group.includes(message, isGranted) {
                let members = group.members(hearingOf: entry.userID)
                if members.isEmpty { continue }
                let response = SharedResponse(body: await executor.execute(delivery: entry, in: group))
                for member in members where !member.offer(response, for: key) { member.end(Self.overflow) }
            }
        }
    }

    private var currentGroups: [DeliveryGroup] { state.withLock { Array($0.groups.values) } }

    private var members: [DeliveryMember] { currentGroups.flatMap(\.snapshot) }

    private func endAll(_ reason: StreamEnd) {
        for member in members { member.end(reason) }
    }

    private static let overflow = failure("The server is too busy to keep this subscription.")
    private static let unavailable = failure("Deliveries cannot be read just now.")

    private static func failure(_ sentence: String) -> StreamEnd {
        .failed(.unavailable, sentence + " Subscribe again, then ask for the message's deliveries.")
    }
}
