import GraphQL
import JSON
import TocsinCore

// What a subscription asks for, and where it resumes.
extension TocsinGraphQL {
    func interest(
        _ field: SubscriptionSource,
        _ caller: Identity,
        resumeAfter: String?
    ) async throws(ServiceError) -> LiveInterest {
        let (model, change): (ModelType, RecordChange) =
            switch schema.operations["Subscription.\(field.fieldName)"] {
            case .onCreate(let model): (model, .created)
            case .onUpdate(let model): (model, .updated)
            case .onDelete(let model): (model, .deleted)
            default: throw .internal("subscription \(field.fieldName) has no source")
            }
        guard case .allow(let visible) = AccessPolicy.decision(.listen, on: model, for: caller) else {
            throw .unauthorized
        }
        var interest = LiveInterest(model: model, change: change, predicate: visible)
        interest.filter = try FilterTranslation.subscriptionPredicate(
            field.arguments["filter"],
            on: model,
            limits: services.checks.limits,
            caller: caller
        )
        for rule in model.rules.filter({ $0.covers(.listen) }).compactMap(\.owner) {
            let owner = field.arguments[rule.field]?.stringValue ?? ""
            guard !owner.isEmpty, !caller.ownerForms(of: rule.claim).contains(owner) else { continue }
            // Who may hear of everybody's records may choose whose; others name nobody but themselves.
            guard visible == .always, let position = model.position(of: rule.field) else { throw .unauthorized }
            let isOwner: Comparison = model.fields[position].isList ? .contains(owner) : .equal(.text(owner))
            interest.filter = interest.filter.and(.field(position, isOwner))
        }
        try await restrictToFeed(&interest, field, caller, resumeAfter)
        return interest
    }

    /// `topicId` narrows the subscription to one feed; `after` resumes that feed, and so does what a client that comes again
    /// has seen last: it is where the client stands, wherever it first began.
    private func restrictToFeed(
        _ interest: inout LiveInterest,
        _ field: SubscriptionSource,
        _ caller: Identity,
        _ resumeAfter: String?
    ) async throws(ServiceError) {
        let topic = field.arguments["topicId"]?.stringValue.map { TopicID($0) }
        let after = field.arguments["after"]?.stringValue
        guard topic != nil || after != nil, let position = interest.model.position(of: "topicId") else { return }
        guard let topic else { throw .badRequest("after needs topicId: a cursor resumes the feed of one topic.") }
        guard let last = try await services.messages.lastNumber(of: topic, caller: caller) else { throw .unauthorized }
        interest.predicate = interest.predicate.and(.field(position, .equal(.text(topic.text))))
        interest.topicID = topic
        let lastSeen = resumeAfter.flatMap { $0.isEmpty ? nil : $0 }
        guard let text = lastSeen ?? after else { return }
        guard let cursor = MessageCursor(text: text, sealer: services.sealer), cursor.topicID == topic,
            cursor.number <= last
        else {
            throw .badCursor("This cursor was changed or belongs to another topic. Read the feed anew, without after.")
        }
        interest.feed = LiveInterest.Feed(topicID: topic, after: cursor.number)
    }
}
