import Synchronization

/// Grants of subjects that are in use on this node, for events, which are matched without the
/// database.
///
/// A subject that was not filled has nothing. Filling is one read a subject; an entry of the
/// journal makes it right again before any event behind that entry is matched.
package final class GrantBook: Sendable {
    /// What a grant gives, and until when.
    package struct Entry: Sendable, Hashable {
        /// What it lets the subject do.
        package var roles: TopicRole
        /// When it ends; nil: never.
        package var expiresAt: Timestamp?
    }

    private struct State {
        var subjects: [GrantSubject: [TopicID: Entry]] = [:]
        var entryCount = 0
    }

    private let state = Mutex(State())
    private let maximumEntries: Int

    /// An empty book of at most so many entries.
    package init(maximumEntries: Int = 100_000) { self.maximumEntries = maximumEntries }

    /// Whether one of the subjects has one of the roles at this moment.
    package func holds(_ question: GrantQuestion, for record: Record, at now: Timestamp) -> Bool {
        guard let topic = question.topic(of: record) else { return false }
        return state.withLock { state in
            question.subjects.contains { subject in
                guard let entry = state.subjects[subject]?[topic] else { return false }
                return !entry.roles.isDisjoint(with: question.need) && (entry.expiresAt.map { $0 > now } ?? true)
            }
        }
    }

    /// Those of the subjects whose grants are not in the book.
    package func missing(of subjects: [GrantSubject]) -> [GrantSubject] {
        state.withLock { state in subjects.filter { state.subjects[$0] == nil } }
    }

    /// Takes all grants of a subject, in place of those it had; answers whether there was room.
    package func fill(_ subject: GrantSubject, with grants: [TopicGrant]) -> Bool {
        state.withLock { state in
            state.entryCount -= state.subjects.removeValue(forKey: subject)?.count ?? 0
            guard state.entryCount + grants.count <= maximumEntries else { return false }
            state.subjects[subject] = Dictionary(
                grants.map { ($0.topicID, Entry(roles: $0.roles, expiresAt: $0.expiresAt)) },
                uniquingKeysWith: { _, last in last }
            )
            state.entryCount += grants.count
            return true
        }
    }

    /// Makes one topic of a subject right; nil: nothing is granted any more.
    package func set(_ entry: Entry?, for subject: GrantSubject, in topic: TopicID) {
        state.withLock { state in
            guard let old = state.subjects[subject] else { return }
            if old[topic] != nil { state.entryCount -= 1 }
            if entry != nil { state.entryCount += 1 }
            state.subjects[subject]?[topic] = entry
        }
    }

    /// Forgets a subject that nobody here is any more.
    package func forget(_ subject: GrantSubject) {
        state.withLock { state in state.entryCount -= state.subjects.removeValue(forKey: subject)?.count ?? 0 }
    }
}
