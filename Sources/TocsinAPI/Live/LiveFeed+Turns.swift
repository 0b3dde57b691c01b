import GraphQLTransport
import Synchronization
import TocsinCore

// From a commit to the couriers: events find their groups, groups take turns.
extension LiveFeed {
    /// No more is handed over at once.
    private static let turnBytes = 262_144
    /// Handing over to so many takes a good part of a millisecond of a core, and their readers want the others: first
    /// those who published get their answers.
    private static let largeGroup = 32

    /// Finds the groups that want the event and lets them wait for their turns: cheap, so that commits never pile up.
    func sort(_ event: DomainEvent, ofCommit commit: Int) {
        if case .accessEnded(let user, let token) = event {
            let hasLost = { (caller: Identity) in caller.userID == user && (token == nil || caller.tokenID == token) }
            endMembers { hasLost($0.caller) }
            deliveries.end(where: hasLost)
            return
        }
        guard let change = RecordChange(event), let record = event.record else { return }
        if change != .created, record.model.name == "Topic" { endWithoutAccess(change, of: record, commit) }
        var key = InterestKey(model: record.model.name, change: change, owner: nil)
        let anybodys = key
        key.owner = record.owner
        let groups = state.withLock { [key] state in
            (key == anybodys ? [] : state.byInterest[key] ?? []) + (state.byInterest[anybodys] ?? [])
        }
        let wanting = groups.filter { $0.interest.includes(record) }
        guard !wanting.isEmpty else { return }
        let mark = record.number == nil ? nil : MessageMark(record)
        let full = state.withLock { state in
            var event = LiveEvent(commit: commit, number: state.nextEvent(), record: record, mark: mark)
            return wanting.filter { group in
                event.place = group.interest.feed?.place(of: record)
                return !state.backlog.add(event, for: group)
            }
        }
        for owner in Set(full.map(\.owner)) { endGroups(of: owner) }
    }

    func takeTurns() async {
        for await _ in turns {
            while !Task.isCancelled, let group = state.withLock({ $0.backlog.next() }) { await takeTurn(group) }
        }
    }

    /// Makes the responses of the group's next events and hands them over together, unless much of what was handed over
    /// before is still under way: then they wait, become more, and cost less each.
    private func takeTurn(_ group: LiveGroup) async {
        state.withLock { $0.backlog.park(group) }
        let goesOn = { @Sendable [weak self, weak group] () -> Void in self?.goOn(with: group) }
        let rosters = group.rosters
        guard rosters.allSatisfy({ $0.hasRoom(orCall: goesOn) }) else { return }
        let isLarge = rosters.reduce(0) { $0 + $1.count } >= Self.largeGroup
        if isLarge, state.withLock({ $0.backlog.beginRest(of: group) }) {
            let time = restTime
            Task {
                try? await Task.sleep(for: time)
                goesOn()
            }
            return
        }
        let events = state.withLock { $0.backlog.take(LiveRoster.maximumEvents, for: group) }
        var rest = events[...]
        while let end = rest.firstIndex(where: \.endsAccess) {
            await hand(rest[..<end], to: group)
            for member in group.snapshot where member.joinedAfter < events[end].commit {
                failWithoutAccess(member, in: group)
            }
            rest = rest[(end + 1)...]
        }
        await hand(rest, to: group)
        goOn(with: group)
    }

    private func hand(_ events: ArraySlice<LiveEvent>, to group: LiveGroup) async {
        var responses: [SharedResponse] = []
        var (bytes, first) = (0, events.startIndex)
        for (place, event) in zip(events.indices, events) {
            let response = await response(for: event.record, in: group)
            responses.append(response)
            bytes += response.body.count
            guard bytes >= Self.turnBytes || place == events.endIndex - 1 else { continue }
            let rosters = group.rosters
            group.order.lock { for roster in rosters { roster.deliver(responses, of: events[first...place]) } }
            (responses, bytes, first) = ([], 0, place + 1)
        }
    }

    /// The group gets its next turn when the others have had theirs.
    private func goOn(with group: LiveGroup?) {
        guard let group else { return }
        state.withLock { $0.backlog.unpark(group) }
        bell.yield()
    }

    /// Ends an owner's subscriptions, whose events have become too many to wait.
    func endGroups(of owner: String) {
        let groups = state.withLock { $0.groups.values.filter { $0.owner == owner } }
        for group in groups {
            for member in group.snapshot { fail(member, in: group.interest.feed, Self.overflow) }
        }
    }
}
