import GraphQL
import GraphQLTransport
import Metrics
import Synchronization
import TocsinCore

// From a commit to the senders: events find their owners, owners take turns, in which events find
// groups and these theirs.
extension LiveFeed {
    /// Bytes of responses that are handed over at once, at most.
    private static let turnBytes = 262_144
    /// Bytes of records that become responses in one turn, at most, but for the last event's.
    private static let turnRecordBytes = 1_048_576
    /// Members from which on a group counts as large.
    ///
    /// Handing over to so many takes a good part of a millisecond of a core. Those who published
    /// get their answers first.
    private static let largeGroup = 32

    /// Finds the owners whom the event may concern and lets it wait for their turns: cheap, so
    /// that commits never pile up.
    func sort(_ event: DomainEvent, ofCommit commit: Int, _ origin: CommitOrigin) {
        if case .accessEnded(let user, let token) = event {
            let hasLost = { (caller: Identity) in caller.userID == user && (token == nil || caller.tokenID == token) }
            endMembers(.unauthorized) { hasLost($0.caller) }
            deliveries.end(.unauthorized, where: hasLost)
            entries.end(.unauthorized, where: hasLost)
            readStates.end(.unauthorized, where: hasLost)
            audits.end(.unauthorized, where: hasLost)
            return
        }
        if case .rightsChanged(let user, let moment) = event {
            let isOlder = { (caller: Identity) in caller.userID == user && caller.hasRights(before: moment) }
            endMembers(.rightsChanged) { isOlder($0.caller) }
            deliveries.end(.rightsChanged, where: isOlder)
            entries.end(.rightsChanged, where: isOlder)
            readStates.end(.rightsChanged, where: isOlder)
            audits.end(.rightsChanged, where: isOlder)
            return
        }
        if case .readMarksChanged(let user) = event { return readStates.wake(user) }
        if case .grantsChanged(let change) = event { return noteGrant(change, ofCommit: commit) }
        guard let change = RecordChange(event), let record = event.record else { return }
        if record.model.name == ShippedModels.incident { entries.wake(record.id) }
        if change != .created, record.model.name == "Topic" { endWithoutAccess(change, of: record, commit) }
        let mark = record.number == nil ? nil : MessageMark(record)
        var told = LiveEvent(commit: commit, number: 0, change: change, record: record, mark: mark)
        (told.committedAt, told.isFromHere) = (origin.at ?? moment(of: change, to: record), origin.isHere)
        if book.isInUse { endWhatIsOver() }
        if book.isInUse, let topic = record.sharedTopic, let grants = book.grants(on: topic) {
            (told.grants, told.sortedAt) = (grants, time.now())
        }
        let full = state.withLock { state -> [String] in
            let owners = state.index.owners(of: told)
            if owners.isEmpty { return [] }
            told.number = state.nextEvent()
            return owners.filter { !state.backlog.add(told, forOwner: $0) }
        }
        for owner in full { endGroups(of: owner) }
    }

    /// When a change was made, by the time that its record tells; now where it tells none.
    private func moment(of change: RecordChange, to record: Record) -> ContinuousClock.Instant {
        let made = change == .created ? record.making?.at.milliseconds : nil
        let changed = made ?? record.lastChangedAt
        return .now - .milliseconds(changed > 0 ? max(0, time.now().milliseconds - changed) : 0)
    }

    /// Gives owners their turns, several at a time, until the signal ends.
    func takeTurns() async {
        await withDiscardingTaskGroup { workers in
            for await _ in turns {
                while !Task.isCancelled, let owner = state.withLock({ $0.backlog.next() }) {
                    workers.addTask { await self.takeTurns(from: owner) }
                }
            }
        }
    }

    /// Takes an owner's turn, then those of others until it is nobody's.
    private func takeTurns(from first: String) async {
        var next: String? = first
        while let owner = next {
            judge(for: owner)
            if let group = state.withLock({ $0.backlog.nextGroup(of: owner) }) { await takeTurn(group) }
            next = state.withLock { state in
                state.backlog.endTurn(of: owner)
                return Task.isCancelled ? nil : state.backlog.next()
            }
            // What else the process has to do is not kept waiting by many turns.
            await Task.yield()
        }
    }

    /// Finds the groups that want the owner's next events and lets them wait for their turns, as
    /// far as the owner's own goes.
    private func judge(for owner: String) {
        var effort = judging.bytesOfTurn
        while effort > 0, var begun = nextJudging(of: owner) {
            let outcome = begun.goOn(within: judging, &effort)
            let isFull = state.withLock { state in
                if !begun.isOver { state.backlog.keep(begun, of: owner) }
                return outcome.wanting.reduce(false) { isFull, group in
                    var event = begun.event
                    event.offset = group.interest.feed?.offset(of: event.record)
                    return !state.backlog.add(event, for: group) || isFull
                }
            }
            for group in outcome.refused {
                for member in group.snapshot { fail(member, in: group.interest.feed, Self.searchesTooMuch) }
            }
            if isFull { endGroups(of: owner) }
        }
    }

