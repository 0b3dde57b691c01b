import GraphQL
import GraphQLTransport
import TocsinCore

// A subscription that names a topic lasts as long as its caller may read the topic.
extension LiveFeed {
    /// Ends the subscriptions of those who may no longer read the topic that was changed or deleted.
    func endWithoutAccess(_ change: RecordChange, of topic: Record) {
        for group in groups(following: TopicID(topic.id)) {
            if change == .updated, Self.mayRead(topic, group.context.caller) { continue }
            let reason = accessEnded(for: group)
            for member in group.snapshot { member.end(reason) }
        }
    }

    private static func mayRead(_ topic: Record, _ caller: Identity) -> Bool {
        switch AccessPolicy.decision(.read, on: topic.model, for: caller) {
        case .allow(let visible): visible.matches(topic)
        case .deny: false
        }
    }

    /// The words of the refusal that a new subscription would get: what may not be read is as what does not exist.
    private func accessEnded(for group: LiveGroup) -> StreamEnd {
        let place = FieldPlace(parentType: "Subscription", fieldName: group.fieldName)
        let error = GraphQLError(.unauthorized, at: place, report: { $0 })
        return .failed(errors: executor.errorList([error], style: group.key.isAppSync ? .appSync : .standard))
    }
}
