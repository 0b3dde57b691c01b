import GraphQL
import GraphQLTransport
import Synchronization
import TocsinCore

// Subscribers who hear of topics that are shared with them, while they are.
extension LiveFeed {
    /// How long an end waits for what was committed before it, at most.
    private static let orderedEnd = Duration.milliseconds(700)
    /// How often the book is asked for grants that have ended by their time.
    private static let endPause = Duration.milliseconds(250)
    /// How long a subscription waits until what was committed before it has been sorted, at most.
    private static let sortingLimit = Duration.seconds(5)

    /// Takes what somebody is into use, so that events of topics shared with it are heard.
    ///
    /// Nil where this node has too much in use.
    func hold(
        _ subjects: [GrantSubject],
        _ feeds: FeedService,
        caller: Identity
    ) async throws(ServiceError) -> GrantHold? {
        let commit = state.withLock { $0.commits }
        let (limit, share) = (book.maximumCount, book.ownersShare)
        return try await book.hold(subjects, after: commit) { unknown async throws(ServiceError) in
            try await feeds.grants(of: unknown, limit: limit, ownersShare: share, caller: caller)
        }
    }

    /// Returns when every commit that was told of before has been sorted; false after too long.
    func sorted() async -> Bool {
        let target = state.withLock { $0.commits }
        let start = ContinuousClock.now
        while sortedCommits.load(ordering: .acquiring) < target {
            guard !Task.isCancelled, start.duration(to: .now) < Self.sortingLimit else { return false }
            try? await Task.sleep(for: .milliseconds(1))
        }
        return true
    }

    /// Whether a grant lets one who listens hear of the topic, by all that has been sorted.
    func mayHear(of topic: TopicID, _ question: GrantQuestion) -> Bool {
        book.grants(on: topic)?.give(question.need, to: question.subjects, at: time.now()) ?? false
    }

    /// Ends a member at once who has lost what let them in while they joined.
    func check(_ member: LiveMember, _ who: LiveMember.Joining, in group: LiveGroup) {
        guard let hold = who.hold else { return }
        guard hold.isGood else { return fail(member, in: group.interest.feed, Self.lostTrack) }
        guard let question = who.grantQuestion, let topic = group.interest.topicID else { return }
        if !mayHear(of: topic, question) { failWithoutAccess(member, in: group) }
    }

    /// Notes a change of grants before any event behind it is matched, and ends subscriptions that
    /// name a topic which their callers have lost by it.
    func noteGrant(_ change: GrantChange, ofCommit commit: Int) {
        guard book.note(change, ofCommit: commit) else { return }
        endWithoutGrant(change.subject, in: change.topic, commit)
    }

    /// Ends subscriptions whose grants end by their time, until it is cancelled.
    func endInTime() async {
        while !Task.isCancelled {
            if endWhatIsOver() { turnSignal.yield() }
            try? await Task.sleep(for: Self.endPause)
        }
    }

    /// Ends subscriptions whose grants have ended by their time; whether there were any.
    @discardableResult
    func endWhatIsOver() -> Bool {
        let ended = book.takeEnded(by: time.now())
        guard !ended.isEmpty else { return false }
        let commit = state.withLock { $0.commits }
        for change in ended { endWithoutGrant(change.subject, in: change.topic, commit) }
        return true
    }

    /// Ends the subscriptions that named the topic by a grant of this subject, and have no other.
    ///
    /// They first hear what was committed before: the end waits for its turn. Peers that do not
    /// read are not waited for.
    private func endWithoutGrant(_ subject: GrantSubject, in topic: TopicID, _ commit: Int) {
        deliveries.endWithoutAccess(to: topic)
        let grants = book.grants(on: topic)
        let loss = GrantLoss(subject: subject, grants: grants, commit: commit)
        let groups = groups(following: topic).filter { group in
            group.interest.needsGrant && group.snapshot.contains { isLost($0, loss, in: topic) }
        }
        guard let model = groups.first?.interest.model else { return }
        let full = state.withLock { state in
            var end = LiveEvent(
                commit: commit,
                number: state.nextEvent(),
                change: .updated,
                record: Record(model: model)
            )
            end.ending = .grant(loss, topic)
            return Set(groups.map(\.owner)).filter { !state.backlog.add(end, forOwner: $0) }
        }
        for owner in full { endGroups(of: owner) }
        Task { [weak self] in
            try? await Task.sleep(for: Self.orderedEnd)
            for group in groups { self?.end(loss, of: topic, in: group) }
        }
    }

    /// Ends the members of a group who have lost the topic.
    func end(_ loss: GrantLoss, of topic: TopicID, in group: LiveGroup) {
        for member in group.snapshot where isLost(member, loss, in: topic) { failWithoutAccess(member, in: group) }
    }

    /// Whether a member has lost the topic: by what held at the loss, if they were there then, or
    /// by what holds now.
    private func isLost(_ member: LiveMember, _ loss: GrantLoss, in topic: TopicID) -> Bool {
        guard let question = member.grantQuestion, question.subjects.contains(loss.subject) else { return false }
        let now = time.now()
        let holds = { (grants: TopicGrants?) in grants?.give(question.need, to: question.subjects, at: now) ?? false }
        return member.joinedAfter < loss.commit && !holds(loss.grants) || !holds(book.grants(on: topic))
    }
}

/// The end of a subject's grant of a topic.
struct GrantLoss: Sendable {
    var subject: GrantSubject
    /// What was left of the topic's grants.
    var grants: TopicGrants?
    var commit: Int
}