    /// What was begun in the owner's last turn, or its next event.
    private func nextJudging(of owner: String) -> LiveJudging? {
        if let begun = state.withLock({ $0.backlog.takeJudging(of: owner) }) { return begun }
        let next = state.withLock { state -> (LiveEvent, [LiveJudging.Candidate])? in
            guard let event = state.backlog.takeEvent(of: owner) else { return nil }
            return (event, state.candidates(of: owner, for: event))
        }
        return next.map { LiveJudging($0, among: $1) }
    }

    /// Makes the responses of the group's next events and hands them over together.
    ///
    /// While much of what was handed over before is under way, events wait, become more, and cost
    /// less each.
    private func takeTurn(_ group: LiveGroup) async {
        state.withLock { $0.backlog.park(group) }
        let goesOn = { @Sendable [weak self, weak group] () -> Void in self?.goOn(with: group) }
        let rosters = group.rosters
        guard rosters.allSatisfy({ $0.hasRoom(orCall: goesOn) }) else { return }
        let members = rosters.reduce(0) { $0 + $1.count }
        let isLarge = members >= Self.largeGroup
        if isLarge, state.withLock({ $0.backlog.beginRest(of: group) }) {
            let time = restTime
            Task {
                try? await Task.sleep(for: time)
                goesOn()
            }
            return
        }
        let events = state.withLock {
            $0.backlog.take(LiveRoster.maximumEvents, bytes: Self.turnRecordBytes, for: group)
        }
        if !events.isEmpty { metrics.groupMembers.record(size: members) }
        var rest = events[...]
        while let end = rest.firstIndex(where: { $0.ending != nil }) {
            await hand(rest[..<end], to: group)
            finish(events[end], group)
            rest = rest[(end + 1)...]
        }
        await hand(rest, to: group)
        goOn(with: group)
    }

    /// Ends the members who have lost their topic.
    private func finish(_ event: LiveEvent, _ group: LiveGroup) {
        switch event.ending {
        case nil: break
        case .grant(let loss, let topic)?: end(loss, of: topic, in: group)
        case .deletion?:
            for member in group.snapshot where member.joinedAfter < event.commit {
                failWithoutAccess(member, in: group)
            }
        }
    }

    private func hand(_ events: ArraySlice<LiveEvent>, to group: LiveGroup) async {
        var responses: [SharedResponse] = []
        var (bytes, first) = (0, events.startIndex)
        for (index, event) in zip(events.indices, events) {
            let response = await response(for: event, in: group)
            responses.append(response)
            bytes += response.body.count
            guard bytes >= Self.turnBytes || index == events.endIndex - 1 else { continue }
            let rosters = group.rosters
            let watch = metrics.watch(events[first], rosters.count)
            group.order.lock { for roster in rosters { roster.deliver(responses, of: events[first...index], watch) } }
            (responses, bytes, first) = ([], 0, index + 1)
        }
    }

    /// The group gets its next turn when the others have had theirs.
    private func goOn(with group: LiveGroup?) {
        guard let group else { return }
        state.withLock { $0.backlog.unpark(group) }
        turnSignal.yield()
    }

    /// Ends an owner's subscriptions, whose events have become too many to wait.
    func endGroups(of owner: String) {
        let groups = state.withLock { $0.groups.values.filter { $0.owner == owner } }
        for group in groups {
            for member in group.snapshot { fail(member, in: group.interest.feed, Self.overflow) }
        }
    }

    private static let searchesTooMuch = GraphQLError(
        .limit,
        "The filters of your subscriptions would search more text of one event than is allowed. Subscribe again with "
            + "extensions.cursor, and use fewer comparisons by contains, notContains and size."
    )
}

extension LiveFeed.State {
    /// The owner's groups that an event may concern.
    fileprivate func candidates(of owner: String, for event: LiveEvent) -> [LiveJudging.Candidate] {
        let topic: TopicID
        switch event.ending {
        case nil: return index.candidates(of: owner, for: event)
        case .deletion?: topic = TopicID(event.record.id)
        case .grant(_, let lost)?: topic = lost
        }
        let following = (byTopic[topic] ?? []).filter { $0.owner == owner }
        return [LiveJudging.Candidate(visible: .always, filter: .always, groups: following)]
    }
}
