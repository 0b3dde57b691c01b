import GraphQL
import GraphQLTransport
import Synchronization
import TocsinCore

// A subscription that names a topic lasts as long as its caller may read the topic.
extension LiveFeed {
    /// Ends the subscriptions of those who may no longer read the topic
    /// that was changed or deleted.
    ///
    /// Members of a deleted topic first hear what was committed before: the end waits for its turn.
    /// A member who may not read the topic any more hears nothing more.
    func endWithoutAccess(_ change: RecordChange, of topic: Record, _ commit: Int) {
        let groups = groups(following: TopicID(topic.id))
        guard change == .deleted else {
            for group in groups where !mayRead(topic, group.context.caller) {
                for member in group.snapshot { failWithoutAccess(member, in: group) }
            }
            return
        }
        let full = state.withLock { state in
            var end = LiveEvent(commit: commit, number: state.nextEvent(), change: change, record: topic)
            end.ending = .deletion
            return Set(groups.map(\.owner)).filter { !state.backlog.add(end, forOwner: $0) }
        }
        for owner in full { endGroups(of: owner) }
    }

    /// Ends a member whose topic they may not read any more, with its cursor.
    ///
    /// The words are those that a new subscription would be refused with.
    func failWithoutAccess(_ member: LiveMember, in group: LiveGroup) {
        let coordinate = FieldCoordinate(parentType: "Subscription", fieldName: group.fieldName)
        let error = GraphQLError(.unauthorized, at: coordinate, report: { $0 })
        fail(member, in: group.interest.feed, error, style: group.key.isAppSync ? .appSync : .standard)
    }

    private func mayRead(_ topic: Record, _ caller: Identity) -> Bool {
        guard case .allow(let visible) = AccessPolicy.decision(.read, on: topic.model, for: caller) else {
            return false
        }
        let (grants, now) = (book.grants(on: TopicID(topic.id)), time.now())
        return visible.matches(topic) { grants?.give($0.need, to: $0.subjects, at: now) ?? false }
    }
}
