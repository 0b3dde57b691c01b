import GraphQL
import GraphQLTransport
import JSON
import Metrics
import Synchronization
package import TocsinCore

/// The live feed: events in order of commit to groups of equal subscribers, each group's
/// plan run once per event.
package final class LiveFeed: Sendable {
    /// How much may wait to be sorted, which takes microseconds an event.
    ///
    /// Beyond it subscribers are ended, to resume by cursor, and publishers go on.
    package struct CommitBound: Sendable {
        /// Commits that may wait to be sorted.
        package var commits: Int
        /// Bytes of their records, but for the last commit's.
        package var bytes: Int

        /// A bound that only a server without processor time reaches.
        package init(commits: Int = 65_536, bytes: Int = 67_108_864) {
            self.commits = commits
            self.bytes = bytes
        }
    }

    struct State {
        var groups: [GroupKey: LiveGroup] = [:]
        var index = LiveIndex()
        var backlog: LiveBacklog
        /// Groups that name a topic.
        var byTopic: [TopicID: [LiveGroup]] = [:]
        var isStopped = false
        /// Called when somebody listens and nobody did before.
        var onFirst: (@Sendable () -> Void)?
        /// Commits that have been handed to the feed so far.
        var commits = 0
        /// Bytes of the records of those that wait to be sorted.
        var unsortedBytes = 0
        /// Events that have been sorted so far.
        private var events = 0

        init(backlog: LiveBacklog) { self.backlog = backlog }

        /// The number of an event that is sorted now.
        mutating func nextEvent() -> Int {
            events += 1
            return events
        }
    }

    /// The events of one commit, and which commit it was.
    private struct Commit {
        var number: Int
        var events: [DomainEvent]
        var origins: CommitOrigins
        var bytes: Int
    }

    /// Counts groups and replays, and measures the way from commits to sockets.
    package let metrics: LiveMetrics
    let deliveries: DeliveryFeed
    /// Those who follow timelines of incidents.
    let entries: WokenFeed<String>
    /// Those who follow how far they have read.
    let readStates: WokenFeed<UserID>
    /// Those who follow the audit.
    let audits: AuditFeed
    let executor: ResponseExecutor
    let cursors: any Sealer
    let replays = ReplayTurns()
    let readers = ReadersResponses()
    /// What those who listen have been granted.
    let book: GrantBook
    let time: any TimeSource
    private let events: AsyncStream<Commit>
    private let feeder: AsyncStream<Commit>.Continuation
    private let unsorted: CommitBound
    /// How much text filters may search.
    let judging: LiveJudging.Bound
    /// Signals that an owner may have a turn.
    let turns: AsyncStream<Void>
    let turnSignal: AsyncStream<Void>.Continuation
    /// How long a large group rests before each of its turns.
    let restTime: Duration
    let state: Mutex<State>
    /// Whether there are groups: read without the lock, for while there are none a
    /// commit is nothing to wait for.
    private let listening = Atomic(false)
    /// The last commit that has been sorted.
    let sortedCommits = Atomic(0)

    /// A feed of what the hub tells.
    ///
    /// - Parameters:
    ///   - waiting: how much may wait for the groups of one owner; beyond
    ///     it that owner's are ended.
    ///   - judging: how much text the filters of one owner may search.
    package init(
        executor: ResponseExecutor,
        sealer: any Sealer,
        hub: EventHub,
        time: any TimeSource,
        book: GrantBook = GrantBook(),
        listeners: DeliveryListeners = DeliveryListeners(),
        unsorted: CommitBound = CommitBound(),
        waiting: LiveBacklog.Bound = LiveBacklog.Bound(),
        judging: LiveJudging.Bound = LiveJudging.Bound(),
        restTime: Duration = .milliseconds(1),
        metrics: LiveMetrics = LiveMetrics()
    ) {
        self.metrics = metrics
        self.judging = judging
        self.restTime = restTime
        deliveries = DeliveryFeed(executor, listeners, hub, groups: metrics.groups) { question, record in
            let grants = record.sharedTopic.flatMap { book.grants(on: $0) }
            return grants?.give(question.need, to: question.subjects, at: time.now()) ?? false
        }
        entries = WokenFeed(groups: metrics.groups)
        readStates = WokenFeed(groups: metrics.groups)
        audits = AuditFeed(executor, time: time, groups: metrics.groups)
        self.executor = executor
        cursors = sealer
        (self.time, self.book) = (time, book)
        state = Mutex(State(backlog: LiveBacklog(waiting)))
        (turns, turnSignal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (events, feeder) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(unsorted.commits))
        self.unsorted = unsorted
        hub.addPlaced(hearing: [.records, .accessEnded, .grantsChanged, .readMarksChanged]) {
            [weak self] events, origins in
            self?.take(events, origins)
        }
    }

    /// Whether anybody listens to records, or to what they have read.
    package var isListenedTo: Bool {
        listening.load(ordering: .acquiring) || entries.isAnybodyHere || readStates.isAnybodyHere
    }

    /// How many groups of equal subscribers there are.
    package var groupCount: Int { state.withLock { $0.groups.count } }

    /// Whether anybody here goes by what is shared with them, so that changes of grants matter.
    package var goesByGrants: Bool { book.isInUse }

    /// Calls the closure each time that somebody listens and nobody did
    /// before, once events reach them.
    package func whenListenedTo(_ onFirst: @escaping @Sendable () -> Void) { state.withLock { $0.onFirst = onFirst } }

    /// Lets a commit wait to be sorted; never waits itself.
    ///
    /// While there is no group nothing waits: whoever joins later is told of later commits only.
    private func take(_ events: [DomainEvent], _ origins: CommitOrigins) {
        let kinds = EventKinds(of: events)
        guard isListenedTo || kinds.contains(.accessEnded) || goesByGrants && kinds.contains(.grantsChanged) else {
            return
        }
        let bytes = events.reduce(0) { $0 + ($1.record?.approximateBytes ?? 0) }
        let commit = state.withLock { state -> Commit? in
            state.commits += 1
            guard state.unsortedBytes < unsorted.bytes else { return nil }
            state.unsortedBytes += bytes
            return Commit(number: state.commits, events: events, origins: origins, bytes: bytes)
        }
        guard let commit else { return missCommit() }
        guard case .dropped = feeder.yield(commit) else { return }
        state.withLock { $0.unsortedBytes -= bytes }
        missCommit()
    }

    /// Ends all who would miss a commit.
    private func missCommit() {
        book.loseTrack()
        failAll(Self.overflow)
    }

    /// Delivers events until `stop` or cancellation.
    package func run() async {
        async let deliveries: Void = deliveries.run()
        async let turns: Void = takeTurns()
        async let _: Void = audits.run()
        async let _: Void = endInTime()
        for await commit in events {
            for (index, event) in commit.events.enumerated() {
                sort(event, ofCommit: commit.number, commit.origins[index])
            }
            sortedCommits.store(commit.number, ordering: .releasing)
            let isAnybodyNext = state.withLock { state in
                state.unsortedBytes -= commit.bytes
                return state.backlog.isAnybodyNext
            }
            if isAnybodyNext { turnSignal.yield() }
        }
        turnSignal.finish()
        await turns
        await deliveries
    }

    /// Ends every subscription with 1001's reason and takes no new ones.
    package func stop() {
        state.withLock { $0.isStopped = true }
        endAll(.shuttingDown)
        deliveries.stop()
        entries.stop()
        readStates.stop()
        audits.stop()
        feeder.finish()
    }

    /// Registers a subscriber; when it returns, no later event is missed.
    func join(_ group: LiveGroup, _ who: LiveMember.Joining) -> LiveMember? {
        let joining = state.withLock { state -> (LiveMember, LiveGroup, (@Sendable () -> Void)?)? in
            guard !state.isStopped else { return nil }
            let onFirst = state.groups.isEmpty ? state.onFirst : nil
            listening.store(true, ordering: .releasing)
            let target = state.groups[group.key] ?? group
            let member = LiveMember(who, joinedAfter: state.commits, order: target.order)
            target.add(member)
            if state.groups[group.key] == nil {
                state.groups[group.key] = target
                metrics.groups.add(1)
                state.index.add(target)
                if let topic = target.interest.topicID { state.byTopic[topic, default: []].append(target) }
            }
            return (member, target, onFirst)
        }
        guard let (member, joined, onFirst) = joining else { return nil }
        onFirst?()
        if let topic = joined.interest.topicID { joined.context.services.watchers.enter(topic) }
        member.attach { [weak self, unowned member] in self?.leave(joined, member) }
        if let start = who.start, start.replays {
            member.startReplay { [weak self, weak member] in
                guard let self, let member else { return }
                await self.replay(start, to: member, in: joined)
            }
        } else {
            who.sink.caughtUp()
        }
        return member
    }

    /// Registers a subscriber who is woken by each later change of this; false when the server is
    /// stopping.
    func join<Key>(_ member: WokenMember, to key: Key, in feed: WokenFeed<Key>) -> Bool {
        let onFirst = isListenedTo ? nil : state.withLock(\.onFirst)
        guard feed.join(member, to: key) else { return false }
        onFirst?()
        return true
    }

    private func leave(_ group: LiveGroup, _ member: LiveMember) {
        if let topic = group.interest.topicID { group.context.services.watchers.leave(topic) }
        state.withLock { state in
            guard group.remove(member) else { return }
            state.backlog.remove(group)
            guard state.groups[group.key] === group else { return }
            state.groups[group.key] = nil
            metrics.groups.add(-1)
            if state.groups.isEmpty { listening.store(false, ordering: .releasing) }
            state.index.remove(group)
            guard let topic = group.interest.topicID else { return }
            state.byTopic[topic]?.removeAll { $0 === group }
            if state.byTopic[topic]?.isEmpty == true { state.byTopic[topic] = nil }
        }
    }

    /// The groups whose subscriptions name the topic.
    func groups(following topic: TopicID) -> [LiveGroup] { state.withLock { $0.byTopic[topic] ?? [] } }

    func response(for record: Record, in group: LiveGroup) async -> SharedResponse {
        let body = await executor.execute(event: record, in: group, group.context)
        // What stands in another feed than the group's cannot be resumed from.
        let isInFeed = group.interest.feed?.offset(of: record) != nil
        let cursor = isInFeed ? MessageCursor(of: record, for: group.context.caller) : nil
        return SharedResponse(body: body, cursor: cursor?.text(sealer: cursors))
    }

    /// The response of an event; of a shared topic's the one of all who ask alike.
    func response(for event: LiveEvent, in group: LiveGroup) async -> SharedResponse {
        guard let key = group.readersKey, event.grants != nil, let topic = event.record.sharedTopic,
            !group.interest.byRules.matches(event.record)
        else { return await response(for: event.record, in: group) }
        let executor = executor
        return await readers.response(
            to: ReadersResponses.Key(event: event.number, group: key),
            bytes: event.record.approximateBytes
        ) {
            let context = RequestContext(caller: Identity(readerOf: topic), services: group.context.services)
            return SharedResponse(body: await executor.execute(event: event.record, in: group, context), cursor: nil)
        }
    }

    /// Ends a member with an error and the cursor from which it can go on.
    func fail(
        _ member: LiveMember,
        in scope: FeedScope?,
        _ error: GraphQLError,
        style: ResponseStyle = .standard
    ) {
        member.end { offset, mark in
            var error = error
            if let offset, let scope {
                error.extensions["cursor"] = .string(MessageCursor(scope, at: offset, mark: mark).text(sealer: cursors))
            }
            return .failed(errors: executor.errorList([error], style: style))
        }
    }

    func failAll(_ error: GraphQLError) {
        // They read from the store, and have missed nothing that they cannot find there.
        entries.wakeAll()
        readStates.wakeAll()
        deliveries.loseTrack()
        let groups = state.withLock { Array($0.groups.values) }
        for group in groups {
            for member in group.snapshot { fail(member, in: group.interest.feed, error) }
        }
    }

    private func endAll(_ reason: StreamEnd) {
        let groups = state.withLock { Array($0.groups.values) }
        for group in groups {
            for member in group.snapshot { member.end(reason) }
        }
    }

    func endMembers(_ reason: StreamEnd, where isAffected: (LiveMember) -> Bool) {
        let groups = state.withLock { Array($0.groups.values) }
        for group in groups {
            for member in group.snapshot where isAffected(member) { member.end(reason) }
        }
    }

    static let overflow = GraphQLError(
        .unavailable,
        "The server is too busy to keep this subscription. Subscribe again with extensions.cursor."
    )
}
