import Synchronization

/// What the subjects in use on this node have been granted, for events, which are matched without
/// the database.
///
/// A subject is in use while a subscription here goes by it. It is read once, when it is first
/// used. From then on the live feed notes each change here before it looks at any event that was
/// committed behind it. So what the book says at an event is what held when the event was
/// committed.
///
/// Commits have numbers, in their order, as the live feed counts them. A change that was committed
/// before its subject was read is in what was read, and is passed over.
///
/// Topics of one owner have a share of it, so that nobody fills it by sharing thousands of topics
/// with people who are connected. What is beyond the share is left out.
package final class GrantBook: Sendable {
    fileprivate struct Subject {
        /// Subscriptions that go by it.
        var holds = 0
        /// nil until it was read.
        var topics: Set<TopicID>?
        /// Whether grants of it were left out, because their owner's share is used up.
        var isPartial = false
        /// The last commit that was told of when it began to be read; nil until then.
        var readAfter: Int?
        /// What was told while it was read, which the read may have missed.
        var meanwhile: [GrantChange] = []
    }

    fileprivate struct State {
        var subjects: [GrantSubject: Subject] = [:]
        var topics: [TopicID: TopicGrants] = [:]
        /// How many grants there are of topics of each owner.
        var owners: [String: Int] = [:]
        var count = 0
        let maximumCount: Int
        /// How many there may be of topics of one owner.
        let share: Int
        /// No grant in the book ends before this moment.
        var nextEnd: Timestamp?
        /// How often changes were missed.
        var losses = 0
    }

    private let state: Mutex<State>
    /// Whether a subject is in use: read without the lock, for mostly none is.
    private let inUse = Atomic(false)
    /// How many grants there may be in it.
    package let maximumCount: Int
    /// How many there may be in it of topics of one owner.
    package let ownersShare: Int

    /// An empty book of at most so many grants, and so many of topics of one owner.
    package init(maximumCount: Int = 100_000, ownersShare: Int = 10_000) {
        (self.maximumCount, self.ownersShare) = (maximumCount, ownersShare)
        state = Mutex(State(maximumCount: maximumCount, share: ownersShare))
    }

    /// Whether any subject is in use.
    package var isInUse: Bool { inUse.load(ordering: .acquiring) }

    /// Whether a subject in use was granted any topic of this owner.
    package func hasTopics(of owner: String) -> Bool { isInUse && state.withLock { $0.owners[owner] != nil } }

    /// What subjects in use were granted of a topic; nil for nothing.
    package func grants(on topic: TopicID) -> TopicGrants? {
        guard isInUse else { return nil }
        return state.withLock { $0.topics[topic] }
    }

    /// Takes subjects into use until the hold is released; `read` reads all grants of those that
    /// are not known, after the commit with this number was told of, and answers nil for too many.
    ///
    /// Nil where the book would hold too much, or missed something meanwhile.
    package func hold<Failure: Error>(
        _ subjects: [GrantSubject],
        after commit: Int,
        read: ([GrantSubject]) async throws(Failure) -> [GrantChange]?
    ) async throws(Failure) -> GrantHold? {
        let (unknown, losses) = state.withLock { state in
            inUse.store(true, ordering: .releasing)
            for subject in subjects { state.hold(subject, after: commit) }
            return (subjects.filter { state.subjects[$0]?.topics == nil }, state.losses)
        }
        let hold = GrantHold(book: self, subjects: subjects, losses: losses)
        guard !unknown.isEmpty else { return hold }
        let found: [GrantChange]?
        do {
            found = try await read(unknown)
        } catch {
            hold.release()
            throw error
        }
        let isTaken = state.withLock { state in
            // What was lost meanwhile may be missing in what was read, too.
            guard let found, state.losses == losses, state.hasRoom(for: found) else { return false }
            let bySubject = Dictionary(grouping: found, by: \.subject)
            for subject in unknown { state.install(subject, bySubject[subject] ?? []) }
            return true
        }
        guard !isTaken else { return hold }
        hold.release()
        return nil
    }

    /// Notes a change of a commit; false when its subject is not in use, so that nobody here is
    /// concerned.
    package func note(_ change: GrantChange, ofCommit commit: Int) -> Bool {
        guard isInUse else { return false }
        return state.withLock { state in
            guard let subject = state.subjects[change.subject], let read = subject.readAfter, commit > read else {
                return false
            }
            guard subject.topics != nil else {
                state.subjects[change.subject]?.meanwhile.append(change)
                return true
            }
            state.set(change)
            return true
        }
    }

    /// Whether grants of one of these subjects were left out, for their owners have many.
    package func hasLeftOut(of subjects: [GrantSubject]) -> Bool {
        state.withLock { state in subjects.contains { state.subjects[$0]?.isPartial == true } }
    }

    /// The grants that have ended by their time since they were asked for last; the book forgets
    /// them.
    package func takeEnded(by now: Timestamp) -> [GrantChange] {
        guard isInUse else { return [] }
        return state.withLock { state in
            guard let end = state.nextEnd, end <= now else { return [] }
            return state.takeEnded(by: now)
        }
    }

    /// Forgets all, for changes may have been missed; what is being read now is not taken.
    package func loseTrack() {
        state.withLock { state in
            state.losses += 1
            for subject in Array(state.subjects.keys) { state.forget(subject) }
        }
    }

    fileprivate func hasLostTrack(since losses: Int) -> Bool { state.withLock { $0.losses != losses } }

    fileprivate func release(_ subjects: [GrantSubject]) {
        state.withLock { state in
            for subject in subjects {
                state.subjects[subject]?.holds -= 1
                guard let entry = state.subjects[subject], entry.holds <= 0 else { continue }
                state.forget(subject)
                state.subjects[subject] = nil
            }
            if state.subjects.isEmpty { inUse.store(false, ordering: .releasing) }
        }
    }
}

/// Keeps subjects in use.
package final class GrantHold: Sendable {
    /// The subjects.
    package let subjects: [GrantSubject]
    private let book: GrantBook
    private let losses: Int
    private let isReleased = Atomic(false)

    fileprivate init(book: GrantBook, subjects: [GrantSubject], losses: Int) {
        (self.book, self.subjects, self.losses) = (book, subjects, losses)
    }

    deinit { release() }

    /// Whether the book has missed nothing since the hold began.
    package var isGood: Bool { !book.hasLostTrack(since: losses) }

    /// Lets go of the subjects; later calls do nothing.
    package func release() {
        if !isReleased.exchange(true, ordering: .acquiringAndReleasing) { book.release(subjects) }
    }
}

extension GrantBook.State {
    fileprivate mutating func hold(_ subject: GrantSubject, after commit: Int) {
        var entry = subjects[subject] ?? GrantBook.Subject()
        entry.holds += 1
        // The earliest of several who read it at the same time.
        entry.readAfter = entry.readAfter ?? commit
        subjects[subject] = entry
    }

    /// Whether there is room for what the owners' shares let in of these.
    fileprivate func hasRoom(for found: [GrantChange]) -> Bool {
        let byOwner = Dictionary(found.map { ($0.owner, 1) }, uniquingKeysWith: +)
        let taken = byOwner.reduce(0) { $0 + max(0, min($1.value, share - owners[$1.key, default: 0])) }
        return count + taken <= maximumCount
    }

    fileprivate mutating func install(_ subject: GrantSubject, _ found: [GrantChange]) {
        guard let entry = subjects[subject], entry.topics == nil else { return }
        subjects[subject]?.topics = []
        subjects[subject]?.meanwhile = []
        for change in found + entry.meanwhile { set(change) }
    }

    fileprivate mutating func set(_ change: GrantChange) {
        if let old = topics[change.topic]?.holdings[change.subject] {
            count -= 1
            let left = owners[old.owner, default: 1] - 1
            owners[old.owner] = left == 0 ? nil : left
        }
        guard !change.roles.isEmpty else { return remove(change) }
        // More is heard of from a later subscription on.
        guard owners[change.owner, default: 0] < share, count < maximumCount else {
            subjects[change.subject]?.isPartial = true
            return remove(change)
        }
        count += 1
        owners[change.owner, default: 0] += 1
        subjects[change.subject]?.topics?.insert(change.topic)
        topics[change.topic, default: TopicGrants()].holdings[change.subject] = TopicGrants.Holding(change)
        if let end = change.expiresAt { nextEnd = min(end, nextEnd ?? end) }
    }

    private mutating func remove(_ change: GrantChange) {
        subjects[change.subject]?.topics?.remove(change.topic)
        topics[change.topic]?.holdings[change.subject] = nil
        if topics[change.topic]?.holdings.isEmpty == true { topics[change.topic] = nil }
    }

    fileprivate mutating func forget(_ subject: GrantSubject) {
        for topic in subjects[subject]?.topics ?? [] { set(GrantChange(ending: subject, in: topic)) }
        subjects[subject]?.topics = nil
        subjects[subject]?.isPartial = false
        subjects[subject]?.readAfter = nil
        subjects[subject]?.meanwhile = []
    }

    fileprivate mutating func takeEnded(by now: Timestamp) -> [GrantChange] {
        var ended: [GrantChange] = []
        nextEnd = nil
        for (topic, grants) in topics {
            for (subject, holding) in grants.holdings {
                guard let end = holding.expiresAt else { continue }
                if end <= now {
                    ended.append(GrantChange(ending: subject, in: topic))
                } else {
                    nextEnd = min(end, nextEnd ?? end)
                }
            }
        }
        for change in ended { set(change) }
        return ended
    }
}
